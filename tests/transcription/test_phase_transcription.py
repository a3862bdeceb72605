"""Phases put together: as one motion where nothing parts them, and what jumps where they meet."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from phased_motions import ARM, ENDS, INERTIA, MASS, REACH, TILT, fallen, moved, rod
from whole_graphs import assert_exact

import ocp
from ocp.certificate.transition_violations import impacts
from ocp.dynamics import mass_matrix
from ocp.mechanics import Link, Tree
from ocp.mechanics.kinematics import kinematics
from ocp.models.arms.flexible_arm import flexible_arm
from ocp.models.arms.two_link import two_link
from ocp.motion import Mesh
from ocp.problem import Constraint, duration, torque_limits
from ocp.transcription.phases.impacts import energy_lost
from ocp.transcription.transcribe import transcribe


def test_phases_that_go_on_smoothly_are_one_motion():
    whole = ocp.Problem(
        tree=ARM,
        motion=ocp.BSpline(points=9),  # of the segments that two of six points have
        duration=0.8,
        objective=ocp.effort(),
        constraints=ENDS,
    )
    one, parts = ocp.solve(whole), ocp.solve(moved())
    assert len(whole.motion.breaks) == 7
    assert parts.objective == pytest.approx(one.objective, rel=1e-9)
    t = np.linspace(0, 0.8, 31)
    np.testing.assert_allclose(parts.q(t), one.q(t), atol=1e-6)
    np.testing.assert_allclose(parts.tau(t), one.tau(t), atol=1e-4)


@pytest.mark.parametrize(
    "settings", [ocp.Spline(), ocp.Radau(intervals=6), ocp.HermiteSimpson(intervals=8)]
)
def test_derivatives_of_the_program_are_those_of_its_functions(settings):
    program = transcribe(moved(), ocp.Transcription(method=settings))
    x = program.guess + 0.01 * np.sin(np.arange(program.layout.size))
    assert_exact(program.nlp, x, weight=1.0)


def test_three_phases_of_free_durations_reach_the_bang_bang_time():
    limits = (*ENDS, torque_limits(ARM))
    phases = tuple(
        ocp.Phase(name, motion=ocp.BSpline(points=10), duration=(0.02, 1.0))
        for name in ("a", "b", "c")
    )
    problem = ocp.Problem(
        tree=ARM,
        phases=phases,
        links=(ocp.continuous(), ocp.continuous()),
        constraints=limits,
        objective=duration(),
    )
    solution = ocp.solve(problem)
    assert solution.success
    assert 0.39185454 < solution.duration < 0.3927
    assert solution.duration == pytest.approx(sum(solution.durations.values()))


def test_every_phase_has_a_basis_of_its_own_splines_beside_meshes():
    stated = moved(points=12)
    meshes = Mesh(method="radau", intervals=6, order=4), Mesh(method="hermite-simpson", intervals=9)
    first, second = stated.phases
    mixed = (
        (replace(first, motion=meshes[0]), second),
        (first, replace(second, motion=meshes[1])),
        (replace(first, motion=meshes[0]), replace(second, motion=meshes[1])),
    )
    best = ocp.solve(stated).objective
    for phases in mixed:
        solution = ocp.solve(replace(stated, phases=phases, links=(ocp.continuous(),))).require()
        assert solution.objective == pytest.approx(best, rel=1e-3)
        made = [part.problem.motion for part in solution.phases.values()]
        assert made == [each.motion for each in phases]


def test_parameters_are_shared_by_phases_and_links():
    mass = ocp.Parameter("payload", 0.5, "kg", 0.0, 2.0)
    gain = ocp.Parameter("gain", 0.1, "", 0.0, 1.0)
    tree = two_link()
    loaded = Tree(
        links=(tree.links[0], Link(mass=mass, com=(-0.2, 0, 0), inertia=tree.links[1].inertia)),
        joints=tree.joints,
        points=tree.points,
    )
    phases = tuple(ocp.Phase(n, motion=ocp.BSpline(points=6), duration=0.4) for n in ("a", "b"))
    weighed = gain * ocp.integral("speed", lambda at: ca.sumsqr(at.qd))
    problem = ocp.Problem(
        tree=loaded,
        phases=phases,
        links=(ocp.continuous("q", "qd", "qdd"),),
        constraints=(
            ocp.at_start(loaded, q=(0, -2.0), qd=0),
            ocp.at_end(loaded, q=(1.0, -1.0), qd=0),
        ),
        objective=ocp.effort() + weighed,
    )
    plan = ocp.prepare(problem)
    assert [each.name for each in plan.parameters] == ["payload", "gain"]
    heavy = plan.solve(payload=1.0)
    assert list(heavy.problem.parts.values())[1].tree.links[1].mass == 1.0
    stated = plan.solve(guess=heavy, payload=0.5, gain=0.1)
    assert stated.objective == pytest.approx(plan.solve().objective, rel=1e-7)
    assert heavy.objective > stated.objective


def test_what_is_asked_of_durations_holds():
    half = Constraint(
        name="ratio", function=lambda T: T["b"] - 2.0 * T["a"], lower=0, upper=0, when="durations"
    )
    phases = tuple(
        ocp.Phase(n, motion=ocp.BSpline(points=6), duration=(0.1, 1.0)) for n in ("a", "b")
    )
    stated = {"tree": ARM, "phases": phases, "links": (ocp.continuous(),), "objective": duration()}
    solution = ocp.solve(ocp.Problem(**stated, constraints=(*ENDS, torque_limits(ARM), half)))
    assert solution.success
    assert solution.durations["b"] == pytest.approx(2 * solution.durations["a"], rel=1e-7)
    assert "ratio" in solution.multipliers


def test_a_link_of_ones_own_asks_of_both_ends():
    kink = ocp.link_constraint(
        "kink", lambda end, start: start.qd[0] - 0.5 * end.qd[0], quantities=("q",)
    )
    phases = tuple(ocp.Phase(n, motion=ocp.BSpline(points=6), duration=0.4) for n in ("a", "b"))
    problem = ocp.Problem(
        tree=ARM, phases=phases, links=(kink,), constraints=ENDS, objective=ocp.effort()
    )
    solution = ocp.solve(problem)
    first, second = solution.phases.values()
    assert second.qd(0.0)[0] == pytest.approx(0.5 * first.qd(0.4)[0], abs=1e-9)


@pytest.mark.parametrize("bounce", [0.0, 0.6])
def test_a_rod_that_strikes_without_friction_jumps_as_in_books(bounce):
    solution = fallen(friction=0.0, restitution=bounce)
    fall, rise = solution.phases.values()
    arm = REACH * np.cos(TILT)
    push = (1 + bounce) * MASS * 9.81 * 0.3 / (1 + MASS * arm**2 / INERTIA)
    np.testing.assert_allclose(solution.impulses["fall to rise"]["end"], (0, 0, push), atol=1e-9)
    jump = rise.qd(0.0) - fall.qd(0.3)
    np.testing.assert_allclose(jump, (0, push / MASS, -arm * push / INERTIA), atol=1e-8)


def test_a_rod_that_sticks_loses_the_energy_of_its_impulses():
    solution = fallen(friction=10.0)
    fall, rise = solution.phases.values()
    q, before, left = fall.q(0.3), fall.qd(0.3), rise.qd(0.0)
    tree, push = rod(), solution.impulses["fall to rise"]
    mass = np.array(mass_matrix(tree, q))
    slope = ca.Function(
        "J", [s := ca.SX.sym("q", 3)], [ca.jacobian(kinematics.position(tree, s, "end"), s)]
    )
    np.testing.assert_allclose(
        mass @ (left - before), np.array(slope(q)).T @ push["end"], atol=1e-9
    )
    np.testing.assert_allclose(np.array(slope(q)) @ left, 0.0, atol=1e-9)
    lost = (before @ mass @ before - left @ mass @ left) / 2
    assert lost > 1.0
    assert energy_lost(tree, q, before, left, push) == pytest.approx(lost, rel=1e-9)


def test_links_that_bend_take_impulses_by_their_mass_alone():
    tree = flexible_arm(1)
    start = ocp.at_start(tree, q={"shoulder": 0.1}, qd={"shoulder": -1.0})
    bent = ocp.at_end(tree, q={"shoulder.bend_z1": 0.01})
    problem = ocp.Problem(
        tree=tree,
        phases=(
            ocp.Phase("a", motion=ocp.BSpline(points=6), duration=0.1, constraints=bent),
            ocp.Phase("b", motion=ocp.BSpline(points=6), duration=0.1),
        ),
        links=(ocp.impact("tip", normal=(0, 1, 0)),),
        constraints=start,
        objective=ocp.effort(tree, ("shoulder",)),
    )
    (struck,) = impacts(ocp.solve(problem).require(coarse=True))
    assert struck.balance < 1e-8 and struck.error < 1e-8


def test_an_impulse_beyond_the_cone_of_friction_is_no_solution():
    solution = fallen(friction=10.0)
    push = solution.impulses["fall to rise"]["end"]
    with pytest.raises(ocp.NotSolved):
        fallen(friction=0.5 * abs(push[0] / push[2]))
