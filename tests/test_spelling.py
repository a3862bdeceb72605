"""Misspelt names are answered with the names that may be meant."""

from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest

import ocp
from ocp.cli.main import command
from ocp.models.arms.two_link import two_link
from ocp.spelling import suggestion
from ocp.studies.store.function_addresses import module_at

ARM = two_link()
RESULTS = {"Fit", "Instant", "Iteration", "MarkerFit", "ObjectiveFit", "Plan", "Simulation"}
RESULTS |= {"Solution", "Verification"}
FACES = ("mechanics.elements", "motion", "transcription", "studies")
STATED = sorted(
    {
        record
        for face in ("ocp", *(f"ocp.{name}" for name in FACES))
        for name in (ocp.__all__ if face == "ocp" else import_module(face).__all__)
        if isinstance(record := getattr(import_module(face), name), type)
        and is_dataclass(record)
        and hasattr(record.__init__, "__wrapped__")
    },
    key=lambda record: record.__name__,
)


def test_records_that_users_state_suggest_fields():
    stated = {record.__name__ for record in STATED}
    own = {
        name
        for name in ocp.__all__
        if isinstance(record := getattr(ocp, name), type) and is_dataclass(record)
    }
    assert own - RESULTS <= stated, own - RESULTS - stated
    assert {"BSpline", "Joint", "Link", "Parameter", "Problem", "Solver", "Task"} <= stated


@pytest.mark.parametrize("record", STATED, ids=lambda record: record.__name__)
def test_a_wrong_keyword_is_answered_with_the_nearest_field(record):
    field = next(entry.name for entry in fields(record) if entry.init and len(entry.name) > 3)
    odd = field[:2] + field[3:] + "x"
    with pytest.raises(TypeError, match=f"{record.__name__}: no field '{odd}' .did you mean '"):
        record(**{odd: 1})


def test_a_missing_field_is_still_pythons_own_error():
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'name'"):
        ocp.Joint()
    with pytest.raises(TypeError, match="Link: no field 'xyz'; the fields are mass, com"):
        ocp.Link(xyz=1.0)


def stated(function):
    constraint = ocp.path("own", function, upper=1.0)
    return ocp.Problem(
        tree=ARM,
        motion=ocp.BSpline(points=5),
        duration=1.0,
        objective=ocp.effort(),
        constraints=(constraint,),
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: ocp.solve(stated(lambda at: at.tua[0])), "no 'tua' .did you mean 'tau'"),
        (lambda: ocp.solve(stated(lambda at: at.postion("tip"))), "did you mean 'position'"),
        (lambda: ocp.solve(stated(lambda at: at.position("tpi"))), "did you mean 'tip'"),
        (lambda: ocp.at_end(ARM, q={"elbwo": 1.0}), "unknown joint 'elbwo' .did you mean 'elbow'"),
        (lambda: ARM.link_index("sholder"), "unknown link 'sholder' .did you mean 'shoulder'"),
        (lambda: ARM.point("shouldr"), "unknown point 'shouldr' .did you mean 'shoulder'"),
        (lambda: ocp.with_limits(ARM, torqe=3.0), "unknown limit 'torqe' .did you mean 'torque'"),
        (lambda: module_at("two_link_tmie"), "did you mean 'two_link_time'"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_what_an_instant_lacks_inside_is_told_as_it_is():
    class Lacking(ocp.Instant):
        @property
        def broken(self):
            return self.tree.nothing

    at = object.__new__(Lacking)
    object.__setattr__(at, "tree", ARM)
    with pytest.raises(AttributeError, match="'Tree' object has no attribute 'nothing'"):
        at.broken  # noqa: B018


def test_names_unlike_all_are_answered_with_nothing():
    assert suggestion("xyz", ("mass", "com")) == "" == suggestion(3, ())
    assert suggestion("Elbow", ("elbow",)) == " (did you mean 'elbow'?)"
    assert suggestion("--solver", ("--save",)) == ""  # which dashes alone make alike


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run two_link_time --pionts=8", "(did you mean '--points'?)"),
        ("compare two_link_time --solver ipopt", "(did you mean '--solvers'?)"),
        ("study two_link_time --wrkers 2", "(did you mean '--workers'?)"),
        ("run two_link_tmie", "(did you mean 'two_link_time'?)"),
        ("stdy", "no command 'stdy' (did you mean 'study'?)"),
    ],
)
def test_a_misspelt_flag_or_command_is_answered_with_the_nearest(line, message, capsys):
    assert command(line.split()) == 2
    assert message in capsys.readouterr().err
