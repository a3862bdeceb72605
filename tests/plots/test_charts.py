"""Charts of plain numbers: written whole or not at all, curves as they are given."""

import pytest

from ocp.plots import Curve, Panel, lines, panels

SQUARE = Curve(label="square", x=(1, 2, 3), y=(1, 4, 9), dash="dashed", colour=12)


def test_a_chart_is_written_whole_or_not_at_all(tmp_path):
    for name in ("chart.png", "chart.svg"):
        lines(tmp_path / name, [SQUARE], x="n", y="n^2", log=name.endswith("png"))
    panels(tmp_path / "panels.pdf", [Panel(curves=[SQUARE], x="n", y="n^2", log=True)] * 2)
    with pytest.raises(ValueError, match=r"suffix '.gif': expected one of .png, .svg, .pdf"):
        lines(tmp_path / "chart.gif", [SQUARE], x="n", y="n^2")
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["chart.png", "chart.svg", "panels.pdf"]


def test_words_of_a_chart_are_no_formulas(tmp_path):
    odd = Curve(label="$\\frac{$", x=("$\\frac{$", "_a", "$b$"), y=(1, 2, 3), dash="points")
    lines(tmp_path / "chart.png", [odd, odd], x="$\\frac{$", y="$")
    panels(tmp_path / "panels.png", [Panel(curves=[odd], x="$\\frac{$", y="_")])
    assert len(list(tmp_path.iterdir())) == 2
