"""Contents of a model's file, and parts left out, told from the command line."""

from osim_texts import ACTING, MUSCLES, leg, written

from ocp import load_model
from ocp.cli.main import command


def test_a_model_is_told_and_converted(tmp_path, capsys):
    path = written(leg(MUSCLES[0], *ACTING), tmp_path)
    assert command(["model", str(path), "--save", str(tmp_path / "again.osim")]) == 0
    said = capsys.readouterr().out
    assert "coordinates           2, 1 of them driven, and 1 states" in said
    assert "hip                   -1 to 1 rad, driven -30 to 60 N m" in said
    assert "again.osim: elements are left out: stop (PassiveMoment)" in said
    assert load_model(tmp_path / "again.osim").driven[0] == "hip"


def test_what_is_wrong_is_said_in_one_line(tmp_path, capsys):
    path = written(leg().replace("PinJoint", "ScrewJoint"), tmp_path)
    assert command(["model", str(path)]) == 2
    said = capsys.readouterr()
    assert "joints of this class are not read" in said.err and "Traceback" not in said.err
    assert not said.out
