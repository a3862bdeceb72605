"""List the gallery."""

import ast
from pathlib import Path


def gallery():
    """Return {module name: first line of its docstring} of everything that runs as `python -m problems.NAME`."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    pages = {
        path.stem: ast.parse(path.read_text(encoding="utf-8"))
        for path in files
        if path.stem != "__main__"
    }
    return {
        name: ast.get_docstring(page).splitlines()[0]
        for name, page in pages.items()
        if any(map(_runs, page.body))
    }


def _runs(statement):
    """Tell whether a statement of a module is `if __name__ == ...`."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test).startswith("__name__")


if __name__ == "__main__":
    width = max(map(len, gallery()))
    for name, line in gallery().items():
        print(f"python -m problems.{name:<{width}}  {line}")
