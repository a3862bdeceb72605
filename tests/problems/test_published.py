"""Every number that the five papers print as a result has its row beside ours.

The list was read from the papers line by line: limits, data and tolerances of solvers are none of
it, charts have no numbers. `within` is the share by which ours may differ; without it ours
differs, and the row's remark says why.
"""

import math
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from ocp.problems.human.barman_gait import TASK as BARMAN_GAIT
from ocp.problems.published import HEADER, rows
from ocp.problems.published.hollerbach import polynomial
from ocp.problems.published.row import Row, percent, shown
from ocp.problems.published.xiang import slope_work

ROOT = Path(__file__).parents[2]
XIANG, HOLLERBACH, BOOK = "Xiang et al. 2009", "Hollerbach 1980", "Book 1983"
BARMAN, SOHL = "Barman 2020", "Sohl & Bobrow 2001"

# (paper, place, quantity's beginning, printed, within)
PRINTED = (
    # Xiang, Arora & Abdel-Malek (2009), SMO 37:595-608
    (XIANG, "sections 1, 4.4", "order in n of the regular Lagrangian", 4, 0),
    (XIANG, "sections 1, 4.4", "order in n of the recursive Lagrangian", 1, 0),
    (XIANG, "section 4.4", "order in n of the recursive sensitivities", 1, None),
    (XIANG, "section 6.1", "control points", 44, 0),
    (XIANG, "eqs. 52, 53", "torques", "closed form", None),
    (XIANG, "eqs. 54-65", "sensitivities", "closed form", None),
    (XIANG, "eqs. 63", "d tau_2", 0, 0),
    (XIANG, "example 1", "T (s)", 0.3934, 0.004),  # section 6.3
    (XIANG, "section 6.3", "T (s) of Furukawa", 0.3945, 0.006),
    (XIANG, "section 6.3", "T (s) of Wang", 0.394, 0.005),
    (XIANG, "section 6.3", "CPU time", 1.07, None),
    (XIANG, "example 2", "T (s)", 0.520, 0.0015),  # section 6.4
    (XIANG, "section 6.4", "CPU time", 2.44, None),
    # Hollerbach (1980), IEEE SMC 10:730-736; the fractions that make table II, halves in the scan
    (HOLLERBACH, "table I", "Uicker/Kahn, m", (32.5, 86 + 5 / 12, 171.25, 53 + 1 / 3, -128), None),
    (HOLLERBACH, "table I", "Uicker/Kahn, a", (25, 66 + 1 / 3, 129.5, 42 + 1 / 3, -96), None),
    (HOLLERBACH, "table I", "Waters, m", (106 + 2 / 3, 620.5, -512), None),
    (HOLLERBACH, "table I", "Waters, a", (82, 514, -384), None),
    (HOLLERBACH, "table I", "recursive Lagrangian, 4x4, m", (830, -592), None),
    (HOLLERBACH, "table I", "recursive Lagrangian, 4x4, a", (675, -464), None),
    (HOLLERBACH, "table I", "recursive Lagrangian, 3x3, m", (412, -277), None),
    (HOLLERBACH, "table I", "recursive Lagrangian, 3x3, a", (320, -201), None),
    (HOLLERBACH, "table I", "Newton-Euler, m", (150, -48), None),
    (HOLLERBACH, "table I", "Newton-Euler, a", (131, -48), None),
    (HOLLERBACH, "table I", "configuration space, m", (2, 1, 0, 0), None),
    (HOLLERBACH, "table I", "configuration space, a", (1, 1, 2, 0), None),
    (HOLLERBACH, "table II", "Uicker/Kahn, m", 66271, None),
    (HOLLERBACH, "table II", "Uicker/Kahn, a", 51548, None),
    (HOLLERBACH, "table II", "Waters, m", 7051, None),
    (HOLLERBACH, "table II", "Waters, a", 5652, None),
    (HOLLERBACH, "table II", "recursive Lagrangian, 4x4, m", 4388, None),
    (HOLLERBACH, "table II", "recursive Lagrangian, 4x4, a", 3586, None),
    (HOLLERBACH, "table II", "recursive Lagrangian, 3x3, m", 2195, None),
    (HOLLERBACH, "table II", "recursive Lagrangian, 3x3, a", 1719, None),
    (HOLLERBACH, "table II", "Newton-Euler, m", 852, None),
    (HOLLERBACH, "table II", "Newton-Euler, a", 738, None),
    (HOLLERBACH, "table II", "configuration space, m", 468, None),
    (HOLLERBACH, "table II", "configuration space, a", 264, None),
    (HOLLERBACH, "text to table I", "order in n of Uicker/Kahn", 4, 0),
    (HOLLERBACH, "text to table I", "order in n of Waters", 2, 0),
    (HOLLERBACH, "text to table I", "order in n of recursive Lagrangian, 4x4", 1, 0),
    (HOLLERBACH, "text to table I", "order in n of recursive Lagrangian, 3x3", 1, 0),
    (HOLLERBACH, "text to table I", "order in n of Newton-Euler", 1, 0),
    (HOLLERBACH, "text to table I", "order in n of configuration space", 3, 0),
    (HOLLERBACH, "3x3 matrices", "multiplications of two 3x3", 27, 0),
    (HOLLERBACH, "3x3 matrices", "multiplications of two 4x4", 64, 0),
    (HOLLERBACH, "3x3 matrices", "% that 3x3 saves", 50, 0.05),
    (HOLLERBACH, "Newton-Euler", "% that Newton-Euler saves", 60, 0.1),
    (HOLLERBACH, "configuration space", "n from which", 9, None),
    (HOLLERBACH, "Uicker/Kahn", "time (s)", 7.9, None),
    # Book (1983), CMU-RI-TR-83-23
    (BOOK, "(pp. 17, 18)", "mult", (6, 17.5, 118, 74, 137.5, 84, 86, 279, 126, -57), None),
    (BOOK, "(pp. 17, 18)", "add", (6.5, 19, 115.5, 68, 123, 85, 80, 329, 111, -91), None),
    (BOOK, "(p. 18)", "multiplications, 6 joints, 2 flexible links", 12009, None),
    (BOOK, "(p. 18)", "multiplications of Walker's method 3", 4491, None),
    (BOOK, "(p. 18)", "multiplications, flexible over rigid", 2.67, None),
    (BOOK, "(p. 2)", "the same, rounded", 2.7, None),
    (BOOK, "section 5.2.4", "distinct entries", (0.5, 0.5), 0),
    (BOOK, "(p. 18)", "multiplications, 3x3 over Newton-Euler", 2.66, 0.15),
    (BOOK, "(pp. 2, 18)", "rigid joints for as many", 21, None),
    (BOOK, "(pp. 2, 18)", "of these, in place", 15, None),
    (BOOK, "(p. 2)", "degrees of freedom", 12, 0),
    # Barman (2020), MSc thesis
    (BARMAN, "section 4.1", "T (s)", 0.392, 0.001),  # p. 35
    (BARMAN, "(p. 35)", "T (s) of Wang", 0.394, 0.005),
    (BARMAN, "(p. 36)", "T (s) of Xiang", 0.393, 0.003),
    (BARMAN, "(p. 36)", "time (s) at which torque 1", 0.2, 0.025),
    (BARMAN, "(p. 36)", "time (s) after which torque 2", 0.25, 0.06),
    (BARMAN, "section 4.2", "T (s)", 0.5585, None),  # p. 38: as printed
    (BARMAN, "section 4.2", "T (s)", 0.5585, None),  # one datum altered
    (BARMAN, "section 4.2", "T (s)", 0.5585, None),  # one weight altered
    (BARMAN, "(p. 41)", "active joints", 38, 0),
    (BARMAN, "(pp. 43, 50)", "families of constraints", 9, 0),  # 6 over time, 3 at instants
    (BARMAN, "section 5.2", "design variables", 330, 0),  # p. 45
    (BARMAN, "section 5.2", "constraints", 1726, None),  # p. 45
    (BARMAN, "section 5.2", "seconds of the solver", 34.10, None),  # p. 46
    (BARMAN, "section 5.2", "active constraints", 244, None),  # p. 46
    # Sohl & Bobrow (2001), ASME JDSMC 123:391-399; costs of the swing-ups are not printed
    (SOHL, "section 1", "order in n of the Lagrangian", 3, None),
    (SOHL, "section 1", "order in n of Newton-Euler", 1, 0),
    (SOHL, "section 1", "order in n of Hollerbach's", 1, 0),
    (SOHL, "section 5.1", "J of the first path", 73.57, None),  # p. 397
    (SOHL, "section 5.1", "J (N2 m2 s)", 9.9, None),  # p. 397
    (SOHL, "section 5.1", "J of the first path", 73.57, None),  # both again, with data that fit
    (SOHL, "section 5.1", "J (N2 m2 s)", 9.9, None),
)
# What takes seconds: the command computes it, these tests do not
LONG = (
    "recursive sensitivities",
    "(pp. 17, 18)",
    "rigid joints for as many",
    "of these, in place",
    "section 5.1, J",
)
KNOWN = list(rows())


def matching(paper, place, quantity, printed):
    """Rows of the table that stand for a printed number."""

    def same(row):
        place_is_same = row.source.startswith(paper) and place in row.source
        value = row.printed
        if isinstance(printed, tuple) and isinstance(value, tuple):
            value = value[: len(printed)]  # what our count has beyond Book's terms is zero there
        return place_is_same and row.quantity.startswith(quantity) and value == printed

    return [row for row in KNOWN if same(row)]


def test_every_printed_number_has_its_row_and_every_row_its_printed_number():
    wanted = Counter(entry[:4] for entry in PRINTED)
    rows_of = {entry: matching(*entry) for entry in wanted}
    assert {entry: len(found) for entry, found in rows_of.items()} == dict(wanted)
    assert {id(row) for found in rows_of.values() for row in found} == {id(row) for row in KNOWN}


def quick(row):
    """Whether ours takes less than about half a second."""
    said = f"{row.source}, {row.quantity}"
    return not row.slow and not any(words in said for words in LONG)


def test_ours_are_within_what_is_stated_where_they_should_agree():
    for *entry, within in PRINTED:
        for row in matching(*entry):
            assert row.within == within or row.slow, row.quantity
            if within is None or row.slow:
                continue
            ours = row.ours()
            assert ours == pytest.approx(row.printed, rel=within, abs=1e-8), row.quantity
            assert row.agrees(ours), row.quantity


def test_rows_that_do_not_agree_say_why():
    silent = [
        row.quantity
        for *entry, within in PRINTED
        for row in matching(*entry)
        if within is None and not row.remark and row.printed not in (21, 15)
    ]
    assert silent == []


def test_closed_forms_are_the_recursion_along_the_optimum():
    for row in KNOWN:
        if row.printed == "closed form":
            assert float(row.ours().split()[0]) < 1e-13


def test_our_counts_are_polynomials_below_the_printed_ones():
    for row in KNOWN:
        if "table I," in f"{row.source}," and row.terms:
            assert all(map(math.isfinite, row.ours())) and len(row.ours()) == len(row.printed)
            assert row.ours()[0] < row.printed[0]
        if row.source.endswith("table II"):
            assert row.ours() < row.printed
    assert polynomial("newton_euler", 0) == (110, -127)


def test_the_order_of_the_sensitivities_falls_as_chains_grow():
    """The row says 2.2 to 2.0, of 3 to 6 and of 12 to 24 joints."""
    works = [slope_work(joints) for joints in (3, 6, 12)]
    first, then = (math.log2(large / small) for small, large in pairwise(works))
    assert first == pytest.approx(2.2, abs=0.05) and 2.0 < then < first


def test_seconds_beside_printed_ones_are_the_processors():
    """450 s of wall may be 116 of the processor, where others work; the papers print the latter."""
    spent = SimpleNamespace(statistics={"solve_seconds": 450.0, "solve_cpu_seconds": 116.0})
    (seconds,) = (each for each in BARMAN_GAIT.published if "seconds" in each.quantity)
    assert seconds.ours(spent) == 116.0 and seconds.remark.startswith("of the processor")
    printed = [row for row in KNOWN if "CPU time" in row.quantity]
    assert len(printed) == 2 and all(row.remark.startswith("of the proc") for row in printed)


def listed(path):
    """Rows (8) of the table of published numbers in a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    assert f"| {' | '.join(HEADER)} |" in text
    lines = (line for line in text.splitlines() if re.match(r"\| \S.* (19|20)\d\d, ", line))
    return [re.split(r" \| ", line[2:-2]) for line in lines]


def fixed(row):
    """What a row says beside our number."""
    optimum = "" if row.optimum is None else f"{row.optimum:.5f}"
    printed = shown(row.printed, row.terms, ".7g")
    within = "" if row.within is None else percent(row.within)
    return (row.source, row.quantity, printed, within, optimum, row.by, row.remark)


def same_number(text, row):
    """Whether a page's number is what the row computes; times of machines are their own."""
    ours = shown(row.ours(), row.terms)
    if "not comparable" in row.remark or "apart" in ours or row.printed == 0:
        return True
    return ours == text or float(ours) == pytest.approx(float(text), abs=1.1e-4)


@pytest.mark.parametrize("path", ["README.md", "problems/published/published.md"])
def test_pages_show_the_table_as_it_is(path):
    """The page shows all rows, the front door some."""
    shown_rows, known = listed(path), {fixed(row): row for row in KNOWN}
    keys = [(*line[:3], *line[4:]) for line in shown_rows]
    assert set(keys) <= set(known) and len(set(keys)) == len(keys)
    assert path == "README.md" or set(keys) == set(known)
    for key, line in zip(keys, shown_rows):
        assert not quick(known[key]) or same_number(line[3], known[key]), line


def test_ours_agrees_within_its_share_and_a_misprinted_number_does_not():
    row = Row(source="A 2000, p. 1", quantity="x", printed=2.0, ours=float, by="it", within=0.01)
    assert row.agrees(2.019) and not row.agrees(2.021) and not row.agrees(float("nan"))
    assert row.difference(2.02) == "+1 %" and row.difference(2.0) == ""
    assert replace(row, printed=0.0).agrees(1e-9) and not replace(row, printed=0.0).agrees(1e-7)
    pair = replace(row, printed=(2.0, 3.0))
    assert pair.agrees((2.0, 3.01)) and not pair.agrees((2.0, 3.1)) and not pair.difference((1, 1))


@pytest.mark.parametrize(
    ("value", "terms", "text"),
    [
        ((2.0, 1.0, 0.0, -3.0), ("n^3", "n^2", "n", ""), "2 n^3 + n^2 - 3"),
        (66271, (), "66271"),
        (0.39218, (), "0.3922"),
        (2.5e-5, (), "2.5e-05"),
        ("closed form", (), "closed form"),
    ],
)
def test_values_are_shown_with_the_digits_they_have(value, terms, text):
    assert shown(value, terms) == text


def test_a_row_computes_when_it_is_asked_and_not_before():
    row = Row(source="A 2000, p. 1", quantity="x", printed=1, ours=lambda: 1 / 0, by="it")
    with pytest.raises(ZeroDivisionError):
        row.ours()
