"""Units of the Functional Mock-up Interface: their motion and slopes are those of the tree."""

import zipfile
from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed
from refusals import refused

from ocp import Link, Parameter, Point, Tree, dh, forward_dynamics
from ocp.interchange import ModelWarning, save_model
from ocp.mechanics.kinematics.kinematics import position
from ocp.mechanics.values.parameters import with_values
from ocp.models.mechanisms.four_bar import four_bar

PAYLOAD = Parameter("payload", 0.5, "kg", lower=0.0)
START = {"shoulder": 0.3, "elbow": -1.0, "elbow.rate": 0.4, "payload": 0.8}
DRIVES = {"shoulder.drive": 0.5, "elbow.drive": 0.1}


def arm():
    upper = Link(mass=0.5, com=(-0.2, 0, 0), inertia=np.diag([0, 0.1, 0.1]))
    joints = dh("shoulder", a=0.4, torque=10), dh("elbow", "shoulder", a=0.4, torque=10)
    point = Point(name="tip", link="elbow")
    lower = Link(mass=PAYLOAD, com=(-0.2, 0, 0), inertia=np.diag([0, 0.1, 0.1]))
    return Tree(links=(upper, lower), joints=joints, points=(point,))


def variables(path):
    """Return the variables of a unit by their names."""
    with zipfile.ZipFile(path) as unit:
        tree = ElementTree.fromstring(unit.read("modelDescription.xml"))
    return {each.get("name"): each for each in tree.iter("ScalarVariable")}


def test_a_unit_is_made_the_same_each_time(tmp_path):
    for name in ("one", "two"):
        save_model(arm(), tmp_path / f"{name}.fmu", name="arm")
    assert (tmp_path / "one.fmu").read_bytes() == (tmp_path / "two.fmu").read_bytes()
    known = variables(tmp_path / "one.fmu")
    assert [*known] == [
        *("shoulder", "elbow", "shoulder.rate", "elbow.rate"),
        *("shoulder.acceleration", "elbow.acceleration", "shoulder.drive", "elbow.drive"),
        *("tip.x", "tip.y", "tip.z", "payload"),
    ]
    assert known["payload"].get("causality") == "parameter"
    assert known["elbow.drive"].find("Real").get("unit") == "N m"


def test_without_a_compiler_the_sources_are_left(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "no_compiler_of_this_name")
    monkeypatch.setenv("OCP_CACHE", str(tmp_path / "cache"))
    with pytest.warns(
        ModelWarning, match="arm.fmu: sources without a library: no C compiler found"
    ):
        save_model(arm(), tmp_path / "arm.fmu")
    with zipfile.ZipFile(tmp_path / "arm.fmu") as unit:
        assert [name for name in unit.namelist() if name.startswith("sources/")]
        assert not [name for name in unit.namelist() if name.startswith("binaries/")]


@compiler_needed
def test_another_program_simulates_the_tree(tmp_path):
    """FMPy (CVode, 1e-9) beside Runge-Kutta steps of the tree's own forward dynamics."""
    fmpy = pytest.importorskip("fmpy", reason="needs the extra `oracles`")
    path = str(tmp_path / "arm.fmu")
    save_model(arm(), path)
    from fmpy.validation import validate_fmu

    assert validate_fmu(path) == []
    found = fmpy.simulate_fmu(
        path,
        stop_time=1.0,
        start_values={**START, **DRIVES},
        relative_tolerance=1e-9,
        output=["shoulder", "elbow", "shoulder.rate", "elbow.rate", "tip.x", "tip.z"],
    )[-1]
    body = with_values(arm(), {PAYLOAD: START["payload"]})
    x, u = ca.SX.sym("x", 4), [*DRIVES.values()]
    rate = ca.Function("f", [x], [ca.vertcat(x[2:], forward_dynamics(body, x[:2], x[2:], u))])
    state, h = np.array([0.3, -1.0, 0.0, 0.4]), 1 / 500
    for _ in range(500):
        one = np.array(rate(state)).ravel()
        two = np.array(rate(state + h / 2 * one)).ravel()
        three = np.array(rate(state + h / 2 * two)).ravel()
        four = np.array(rate(state + h * three)).ravel()
        state = state + h / 6 * (one + 2 * two + 2 * three + four)
    tip = np.array(position(body, ca.DM(state[:2]), "tip")).ravel()
    assert np.abs([*found][1:5] - state).max() < 1e-6
    assert np.abs(np.array([*found][5:]) - tip[[0, 2]]).max() < 1e-6


@compiler_needed
def test_slopes_along_a_direction_are_those_of_differences(tmp_path):
    fmpy = pytest.importorskip("fmpy", reason="needs the extra `oracles`")
    from fmpy.fmi2 import FMU2Model

    path = str(tmp_path / "arm.fmu")
    save_model(arm(), path)
    known = fmpy.read_model_description(path)
    unit = FMU2Model(
        guid=known.guid,
        unzipDirectory=fmpy.extract(path, str(tmp_path / "unit")),
        modelIdentifier="arm",
        instanceName="arm",
    )
    number = {each.name: each.valueReference for each in known.modelVariables}
    unit.instantiate()
    unit.setupExperiment()
    unit.enterInitializationMode()
    given = {**START, **DRIVES, "shoulder.rate": -0.7}
    unit.setReal([number[name] for name in given], [*given.values()])
    unit.exitInitializationMode()
    results = [number[name] for name in number if name.endswith("acceleration") or "tip" in name]
    for name, value in given.items():
        sides = []
        for side in (1e-5, -1e-5):
            unit.setReal([number[name]], [value + side])
            sides.append(np.array(unit.getReal(results)))
        unit.setReal([number[name]], [value])
        slope = unit.getDirectionalDerivative(results, [number[name]], [1.0])
        assert np.abs(slope - (sides[0] - sides[1]) / 2e-5).max() < 1e-7
    kept = unit.serializeFMUstate(unit.getFMUstate())
    unit.setReal([number["shoulder"]], [2.0])
    unit.setFMUstate(unit.deSerializeFMUstate(kept))
    assert unit.getReal([number["shoulder"]]) == [START["shoulder"]]
    unit.terminate()
    unit.freeInstance()


def test_what_a_unit_cannot_say_is_refused(tmp_path):
    with refused("save_model: the states of a unit are independent, and the tree has the loops "):
        save_model(four_bar(), tmp_path / "bars.fmu")
    with refused("save_model: a unit's name is a word of C such as 'arm', got '2 arms'"):
        save_model(arm(), tmp_path / "2 arms.fmu")
    assert not any(tmp_path.iterdir())
