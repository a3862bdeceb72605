"""Coordinates with curves of their own: loops and rigid contacts hold between the nodes."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from muscled_arm import arm, excitations
from standing_bodies import block

from ocp import (
    BSpline,
    Ground,
    Guess,
    Problem,
    Solver,
    Spline,
    Transcription,
    at_end,
    at_start,
    load,
    point_contact,
    save,
    smoothness,
    solve,
    squares,
)
from ocp.mechanics import positions
from ocp.mechanics.kinematics.loop_closure import gap, gap_rate
from ocp.motion import coarsest_curve, curve_matrix
from ocp.problems.arms.two_link_effort import problem as reach
from ocp.problems.human.barman_gait import problem as step
from ocp.problems.mechanisms.five_bar_pick import problem as pick
from ocp.problems.running import problem as run
from ocp.problems.swing_ups.cart_pole_swing import problem as swing
from ocp.transcription import transcribe, with_dependent_curves
from ocp.transcription.laws.dependent_curves import dependent_spans
from ocp.transcription.variables.layout import join_variables, split_variables, unused_variables

FINE = np.linspace(0.0, 1.0, 1001)
EXACT = 1e-6, 1e-4  # m and m/s, or rad and rad/s
THREE = BSpline(points=8, degree=5, inner=(0.5, 0.5))


def along(solution, place, s=FINE):
    """Largest entries of a function of q and of its rate along a motion."""
    tree, motion = solution.problem.tree, solution.problem.motion
    q, qd = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    value = place(tree, q)
    look = ca.Function("look", [q, qd], [value, ca.jtimes(value, q, qd)])
    rates = solution.points @ motion.values(s, 1).T / solution.duration
    parts = look.map(len(s))(solution.points @ motion.values(s).T, rates)
    return tuple(float(np.abs(np.array(part)).max()) for part in parts)


@pytest.fixture(scope="module")
def picked():
    """A five-bar's motion on a common curve of 20 points, and with curves of the couplers' own."""
    stated = pick(points=20)
    return solve(stated).require(), solve(with_dependent_curves(stated, 48)).require()


def test_loops_gape_less_than_a_micron_between_the_nodes(picked):
    common, own = picked
    assert along(common, gap)[0] > 10 * EXACT[0]
    assert all(size < limit for size, limit in zip(along(own, gap), EXACT))
    rates = ca.SX.sym("rates", own.problem.tree.dof)
    assert gap_rate(own.problem.tree, rates, rates).shape == gap(own.problem.tree, rates).shape
    assert own.objective == pytest.approx(common.objective, rel=1e-3)


def test_a_solution_with_curves_is_a_solution_on_their_common_basis(picked, tmp_path):
    """It is saved, loaded and begun from like any other; driven joints keep 20 points."""
    _, own = picked
    motion = own.problem.motion
    assert coarsest_curve(motion) == BSpline(points=20, degree=5)
    for curve, rows in motion.rows_by_curve.items():
        near = np.linalg.lstsq(curve_matrix(motion, curve), own.points[rows].T, rcond=None)
        assert near[1].max(initial=0.0) < 1e-20
    save(own, tmp_path / "pick.npz")
    again = load(tmp_path / "pick.npz", problem=own.problem)
    assert again.problem.motion == motion
    warm = solve(own.problem, guess=again)
    assert warm.statistics["iterations"] <= own.statistics["iterations"]
    assert warm.objective == pytest.approx(own.objective, rel=1e-6)


def test_variables_hold_the_curves_and_nothing_else():
    stated = with_dependent_curves(pick(points=12), 16)
    program = transcribe(stated, Transcription())
    (part,) = program.parts
    count = sum(curve.points for curve in stated.motion.curves)
    unused = unused_variables(part.layout)
    assert len(program.nlp.lower) - len(unused) == count + 1  # and the duration
    assert not program.nlp.lower[unused].any() and not program.nlp.upper[unused].any()
    points = np.random.default_rng(0).normal(size=(4, stated.motion.points))
    x = join_variables(part.layout, points, 1.5)
    nearest, duration, _ = split_variables(part.layout, x)
    assert duration == 1.5
    assert join_variables(part.layout, nearest, 1.5) == pytest.approx(x, abs=1e-9)


def test_a_step_stands_exactly_on_six_points():
    """Places within a micron of where they are, rates within a tenth of a millimetre a second."""
    asked = step(
        points=6, active="gait", exact=True, pieces=48, without="torques,balance,coupling,avoidance"
    )
    asked = replace(asked, objective=smoothness(asked.tree))
    transcription = Transcription(method=Spline(nodes=1, torques="explicit"))
    still = Guess(q=np.zeros((asked.tree.dof, 2)))
    solution = solve(asked, transcription, Solver(), guess=still).require(coarse=True)
    for foot in asked.ground.feet:
        for support in foot.supports:
            names = [pin.point for pin in support.pins]
            targets = ca.DM(np.concatenate([pin.target for pin in support.pins]))
            held = [
                3 * k + "xyz".index(axis) for k, pin in enumerate(support.pins) for axis in pin.axes
            ]
            inside = support.when[0] + FINE[:-1] * np.ptp(support.when)

            def off(tree, q, names=names, targets=targets, held=held):
                return (ca.vertcat(*positions(tree, q, names)) - targets)[held]

            worst = along(solution, off, inside)
            assert all(size < limit for size, limit in zip(worst, EXACT)), (foot.name, worst)


def test_a_joint_that_nothing_drives_keeps_its_law_between_the_nodes():
    """Twice as many segments of its own leave a tenth, at about the same objective."""
    stated = swing(points=30)
    finer = with_dependent_curves(stated, 2 * stated.motion.segments)
    assert finer.motion.curves[0] == stated.motion and dependent_spans(finer) == {1: ((0.0, 1.0),)}
    common, own = (solve(each).require(coarse=True) for each in (stated, finer))
    lacks = [
        np.abs(each.trace(lambda at: at.required_torques[1], each.times(1001))).max()
        for each in (common, own)
    ]
    assert lacks[1] < lacks[0] / 10
    assert own.objective == pytest.approx(common.objective, rel=5e-3)


def test_tendons_that_stretch_keep_their_laws_between_the_nodes():
    """On a spline with knots that stand double, whose activations keep its curve."""
    tree = arm(tendon="compliant")
    still = {"elbow": 0.0, "flexor.force": 0.0, "extensor.force": 0.0}
    stated = Problem(
        tree=tree,
        motion=BSpline(points=14, degree=4, inner=(0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.75, 0.9)),
        duration=0.5,
        objective=squares("excitation", excitations),
        constraints=(at_start(tree, q=(-1.2,), qd=still), at_end(tree, q=(0.5,), qd=0.0)),
    )
    finer = with_dependent_curves(stated, 20)
    rows = [tree.coordinate(f"{name}.force") for name in ("flexor", "extensor")]
    assert list(dependent_spans(finer)) == [tree.coordinate("elbow"), *rows]
    assert finer.motion.curves[tree.coordinate("flexor.activation")] == stated.motion
    assert finer.motion.curves[rows[0]].inner.count(0.5) == 3  # of degree 5: as smooth as the other
    common, own = (solve(each).require(coarse=True) for each in (stated, finer))
    lacks = [
        np.abs(each.trace(lambda at: at.state_needs[rows], each.times(1001))).max()
        for each in (common, own)
    ]
    assert lacks[1] < lacks[0] / 10


def test_phases_in_which_joints_follow_have_curves_of_their_own():
    stated = run()
    assert [bool(phase.motion.curves) for phase in stated.phases] == [False, False, True]
    *_, flight = stated.phases
    assert flight.motion.curves[0].segments == 3 * flight.motion.curves[-1].segments
    rows = dependent_spans(stated.parts["flight"])
    assert [stated.tree.moving[row].actuated for row in rows] == [False] * 6


def test_what_follows_are_joints_of_the_leg_that_stands():
    stated = step(points=6, active="gait", exact=True)
    names = [joint.name for joint in stated.tree.moving]
    spans = {names[row]: held for row, held in dependent_spans(stated).items()}
    assert all(name.endswith(("_r", "_l")) for name in spans)
    assert spans["hip_flex_r"] == ((0.0, 0.15), (0.15, 0.75), (0.75, 1.0))
    assert sum((0.15, 0.75) in held for held in spans.values()) == 7  # of a sole with its toes


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(ValueError, match="no rigid contact, closed loop, passive joint or tendon"):
        with_dependent_curves(reach())
    with pytest.raises(ValueError, match="motion: expected a BSpline on given knots"):
        with_dependent_curves(with_dependent_curves(pick(points=12)))
    with pytest.raises(ValueError, match="pieces: expected at least 7, as many as the motion has"):
        with_dependent_curves(pick(points=12), 6)
    with pytest.raises(ValueError, match="that of row 1 of q is none of the motion's basis"):
        replace(THREE, curves=(THREE, BSpline(points=9)))
    with pytest.raises(ValueError, match="curves: of coordinates are those on given knots"):
        BSpline(points=12, knots="free", curves=(BSpline(points=12),))
    with pytest.raises(ValueError, match="exact: is of a step in one phase"):
        step(exact=True, without="contact")


def test_contacts_share_the_root_that_they_hold_and_repeat_nothing():
    """A block on both ends of its sole follows them in all three coordinates of its root."""
    tree = block()
    ends = [
        point_contact(tree, name, at=(x, 0.0, 0.0)) for name, x in (("back", -0.2), ("front", 0.2))
    ]
    stated = Problem(
        tree=tree,
        motion=BSpline(points=6),
        duration=1.0,
        objective=smoothness(tree),
        ground=Ground(feet=ends),
    )
    whole = ((0.0, 1.0),)
    assert dependent_spans(stated) == {0: whole, 1: whole, 2: whole}
    twin = replace(ends[0], name="twin")
    again = replace(stated, ground=Ground(feet=(*ends, twin)))
    assert dependent_spans(again) == dependent_spans(stated)
