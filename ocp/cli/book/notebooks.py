"""Notebooks of the book: pages whose code runs while the book is built, shown with its output.

A notebook is a page of Markdown in `ocp/cli/notebooks`. Each block of Python is a cell: what it
prints, the value of its last line, and the pictures that it draws follow it, in the book as in the
file for Jupyter that stands beside the page.
"""

import ast
import base64
import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from ocp.studies.store.argument_flags import Keywords

FOLDER = "ocp/cli/notebooks"
CELL = re.compile(r"^```python\n(.*?)^```$\n", re.MULTILINE | re.DOTALL)
INNER_LINK = re.compile(r"\[([^\]]+)\]\(/[^)]*\)")  # which leads nowhere outside the book
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A block of code with its outputs: `text` printed, a last value's `html` or else its `value`,
    and `pictures` as PNG."""

    code: str
    text: str = ""
    html: str = ""
    value: str = ""
    pictures: tuple[bytes, ...] = ()


def run_notebooks(source: Path) -> None:
    """Run every notebook of a book's source; write its output into its page and beside it.

    Raises ValueError naming the cell that fails.
    """
    for path in sorted((source / FOLDER).glob("*.md")):
        parts = run_page(path.read_text(encoding="utf-8"), path.name)
        path.with_suffix(".ipynb").write_text(as_notebook(parts), encoding="utf-8")
        path.write_text(as_page(parts, path), encoding="utf-8")


def run_page(text: str, name: str) -> list[str | Cell]:
    """Return a page's parts in their order: prose, and cells that have run one after the other.

    Args:
        text: Markdown, whose fenced blocks of Python are cells.
        name: of the page, for errors.

    Raises:
        ValueError: a cell fails; the error names it.
    """
    parts: list[str | Cell] = []
    names: dict[str, object] = {"__name__": "__main__"}
    with _folder_of_its_own():
        for k, part in enumerate(CELL.split(text)):
            if k % 2 == 0:
                parts.append(part)
                continue
            try:
                parts.append(_run(part, names))
            except Exception as error:
                words = f"{type(error).__name__}: {error}"
                raise ValueError(f"{name}, cell {k // 2 + 1}: {words}") from error
    return parts


@contextmanager
def _folder_of_its_own() -> Iterator[None]:
    """Work in a temporary folder, with warnings as errors."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run(code: str, names: dict[str, object]) -> Cell:
    """Return a cell that has run in a namespace, with what came of it."""
    tree, printed, last = ast.parse(code), io.StringIO(), None
    drawn = {*Path.cwd().glob("*.png")}
    final = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(final, ast.Expr):
            last = eval(compile(ast.Expression(final.value), "cell", "eval"), names)
    show = getattr(last, "_repr_html_", None)
    pictures = sorted({*Path.cwd().glob("*.png")} - drawn)
    return Cell(
        code=code,
        text=printed.getvalue(),
        html=show() if show else "",
        value="" if show or last is None else repr(last),
        pictures=tuple(path.read_bytes() for path in pictures),
    )


def as_page(parts: list[str | Cell], path: Path) -> str:
    """Return a notebook as the book's Markdown; its pictures are written beside the page."""
    lines, count = [], 0
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
            continue
        lines += ["```python", part.code.rstrip(), "```", ""]
        for words in filter(None, (part.text.rstrip(), part.value)):
            lines += ["`````{code-block} text", ":class: output", "", words, "`````", ""]
        if part.html:
            lines += ["`````{raw} html", f'<div class="output">{part.html}</div>', "`````", ""]
        for picture in part.pictures:
            count += 1
            file = path.with_name(f"{path.stem}-{count}.png")
            file.write_bytes(picture)
            lines += [f"![{path.stem.replace('_', ' ')}, drawn by this cell]({file.name})", ""]
    link = f"{{download}}`As a notebook for Jupyter <{path.stem}.ipynb>`, as it ran with this book."
    title, _, rest = "\n".join(lines).partition("\n")
    return f"{title}\n\n{link}\n{rest}"


def as_notebook(parts: list[str | Cell]) -> str:
    """Return a notebook as a file of Jupyter's format 4.5."""
    cells: list[Keywords] = []
    for k, part in enumerate(parts):
        head: Keywords = {"id": f"part-{k}", "metadata": {}}
        if isinstance(part, str):
            words = INNER_LINK.sub(r"\1", part).strip()
            cells += [head | {"cell_type": "markdown", "source": words}] if words else []
            continue
        number = sum(each["cell_type"] == "code" for each in cells) + 1
        code = {"cell_type": "code", "execution_count": number, "source": part.code.rstrip()}
        cells.append(head | code | {"outputs": [*_outputs(part, number)]})
    whole = {"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1) + "\n"


def _outputs(cell: Cell, number: int) -> Iterator[Keywords]:
    if cell.text:
        yield {"output_type": "stream", "name": "stdout", "text": cell.text}
    value = {"text/html": cell.html} if cell.html else {}
    if cell.html or cell.value:
        kind = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
        yield kind | {"data": value | {"text/plain": cell.value or "shown as HTML"}}
    for picture in cell.pictures:
        data = {"image/png": base64.b64encode(picture).decode()}
        yield {"output_type": "display_data", "metadata": {}, "data": data}
