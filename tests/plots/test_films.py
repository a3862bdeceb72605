"""Films show the motion, upright, whole, and whatever its names are."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from matplotlib.axes import Axes
from pictured import NAMES, moved
from PIL import Image

from ocp import Point, animate
from ocp.mechanics import Visual
from ocp.plots.bodies.animation import PLAYER, pace, stage
from ocp.plots.bodies.stick_figures import stick
from ocp.plots.canvas import picture


def data_of(path):
    return json.loads(
        re.search(
            r'<script type="application/json">(.*?)</script>',
            path.read_text(encoding="utf-8"),
            re.S,
        )[1]
    )


def test_a_gif_has_all_frames(solution, tmp_path):
    animate(solution, tmp_path / "arm.gif", seconds=0.5, rate=20)
    with Image.open(tmp_path / "arm.gif") as film:
        assert film.n_frames == 11 and film.info["duration"] == 50


def test_an_mp4_has_all_frames(solution, tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra `film`")
    from imageio_ffmpeg import count_frames_and_secs

    animate(solution, tmp_path / "arm.mp4", seconds=0.5, rate=20)
    frames, seconds = count_frames_and_secs(str(tmp_path / "arm.mp4"))
    assert frames == 11 and seconds == pytest.approx(0.55)


def test_without_ffmpeg_an_mp4_says_how_to_get_it(solution, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ValueError, match="needs ffmpeg: install the extra `film`"):
        animate(solution, tmp_path / "arm.mp4")
    assert not list(tmp_path.iterdir())


def test_a_page_holds_bodies_scenery_and_ground(solution, hopped, tmp_path):
    ball = Visual(kind="sphere", size=(0.1,), colour=(1, 0, 0, 0.5))
    seen = replace(solution, problem=replace(solution.problem, scenery=(ball,)))
    animate(seen, tmp_path / "arm.html", rate=20)
    still, *bodies = data_of(tmp_path / "arm.html")["solids"]
    assert still["colour"] == "#ff0000" and len(still["moves"]) == 1
    assert [len(body["moves"]) for body in bodies] == [41, 41]
    data = data_of(tmp_path / "arm.html")
    rows = np.array(bodies[1]["moves"][20]).reshape(2, 4)
    tip = rows @ [0.0, 0.0, 0.0, 1.0]  # the frame of the last link is at its tip
    np.testing.assert_allclose(tip, data["places"][20][data["tips"]["tip"]], atol=1e-4)
    animate(hopped, tmp_path / "hop.html", rate=5)
    assert len(data_of(tmp_path / "hop.html")["floors"]) == 1


@pytest.mark.parametrize(
    ("seconds", "duration", "words"),
    [
        (1.5, 0.5, "slowed 3 times"),
        (2.0, 2.0, ""),
        (2.0, 2.005, ""),
        (1.0, 4.0, "sped up 4 times"),
        (2.0, 0.392, "slowed 5.1 times"),
    ],
)
def test_films_say_how_much_they_are_slowed(seconds, duration, words):
    assert pace(seconds, duration) == words
    if shutil.which("node") is not None:  # the player says the same
        (function,) = re.findall(r"^function pace.*?^}", PLAYER.read_text(), re.M | re.S)
        code = f"{function}; console.log(pace({seconds} / {duration}))"
        said = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
        assert said.stdout.strip() == words


def test_a_film_tells_true_time_and_its_pace(solution, tmp_path, monkeypatch):
    titles = []
    monkeypatch.setattr(Axes, "set_title", lambda axes, text, **looks: titles.append(text))
    animate(solution, tmp_path / "arm.gif", seconds=0.2, rate=10)
    slowed = pace(0.2, solution.duration)
    assert titles[-1] == f"t = {solution.duration:.4f} s,  {slowed}"


def test_a_page_is_self_contained_and_holds_all_frames(solution, tmp_path):
    animate(solution, tmp_path / "arm.html", rate=20)
    text, data = (tmp_path / "arm.html").read_text(encoding="utf-8"), data_of(tmp_path / "arm.html")
    assert not re.search(r"http|src=|href=|import\b", text)
    assert data["seconds"] == 2.0
    assert len(data["places"]) == len(data["t"]) == 41
    assert data["t"][-1] == solution.duration
    tip = solution.trace(lambda at: at.position("tip"), np.array(data["t"]))[:2]
    np.testing.assert_allclose(np.array(data["places"])[:, data["tips"]["tip"]].T, tip, atol=1e-6)


def test_a_page_is_not_broken_by_names(solution, tmp_path):
    names = ("</script><b>", "<!--<script>", "@DATA@", "a & b")
    tree = replace(
        solution.problem.tree, points=tuple(Point(name=name, link="elbow") for name in names)
    )
    animate(moved(solution, tree), tmp_path / "arm.html", rate=5)
    assert tuple(data_of(tmp_path / "arm.html")["tips"]) == names
    text = (tmp_path / "arm.html").read_text(encoding="utf-8")
    assert "<b>" not in text and text.count("<!--") == 0 and text.count("<script") == 2


def upward(tmp_path, solution):
    """Places (m) of the tip against gravity, and how high (px) film, page and snapshot draw it."""
    animate(solution, tmp_path / "arm.html", rate=5)
    data = data_of(tmp_path / "arm.html")
    player = (tmp_path / "arm.html").read_text(encoding="utf-8")
    (vertical,) = re.findall(r"return \[.+, (.+ up)\];", player)
    (up,) = re.findall(r"const \[right, up\] = flat \? \[x, (y)\]", player)
    assert up == "y"
    spots = np.array([frame[data["tips"]["tip"]] for frame in data["places"]])
    offset = spots[:, -1] - data["low"][-1] - data["size"][-1] / 2
    known = {"canvas": type("Canvas", (), {"clientHeight": 400}), "scale": 100}
    page = [-eval(vertical, known | {"up": each}) for each in offset]
    figure = stick(solution, np.array(data["t"]))
    with picture(None, 4, 4) as canvas:
        axes = stage(canvas, canvas.add_gridspec(1, 1)[0], figure)
        canvas.draw_without_rendering()
        shown = figure.places[:, figure.tips["tip"]]
        drawn = axes.transData.transform(shown)[:, 1]
    gravity = np.array(solution.problem.tree.gravity)
    against = -gravity / np.linalg.norm(gravity)
    return against @ solution.trace(lambda at: at.position("tip"), np.array(data["t"])), page, drawn


@pytest.mark.parametrize("gravity", [(0.0, -9.81, 0.0), (0.0, 9.81, 0.0)])
def test_films_stand_upright(solution, tmp_path, gravity):
    """What goes up against gravity goes up in the page, in the film and in a snapshot."""
    tree = replace(solution.problem.tree, gravity=gravity)
    height, *pictures = upward(tmp_path, moved(solution, tree))
    assert np.ptp(height) > 0.1
    for drawn in pictures:
        assert np.corrcoef(height, drawn)[0, 1] > 0.999999


def test_a_film_of_odd_names_plays(oddly_named, tmp_path):
    animate(oddly_named, tmp_path / "odd.gif", seconds=0.2, rate=10)
    animate(oddly_named, tmp_path / "odd.html", rate=5)
    assert tuple(data_of(tmp_path / "odd.html")["tips"]) == NAMES


def test_a_film_without_a_path_plays_within_a_notebook(solution, tmp_path):
    page = animate(solution, rate=5)
    animate(solution, tmp_path / "arm.html", rate=5)
    assert page.text == (tmp_path / "arm.html").read_text(encoding="utf-8")
    (inside,) = re.findall(r"^<iframe [^>]*srcdoc='([^']*)'></iframe>$", page._repr_html_())
    assert unescape(inside) == page.text and "HTML" in repr(page)
