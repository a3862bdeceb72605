"""Formulas of the book: MathML, for which a page asks nothing of a network."""

import re

import pytest

from ocp.cli.book import build_book

formulas = pytest.importorskip("ocp.cli.book.formulas")
pytest.importorskip("docutils")
DISPLAYED = re.compile(r"^\$\$$(.*?)^\$\$$", re.MULTILINE | re.DOTALL)
TYPESET = ("transcription/transcriptions", "certificate/certificates")
TYPESET += ("dynamics/formulations_compared", "problem/contact/contact_and_ground")


def displayed():
    """Formulas that stand by themselves, {page: them}."""
    texts = {place: path.read_text(encoding="utf-8") for place, path in build_book.pages().items()}
    return {place: DISPLAYED.findall(text) for place, text in texts.items()}


def test_every_formula_of_the_pages_can_be_typeset():
    for place, found in displayed().items():
        for formula in found:
            assert formulas.mathml(formula, block=True).startswith("<math"), place


@pytest.mark.parametrize("page", TYPESET)
def test_pages_of_mathematics_have_formulas(page):
    assert len(displayed()[f"ocp/{page}.md"]) >= 3


def test_rows_of_a_formula_stand_below_each_other():
    element = formulas.mathml(r"a &= b \\ c &= \frac{1}{2}", block=True)
    assert element.count("<mtr") == 2 and "<mfrac>" in element


def test_an_accented_symbol_has_its_index_beside_it():
    element = formulas.mathml(r"\dot\omega_i", block=False)
    assert "<munderover>" not in element and re.search(r"<msub>\s*<mover accent=.true.>", element)


def test_what_cannot_be_typeset_is_refused_with_the_formula():
    with pytest.raises(ValueError, match=r"formula .*nosuchword"):
        formulas.mathml(r"\nosuchword{a}", block=False)
