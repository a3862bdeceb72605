"""Contents of a model's file, and parts left out, told from the command line."""

import numpy as np
from osim_texts import ACTING, MUSCLES, leg, written

from ocp import load_model
from ocp.cli.main import command
from ocp.mechanics import poses
from ocp.plots import plot_model
from ocp.plots.bodies.model_picture import wrap_solids


def test_a_model_is_told_and_converted(tmp_path, capsys):
    path = written(leg(MUSCLES[0], *ACTING), tmp_path)
    assert command(["model", str(path), "--save", str(tmp_path / "again.osim")]) == 0
    said = capsys.readouterr().out
    assert "coordinates           2, 1 of them driven, and 1 states" in said
    assert "hip                   -1 to 1 rad, driven -30 to 60 N m" in said
    assert "again.osim: elements are left out: stop (PassiveMoment)" in said
    assert load_model(tmp_path / "again.osim").driven[0] == "hip"


def test_a_model_is_drawn_with_its_muscles_and_what_they_wrap_over(tmp_path, capsys):
    path = written(leg(MUSCLES[0], MUSCLES[3]), tmp_path)
    assert command(["model", str(path), "--plot", str(tmp_path / "leg.png")]) == 0
    assert (tmp_path / "leg.png").read_bytes().startswith(b"\x89PNG")
    tree = load_model(path)
    (solid,) = wrap_solids(tree)
    assert solid.link == tree.link_index("shank")
    (title,) = [axes.get_title() for axes in plot_model(tree).axes]
    assert title == "2 links, 2 muscles, 1 surfaces to wrap over"
    assert command(["model", str(path), "--plot", str(tmp_path / "leg.txt")]) == 2
    assert ".txt" in capsys.readouterr().err


def test_models_are_converted_both_ways(tmp_path, capsys):
    first, second = tmp_path / "leg.urdf", tmp_path / "again.osim"
    assert command(["model", str(written(leg(), tmp_path)), "--save", str(first)]) == 0
    assert command(["model", str(first), "--save", str(second)]) == 0
    tree, again = load_model(tmp_path / "small.osim"), load_model(second)
    q = np.array([0.3, -0.5])
    for link in ("thigh", "shank"):
        places = [each.link_index(link) for each in (tree, again)]
        ours, theirs = (poses(each, q)[k] for each, k in zip((tree, again), places))
        np.testing.assert_allclose(np.array(ours), np.array(theirs), atol=1e-12)


def test_what_is_wrong_is_said_in_one_line(tmp_path, capsys):
    path = written(leg().replace("PinJoint", "ScrewJoint"), tmp_path)
    assert command(["model", str(path)]) == 2
    said = capsys.readouterr()
    assert "joints of this class are not read" in said.err and "Traceback" not in said.err
    assert not said.out
