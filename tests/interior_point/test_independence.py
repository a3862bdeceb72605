"""Machine code, solvers and the interior point know nothing of mechanics."""

import ast
from pathlib import Path

import pytest

OCP = Path(__file__).parents[2] / "ocp"
ALLOWED = {
    "codegen": {"codegen"},
    "solvers": {"codegen", "solvers"},
    "interior_point": {"codegen", "solvers", "interior_point"},
}
SHARED = {path.stem for path in OCP.glob("*.py")} - {"__init__", "__main__"}


def wings_of(tree):
    """Wings (or shared modules) of `ocp` that a file imports from, local imports too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            root, *rest = node.module.split(".")
            names = rest[:1] or [alias.name for alias in node.names]
            yield from names if root == "ocp" else ()
        elif isinstance(node, ast.Import):
            yield from (name.split(".")[1] for name in _dotted(node) if name.startswith("ocp."))


def _dotted(node):
    return [alias.name for alias in node.names]


@pytest.mark.parametrize("wing", ALLOWED)
def test_these_wings_import_nothing_of_mechanics_dynamics_problems_or_transcription(wing):
    files = list((OCP / wing).rglob("*.py"))
    found = {path.name: {*wings_of(ast.parse(path.read_text()))} for path in files}
    assert {name: each - ALLOWED[wing] - SHARED for name, each in found.items()} == {
        name: set() for name in found
    }
    assert len(files) > 5
