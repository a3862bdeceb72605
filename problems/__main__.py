"""List the gallery."""
import ast
from pathlib import Path

TOOLS = ("__init__", "__main__", "run")


def gallery():
    """Return {module name: first line of its docstring} of everything that runs as `python -m problems.NAME`."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    pages = {path.stem: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in files}
    return {name: page.splitlines()[0] for name, page in pages.items() if name not in TOOLS and page}


if __name__ == "__main__":
    width = max(map(len, gallery()))
    for name, line in gallery().items():
        print(f"python -m problems.{name:<{width}}  {line}")
