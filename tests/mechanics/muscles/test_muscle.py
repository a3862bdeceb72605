"""Muscles as elements: equilibrium, states, and what is refused."""

from dataclasses import replace
from math import inf

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Tree, revolute
from ocp.mechanics import (
    elastic_energy,
    element_loss,
    element_torques,
    state_needs,
    state_rates,
)
from ocp.mechanics.muscles import Fatigue, GivenPath, Muscle
from ocp.mechanics.muscles.force_curves import (
    active_force,
    force_velocity,
    passive_force,
    tendon_force,
)


def path(x):
    """Length (m) of a path with an arm of 3 cm about a joint."""
    return 0.3 - 0.03 * x[0]


CALF = Muscle(
    name="calf",
    path=GivenPath(joints=("ankle",), function=path),
    force=1500.0,
    fibre=0.09,
    slack=0.21,
    pennation=0.3,
)


def leg(*muscles):
    link = Link(mass=1.0, com=(0.1, 0.0, 0.0), inertia=np.eye(3) * 0.01)
    return Tree(links=(link,), joints=(revolute("ankle", actuated=False),), elements=muscles)


def random_muscle(rng, name):
    lever = float(rng.uniform(-0.05, 0.05))
    fibre, slack = rng.uniform(0.04, 0.2), rng.uniform(0.05, 0.35)
    pennation = rng.uniform(0.0, 0.6)
    whole = slack + fibre * np.cos(pennation) * rng.uniform(0.7, 1.3)
    return Muscle(
        name=name,
        path=GivenPath(joints=("ankle",), function=lambda x: whole + lever * x[0]),
        force=rng.uniform(100.0, 5000.0),
        fibre=fibre,
        slack=slack,
        pennation=pennation,
        tendon="compliant",
        tendon_strain=rng.uniform(0.03, 0.1),
        damping=float(rng.choice([0.0, 0.01, 0.1])),
    )


def test_tendon_and_fibres_of_random_muscles_are_in_equilibrium():
    """The rate of the tendon's force, found by Newton's steps, leaves no residual (1e-9 asked)."""
    rng = np.random.default_rng(37)
    muscles = [random_muscle(rng, f"m{k}") for k in range(100)]
    tree = leg(*muscles)
    q = np.array([rng.uniform(-0.5, 0.5), *np.ravel(rng.uniform(0.05, 1.0, (100, 2)))])
    qd, controls = rng.uniform(-2.0, 2.0, tree.dof), rng.uniform(0.01, 1.0, tree.dof)
    qd[1:] = np.array(state_rates(tree, ca.DM(q), ca.DM(qd), ca.DM(controls))).ravel()
    needs = np.array(state_needs(tree, ca.DM(q), ca.DM(qd))).ravel()
    controls[2::2] = 0.0
    assert np.abs(needs[1:] - controls[1:]).max() < 1e-9


def test_rigid_tendon_pulls_by_its_fibres():
    """By the formulas as De Groote et al. print them."""
    q, qd = np.array([0.2, 0.4]), np.array([-1.5, 3.0])
    given = element_torques(leg(CALF), ca.DM(q), ca.DM(qd))
    along = 0.3 - 0.03 * 0.2 - 0.21
    fibre = np.hypot(0.09 * np.sin(0.3), along)
    cosine = along / fibre
    speed = 0.03 * 1.5 * cosine / (10 * 0.09)
    force = 0.4 * active_force(fibre / 0.09) * force_velocity(speed)
    force += passive_force(fibre / 0.09) + 0.01 * speed
    assert float(given[0]) == pytest.approx(0.03 * 1500.0 * force * cosine, rel=1e-12)
    assert float(given[1]) == 0.0


def test_stretched_tendon_has_the_force_that_is_its_state():
    compliant = replace(CALF, tendon="compliant")
    tree = leg(compliant)
    tension = float(tendon_force(1.02))
    pull = element_torques(tree, ca.DM([0.2, 0.4, tension]), ca.DM([-1.5, 3.0, 1.0]))[0]
    assert float(pull) == pytest.approx(0.03 * 1500.0 * tension, rel=1e-12)


def test_what_muscles_take_is_stored_or_lost():
    """Power on the bodies, rate of the stored energy, by differences of sixth order, and loss
    together are zero, tendons in equilibrium or not; what is lost of passive fibres is damping."""
    rng = np.random.default_rng(7)
    muscles = [random_muscle(rng, f"m{k}") for k in range(20)]
    rigid = replace(muscles[0], name="rigid", tendon="rigid")
    tree = leg(*muscles, rigid)
    q = np.array([0.1, *rng.uniform(0.05, 1.0, tree.dof - 1)])
    qd, step = rng.uniform(-2.0, 2.0, tree.dof), 1e-3
    beside = [
        weight * float(elastic_energy(tree, ca.DM(q + shift * step * qd)))
        for shift, weight in zip((-3, -2, -1, 1, 2, 3), np.array([-1, 9, -45, 45, -9, 1]) / 60)
    ]
    given = np.array(element_torques(tree, ca.DM(q), ca.DM(qd))).ravel() @ qd
    lost = float(element_loss(tree, ca.DM(q), ca.DM(qd)))
    assert given + sum(beside) / step + lost == pytest.approx(0.0, abs=1e-9 * abs(lost))
    alone = leg(replace(rigid, damping=0.0, excitation=(0.0, 1.0), activation=None))
    still = float(element_loss(alone, ca.DM([0.1, 0.0]), ca.DM([1.5, 0.0])))
    assert still == pytest.approx(0.0, abs=1e-12)


def test_tendon_settles_in_its_time():
    """Fully active and held, it goes back to equilibrium by that exponential, but for passive
    fibres."""
    sole = replace(CALF, tendon="compliant", pennation=0.0, slack=0.02, tendon_strain=0.05)
    tree = leg(replace(sole, path=GivenPath(joints=("ankle",), function=lambda x: 0.111 - x[0])))
    force, still = ca.SX.sym("F"), ca.SX([0.0, 0.0, 0.0])
    rate = state_rates(tree, ca.vertcat(0.0, 1.0, force), still, still)[1]
    slope = float(ca.Function("slope", [force], [ca.gradient(rate, force)])(1.0))
    assert -1 / slope == pytest.approx(sole.settling_time, rel=0.05)


def test_states_stand_last_in_q():
    tree = leg(CALF, replace(CALF, name="sole", tendon="compliant"))
    names = [joint.name for joint in tree.moving]
    assert names == ["ankle", "calf.activation", "sole.activation", "sole.force"]
    assert tree.states == (1, 2, 3)
    assert tree.driven == ("calf.activation", "sole.activation")
    assert tree.coordinate("sole.force") == 3
    assert tree.neutral == (0.0, 0.01, 0.01, 0.01)


@pytest.mark.parametrize("tendon", ["rigid", "compliant"])
def test_tired_units_are_not_there(tendon):
    """Of a muscle of which a third is tired two thirds pull; rates need what makes them."""
    tired = replace(CALF, tendon=tendon, fatigue=Fatigue(tiring=0.01, recovery=0.002))
    tree = leg(tired)
    names = [variable.name for variable in tired.states]
    assert names[-1] == "calf.fatigued" and len(names) == (2 if tendon == "rigid" else 3)
    force = [0.2] * (tendon == "compliant")
    q = ca.DM([0.1, 0.6, *force, 1 / 3])
    alike = ca.DM([0.1, 0.4, *force])
    fresh = leg(replace(tired, fatigue=None))
    still = ca.DM.zeros(tree.dof)
    controls = ca.DM([0.0, 0.7, *([0.0] * (tree.dof - 2))])
    rates = state_rates(tree, q, still, controls)
    other = state_rates(fresh, alike, still[:-1], controls[:-1])
    assert float(rates[-1]) == pytest.approx(0.01 * 0.4 - 0.002 / 3, rel=1e-12)
    if force:
        assert float(rates[1]) == pytest.approx(float(other[1]), rel=1e-12)
    else:
        pulls = [
            element_torques(each, x, ca.DM.zeros(each.dof))[0]
            for each, x in ((tree, q), (fresh, alike))
        ]
        assert float(pulls[0]) == pytest.approx(float(pulls[1]), rel=1e-12)
    needs = state_needs(tree, q, ca.vertcat(0.0, rates))
    assert np.array(needs).ravel() == pytest.approx(np.array(controls).ravel(), abs=1e-9)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"slack": 0.0}, "muscle 'calf': slack: expected a number above 0, got 0"),
        ({"fibre": -0.1}, "muscle 'calf': fibre: expected a number above 0"),
        ({"force": 0.0}, "muscle 'calf': force: expected a number above 0"),
        ({"pennation": 2.0}, "muscle 'calf': pennation: expected at most 1.5 rad, got 2"),
        ({"tendon": "elastic"}, "muscle 'calf': tendon: expected one of rigid, compliant"),
        (
            {"excitation": (0.0, 1.0), "activation": (0.01, 1.0)},
            "muscle 'calf': excitation: expected a lower bound of at least the activation's, 0.01",
        ),
        ({"tension": (-0.3, 5.0)}, "muscle 'calf': tension: expected a lower bound above -0.2"),
        ({"path": path}, "muscle 'calf': path: expected a PointPath, PolynomialPath or GivenPath"),
        ({"fatigue": 0.01}, "muscle 'calf': fatigue: expected Fatigue, got float"),
        ({"name": ""}, "muscle: name: expected a word"),
        ({"excitation": (-inf, inf)}, "muscle 'calf': excitation: expected finite bounds"),
    ],
)
def test_bad_muscle_is_refused(change, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        replace(CALF, **change)


def test_name_used_twice_is_refused():
    with pytest.raises(ValueError, match="element 'calf': the name is used twice"):
        leg(CALF, CALF)


def test_path_over_an_unknown_joint_is_refused():
    knee = replace(CALF, path=GivenPath(joints=("knee",), function=path))
    with pytest.raises(ValueError, match="muscle 'calf': unknown joint 'knee'"):
        leg(knee)


def test_derivatives_of_forces_and_laws_are_those_of_differences():
    """First and second ones, by differences of sixth order (1e-8 asked)."""
    tree = leg(CALF, replace(CALF, name="sole", tendon="compliant"))
    q, qd = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    x = ca.vertcat(q, qd)
    values = ca.vertcat(element_torques(tree, q, qd) / 100.0, state_needs(tree, q, qd))
    total = ca.sum1(values)
    hessian, gradient = ca.hessian(total, x)
    look = ca.Function("look", [x], [values, gradient, ca.jacobian(values, x), hessian])
    here, step = np.array([0.2, 0.4, 0.3, 0.2, -1.0, 2.0, -1.0, 0.3]), 1e-3
    _, _, slopes, bends = (np.array(each) for each in look(here))
    factors = dict(zip((-3, -2, -1, 1, 2, 3), np.array([-1, 9, -45, 45, -9, 1]) / 60 / step))
    for k, unit in enumerate(np.eye(len(here))):
        beside = {shift: look(here + shift * step * unit) for shift in factors}
        first = sum(factor * np.array(beside[shift][0]) for shift, factor in factors.items())
        second = sum(factor * np.array(beside[shift][1]) for shift, factor in factors.items())
        assert np.abs(first.ravel() - slopes[:, k]).max() < 1e-8 * np.abs(slopes).max()
        assert np.abs(second.ravel() - bends[:, k]).max() < 1e-8 * np.abs(bends).max()
