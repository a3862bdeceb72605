"""The papers' figures from our solutions: all there, none empty, each says what differs."""

import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ocp.plots import picture
from ocp.problems.benchmarks.figures import (
    PAGES,
    Page,
    answers,
    chosen,
    contents,
    draw_page,
    write_pages,
)
from ocp.problems.benchmarks.figures.hollerbach import counted, polynomial
from ocp.problems.benchmarks.figures.page import curves, excess, peaks, turns
from ocp.problems.benchmarks.figures.sensitivities import closed, composites, differences, recursive
from ocp.problems.benchmarks.operations import TABLE_I, dense

FIGURES = {  # with data, and sketches of mechanisms that our models are
    "xiang": [f"{number:02d}" for number in range(4, 15)],
    "hollerbach": ["table-1", "table-2", "crossover"],
    "book": ["counts", "ratios"],
    "barman": [*(f"4-{number}" for number in range(1, 8)), *(f"5-{n}" for n in range(1, 6))],
    "sohl": [f"{number:02d}" for number in range(1, 11)],
}
QUICK = ("xiang-05", "xiang-10", "barman-4-6", "book-ratios", "sohl-01", "sohl-03")


def is_filled(axes):
    """Tell whether axes show lines of two finite points, bars or a table."""
    lines = [np.array(line.get_xydata(), dtype=float) for line in axes.get_lines()]
    drawn = [line for line in lines if len(line) > 1 and np.isfinite(line).all(axis=1).sum() > 1]
    return bool(drawn or axes.patches or axes.tables or axes.collections)


def test_every_figure_of_the_papers_that_has_data_has_a_page():
    assert set(PAGES) == {f"{paper}-{name}" for paper, names in FIGURES.items() for name in names}


def test_every_page_says_where_from_what_is_printed_and_what_differs():
    for name, page in PAGES.items():
        assert page.name == name
        assert re.match(r"(Xiang|Hollerbach|Book|Barman|Sohl).* \d{4}, ", page.source), name
        for text in (page.caption, page.printed, page.differs):
            assert len(text) > 15 and text.strip() == text and "  " not in text, name


@pytest.mark.parametrize("name", QUICK)
def test_a_page_is_filled_and_its_words_stay_on_it(name):
    figure, ours = draw_page(PAGES[name])
    assert len(ours) > 10 and "nan" not in ours
    assert figure.axes and all(map(is_filled, figure.axes))
    figure.canvas.draw()
    top, _, bottom = figure.subfigs
    words = [*top.texts, *bottom.texts]
    assert {"printed", "ours", "differs", PAGES[name].source} <= {text.get_text() for text in words}
    page = figure.bbox
    boxes = [text.get_window_extent() for text in words]
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    assert all(page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    parts = sorted(boxes, key=lambda box: -box.y1)
    assert all(low.y1 <= high.y1 for high, low in pairwise(parts))


def test_the_printed_time_is_marked_where_it_is_printed():
    for name, time in (("xiang-07", 0.3934), ("xiang-11", 0.520), ("barman-4-5", 0.5585)):
        figure, ours = draw_page(PAGES[name])
        marks = [line for line in figure.axes[0].get_lines() if "printed" in line.get_label()]
        assert [line.get_xdata()[0] for line in marks] == [time]
        assert f"{time:g} s" in ours


def test_pages_are_written_with_an_index_and_sharing_their_solutions(tmp_path):
    pages = chosen(["xiang-07", "barman-4-3"])
    written = {page.name: ours for page, ours in write_pages(pages, tmp_path / "new")}
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["barman-4-3.png", "index.md", "xiang-07.png"]
    index = (tmp_path / "new" / "index.md").read_text(encoding="utf-8")
    for page in pages:
        assert f"![{page.name}]({page.name}.png)" in index
        for text in (page.source, page.caption, page.printed, page.differs, written[page.name]):
            assert text in index
    assert answers.fastest() is answers.fastest()


def test_pages_are_chosen_by_name_or_by_paper():
    assert chosen([]) == tuple(PAGES.values())
    assert [page.name for page in chosen(["sohl-03", "book"])] == [
        "book-counts",
        "book-ratios",
        "sohl-03",
    ]
    for part in ("xiang-4", "xian"):
        with pytest.raises(ValueError, match=f"no page is called '{part}'; there are xiang-04, "):
            chosen([part])


def test_four_ways_agree_on_the_sensitivities_along_the_lift():
    solution, load, gravity = answers.lift(), 10.0, 9.8062
    t = solution.times(7)
    recursion = recursive(solution, t)
    assert recursion.shape == (2, 6, 7)
    assert np.abs(closed(solution, t, load, gravity) - recursion).max() < 1e-13
    assert np.abs(composites(solution, t) - recursion).max() < 1e-13
    assert np.abs(differences(solution, t) - recursion).max() < 1e-8


def test_counts_are_written_as_the_paper_writes_them():
    times, plus = TABLE_I["uicker_kahn"]
    assert polynomial(times) == "32 1/2 n⁴ + 86 5/12 n³ + 171 1/4 n² + 53 1/3 n - 128"
    assert polynomial((1, 1, 2, 0)) == "n³ + n² + 2 n" and polynomial((-1, 1)) == "-n + 1"
    assert polynomial(plus).startswith("25 n⁴ + 66 1/3 n³")
    assert counted("newton_euler", 0) == "110 n - 127"
    assert dense("newton_euler", 9)[0] == 110 * 9 - 127


def test_peaks_and_changes_of_sign_are_counted_as_seen():
    t = np.linspace(0, 1, 401)
    assert peaks(np.sin(2 * np.pi * t)) == 2  # one within, and the end
    assert peaks(np.cos(2 * np.pi * t)) == 2 and peaks(t) == 1
    assert peaks(np.sin(np.pi * t) + 0.02 * np.sin(60 * t)) == 1
    assert turns(t, t - 0.25) == "0.250 s" and turns(t, 1 + t) == "never"
    assert turns(t, np.cos(3 * np.pi * t)) == "0.167 and 0.500 and 0.833 s"


def test_torques_beyond_their_bounds_are_said_to_be_so():
    assert excess(answers.fastest()).startswith("between instants torques leave their bounds by up")
    assert excess(answers.sliding()) == "torques keep their bounds throughout"


def test_a_long_text_makes_a_page_higher_and_nothing_is_cut():
    def draw(figure):
        curves(figure.subplots(), np.arange(3.0), {"line": np.arange(3.0)}, ("x", "y"))
        return "word " * 200

    texts = {"name": "a", "source": "A 2000, Fig. 1", "caption": "c", "printed": "p"}
    short = Page(**texts, draw=lambda figure: draw(figure)[:4], differs="d")
    long = Page(**texts, draw=draw, differs="d")
    heights = [draw_page(page)[0].get_figheight() for page in (short, long)]
    assert heights[1] > heights[0] + 1.0
    with picture(None, 5, 5) as figure:
        assert not is_filled(figure.subplots())
    assert is_filled(SimpleNamespace(get_lines=list, patches=[1], tables=[], collections=[]))


def test_the_book_names_every_page():
    text = (Path(contents.__file__).parent / "papers_redrawn.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*`) \|", text, re.MULTILINE)
    named = [re.findall(r"`([\w-]+)`", row) for row in rows]
    order, listed = list(PAGES), []
    for row, names in zip(rows, named):
        span = " to " in row
        listed += order[order.index(names[0]) : order.index(names[1]) + 1] if span else names
    assert listed == order
