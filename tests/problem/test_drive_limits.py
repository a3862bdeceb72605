"""Drives have the torque that their speed leaves, the strength of their angle, and come on late."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp.problem import strength_limits

INERTIA, STALL, FREE, WAY = 0.5, 3.0, 4.0, 2.0
LEG = ocp.Voluntary(
    peak=3.0, narrowing=1.0, best=1.0, three_quarters=1.5, half=4.0, eccentric=0.05, rounding=0.05
)


def flywheel(*elements, **limits):
    """A wheel on a hinge."""
    wheel = ocp.Link(mass=1.0, inertia=INERTIA * np.eye(3))
    return ocp.Tree(links=(wheel,), joints=(ocp.revolute("hinge", **limits),), elements=elements)


def turned(tree, **changes):
    """A wheel turned from rest to rest in the least time."""
    stated = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=16),
        duration=(0.1, 5.0),
        objective=ocp.duration(),
        constraints=(*ocp.at_start(tree, q=0.0, qd=0.0), *ocp.at_end(tree, q=WAY, qd=0.0)),
    )
    return replace(stated, **changes)


def least_time():
    """The least time of full voltage one way, then the other: exponentials of speed."""
    slope = STALL / INERTIA

    def turned_by(first):
        speed = FREE * (1 - np.exp(-slope * first / FREE))
        second = FREE / slope * np.log(1 + speed / FREE)
        way = FREE * (first - second) - FREE**2 / slope * (1 - np.exp(-slope * first / FREE))
        return way + speed * FREE / slope, first + second

    lower, upper = 0.0, 5.0
    for _ in range(80):
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if turned_by(middle)[0] < WAY else (lower, middle)
    return turned_by(lower)[1]


def test_a_motor_turns_a_wheel_in_the_least_time_of_its_line():
    tree = flywheel(ocp.TorqueSpeed(joint="hinge", stall=STALL, no_load=FREE))
    found = ocp.solve(
        turned(tree), ocp.Transcription(method=ocp.HermiteSimpson(intervals=30))
    ).require(coarse=True)
    assert found.duration == pytest.approx(least_time(), rel=1e-4)
    smooth = ocp.solve(turned(tree)).require()
    known = ocp.verify(smooth).violations["strength"]
    assert known.nodes < 1e-8 and known.unit == "N m" and known.label.startswith("hinge")


def test_torques_between_the_nodes_are_within_strength_too_where_that_is_asked():
    tree = flywheel(*(ocp.Strength(joint="hinge", direction=way, capacity=LEG) for way in (1, -1)))
    seldom = ocp.Transcription(method=ocp.Spline(nodes=2, torques="variables"))
    stated = turned(tree)
    closer = replace(stated, constraints=(*stated.constraints, *strength_limits(tree, between=5)))
    found = [ocp.solve(each, seldom).require(coarse=True) for each in (stated, closer)]
    exceeded = [ocp.verify(each).violations["strength"] for each in found]
    assert all(each.nodes < 1e-8 for each in exceeded)
    assert exceeded[1].dense < exceeded[0].dense / 5
    assert found[1].duration > found[0].duration
    assert strength_limits(tree, joints=("knee",)) == ()


@pytest.mark.parametrize("nodes, coarse", [(2, True), (4, False)])
def test_a_strength_is_exceeded_by_as_much_as_a_limit_of_its_size(nodes, coarse):
    size, method = 80.0, ocp.Transcription(method=ocp.Spline(nodes=nodes))
    sides = (
        ocp.Strength(joint="hinge", direction=way, capacity=lambda *_: size) for way in (1, -1)
    )
    strong, limited = flywheel(*sides), flywheel(torque=(-size, size))
    stated = [turned(each, motion=ocp.BSpline(points=16, degree=5)) for each in (strong, limited)]
    known = (*stated[1].constraints, ocp.torque_limits(limited))
    stated[1] = replace(stated[1], constraints=known)
    found = [ocp.solve(each, method).require(coarse=True) for each in stated]
    strength, limit = (
        ocp.verify(each).violations[name]
        for each, name in zip(found, ("strength", "torque_limits"))
    )
    assert limit.relative > 1e-3 and (limit.relative > 0.01) == coarse
    assert strength.dense == pytest.approx(limit.dense, rel=1e-3)
    assert strength.relative == pytest.approx(limit.relative, rel=1e-3)
    assert [bool(each.statistics["coarse"]) for each in found] == [coarse, coarse]


def test_sizes_of_other_rows_than_the_constraint_has_are_refused_by_its_name():
    odd = ocp.Constraint(
        name="odd",
        function=lambda at: at.q,
        lower=-9.0,
        sizes=lambda at: ca.vertcat(1.0, 2.0),
        upper=9.0,
    )
    tree = flywheel(torque=(-3.0, 3.0))
    stated = turned(tree)
    found = ocp.solve(
        replace(stated, constraints=(*stated.constraints, ocp.torque_limits(tree), odd))
    )
    with pytest.raises(ValueError, match="constraint 'odd': its function has 1 rows, its sizes 2"):
        ocp.verify(found)


def test_voluntary_strength_is_three_quarters_and_half_at_its_speeds():
    assert float(LEG(1.0, ca.DM(1.5))) == pytest.approx(0.75 * 3, rel=2e-3)
    assert float(LEG(1.0, ca.DM(4.0))) == pytest.approx(0.5 * 3, rel=2e-3)
    assert float(LEG(1.7, ca.DM(4.0))) == pytest.approx(0.5 * 3 * np.cos(0.7), rel=2e-3)
    slow = 2 * 1.5 * 4.0
    bearing = (slow + 2.0 * (4.0 - 4.5)) / (slow + 2.0 * (8.0 - 6.0)) * (1 + 0.05 * 2.0)
    assert float(LEG(1.0, ca.DM(-2.0))) == pytest.approx(bearing * 3, rel=2e-3)
    assert 0 < float(LEG(1.0, ca.DM(100.0))) < 0.05


def test_strength_bounds_both_directions_and_files_keep_it(tmp_path):
    tree = flywheel(
        ocp.Strength(joint="hinge", direction=1, capacity=LEG),
        ocp.Strength(joint="hinge", direction=-1, capacity=replace(LEG, peak=2.0)),
    )
    solution = ocp.solve(turned(tree)).require()
    t = solution.times(101)
    q, qd, tau = solution.q(t)[0], solution.qd(t)[0], solution.tau(t)[0]
    up = np.array([float(LEG(a, ca.DM(b))) for a, b in zip(q, qd)])
    down = np.array([2 / 3 * float(LEG(a, ca.DM(-b))) for a, b in zip(q, qd)])
    assert (tau < up + 5e-3).all() and (-tau < down + 5e-3).all()
    known = ocp.verify(solution).reserves["hinge upwards"]
    assert known.full and abs(known.room) < 5e-3 and known.unit == "N m"
    there = float(solution.q(known.time)[0]), ca.DM(float(solution.qd(known.time)[0]))
    assert known.bound == pytest.approx(float(LEG(*there)), rel=1e-6)
    assert "hinge downwards: " in str(ocp.verify(solution)) and "hinge upwards: " in ocp.summary(
        solution
    )
    quick = qd > 0.5
    assert np.abs(tau - up)[quick].min() < 1e-2 and np.abs(tau + down)[quick].min() < 1e-2
    ocp.save(solution, tmp_path / "wheel.npz")
    again = ocp.load(tmp_path / "wheel.npz")
    assert not again.missing
    ours, theirs = (ocp.verify(each).violations["strength"] for each in (solution, again))
    assert theirs.dense == pytest.approx(ours.dense, abs=1e-12)


def test_a_drive_that_comes_on_late_takes_longer():
    times = []
    for late in (0.02, 0.2):
        tree = flywheel(ocp.Activation(joint="hinge", time=late), torque=STALL)
        solution = ocp.solve(turned(tree)).require()
        t = solution.times(101)
        asked = solution.tau(t)[0] + late * solution.tau_rate(t)[0]
        assert np.abs(asked).max() < STALL * 1.02
        assert ocp.verify(solution).violations["activation"].nodes < 1e-8
        times.append(solution.duration)
    assert 2 * np.sqrt(WAY * INERTIA / STALL) < times[0] < times[1] - 0.05


def test_a_drive_that_comes_on_late_does_not_jump_between_phases(tmp_path):
    tree = flywheel(ocp.Activation(joint="hinge", time=0.2), torque=STALL)
    ways = ocp.at_start(tree, q=0.0, qd=0.0), ocp.at_end(tree, q=WAY, qd=0.0)
    phases = tuple(
        ocp.Phase(name, motion=ocp.BSpline(points=10), duration=(0.1, 3.0), constraints=way)
        for name, way in zip(("go", "stop"), ways)
    )
    whole = ocp.Problem(
        tree=tree, phases=phases, links=(ocp.continuous(),), objective=ocp.duration()
    )
    solution = ocp.solve(whole).require()
    go, stop = solution.phases["go"], solution.phases["stop"]
    assert go.tau(go.duration)[0] == pytest.approx(stop.tau(0.0)[0], abs=1e-6)
    assert ocp.verify(solution).violations["go to stop: activation"].nodes < 1e-6
    ocp.save(solution, tmp_path / "wheel.npz")
    again = ocp.verify(ocp.load(tmp_path / "wheel.npz")).violations["go to stop: activation"]
    assert again.nodes < 1e-6
    once = replace(whole, links=(ocp.continuous("q", "qd", "tau"),))
    assert ocp.solve(once).require().duration == pytest.approx(solution.duration, rel=1e-6)
    assert "go to stop: activation" not in ocp.verify(ocp.solve(once)).violations


def test_every_phase_has_the_strength_of_its_tree_and_numbers_may_be_open():
    stall = ocp.Parameter("stall", STALL, "N m")
    tree = flywheel(ocp.TorqueSpeed(joint="hinge", stall=stall, no_load=FREE))
    ways = ocp.at_start(tree, q=0.0, qd=0.0), ocp.at_end(tree, q=WAY, qd=0.0)
    phases = tuple(
        ocp.Phase(name, motion=ocp.BSpline(points=8), duration=(least, 3.0), constraints=way)
        for name, least, way in zip(("go", "stop"), (0.7, 0.1), ways)
    )
    whole = ocp.Problem(
        tree=tree, phases=phases, links=(ocp.continuous(),), objective=ocp.duration()
    )
    plan = ocp.prepare(whole)
    slow, quick = plan.solve().require(), plan.solve(stall=4.0).require()
    assert slow.duration == pytest.approx(least_time(), rel=0.01) and quick.duration < slow.duration
    assert {"go: strength", "stop: strength"} <= set(ocp.verify(slow).violations)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: ocp.TorqueSpeed(joint="hinge", stall=0, no_load=1),
            "torque over speed 'hinge torque over speed': stall: expected a number above 0, got 0",
        ),
        (
            lambda: flywheel(ocp.TorqueSpeed(joint="hinge", stall=1, no_load=1), actuated=False),
            "joint 'hinge' has no drive; expected an actuated one",
        ),
        (
            lambda: ocp.Strength(joint="hinge", direction=0, capacity=LEG),
            "strength at 'hinge': direction: expected 1 or -1, got 0",
        ),
        (
            lambda: flywheel(ocp.Activation(joint="hinge", time=0.1)),
            "activation 'hinge activation': joint 'hinge': expected torque limits",
        ),
        (
            lambda: ocp.Tree(
                links=(ocp.Link(),),
                joints=(ocp.fixed("stem"),),
                elements=(ocp.Strength(joint="stem", direction=1, capacity=LEG),),
            ),
            "strength 'stem strength upwards': joint 'stem' is fixed",
        ),
        (
            lambda: replace(LEG, narrowing=-1.0),
            "voluntary strength: narrowing: expected a number above 0, got -1",
        ),
    ],
)
def test_bad_drives_are_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()
