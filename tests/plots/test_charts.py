"""Charts of plain numbers: written whole or not at all, curves as they are given."""

from contextlib import contextmanager

import pytest

from ocp.plots import COLOURS, Curve, Panel, lines, panels, picture

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


@pytest.fixture
def drawn(monkeypatch):
    """The figures that charts draw."""
    figures = []

    @contextmanager
    def kept(path, *size):
        with picture(None, *size) as figure:
            figures.append(figure)
            yield figure

    monkeypatch.setattr("ocp.plots.curves.charts.picture", kept)
    return figures


def test_curves_have_their_own_colours_dashes_and_marks(drawn, tmp_path):
    curves = [
        Curve(label=dash, x=(1, 2), y=(1, 4), dash=dash, colour=number + 9)
        for number, dash in enumerate(("solid", "dashed", "dotted", "points"))
    ]
    lines(tmp_path / "chart.png", curves, x="n", y="n^2")
    panels(tmp_path / "panels.png", [Panel(curves=curves, x="n", y="n^2")])
    for figure, marks in zip(drawn, (["o", "None", "None", "o"], ["None"] * 3 + ["o"])):
        shown = figure.axes[0].get_lines()
        assert [line.get_color() for line in shown] == [COLOURS[9], *COLOURS[:3]]
        assert [line.get_linestyle() for line in shown] == ["-", "--", ":", "None"]
        assert [line.get_marker() for line in shown] == marks
        assert [line.get_ydata().tolist() for line in shown] == [[1, 4]] * 4


@pytest.mark.parametrize("log", [False, True])
def test_a_chart_is_logarithmic_where_that_is_asked_for(drawn, tmp_path, log):
    lines(tmp_path / "chart.png", [SQUARE], x="n", y="n^2", log=log)
    several = [Panel(curves=[SQUARE], x="n", y="n^2", log=log, log_y=y) for y in (False, True)]
    panels(tmp_path / "panels.png", several, rows=2)
    (chart,), others = (figure.axes for figure in drawn)
    scale = "log" if log else "linear"
    assert (chart.get_xscale(), chart.get_yscale()) == (scale, scale)
    scales = [(panel.get_xscale(), panel.get_yscale()) for panel in others]
    assert scales == [(scale, "linear"), (scale, "log")]
    assert others[0].get_position().y0 > others[1].get_position().y1
