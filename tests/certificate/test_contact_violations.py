"""Contact violations of a motion: slip, speed, push, friction and balance.

Every number is compared with one of the motion's own traces.
"""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import LEAVE, STRIKE, crouched

from ocp.certificate import contact_quality, contact_violations
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.solution import dense_instants

SPANS = {"right": (STRIKE, 1.0), "left": (0.0, LEAVE)}


@pytest.fixture(scope="module")
def spoilt():
    """A crouch whose feet move while they are held, and which leans on them askew."""
    solution = crouched()
    rng = np.random.default_rng(5)
    return replace(solution, points=solution.points + 0.02 * rng.standard_normal((10, 5)))


@pytest.fixture(scope="module")
def seen(spoilt):
    """Its instants (s), and heels, their speeds, and forces on feet there, by foot."""
    s = dense_instants(spoilt)
    t = s * spoilt.duration
    heels = {side: spoilt.trace(lambda at, n=f"heel_{side}": at.position(n), t) for side in SPANS}
    speeds = {side: spoilt.trace(lambda at, n=f"heel_{side}": at.velocity(n), t) for side in SPANS}
    forces = {side: spoilt.trace(lambda at, n=side: at.reaction.force(n), t) for side in SPANS}
    return s, heels, speeds, forces


def stands(s, side):
    """Tell at which instants a foot is held, and at which of these it has just struck."""
    start, end = SPANS[side]
    on = (s >= start - 1e-9) & (s <= end + 1e-9)
    return on, on & (np.abs(s - start) < 1e-9) & (side == "right")


def largest(by_side):
    """The largest of {side: numbers}, and its side."""
    side = max(by_side, key=lambda name: by_side[name])
    return pytest.approx(by_side[side], rel=1e-9), f"heel_{side}"


def test_slips_and_their_speeds_are_those_of_the_held_points(spoilt, seen):
    s, heels, speeds, _ = seen
    feet, ways, rates, heights = contact_quality(spoilt), {}, {}, {}
    for side in SPANS:
        on, strike = stands(s, side)
        place, rate = heels[side][:2], np.linalg.norm(speeds[side][:2], axis=0)
        ways[side] = np.linalg.norm(place[:, on] - place[:, on][:, :1], axis=0).max()
        rates[side], heights[side] = rate[on & ~strike].max(), np.abs(heels[side][2, on]).max()
    assert (feet.slip.value, feet.slip.where) == largest(ways) and ways["left"] > 1e-3
    assert (feet.slip_speed.value, feet.slip_speed.where) == largest(rates)
    assert (feet.height.value, feet.height.where) == largest(heights)
    _, strike = stands(s, "right")
    at_strike = np.linalg.norm(speeds["right"][:, strike], axis=0).max()
    assert feet.strike_speed.value == pytest.approx(at_strike, rel=1e-9)
    assert (feet.slip.unit, feet.slip_speed.unit) == ("m", "m/s")


def test_pushes_and_friction_are_those_of_the_forces(spoilt, seen):
    s, _, _, forces = seen
    feet, weight = contact_quality(spoilt), body_weight(spoilt.problem.tree)
    ratios, pushes = [], []
    for side, force in forces.items():
        loaded = force[2] > 0.02 * weight
        ratios.append((np.hypot(*force[:2, loaded]) / force[2, loaded]).max())
        start, end = (STRIKE, np.inf) if side == "right" else (-np.inf, LEAVE)
        pushes.append(force[2, (s > start + 1e-9) & (s < end - 1e-9)].min() / weight)
    assert feet.friction.value == pytest.approx(max(ratios), rel=1e-9) and max(ratios) > 1e-2
    assert feet.push.value == pytest.approx(min(pushes), rel=1e-9)


def test_what_is_left_for_the_root_is_told_with_its_joint_and_time(monkeypatch):
    """By construction nothing is, so that a trace is altered: by a third of the weight at once."""
    solution, honest = crouched(), contact_violations.traces
    weight = body_weight(solution.problem.tree)

    def altered(*arguments):
        traced = honest(*arguments)
        traced["left"][4, 7] -= weight / 3
        return traced

    assert contact_quality(solution).unbalanced.value < 1e-12
    monkeypatch.setattr(contact_violations, "traces", altered)
    worst = contact_quality(solution).unbalanced
    assert (worst.value, worst.where) == (pytest.approx(1 / 3), "pitch")
    assert worst.time == pytest.approx(dense_instants(solution)[7] * solution.duration)


def test_wrenches_at_nodes_are_compared_with_what_the_motion_needs():
    """Half of all wrenches leave half of what is needed, before they are corrected."""
    solution = crouched()
    halves = solution.lifted.copy()
    halves[-12:] *= 0.5
    needed = solution.trace(
        lambda at: at.reaction.force(), dense_instants(solution) * solution.duration
    )
    largest_need = np.abs(needed).max() / body_weight(solution.problem.tree)
    assert contact_quality(solution).before_correction.value < 0.05 * largest_need
    worst = contact_quality(replace(solution, lifted=halves)).before_correction
    assert worst.value == pytest.approx(0.5 * largest_need, rel=0.05) and worst.where == "force z"


def test_the_speed_of_a_strike_is_no_slip(spoilt, seen, monkeypatch):
    """A foot that strikes at 5 m/s does not slip any faster for it."""
    honest, (_, strike) = contact_violations.traces, stands(seen[0], "right")

    def altered(*arguments):
        traced = honest(*arguments)
        traced["speed heel_right"][0, strike] = 5.0
        return traced

    before = contact_quality(spoilt)
    monkeypatch.setattr(contact_violations, "traces", altered)
    after = contact_quality(spoilt)
    assert after.strike_speed.value >= 5.0 and after.slip_speed == before.slip_speed
