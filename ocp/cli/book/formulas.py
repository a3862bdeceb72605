"""Formulas of the book as MathML, which browsers typeset without a script or a network.

Docutils, which Sphinx brings, converts them from TeX.
"""

import importlib
from typing import TypeAlias
from xml.etree import ElementTree

from ocp.cli.book.reference import App

Writer: TypeAlias = App  # which is untyped, as Sphinx itself
Node: TypeAlias = App

SPACE = "{http://www.w3.org/1998/Math/MathML}"
ACCENTS = {"˙", "¨", "^", "ˆ", "~", "˜"}


def mathml(formula: str, *, block: bool) -> str:
    """Return a TeX formula as a MathML element.

    Args:
        formula: without dollars; rows of an array end in two backslashes.
        block: whether it stands by itself rather than within a line.

    Raises:
        ValueError: the converter does not know a part of it.
    """
    from docutils.utils.math import MathError, latex2mathml

    rows = r"\\" in formula and r"\begin" not in formula
    code = rf"\begin{{aligned}}{formula}\end{{aligned}}" if rows else formula
    try:
        element = latex2mathml.tex2mathml(code, as_block=block)
    except MathError as error:
        raise ValueError(f"formula {formula.strip()!r}: {error}") from None
    root = ElementTree.fromstring(element.replace("&ApplyFunction;", "\u2061"))
    for part in [*root.iter()]:
        if part.tag == f"{SPACE}munderover" and (part[2].text or "") in ACCENTS:
            _set_index_aside(part)
        if part.tag == f"{SPACE}mover":
            part.set("accent", "true")  # of full size
        if part.tag == f"{SPACE}mtable":
            part.set("displaystyle", "true")
    ElementTree.register_namespace("", SPACE.strip("{}"))
    return ElementTree.tostring(root, encoding="unicode")


def _set_index_aside(part: ElementTree.Element) -> None:
    """Give an accented symbol its index beside it, where the converter has it below."""
    symbol, index, accent = part
    accented = ElementTree.Element(f"{SPACE}mover", accent="true")
    accented.extend((symbol, accent))
    part[:], part.tag = [accented, index], f"{SPACE}msub"


def setup(app: App) -> dict[str, bool]:
    """Let Sphinx write formulas as MathML."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True}


def _visit_inline(writer: Writer, node: Node) -> None:
    _write(writer, mathml(node.astext(), block=False))


def _visit_block(writer: Writer, node: Node) -> None:
    _write(writer, f'<div class="formula">{mathml(node.astext(), block=True)}</div>\n')


def _write(writer: Writer, element: str) -> None:
    """Add an element to a page and leave out the node's own text."""
    writer.body.append(element)
    raise importlib.import_module("docutils.nodes").SkipNode
