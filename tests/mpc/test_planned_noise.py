"""Motions planned under noise, beside closed forms and simulations."""

from dataclasses import replace
from statistics import NormalDist

import casadi as ca
import numpy as np
import pytest
from muscled_arm import arm, excitations
from refusals import refused

import ocp
from ocp.models.arms.two_link import two_link
from ocp.mpc import Noise, exponential, solve_under_noise, spread, verify_under_noise
from ocp.problem import final

MASS, PERIODS = 2.0, 20
WAY, RATE, PUSH, END = 0.05, 0.5, 3.0, 0.1  # deviations and forces that weigh as one


def slider(objective=None, constraints=(), duration=1.0):
    """A mass on a rail that starts at rest."""
    tree = ocp.Tree(
        links=(ocp.Link(mass=MASS),),
        joints=(ocp.prismatic("rail", axis=(1.0, 0.0, 0.0)),),
        gravity=(0.0, 0.0, 0.0),
    )
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=12, degree=5),
        duration=duration,
        objective=objective or ocp.effort(),
        constraints=(ocp.at_start(tree, q=0.0, qd=0.0), *constraints),
    )


def weighed():
    """The squares that the gains of `feedback` make least, of the way to 1 m."""
    along = (
        ocp.squares("way", lambda at: (at.q - 1.0) / WAY)
        + ocp.squares("rate", lambda at: at.qd / RATE)
        + ocp.squares("push", lambda at: at.tau / PUSH)
    )
    return along + final(
        "end", lambda at: ((at.q - 1.0) / (END * WAY)) ** 2 + (at.qd / (END * RATE)) ** 2
    )


def free_pushes(count, duration=1.0):
    """By how much (m) a force of 1 N in each period moves the mass at the end."""
    h = duration / count
    return h * (h / 2 + h * np.arange(count)[::-1]) / MASS


def test_gains_of_a_linear_system_are_riccatis_and_the_mean_cost_is_that_of_lqg():
    noise = Noise(torque=0.5, state=(1e-3, 1e-2), start=np.diag([1e-4, 1e-3]))
    found = solve_under_noise(slider(weighed()), noise, periods=PERIODS).require()
    weights = {"position": WAY, "rate": RATE, "torque": PUSH, "end": END}
    best = ocp.feedback(found.solution, period=1 / PERIODS, **weights)
    np.testing.assert_allclose(found.plan.gains, best.gains, rtol=1e-8)
    value, cost = np.diag(1 / (END * np.array([WAY, RATE])) ** 2), 0.0
    process, h = np.diag([1e-6, 1e-4]), 1 / PERIODS
    for a, b, gain in zip(best.transitions[::-1], best.responses[::-1], best.gains[::-1]):
        cost += np.trace(value @ (process + 0.25 * b @ b.T))
        held = a + b @ gain
        value = held.T @ value @ held + h * (
            np.diag(1 / np.array([WAY, RATE]) ** 2) + gain.T @ gain / PUSH**2
        )
    cost += np.trace(value @ np.diag([1e-4, 1e-3]))
    assert found.objective - found.solution.objective == pytest.approx(cost, rel=1e-8)
    assert found.residual < 1e-6
    verify_under_noise(found).require(1e-6)


GAIN = np.array([[-30.0, -8.0]])  # N/m, N s/m


def answered(count):
    """A mass that is held to its way by a spring and a damper at each instant, in `count` periods,
    and the closed loop (1/s)."""
    start, gains = Noise(start=np.diag([1e-4, 1e-3])), np.tile(GAIN, (count, 1, 1))
    found = solve_under_noise(
        slider(weighed()), start, periods=count, gains=gains, continuous=True
    ).require()
    return found, np.vstack([[0.0, 1.0], GAIN / MASS])


def test_deviations_that_are_answered_at_each_instant_decay_as_the_closed_loop_does():
    found, loop = answered(PERIODS)
    decay, begun = exponential(loop), np.array([0.02, -0.1])
    ends = decay @ found.told.states[0] @ decay.T
    own = spread(found.plan, noise=found.noise).states[-1]
    np.testing.assert_allclose(own, ends, rtol=1e-9)
    np.testing.assert_allclose(found.told.states[-1], ends, rtol=1e-4)
    planned = found.plan.states[:, 0]
    right, wrong = (
        np.vstack([run.q, run.qd])[:, -1]
        for run in (ocp.follow(found.plan, (at[:1], at[1:])) for at in (planned, planned + begun))
    )
    np.testing.assert_allclose(wrong - right, decay @ begun, atol=1e-6)


def test_the_mean_cost_of_what_is_answered_at_each_instant_comes_near_by_the_square_of_periods():
    """The integral of squares by 4000 steps of the closed loop."""
    steps, errors = 4000, []
    for count in (PERIODS, 2 * PERIODS):
        found, loop = answered(count)
        step, known = exponential(loop / steps), found.told.states[0]
        weight = np.diag([WAY**-2, RATE**-2]) + GAIN.T @ GAIN / PUSH**2
        costs = []
        for _ in range(steps + 1):
            costs.append(np.trace(weight @ known))
            last, known = known, step @ known @ step.T
        path = (sum(costs) - (costs[0] + costs[-1]) / 2) / steps
        end = np.trace(np.diag([(END * WAY) ** -2, (END * RATE) ** -2]) @ last)
        errors.append(found.objective - found.solution.objective - path - end)
    assert abs(errors[0]) < 0.02 * path
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_bounds_are_kept_with_a_probability_by_as_many_deviations():
    """A mass goes as far as a wall allows, its variance that of a sum of pushes."""
    wall = ocp.Constraint(name="wall", function=lambda at: at.q, lower=-9.0, upper=1.0, when="end")
    still = ocp.Constraint(name="still", function=lambda at: at.qd, lower=0, upper=0, when="end")
    objective = final("far", lambda at: -100.0 * at.q[0]) + 1e-3 * ocp.effort()
    noise, held = Noise(torque=0.3), np.zeros((PERIODS, 1, 2))
    found = solve_under_noise(
        slider(objective, (wall, still)),
        noise,
        periods=PERIODS,
        gains=held,
        chance={"wall": 0.975},
    ).require()
    deviation = 0.3 * np.sqrt((free_pushes(PERIODS) ** 2).sum())
    assert found.told.deviations[0, -1] == pytest.approx(deviation, rel=1e-9)
    off = NormalDist().inv_cdf(0.975) * deviation
    assert 1.0 - found.solution.q(1.0)[0] == pytest.approx(off, rel=5e-5)
    assert found.margins["wall"] == pytest.approx(0.0, abs=1e-6)


def test_noise_in_proportion_grows_with_the_torques_that_answer_it_too():
    there = ocp.Constraint(name="there", function=lambda at: at.q, lower=1, upper=1, when="end")
    problem, share = slider(constraints=(there,)), 0.05
    held = np.zeros((PERIODS, 1, 2))
    found = solve_under_noise(problem, Noise(proportional=share), periods=PERIODS, gains=held)
    middles = (np.arange(PERIODS) + 0.5) / PERIODS
    forces = share * found.solution.tau(middles)[0]
    deviation = np.sqrt(((forces * free_pushes(PERIODS)) ** 2).sum())
    assert found.told.deviations[0, -1] == pytest.approx(deviation, rel=1e-6)
    noise = Noise(proportional=share, torque=0.2)
    answered = solve_under_noise(problem, noise, periods=PERIODS, gains=held - 3.0)
    told, gain = answered.told.states, np.array([-3.0, -3.0])
    forces, read = answered.solution.tau(middles)[0], np.einsum("i,kij,j->k", gain, told[:-1], gain)
    torques = read + 0.04 + share**2 * (forces**2 + read)
    np.testing.assert_allclose(answered.told.torques[:, 0, 0], torques, rtol=1e-4)


@pytest.fixture(scope="module")
def reach():
    """A reach whose hand is to arrive within 4 mm, by what a camera sees of it."""
    tree = two_link(torque=10.0)
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=16, degree=5),
        duration=0.8,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(tree, q=(0.0, -2.0), qd=0.0),
            ocp.at_end(tree, q=(1.0, -1.0), qd=0.0),
            ocp.torque_limits(tree),
        ),
    )
    hand = ocp.Constraint(
        name="hand", function=lambda at: at.position("tip")[:2], lower=0, upper=0.004, when="end"
    )
    noise = Noise(torque=0.05, proportional=0.02, sensor=(1e-3, 1e-3, 1e-2, 1e-2))

    def seen(at):
        return ca.vertcat(at.position("tip")[:2], at.velocity("tip")[:2])

    return solve_under_noise(
        problem, noise, measured=seen, deviations=(hand,), chance={"torque_limits": 0.99}
    ).require()


def test_variances_are_those_of_simulations_within_what_chance_makes(reach):
    """Of each coordinate at the end, over 200 simulations: nine in ten thousand lie outside the
    band of chi-square (by Wilson & Hilferty 1931), of which none of four does."""
    count, n = 200, 2
    ends = np.array(
        [
            np.hstack([run.q[:, -1], run.qd[:, -1]])
            for run in (ocp.follow(reach.plan, noise=reach.noise, seed=k) for k in range(count))
        ]
    )
    told = np.diag(reach.told.states[-1])[: 2 * n]
    ratio = ends.var(axis=0, ddof=1) / told
    part = 2 / (9 * (count - 1))
    lower, upper = ((1 - part + sign * 3.3 * np.sqrt(part)) ** 3 for sign in (-1, 1))
    assert lower > 0.69 and upper < 1.37
    assert (ratio > lower).all() and (ratio < upper).all()


def test_the_covariances_are_those_of_the_plan_itself(reach):
    """The program's series beside the exponentials of `spread`."""
    own = spread(reach.plan, noise=reach.noise).states
    assert np.abs(reach.told.states - own).max() < 1e-3 * np.abs(own).max()
    assert reach.margins["hand"] == pytest.approx(0.0, abs=1e-3)
    assert reach.objective > reach.solution.objective


def test_muscles_answer_by_their_excitations_what_pushes_the_joint():
    tree = arm(tendon="rigid")
    still = {each.name: 0.0 for each in tree.moving if not each.name.endswith("activation")}
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=16),
        duration=0.8,
        objective=ocp.squares("excitations", excitations),
        constraints=(ocp.at_start(tree, q=(-1.2,), qd=still), ocp.at_end(tree, q=(0.5,), qd=0.0)),
    )
    elbow = ocp.Constraint(
        name="elbow", function=lambda at: at.q[0], lower=0.0, upper=0.01, when="end"
    )
    mesh = ocp.Transcription(method=ocp.Radau(intervals=10))
    noise = Noise(torque=(0.2, 0.0, 0.0))
    held = solve_under_noise(problem, noise, mesh, deviations=(elbow,)).require()
    left = spread(held.plan, noise=noise, open_loop=True)
    assert held.told.deviations[0, -1] < 0.0101 < left.deviations[0, -1]
    own = spread(held.plan, noise=noise).states
    assert np.abs(held.told.states - own).max() < 5e-3 * np.abs(own).max()


@pytest.mark.parametrize(
    ("periods", "chance", "floor", "below"),
    [(16, 0.9, 0.0, 1e-5), (40, 0.99, 1e-3, 2e-4)],
    ids=["exact", "floor"],
)
def test_excitations_that_begin_at_their_bound_are_kept_above_it_with_a_probability(
    periods, chance, floor, below
):
    """Where a muscle is silent its excitation has no room, and must not answer past the floor."""
    tree, z = arm(tendon="rigid", excitation=(0.0, 1.0)), NormalDist().inv_cdf(chance)
    still = {each.name: 0.0 for each in tree.moving if not each.name.endswith("activation")}
    drive = ocp.Constraint(name="drive", function=excitations, lower=0.0, upper=1.0)
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=16),
        duration=0.8,
        objective=ocp.squares("excitations", excitations),
        constraints=(
            ocp.at_start(tree, q={"elbow": -1.2}, qd=still),
            ocp.at_end(tree, q={"elbow": 0.5}, qd=still),
            drive,
        ),
    )
    elbow = ocp.Constraint(
        name="elbow", function=lambda at: at.q[0], lower=0.0, upper=0.01, when="end"
    )
    held = solve_under_noise(
        problem,
        Noise(torque=(0.2, 0.0, 0.0)),
        ocp.Transcription(method=ocp.Radau(intervals=10)),
        periods=periods,
        deviations=(elbow,),
        chance={"drive": chance},
        floor=floor,
    ).require()
    told, gains, starts = held.told.states[:-1], held.plan.gains, held.told.t[:-1]
    variances = np.einsum("kij,kjl,kil->ki", gains, told, gains)[:, 1:].T
    answers = np.sqrt(np.maximum(variances, 0.0))
    planned = held.solution.tau(starts)[1:]  # below zero between nodes of the mesh
    room = planned - z * answers
    assert room.min() > -floor - below
    assert (z * answers - np.abs(planned)).max() < floor + 1e-5
    assert answers.max() > 1e-3 and answers[room < 1e-5].min() < floor / z + 1e-5


def test_what_noise_is_not_known_of_is_refused_by_name(reach):
    problem = reach.solution.problem
    with refused("chance: expected one of torque_limits, got 'torque_limit' (did you mean"):
        solve_under_noise(problem, Noise(), chance={"torque_limit": 0.9})
    with refused("chance: torque_limits: expected 0.5 <= p < 1, got 1.5"):
        solve_under_noise(problem, Noise(), chance=1.5)
    with refused("noise: torque: expected numbers of at least 0"):
        Noise(torque=-1.0)
    with refused("noise: start: expected a covariance"):
        Noise(start=((1.0, 2.0), (2.0, 1.0)))
    between = ocp.Constraint(
        name="between", function=lambda at: at.q, lower=0.0, upper=1.0, when=(0.51, 0.52)
    )
    with refused("constraint 'between': when: no period begins in it; take more periods"):
        solve_under_noise(problem, Noise(torque=0.1), periods=10, deviations=(between,))
    muscled = replace(
        problem, tree=arm(tendon="compliant"), constraints=(), objective=ocp.duration()
    )
    with refused("noise: states of elements that nothing drives: deviations are not known"):
        solve_under_noise(muscled, Noise())
