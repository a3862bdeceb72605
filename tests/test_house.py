"""The layers of the house: who imports whom, and what may stand where, read from the syntax trees."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RANKS = {
    "ocp.checks": 0,
    "ocp.modes": 0.5,
    "ocp.beams": 0.7,
    "ocp.flexible": 1.5,
    "ocp.version": 0,
    "ocp.spatial": 0,
    "ocp.spline": 0,
    "ocp.nlp": 0,
    "ocp.compiled": 0,
    "ocp.mesh": 0.5,
    "ocp.tree": 1,
    "ocp.kinematics": 2,
    "ocp.loops": 3,
    "ocp.dynamics.formulation": 3,
    "ocp.dynamics.pairs": 3,
    "ocp.dynamics.links": 3.2,
    "ocp.dynamics": 4,
    "ocp.closed_loops": 4,
    "ocp.ground": 4,
    "ocp.problem": 5,
    "ocp.constraints": 6,
    "ocp.contact": 6,
    "ocp.objectives": 6,
    "ocp.layout": 6,
    "ocp.graph": 7,
    "ocp.assembly": 8,
    "ocp.rows": 8.5,
    "ocp.closing": 8.7,
    "ocp.guess": 8.8,
    "ocp.collocation": 8.8,
    "ocp.shooting": 8.8,
    "ocp.transcribe": 9,
    "ocp.diagnosis": 10,
    "ocp.solution": 10,
    "ocp.verify": 11,
    "ocp.pictures": 11,
    "ocp.films": 11.5,
    "ocp.footing": 11.5,
    "ocp.walks": 12,
    "ocp.solve": 12,
    "ocp.study": 12.5,
    "ocp.designs": 0.5,
    "ocp.ledger": 0.5,
    "ocp.cells": 12.2,
    "ocp.overview": 12.3,
    "ocp.engine": 12.3,
    "ocp.plots": 12,
    "ocp.charts": 12,
    "ocp": 13,
    "models.five_bar": 14.5,
    "problems.run": 15,
    "problems.__main__": 15,
    "problems.swinging": 15.1,
    "problems.walking": 15.2,
    "problems.walking_report": 15.5,
    "problems.walking_plots": 15.5,
    "problems.lifting_report": 15.5,
    "problems.lifting_plots": 15.7,
    "problems.compare_gait": 17,
    "problems.study": 17,
    "models.anthropometry": 13.5,
    "models.people": 13.7,
    "problems.compare_transcriptions": 17,
    "ocp.plugins": -1,
    "ocp.snopt": -1,
    "problems.profiles": 15,
    "problems.solver_runs": 18,
    "problems.compare_solvers": 19,
}
METHOD = 3.5  # of every other file of ocp/dynamics: above formulation, and apart from each other
FILES = sorted(
    path for folder in ("ocp", "models", "problems") for path in (ROOT / folder).rglob("*.py")
)
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in FILES
}


def rank(module):
    """Rank of a module: it may import from smaller ones only."""
    if module.startswith("ocp.dynamics.") and module not in RANKS:
        return METHOD
    if module.startswith("problems"):
        return RANKS.get(module, 16)
    return RANKS.get(module, 14) if module.startswith("models") else RANKS[module]


def imports(module, top_level_only=False):
    """Names of all modules that a module imports; a name imported from a package counts as its submodule where it is one."""
    tree = ast.parse(SOURCES[module].read_text(encoding="utf-8"))
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in SOURCES else node.module


def calls(module):
    """Dotted names of everything a module calls."""
    for node in ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@pytest.mark.parametrize("module", SOURCES)
def test_a_file_imports_only_from_smaller_ranks(module):
    ours = [name for name in imports(module) if name.split(".")[0] in ("ocp", "models", "problems")]
    assert [name for name in ours if rank(name) >= rank(module)] == []


@pytest.mark.parametrize("module", [name for name in SOURCES if name.startswith("ocp.dynamics.")])
def test_a_formulation_knows_no_time_grid(module):
    assert not {"ocp.spline", "ocp.problem", "ocp.nlp"} & set(imports(module))


@pytest.mark.parametrize("module", [name for name in SOURCES if name.startswith("ocp")])
def test_graphs_solvers_and_files_have_one_home(module):
    called = set(calls(module))
    assert module in ("ocp.graph", "ocp.nlp", "ocp.plugins") or "ca.Function" not in called
    assert module in ("ocp.nlp", "ocp.plugins") or "ca.nlpsol" not in called
    assert (
        module in ("ocp.solution", "ocp.compiled")
        or not {"open", "np.load", "np.savez", "np.savez_compressed", "os.replace"} & called
    )
    assert module == "ocp.compiled" or not [
        name for name in called if name.endswith((".write_text", ".write_bytes", "subprocess.run"))
    ]
    assert "print" not in called


@pytest.mark.parametrize("module", [name for name in SOURCES if name.startswith("ocp")])
def test_processes_and_data_bases_have_one_home(module):
    imported = {name.split(".")[0] for name in imports(module)}
    assert module == "ocp.engine" or not imported & {"multiprocessing", "concurrent"}
    assert module == "ocp.ledger" or "sqlite3" not in imported


@pytest.mark.parametrize("module", SOURCES)
def test_matplotlib_loads_only_where_plots_are_made(module):
    assert not [
        name for name in imports(module, top_level_only=True) if name.startswith("matplotlib")
    ]
    drawing = module in ("ocp.pictures", "ocp.films", "ocp.plots", "ocp.charts")
    assert drawing or not [name for name in imports(module) if name.startswith("matplotlib")]


@pytest.mark.parametrize("module", SOURCES)
def test_only_the_promised_libraries_are_used(module):
    foreign = {name.split(".")[0] for name in imports(module)} - {"ocp", "models", "problems"}
    assert foreign - set(sys.stdlib_module_names) <= {"casadi", "numpy", "matplotlib", "PIL"}


@pytest.mark.parametrize(
    "path", [*FILES, *sorted((ROOT / "tests").glob("*.py"))], ids=lambda path: path.name
)
def test_a_file_can_be_read_in_a_sitting_and_says_what_it_is(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    assert [
        number for number, line in enumerate(text.splitlines(), start=1) if len(line) > 145
    ] == []
    assert path.name == "__init__.py" or ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("module", [name for name in SOURCES if name.startswith("ocp")])
def test_public_functions_and_records_are_documented(module):
    tree = ast.parse(SOURCES[module].read_text(encoding="utf-8"))
    public = [
        node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if not ast.get_docstring(node)] == []
