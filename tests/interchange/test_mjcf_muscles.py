"""Muscles of MJCF pull, and move bodies, as they do in MuJoCo."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from mjcf_texts import GAIN, PULLED, muscle

from ocp import Tree
from ocp.interchange import ModelWarning, load_model, quiet
from ocp.mechanics.elements.generalized_forces import State, state_needs, state_rates
from ocp.mechanics.muscles import MujocoMuscle
from ocp.problems.benchmarks.dynamics.compare_mjcf import arm_differences, muscle_differences

pytestmark = pytest.mark.filterwarnings("ignore:.*rotors and friction of turns")
NAMES = "past", "round", "rear", "through", "inside"


@pytest.fixture
def written(tmp_path):
    """Function that writes the model with actuators and returns its path."""
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")

    def write(actuators):
        path = tmp_path / "m.xml"
        path.write_text(PULLED.format(actuators))
        return path

    return write


@pytest.mark.parametrize(("names", "near"), [(NAMES[:3], 1e-12), (NAMES[3:], 1e-6)])
def test_muscles_over_cylinders_and_spheres_are_those_of_mujoco(written, names, near):
    """But for MuJoCo's own tolerance of 1e-6 where a path touches from inside."""
    worst = muscle_differences(written("".join(map(muscle, names))), states=8)
    assert worst["lengths"] < 1e-12 and worst["forces"] < near and worst["accelerations"] < near


def test_paths_pass_surfaces_as_the_mujoco_that_reads_them_lets_them(tmp_path):
    """By either law of its versions: random ends and sides about cylinders and spheres."""
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    rng, sites, ends, tendons, muscles = np.random.default_rng(3), [], [], [], []
    for k in range(24):
        start, end, side = rng.uniform(-0.25, 0.25, (3, 3)) * [[1], [1], [0.3 if k % 4 else 1]]
        for name, place, row in (("a", start, sites), ("s", side, sites), ("b", end, ends)):
            row.append(f'<site name="{name}{k}" pos="{" ".join(map(str, place))}"/>')
        geom = ("bar", "ball")[k % 2]
        tendons.append(
            f'<spatial name="t{k}"><site site="a{k}"/><geom geom="{geom}" sidesite="s{k}"/>'
            f'<site site="b{k}"/></spatial>'
        )
        muscles.append(muscle(f"t{k}"))
    path = tmp_path / "many.xml"
    path.write_text(
        '<mujoco><worldbody><geom name="bar" type="cylinder" size="0.1 1"/>'
        f'<geom name="ball" size="0.1"/>{"".join(sites)}<body><joint type="slide" axis="1 0.3 0" '
        f'range="-0.1 0.1"/><geom size="0.02" mass="1"/>{"".join(ends)}</body></worldbody>'
        f"<tendon>{''.join(tendons)}</tendon><actuator>{''.join(muscles)}</actuator></mujoco>"
    )
    mujoco, tree = pytest.importorskip("mujoco"), load_model(path)
    with quiet(mujoco):
        model = mujoco.MjModel.from_xml_path(str(path))
    data, q = mujoco.MjData(model), ca.SX.sym("q", tree.dof)
    state = State(tree=tree, q=q)
    lengths = [each.path.length(state) for each in tree.elements]
    own = ca.Function("own", [q], [ca.vertcat(*lengths)])
    for slide in rng.uniform(-0.1, 0.1, 20):
        data.qpos[:] = slide
        mujoco.mj_forward(model, data)
        ours = np.array(own([slide, *tree.neutral[1:]])).ravel()
        np.testing.assert_allclose(ours, data.ten_length, rtol=0, atol=1e-10)


def test_every_way_past_a_surface_is_taken(written):
    """So that the comparison tries them: over, past by a side, and missed; through and at rest."""
    tree = load_model(written("".join(map(muscle, NAMES))))
    q = ca.SX.sym("q", tree.dof)
    state = State(tree=tree, q=q)
    muscles = [each for each in tree.elements if isinstance(each, MujocoMuscle)]
    straight = [
        replace(each.path, points=[p for p in each.path.points if hasattr(p, "position")])
        for each in muscles
    ]
    longer = [m.path.length(state) - s.length(state) for m, s in zip(muscles, straight)]
    function = ca.Function("longer", [q], [ca.vertcat(*longer)])
    postures = np.random.default_rng(0).uniform(-0.8, 0.8, (40, 3))
    states = np.hstack([postures, np.zeros((40, 5))])
    wraps = np.array(function(states.T)) > 1e-9
    assert wraps.any(axis=1).all() and not wraps[:2].all(axis=1).any()


def test_activation_follows_excitation_as_in_mujoco(written):
    mujoco = pytest.importorskip("mujoco")
    path = written(muscle("past"))
    tree = load_model(path)
    with quiet(mujoco):
        model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for activation, excitation in ((0.2, 0.9), (0.8, 0.1), (0.5, 0.5)):
        data.act[:], data.ctrl[:] = activation, excitation
        mujoco.mj_forward(model, data)
        q = ca.DM([0, 0, 0, activation])
        rate = state_rates(tree, q, ca.DM.zeros(4), ca.DM([0, 0, 0, excitation]))[0]
        assert float(rate) == pytest.approx(data.act_dot[0], rel=1e-12, abs=1e-15)
        needs = state_needs(tree, q, ca.vertcat(0, 0, 0, rate))
        assert float(needs[3]) == pytest.approx(excitation, abs=1e-12)


def test_a_muscle_has_other_numbers_for_its_passive_part(written):
    other = "0.5 1.2 700 1 0.4 1.5 8 0.9 1.4"
    path = written(muscle("past").replace(f'biasprm="{GAIN}"', f'biasprm="{other}"'))
    assert [each.name for each in load_model(path).elements] == ["past", "past passive"]
    worst = muscle_differences(path, states=8)
    assert worst["forces"] < 1e-12 and worst["accelerations"] < 1e-12


@pytest.mark.parametrize(
    ("actuator", "words"),
    [
        (muscle("past", "0 0"), "past (its lengthrange is not stated)"),
        (muscle("past", more='gear="2"'), "past (its gear is not 1)"),
        (muscle("past", more='forcerange="-9 0"'), "past (its force is limited)"),
        (muscle("past").replace("0.01 0.04 0", "0.01 0.04 1"), "past (its activation is smoothed)"),
    ],
)
def test_muscles_that_are_not_read_are_named_with_the_reason(written, actuator, words):
    with pytest.warns(ModelWarning, match="muscles are left out") as said:
        tree = load_model(written(actuator))
    assert words in str(said[0].message) and isinstance(tree, Tree) and not tree.elements


@pytest.mark.commands
@pytest.mark.parametrize(
    ("name", "count"),
    [("myolegs26", 26), ("myolegs", 80), ("myofullbody", 414)],
)
@pytest.mark.filterwarnings("ignore")
def test_public_bodies_of_muscles_move_as_in_mujoco(tmp_path, name, count):
    """By MuJoCo 3, for which they are made, and 4, which passes surfaces by another law.

    MuJoCo's arms of muscles that touch a surface from inside are up to 2e-9 m off the slopes of its
    own lengths, since it ends its search for the place at an error of 1e-6: ours are those slopes.
    """
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    myo_sim = pytest.importorskip("myo_sim", reason="needs the extra `muscles`")
    path = tmp_path / f"{name}.xml"
    compose = pytest.importorskip("myo_sim.build.compose")
    compose.write_spec_xml(myo_sim.load_spec(name), path)
    tree = load_model(path)
    assert sum(isinstance(each, MujocoMuscle) for each in tree.elements) == count
    worst = muscle_differences(path, states=2, within=False)
    assert worst["lengths"] < 1e-9 and worst["forces"] < 1e-9 and worst["accelerations"] < 1e-9
    if name != "myofullbody":
        return
    worst = muscle_differences(path, states=2)
    assert worst["lengths"] < 1e-9 and worst["forces"] < 1e-8 and worst["accelerations"] < 1e-6
    arms = arm_differences(path, states=2)
    assert arms["ours"] < 2e-11 < 1e-10 < arms["MuJoCo's"]
