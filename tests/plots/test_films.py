"""Films show the motion, upright, whole, and whatever its names are."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from pictured import moved
from PIL import Image

from ocp import animate
from ocp.plots.bodies.animation import pace, stage
from ocp.plots.bodies.stick_figures import stick
from ocp.plots.canvas import picture


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


def test_a_film_tells_true_time_and_its_pace(solution, tmp_path, monkeypatch):
    titles = []
    monkeypatch.setattr(Axes, "set_title", lambda axes, text, **looks: titles.append(text))
    animate(solution, tmp_path / "arm.gif", seconds=0.2, rate=10)
    slowed = pace(0.2, solution.duration)
    assert titles[-1] == f"t = {solution.duration:.4f} s,  {slowed}"


@pytest.mark.parametrize("gravity", [(0.0, -9.81, 0.0), (0.0, 9.81, 0.0)])
def test_films_stand_upright(solution, gravity):
    """What goes up against gravity goes up in a film and in a snapshot."""
    turned = moved(solution, replace(solution.problem.tree, gravity=gravity))
    t = turned.times(11)
    figure = stick(turned, t)
    with picture(None, 4, 4) as canvas:
        scene = stage(canvas, canvas.add_gridspec(1, 1)[0], figure)
        canvas.draw_without_rendering()
        shown = scene.camera.flat(figure.places[:, figure.tips["tip"]])
        drawn = scene.axes.transData.transform(shown)[:, 1]
    height = np.array(gravity) @ turned.trace(lambda at: at.position("tip"), t) / -9.81
    assert np.ptp(height) > 0.1
    assert np.corrcoef(height, drawn)[0, 1] > 0.999999


def test_a_film_of_odd_names_plays(oddly_named, tmp_path):
    animate(oddly_named, tmp_path / "odd.gif", seconds=0.2, rate=10)
    with Image.open(tmp_path / "odd.gif") as film:
        assert film.n_frames == 3
