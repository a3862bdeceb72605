"""The viewer in space: what it shows moves as the motion does, live too, and fits a page."""

import sys

import numpy as np
import pytest

import ocp
from ocp import solve
from ocp.cli.main import command
from ocp.mechanics import Visual
from ocp.plots.bodies.solid_triangles import coarsen_mesh, scenery
from ocp.plots.bodies.stick_figures import stick
from ocp.plots.bodies.viewer import VEIL, Viewer, build_scene


def test_without_the_extra_the_viewer_says_how_to_get_it(solution, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ValueError, match="needs viser: install the extra `view`"):
        Viewer()
    ocp.save(solution, tmp_path / "arm.npz")
    assert command(["view", str(tmp_path / "arm.npz")]) == 2
    assert "ocp view: error: the viewer needs viser" in capsys.readouterr().err
    assert command(["view", str(tmp_path / "none.npz")]) == 2
    assert "none.npz" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--port", "70000"], "port: expected a number of 0 to 65535, got 70000"),
        (["--host", "203.0.113.1"], "host '203.0.113.1': cannot be served from here"),
        (["--seconds", "3"], "--seconds: is of a page, which --html FILE.html writes"),
        (["--html", "a.html", "--port", "8000"], "a page that --html writes is not served"),
        (["--html", "a.html", "--seconds", "0"], "seconds: expected a number above 0, got 0"),
        (["--html", "a.html", "--seconds", "nan"], "seconds: expected finite numbers, got nan"),
        (["--html", "."], ".: is a directory, expected a new or a regular file"),
    ],
)
def test_what_cannot_be_shown_so_is_refused_in_a_line(
    solution, tmp_path, monkeypatch, capsys, flags, words
):
    monkeypatch.chdir(tmp_path)
    ocp.save(solution, "arm.npz")
    assert command(["view", "arm.npz", *flags]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("ocp view: error: ") and words in said


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + bytes(200)])
def test_files_that_are_no_results_are_named(tmp_path, capsys, content):
    (tmp_path / "a.npz").write_bytes(content)
    assert command(["view", str(tmp_path / "a.npz")]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and "a.npz: not a result file of this program, or damaged" in said[0]


def test_a_mesh_on_a_coarse_grid_has_fewer_triangles_and_its_size():
    (ball,) = scenery((Visual(kind="sphere", size=(1.0,)),))
    fine, coarse = coarsen_mesh(ball.corners, 0.02), coarsen_mesh(ball.corners, 0.5)
    assert len(fine[1]) == len(ball.corners) and len(fine[0]) < len(ball.corners)
    assert len(coarse[1]) < 0.7 * len(fine[1])
    assert np.abs(coarse[0]).max() == pytest.approx(1.0, abs=0.3)


class Stage:
    """A scene that keeps what is put into it, {name: settings}."""

    def __init__(self):
        self.meshes = {}
        self.initial_camera = self.scene = self

    def add_mesh_simple(self, name, places, faces, **settings):
        self.meshes[name] = settings

    def __getattr__(self, name):
        return lambda *entries, **settings: None


def test_bodies_that_forces_push_do_not_hide_them(solution, hopped):
    for motion, veiled in ((solution, False), (hopped, True)):
        stage, figure = Stage(), stick(motion, motion.times(3))
        build_scene(stage, figure, np.array([0.0, 1.0, 0.0]), 12)
        seen = [each["opacity"] or 1.0 for name, each in stage.meshes.items() if "bodies" in name]
        assert bool(figure.arrows) == veiled and seen
        assert (max(seen) <= VEIL) == veiled


def test_an_iterate_is_a_motion_already(solution):
    """Of a solve: what a watch is handed can be drawn, and the last of it is what is found."""
    motions = []
    found = solve(solution.problem, watch=lambda each: motions.append(each.motion()))
    assert len(motions) == found.statistics["iterations"] + 1
    assert not motions[0].success and motions[0].status == "under way"
    t = np.linspace(0, found.duration, 5)
    np.testing.assert_allclose(motions[-1].q(t), found.q(t), atol=1e-9)
    assert motions[0].duration != pytest.approx(found.duration, rel=1e-3)
    assert found.history[-1].iterate is None and found.history[-1].motion is None


def test_iterates_of_phases_are_motions_too(hopped):
    seen = []
    solve(hopped.problem, guess=hopped, watch=lambda each: seen.append(each.motion()))
    assert set(seen[-1].phases) == set(hopped.phases)
    assert seen[-1].duration == pytest.approx(hopped.duration, rel=1e-4)


def test_a_served_scene_moves_with_its_motion(solution):
    pytest.importorskip("viser", reason="needs the extra `view`")
    viewer = Viewer(port=0)
    viewer.show(solution)
    last = viewer.shown.bodies[-1]
    tip = solution.trace(lambda at: at.position("tip"), solution.duration)
    assert viewer.clock.max == solution.duration  # in true seconds
    viewer.clock.value = solution.duration
    viewer._turn()
    np.testing.assert_allclose(last[1].position, tip, atol=1e-9)
    problem = solution.problem
    solve(problem, watch=viewer.watch)
    assert "iteration" in viewer.words.content
    viewer.stay(0.1)
