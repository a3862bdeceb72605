"""The slew of two flexible links: how the tip vibrates before and after, and the bound on it."""

import json
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline, Radau, Transcription, at_end, at_start, solve, verify
from ocp.certificate.checks.beam_stretch import steepest_slope
from ocp.certificate.checks.energy import energy_error, required_forces
from ocp.cli.commands.run import run_task
from ocp.mechanics import (
    kinetic_energy,
    momentum,
    position,
    potential_energy,
    with_stiffness_factor,
)
from ocp.models.arms.flexible_arm import DRIVES, LOADS, SHORT, slewing_arm
from ocp.problems.arms.flexible_slew import (
    TASK,
    before,
    bending,
    compared,
    executed,
    problem,
    report,
    slew,
    sway,
    tip_deflection,
)
from ocp.transcription.shooting import integrate_passive

GOAL = (1.2, 0.8)


@pytest.fixture(scope="module")
def slewed():
    """The slew of links of one shape, with its bound of a millimetre."""
    return solve(problem(points=40, modes=1)).require()


@pytest.fixture(scope="module")
def vibration(slewed):
    """What its report says of the tip."""
    return report(slewed)["vibration"]


def test_the_vibration_is_a_twentieth_of_that_of_the_motion_planned_for_rigid_links(vibration):
    first, then = vibration["before"], vibration["after"]
    assert first["residual"] > 0.02 and then["residual"] <= 1.001e-3
    # and costs less than 8 % of time
    assert first["duration"] < then["duration"] < 1.08 * first["duration"]
    assert vibration["after, 3 shapes"]["residual"] < 3e-3  # what one shape does not know of


def test_links_bend_by_less_than_a_tenth_of_their_length(vibration, slewed):
    assert 0.02 < max(vibration["after"]["bending"]) < 0.1
    planned = np.abs(slewed.trace(lambda at: bending(at.tree, at.q), slewed.times(400))).max(axis=1)
    assert planned == pytest.approx(vibration["after"]["bending"], rel=1e-2)


def test_the_slew_is_certified(slewed):
    certificate = verify(slewed)
    assert certificate.drift < 1e-3 and certificate.energy_error < 1e-4 and certificate.kkt < 1e-6
    assert energy_error(slewed, required_forces) < 1e-12
    assert certificate.slope is None and "turns by up to" not in str(certificate)
    worst = {name: violation.relative for name, violation in certificate.violations.items()}
    assert all(worst[name] < 1e-2 for name in worst if name != "passive_joints")


def test_the_plan_is_what_the_links_do_when_the_joints_follow_it(slewed):
    arm = slewed.problem.tree
    t, q = executed(slewed, arm)
    moving = t <= slewed.duration
    assert np.abs(q[:, moving] - slewed.q(np.minimum(t[moving], slewed.duration))).max() < 1e-4
    assert np.abs(q[[0, 2]][:, ~moving] - np.array(GOAL)[:, None]).max() < 1e-9
    away = np.linalg.norm(tip_deflection(arm, q)[:, ~moving], axis=0)
    assert 0.5e-3 < away.max() <= 1.001e-3


def test_a_plan_of_first_order_shapes_breaks_its_bound_and_its_certificate_says_how_steep_it_is():
    linear, true = slewing_arm(bend=1, stiffening=False), slewing_arm(bend=1)
    motion = problem(points=24).motion
    plan = solve(slew(linear, GOAL, motion, residual=1e-3, deflection=0.1)).require()
    away = {}
    for arm in (linear, true):
        t, q = executed(plan, arm)
        ringing = tip_deflection(arm, q)[:, t > plan.duration]
        away[arm] = np.linalg.norm(ringing, axis=0).max()
    assert away[linear] <= 1.001e-3 < away[true]
    certificate = verify(plan)
    slope = certificate.slope
    assert slope.link in ("shoulder", "elbow") and 0.03 < slope.angle < 0.15
    assert slope.stretch == pytest.approx(slope.angle**2 / 2)
    shape = linear.links[linear.link_index(slope.link)].modes
    row = linear.amplitude_rows[linear.link_index(slope.link)][0]
    turn = shape.at((shape.length, 0.0, 0.0))[0][1, 0] * plan.q(slope.time)[row]
    assert abs(turn) == pytest.approx(slope.angle, rel=1e-9)  # steepest at its end
    assert f"{slope.link} turns by up to {slope.angle:.3g} rad" in str(certificate)


def test_the_steepest_of_two_links_is_told():
    arm = slewing_arm(bend=1, stiffening=False)
    plan = solve(slew(arm, GOAL, BSpline(points=12, degree=5)))
    slopes = {}
    for link in ("shoulder", "elbow"):
        stiff = slewing_arm(bend=1).links
        links = [
            ours if joint.name == link else theirs
            for joint, ours, theirs in zip(arm.joints, arm.links, stiff)
        ]
        tree = replace(arm, links=links)  # of which one link alone is of first order
        slopes[link] = steepest_slope(replace(plan, problem=replace(plan.problem, tree=tree)))
    assert {link: slope.link for link, slope in slopes.items()} == {link: link for link in slopes}
    least, most = sorted(slopes.values(), key=lambda slope: slope.angle)
    assert least.angle < 0.99 * most.angle and steepest_slope(plan) == most


def test_the_bound_is_the_farthest_that_the_energy_can_send_the_tip():
    """Any state of that energy stays within it, and bent as a force at the tip bends the arm the
    tip is there."""
    arm, rows, bound = slewing_arm(bend=2, damping=0.0), [1, 2, 4, 5], 0.01
    energy = bound**2 / (2 * sway(arm, GOAL))
    rest = np.zeros(arm.dof)
    rest[[0, 3]] = GOAL
    at, rate = ca.SX.sym("q", arm.dof), ca.SX.sym("qd", arm.dof)
    elastic = potential_energy(arm, at)
    parts = [
        kinetic_energy(arm, at, rate) + elastic,
        ca.hessian(elastic, at)[0],
        ca.jacobian(position(arm, at, "tip"), at),
    ]
    held = ca.Function("held", [at, rate], parts)
    _, stiffness, lever = (np.array(part) for part in held(rest, 0))
    stiffness, lever = stiffness[np.ix_(rows, rows)], lever[:, rows]
    direction = np.linalg.svd(lever @ np.linalg.solve(stiffness, lever.T))[0][:, 0]
    worst = np.linalg.solve(stiffness, lever.T @ direction)
    states = [
        np.append(worst, np.zeros(4)),
        *np.random.default_rng(0).standard_normal((3, 8)) * np.repeat([1e-3, 5e-2], 4),
    ]
    reached = []
    for state in states:
        q, qd = rest.copy(), np.zeros(arm.dof)
        q[rows], qd[rows] = state[:4], state[4:]
        state = state * np.sqrt(energy / float(held(q, qd)[0]))
        still = np.repeat(np.append(GOAL, np.zeros(4))[:, None], 4001, axis=1)
        ring = integrate_passive(arm, state, still, 4e-4)
        reached.append(np.linalg.norm(lever @ ring[:4], axis=0).max())
    assert reached[0] == pytest.approx(bound, rel=1e-6)
    assert 0.05 * bound < min(reached) and max(reached) <= bound * (1 + 1e-3)


def test_without_any_residual_the_links_end_straight_and_still():
    still = solve(problem(points=24, modes=1, residual=0.0)).require()
    rows = list(sum(still.problem.tree.amplitude_rows, ()))
    assert np.abs(still.q(still.duration)[rows]).max() < 1e-9
    assert np.abs(still.qd(still.duration)[rows]).max() < 1e-7
    loose = solve(problem(points=24, modes=1, residual=0.01)).require()
    assert loose.duration < still.duration


def test_collocation_takes_the_same_time(slewed):
    stages = solve(slewed.problem, Transcription(method=Radau())).require()
    assert stages.duration == pytest.approx(slewed.duration, rel=3e-3)


def test_very_stiff_links_slew_like_rigid_ones():
    """With a thousand times the stiffness, straight at both ends: nothing accelerates there."""
    arm, motion = slewing_arm(bend=1), problem(points=30).motion
    links = [
        replace(link, modes=link.modes and with_stiffness_factor(link.modes, 1e3))
        for link in arm.links
    ]
    stiff = slew(replace(arm, links=links), GOAL, motion, residual=0.0)
    rigid = slew(slewing_arm(rigid=True), GOAL, motion)
    calm = (at_start(rigid.tree, qdd=0.0), at_end(rigid.tree, qdd=0.0))
    rigid = replace(rigid, constraints=(*rigid.constraints, *calm))
    quickest = solve(rigid).require(coarse=True).duration
    assert solve(stiff).require(coarse=True).duration == pytest.approx(quickest, rel=3e-3)


def test_before_of_a_rigid_plan_is_the_plan():
    rigid = solve(problem(points=24, rigid=True)).require()
    assert before(rigid) is rigid and set(compared(rigid)) == {"before"}


def test_the_arm_is_as_documented():
    arm = slewing_arm()
    assert arm.flexible == ("shoulder", "elbow") and arm.gravity == (0.0, 0.0, 0.0)
    assert [joint.name for joint in arm.joints][-1] == "hub"
    masses = [0.162 + LOADS[0], 0.108 + LOADS[1]]
    assert [link.mass for link in arm.links[:2]] == pytest.approx(masses)
    assert [joint.torque[1] for joint in arm.moving if joint.actuated] == list(DRIVES)
    stiff = replace(arm, links=tuple(replace(link, modes=None) for link in arm.links))
    spin = momentum(stiff, ca.DM.zeros(2), ca.DM([1.0, 0.0]))[0][2]
    beams = 0.162 * SHORT**2 / 3 + 0.108 * (1.5 * SHORT) ** 2 + 0.108 * SHORT**2 / 12
    bodies = 0.8 * 0.05**2 + 0.3 * (SHORT**2 + 0.02**2) + 0.1 * (4 * SHORT**2 + 0.02**2)
    assert float(spin) == pytest.approx(beams + bodies, rel=1e-4)
    with pytest.raises(ValueError, match="residual: expected at least 0 m, got -1"):
        problem(residual=-1.0)


@pytest.mark.commands
def test_the_command_shows_before_and_after(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    files = ["--plot", "slew.png", "--report", "r.json"]
    assert run_task(TASK, ["--points", "24", "--modes", "1", *files]) == 0
    out = capsys.readouterr().out
    for words in ("vibration", "before", "after, 3 shapes", "mm after", "book, derivatives ad"):
        assert words in out
    assert Path("slew.png").stat().st_size > 1e4 and Path("slew-tip.png").stat().st_size > 1e4
    found = json.loads(Path("r.json").read_text())["vibration"]
    assert found["before"]["residual"] > 10 * found["after"]["residual"]
