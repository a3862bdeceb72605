"""Muscles, springs, limits and actuators of OpenSim's files act as they do there."""

import warnings
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_states import states_of, torques
from osim_texts import (
    ACTING,
    BEHIND,
    MUSCLES,
    STRAIGHT,
    body,
    conditional,
    constant,
    coordinate,
    document,
    joint,
    leg,
    line,
    listed,
    muscle,
    point,
    surface,
    transform,
    written,
)

from ocp import load_model
from ocp.interchange import ModelWarning, opensim_contacts
from ocp.mechanics import element_torques
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles import WrapCylinder, muscles_of

CONVERTED = pytest.mark.filterwarnings("ignore:.*have those of De Groote")


def state_of(tree, values, activation=0.0):
    """A state of motion by coordinates' values and rates, others 0."""
    q, qd = np.zeros(tree.dof), np.zeros(tree.dof)
    for name, (value, rate, *_) in values.items():
        q[tree.coordinate(name)], qd[tree.coordinate(name)] = value, rate
    for each in muscles_of(tree):
        q[tree.coordinate(f"{each.name}.activation")] = activation
    return State(tree=tree, q=ca.DM(q), qd=ca.DM(qd))


def moved(tree):
    """The tree without what acts on it."""
    return replace(tree, elements=())


@CONVERTED
def test_muscles_have_the_numbers_of_their_class(tmp_path):
    tree = load_model(written(leg(*MUSCLES), tmp_path))
    first, slow, quick, rear = muscles_of(tree)
    assert [each.compliant for each in (first, slow, quick, rear)] == [False, True, True, True]
    assert [each.force for each in (first, slow, quick, rear)] == [800.0] * 4
    assert (first.damping, first.width, first.rise, first.fall) == (0.02, 1.2, 0.015, 0.060)
    assert (slow.damping, slow.fibre_strain, slow.rise, slow.fall) == (0.1, 0.65, 0.010, 0.040)
    assert (quick.damping, quick.tendon_strain, quick.fall) == (0.0, 0.05, 0.050)
    assert first.excitation == (0.01, 1.0)


def test_activation_that_the_file_switches_off_is_told(tmp_path):
    off = "<ignore_activation_dynamics>true</ignore_activation_dynamics>"
    text = leg(muscle("DeGrooteFregly2016Muscle", "m", STRAIGHT, more=off))
    with pytest.warns(ModelWarning, match="activations follow excitations, .* do not: m$"):
        load_model(written(text, tmp_path))


@needs_opensim
def test_fibres_without_a_passive_force_are_those_of_opensim(tmp_path):
    more = (
        "<ignore_tendon_compliance>true</ignore_tendon_compliance><ignore_passive_fiber_force>{}"
        "</ignore_passive_fiber_force>"
        "<activation_dynamics_smoothing>7</activation_dynamics_smoothing>"
    )
    forces = []
    for word in ("true", "false"):
        long = muscle("DeGrooteFregly2016Muscle", "m", STRAIGHT, more=more.format(word))
        long = long.replace("<optimal_fiber_length>0.2", "<optimal_fiber_length>0.08")
        path = written(leg(long), tmp_path)
        tree = load_model(path)
        (ours,) = muscles_of(tree)
        assert ours.smoothing == 7.0
        state = {"hip": [0.1, 0, 0], "knee": [-0.3, 0, 0]}
        request = {"model": str(path), "states": [state], "activation": 0.4}
        ((theirs, _),) = opensim_answers(MODELS, muscle_forces=request)["muscle_forces"][0].values()
        forces.append(float(ours.tension_force(state_of(tree, state, 0.4))))
        assert forces[-1] == pytest.approx(theirs, abs=1e-9 * ours.force)
    assert forces[1] > forces[0] + 10.0


def test_curves_of_other_models_are_said_to_be_converted(tmp_path):
    with pytest.warns(ModelWarning, match="have those of De Groote: slow; quick"):
        load_model(written(leg(*MUSCLES), tmp_path))


@CONVERTED
def test_muscles_of_version_1_have_their_points_and_their_pennation(tmp_path):
    new, old = leg(MUSCLES[2]), leg(MUSCLES[2])
    for word, before in {
        '<GeometryPath name="path">': "",
        "</GeometryPath>": "",
        "PathPoint": "MusclePoint",
        "PathWrapSet": "MuscleWrapSet",
        "pennation_angle_at_optimal": "pennation_angle",
        'Version="40000"': 'Version="10901"',
    }.items():
        assert word in old
        old = old.replace(word, before)
    assert load_model(written(old, tmp_path)) == load_model(written(new, tmp_path, "new.osim"))


def test_a_surface_stands_between_the_points_between_which_it_acts(tmp_path):
    row = [BEHIND[0], point("b", "thigh", (-0.04, 0.1, 0.0)), BEHIND[1]]
    text = leg(muscle("DeGrooteFregly2016Muscle", "rear", row, ("knob",)))
    (rear,) = muscles_of(load_model(written(text, tmp_path)))
    assert [type(each) is WrapCylinder for each in rear.path.points] == [False, False, True, False]
    assert rear.path.points[2].quadrant == "-x"


@needs_opensim
def test_a_cylinder_that_ends_before_the_path_is_passed_as_in_opensim(tmp_path):
    """Where it would set in and leave beyond both ends: it acts in no posture."""
    text = leg(muscle("DeGrooteFregly2016Muscle", "rear", BEHIND, ("knob",)))
    short = text.replace("<length>0.3</length>", "<length>1e-9</length>")
    assert short != text
    path = written(short, tmp_path)
    tree = load_model(path)
    (rear,) = muscles_of(tree)
    assert not any(isinstance(each, WrapCylinder) for each in rear.path.points)
    states = [{"hip": [0.1, 0, 0], "knee": [angle, 0, 0]} for angle in (-1.0, 0.1, 0.3)]
    answers = opensim_answers(MODELS, paths={"model": str(path), "states": states})["paths"]
    for state, answer in zip(states, answers):
        length = float(rear.path.length(state_of(tree, state)))
        assert length == pytest.approx(answer["rear"][0], abs=1e-12)


EGG = "<quadrant>{}</quadrant><dimensions>0.05 0.06 0.07</dimensions>"


def test_a_cylinder_beyond_whose_ends_paths_pass_in_opensim_is_told(tmp_path):
    text = leg(muscle("DeGrooteFregly2016Muscle", "rear", BEHIND, ("knob",)))
    path = written(text.replace("<length>0.3</length>", "<length>1e-3</length>"), tmp_path)
    with pytest.warns(ModelWarning, match=r"pass beyond them in .*: rear over knob \(30 of 128\)"):
        load_model(path)


@pytest.mark.parametrize(("side", "count"), [("-x", 16), ("x", 21), ("all", 0)])
def test_postures_in_which_an_ellipsoid_is_passed_on_its_other_side_are_told(tmp_path, side, count):
    egg = surface("WrapEllipsoid", "egg", (0.0, 0.01, 0.0), (0, 0, 0), EGG.format(side))
    text = leg(muscle("DeGrooteFregly2016Muscle", "rear", BEHIND, ("egg",))).replace(
        '<WrapObjectSet name="w"><objects>', f'<WrapObjectSet name="w"><objects>{egg}'
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_model(written(text, tmp_path))
    told = [str(each.message) for each in caught if "go the shorter way" in str(each.message)]
    assert [each.rpartition(": ")[2] for each in told] == (
        [f"rear over egg ({count} of 128)"] if count else []
    )


def test_an_actuator_drives_its_coordinate_within_its_limits(tmp_path):
    tree = load_model(written(leg(*ACTING), tmp_path))
    assert tree.driven == ("hip",)
    assert tree.moving[tree.coordinate("hip")].torque == (-30.0, 60.0)


@needs_opensim
@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_a_limit_counts_degrees_where_a_coordinate_turns_plainly_as_in_opensim(tmp_path, slope):
    """Where it turns twice as far, OpenSim calls it coupled, and counts radians."""
    still = "", (1, 0, 0), constant(0.0)
    bend = transform(("knee", (0, 0, 1), line(slope)), None, still, None, None, None)
    turning = joint("CustomJoint", "j", ("/ground", "shank"), [coordinate("knee")], more=bend)
    path = written(document([body("shank", 3.0)], [turning], listed("ForceSet", STOP)), tmp_path)
    tree = load_model(path)
    states = [{"knee": [angle, 0.5, 0.0]} for angle in (-0.9, -0.4, 0.1, 0.6)]
    request = {"model": str(path), "states": states, "forces": True}
    acted = []
    for state, answer in zip(states, opensim_answers(MODELS, mechanics=request)["mechanics"]):
        here = state_of(tree, state)
        given = float(ca.DM(element_torques(tree, here.q, here.qd)))
        needed = torques(tree, state)["knee"]
        assert needed - given == pytest.approx(answer["forces"]["knee"], rel=1e-10, abs=1e-10)
        acted.append(given)
    assert any(acted)


@pytest.mark.parametrize("knee", [-0.8, 0.3])
def test_a_limit_pushes_back_by_stiffness_and_damping_that_set_in(tmp_path, knee):
    tree = load_model(written(leg(ACTING[0]), tmp_path))
    state = state_of(tree, {"knee": (knee, 0.5)})
    given = np.array(ca.DM(element_torques(tree, state.q, state.qd))).ravel()
    if knee > 0:
        depth, stiffness = np.degrees(knee) - 10, -2.0
    else:
        depth, stiffness = -40 - np.degrees(knee), 3.0
    t = depth / 20
    share = 10 * t**3 - 15 * t**4 + 6 * t**5
    assert 0 < t < 1
    expected = share * (stiffness * depth - 0.05 * np.degrees(0.5))
    assert given[tree.coordinate("knee")] == pytest.approx(expected, rel=1e-12)


STOP = (
    '<CoordinateLimitForce name="stop"><coordinate>knee</coordinate>'
    "<upper_limit>0.3</upper_limit><lower_limit>-0.5</lower_limit>"
    "<upper_stiffness>2</upper_stiffness><lower_stiffness>3</lower_stiffness>"
    "<damping>0.05</damping><transition>0.4</transition></CoordinateLimitForce>"
)
LOST = {
    "class": (ACTING[1].replace("SpringGeneralizedForce", "BodyDragForce"), "not read"),
    "surface": (
        muscle("DeGrooteFregly2016Muscle", "rear", BEHIND, ("ring",)),
        "it wraps over 'ring' of class WrapTorus, which is not read",
    ),
    "still": (
        muscle("DeGrooteFregly2016Muscle", "rear", [BEHIND[0], STRAIGHT[0]]),
        "its path crosses no joint that moves",
    ),
    "end": (
        muscle(
            "DeGrooteFregly2016Muscle",
            "rear",
            [BEHIND[0], conditional("c", "shank", (0, 0.1, 0), "knee", (-1, 0))],
        ),
        "an end of its path is conditional",
    ),
    "path": (
        '<DeGrooteFregly2016Muscle name="m"><path><Scholz2015GeometryPath/></path>'
        "</DeGrooteFregly2016Muscle>",
        "it has a path of class Scholz2015GeometryPath; put a GeometryPath in its place",
    ),
}


def test_forces_among_the_components_are_read_or_named_too(tmp_path):
    drag = '<BodyDragForce name="drag"/>'
    loose = f"<components>{ACTING[1]}{drag}</components></Model>"
    with pytest.warns(
        ModelWarning, match=r"left out: drag \(BodyDragForce\): forces of this class"
    ):
        tree = load_model(written(leg().replace("</Model>", loose), tmp_path))
    assert [each.name for each in tree.elements] == ["spring", "spring_damper"]


@pytest.mark.parametrize("case", LOST)
def test_forces_that_are_not_read_are_left_out_by_name_with_the_reason(tmp_path, case):
    force, words = LOST[case]
    ring = surface("WrapTorus", "ring", (0, 0, 0), (0, 0, 0), "<inner_radius>1</inner_radius>")
    text = leg(force).replace(
        '<WrapObjectSet name="w"><objects>', f'<WrapObjectSet name="w"><objects>{ring}'
    )
    with pytest.warns(ModelWarning, match="forces are left out") as caught:
        tree = load_model(written(text, tmp_path))
    assert not tree.elements
    assert words in str(caught[0].message)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<location>0.05 0.3 0.0", "<location>0.05 0.3", "<location>: expected 3 finite numbers"),
        ("<range>-2.0 -0.5", "<range>-2.0", "<range>: expected 2 finite numbers"),
        ("<max_isometric_force>800", "<max_isometric_force>-8", "force: expected a number above 0"),
        (
            "/jointset/knee_joint/knee",
            "/jointset/knee_joint/toe",
            "there is no coordinate '/jointset/knee_joint/toe'",
        ),
        ("/bodyset/shank", "/bodyset/foot", "got '/bodyset/foot', which none has"),
        ("<wrap_object>knob", "<wrap_object>bump", "<wrap_object>: there is no surface 'bump'"),
        ("<radius>0.05", "<radius>-1", "radius: expected a number above 0, got -1"),
        ("<quadrant>-x", "<quadrant>upwards", "<quadrant>: expected one of all, x"),
        (
            "<coordinate>hip</coordinate><optimal",
            "<coordinate>toe</coordinate><optimal",
            "there is no coordinate 'toe'",
        ),
        ("<min_control>-1", "<min_control>low", "<min_control>: expected a number, got 'low'"),
        ("<transition>20", "<transition>0", "<transition>: expected a number above 0, got 0"),
    ],
)
def test_forces_that_are_wrong_are_refused_with_their_place(tmp_path, old, new, words):
    text = leg(*MUSCLES, *ACTING)
    assert old in text
    with pytest.raises(ValueError) as error:
        load_model(written(text.replace(old, new), tmp_path))
    assert str(error.value).startswith("small.osim:")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


# OpenSim ------------------------------------------------------------------------------------------


@needs_opensim
@CONVERTED
def test_lengths_and_arms_of_points_are_those_of_opensim(tmp_path):
    path = written(leg(*MUSCLES[:3]), tmp_path)
    tree = load_model(path)
    states = states_of(moved(tree), 8)
    assert {state["knee"][0] < -0.5 for state in states} == {True, False}
    for state, answer in zip(
        states, opensim_answers(MODELS, paths={"model": str(path), "states": states})["paths"]
    ):
        here = state_of(tree, state)
        for each in muscles_of(tree):
            length, arms = answer[each.name]
            assert float(each.path.length(here)) == pytest.approx(length, abs=1e-12)
            slopes = each.path.slope(here)
            for name, arm in arms.items():
                assert -float(slopes.get(tree.coordinate(name), 0.0)) == pytest.approx(
                    arm, abs=1e-12
                )


@needs_opensim
def test_the_length_over_a_cylinder_is_that_of_opensim(tmp_path):
    path = written(leg(MUSCLES[3]), tmp_path)
    tree = load_model(path)
    states = [{"hip": [0.1, 0, 0], "knee": [angle, 0, 0]} for angle in (-1.0, 0.1, 0.3, 0.5)]
    answers = opensim_answers(MODELS, paths={"model": str(path), "states": states})["paths"]
    (rear,) = muscles_of(tree)
    straight = replace(
        rear.path, points=[each for each in rear.path.points if not isinstance(each, WrapCylinder)]
    )
    lengths = [
        (float(rear.path.length(here)), float(straight.length(here)), answer["rear"][0])
        for here, answer in ((state_of(tree, each), a) for each, a in zip(states, answers))
    ]
    for ours, _, theirs in lengths:
        assert ours == pytest.approx(theirs, abs=1e-5)  # its tangents stop at an error of 1e-3
    assert max(ours - direct for ours, direct, _ in lengths) > 1e-3


@needs_opensim
@CONVERTED
def test_forces_of_muscles_are_those_of_opensim_and_in_equilibrium(tmp_path):
    path = written(leg(*MUSCLES[:3]), tmp_path)
    tree = load_model(path)
    states = [{"hip": [0.1, 0, 0], "knee": [angle, 0, 0]} for angle in (-1.0, -0.6, -0.2)]
    states.append({"hip": [0.1, 1.0, 0], "knee": [-0.3, 2.0, 0]})
    request = {"model": str(path), "states": states, "activation": 0.4}
    answers = opensim_answers(MODELS, muscle_forces=request)["muscle_forces"]
    compared = 0
    for state, answer in zip(states, answers):
        for each in muscles_of(tree):
            here = state_of(tree, state, 0.4)
            if not each.compliant:
                force = float(each.tension_force(here))
                assert force == pytest.approx(answer[each.name][0], abs=1e-9 * each.force)
                compared += 1
            elif each.name in answer and not any(rate for _, rate, _ in state.values()):
                here.q[tree.coordinate(f"{each.name}.force")] = answer[each.name][1]
                fibre = each.fibres(here)
                assert float(fibre.tendon - fibre.pull) == pytest.approx(0.0, abs=1e-6)
                compared += 1
    assert compared > 8


@needs_opensim
def test_springs_and_limits_take_what_they_take_in_opensim(tmp_path):
    path = written(leg(*ACTING[:2]), tmp_path)
    tree = load_model(path)
    states = states_of(tree, 6)
    request = {"model": str(path), "states": states, "forces": True}
    for state, answer in zip(states, opensim_answers(MODELS, mechanics=request)["mechanics"]):
        here = state_of(tree, state)
        given = np.array(ca.DM(element_torques(tree, here.q, here.qd))).ravel()
        for name, needed in torques(tree, state).items():
            left = needed - given[tree.coordinate(name)]
            assert left == pytest.approx(answer["forces"][name], rel=1e-10, abs=1e-10)


FLOOR = (
    '<ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame>'
    "<location>0 0.1 0</location><orientation>0 0 -1.5707963267948966</orientation>"
    "</ContactHalfSpace>"
)
BALL = (
    '<ContactSphere name="ball"><socket_frame>/bodyset/stone</socket_frame>'
    "<location>0.02 -0.03 0.01</location><radius>0.05</radius></ContactSphere>"
)
SMOOTH = (
    '<SmoothSphereHalfSpaceForce name="hit"><socket_sphere>/contactgeometryset/ball'
    "</socket_sphere><socket_half_space>/contactgeometryset/floor</socket_half_space>"
    "<stiffness>2e5</stiffness><dissipation>1.5</dissipation><static_friction>0.8"
    "</static_friction><dynamic_friction>0.4</dynamic_friction><hertz_smoothing>200"
    "</hertz_smoothing><hunt_crossley_smoothing>40</hunt_crossley_smoothing>"
    "</SmoothSphereHalfSpaceForce>"
)
FALLING = document(
    [body("stone", 2.0)],
    [
        joint(
            "SliderJoint",
            "fall",
            ("/ground", "stone"),
            [coordinate("height", reach=(-5, 5))],
            [((0.0, 0.0, 0.0), (0.0, 0.0, np.pi / 2))] * 2,
        )
    ],
    listed("ForceSet", SMOOTH),
    listed("ContactGeometrySet", FLOOR, BALL),
)


@pytest.mark.filterwarnings("ignore:.*take opensim_contacts")
def test_a_contact_is_a_load_on_the_point_of_its_sphere(tmp_path):
    path = written(FALLING, tmp_path)
    (load,) = opensim_contacts(path, load_model(path))
    assert load.point == "ball"
    assert load.law.normal == pytest.approx((0, 1, 0))
    assert load.law.place == pytest.approx((0, 0.1, 0))
    assert (load.law.material.stiffness, load.law.material.radius) == (2e5, 0.05)
    assert (load.law.material.static, load.law.material.dynamic) == (0.8, 0.4)  # to the last digit


def test_contacts_are_said_not_to_be_in_the_tree(tmp_path):
    with pytest.warns(ModelWarning, match="take opensim_contacts: hit"):
        load_model(written(FALLING, tmp_path))


@pytest.mark.filterwarnings("ignore:.*take opensim_contacts")
def test_a_half_space_that_moves_is_refused(tmp_path):
    path = written(FALLING.replace("<socket_frame>/ground", "<socket_frame>stone"), tmp_path)
    with pytest.raises(ValueError, match="only half spaces of the ground are read"):
        opensim_contacts(path, load_model(path))


@needs_opensim
@pytest.mark.filterwarnings("ignore:.*take opensim_contacts")
def test_the_push_of_a_sphere_is_that_of_opensim(tmp_path):
    path = written(FALLING, tmp_path)
    tree = load_model(path)
    (load,) = opensim_contacts(path, tree)
    states = [
        {"height": [0.1 + 0.05 + 0.03 - depth, -rate, 0.0]}
        for depth, rate in ((0.01, 0.0), (0.004, 0.3), (0.02, -0.4), (-0.003, 0.5))
    ]
    request = {"model": str(path), "states": states, "forces": True}
    for state, answer in zip(states, opensim_answers(MODELS, mechanics=request)["mechanics"]):
        height, rate, _ = state["height"]
        push = float(load.law.material.push(ca.DM(0.18 - height), ca.DM(-rate)))
        needed = torques(tree, state)["height"] - answer["forces"]["height"]
        assert needed == pytest.approx(push, rel=1e-9, abs=1e-9)
