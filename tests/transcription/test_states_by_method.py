"""States of elements by every method: laws of first order, which certificates integrate."""

from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np
import pytest
from muscled_arm import arm, excitations

from ocp import (
    BSpline,
    Guess,
    HermiteSimpson,
    Integrated,
    Link,
    Problem,
    Radau,
    Solver,
    Spline,
    Transcription,
    Tree,
    at_end,
    at_start,
    effort,
    load,
    path,
    periodic,
    prismatic,
    save,
    simulate,
    solve,
    squares,
    verify,
)
from ocp.mechanics import state_needs
from ocp.mechanics.elements.generalized_forces import states_at_rest
from ocp.mechanics.muscles import Fatigue, GivenPath, Muscle
from ocp.mechanics.muscles.activation_dynamics import activation_rate
from ocp.mechanics.muscles.force_curves import active_force, passive_force
from ocp.transcription import transcribe_phase
from ocp.transcription.variables.layout import join_variables


def lift(tree, points=16):
    return Problem(
        tree=tree,
        motion=BSpline(points=points),
        duration=0.5,
        objective=squares("excitation", excitations),
        constraints=(at_start(tree, q=(-1.2,), qd=0.0), at_end(tree, q=(0.5,), qd=0.0)),
    )


@lru_cache(maxsize=1)
def lifted():
    return solve(lift(arm()), Transcription(method=Radau(intervals=30))).require()


METHODS = {
    "hermite-simpson": (HermiteSimpson(intervals=60), 1e-4),
    "radau, explicit": (Radau(intervals=30, form="explicit"), 1e-8),
    "radau, order 4": (Radau(intervals=20, order=4), 1e-4),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_agree(name):
    method, within = METHODS[name]
    other = solve(lift(arm()), Transcription(method=method)).require()
    assert other.objective == pytest.approx(lifted().objective, rel=within)


@pytest.mark.parametrize("torques", ["explicit", "variables"])
def test_spline_comes_near(torques):
    other = solve(lift(arm(), 40), Transcription(method=Spline(torques=torques)))
    assert other.success
    assert other.objective == pytest.approx(lifted().objective, rel=4e-3)


def test_integrated_passive_joints_follow_muscles():
    other = solve(lift(arm()), Transcription(method=Integrated()))
    assert other.objective == pytest.approx(lifted().objective, rel=2e-3)


def test_implicit_states_keep_their_laws_beside_integrated_joints():
    """Tendons and fatigue; a spline that asks for passive joints' torques too is 2.6 % off."""
    tree = arm(tendon="compliant", fatigue=Fatigue(tiring=0.5, recovery=0.1))
    fresh = {f"{name}.fatigued": 0.0 for name in ("flexor", "extensor")}
    still = {f"{name}.force": 0.0 for name in ("flexor", "extensor")}
    begin = at_start(tree, q={"elbow": -1.2} | fresh, qd={"elbow": 0.0} | still)
    stated = replace(lift(tree), constraints=(*begin, at_end(tree, q=(0.5,), qd=0.0)))
    mesh, integrated = (
        solve(stated, Transcription(method=method)).require(coarse=True)
        for method in (Radau(intervals=30), Integrated())
    )
    assert integrated.objective == pytest.approx(mesh.objective, rel=5e-3)


def test_interior_point_agrees():
    fine = {"tol": 1e-10}  # at 1e-8 each barrier adds some 1e-4 of this small objective
    settings = Transcription(method=Radau(intervals=30))
    one, other = (
        solve(lift(arm()), settings, Solver(plugin=name, options=fine)).require()
        for name in ("ipopt", "structured")
    )
    assert other.objective == pytest.approx(one.objective, rel=1e-6)


def test_simulation_follows_states():
    """Activations are integrated beside the motion, from their start under their excitations."""
    certificate = verify(lifted())
    assert certificate.drift < 1e-5
    assert certificate.energy_error < 1e-5


def test_plan_has_the_activation_that_its_excitation_makes():
    solution, row = lifted(), lifted().problem.tree.coordinate("flexor.activation")
    t = np.linspace(0.0, solution.duration, 2001)
    excitation = solution.tau(t)[row]
    start = solution.q(0.0)[[row]]
    made = [float(start[0])]
    for now, step in zip(t[:-1], np.diff(t)):  # Runge-Kutta's classical steps

        def rate(share, value, now=now, step=step):
            e = np.interp(now + share * step, t, excitation)
            return float(activation_rate(e, value))

        one = rate(0.0, made[-1])
        two = rate(0.5, made[-1] + step / 2 * one)
        three = rate(0.5, made[-1] + step / 2 * two)
        four = rate(1.0, made[-1] + step * three)
        made.append(made[-1] + step / 6 * (one + 2 * two + 2 * three + four))
    assert np.array(made) == pytest.approx(solution.q(t)[row], abs=1e-3)


def test_rates_of_states_have_no_slopes():
    """Nothing of second order is known of a state."""
    solution = lifted()
    rows = list(solution.problem.tree.states)
    assert not solution.qdd(np.linspace(0.0, 0.5, 20))[rows].any()


def test_bounds_of_states_and_controls_hold():
    solution = lifted()
    t, rows = solution.nodes * solution.duration, list(solution.problem.tree.states)
    for values in (solution.q(t)[rows], solution.tau(t)[rows]):
        assert values.min() > 0.01 - 1e-7 and values.max() < 1.0 + 1e-7
    assert {"state_bounds", "control_bounds"} <= {
        each.name for each in solution.problem.requirements
    }


def test_efforts_and_limits_are_of_joints():
    tree = arm()
    plain = replace(lift(tree), objective=effort())
    solution = solve(plain, Transcription(method=Radau(intervals=10)))
    assert solution.success and solution.objective == pytest.approx(0.0, abs=1e-9)


def test_file_returns_muscles(tmp_path):
    save(lifted(), tmp_path / "lift.npz")
    loaded = load(tmp_path / "lift.npz")
    assert loaded.problem.tree == lifted().problem.tree
    assert loaded.objective == lifted().objective


def test_compliant_tendon_is_simulated():
    tree = arm(tendon="compliant")
    still = {"elbow": 0.0, "flexor.force": 0.0, "extensor.force": 0.0}
    ends = at_start(tree, q=(-1.2,), qd=still), at_end(tree, q=(0.5,), qd=0.0)
    stated = replace(lift(tree), constraints=ends)
    solution = solve(stated, Transcription(method=Radau(intervals=40, order=5)))
    certificate = verify(solution)
    assert certificate.drift < 1e-4
    assert certificate.energy_error < 1e-8  # tendons and passive fibres store energy


def test_muscle_holds_a_mass_where_its_force_is_the_weight():
    """A mass that hangs on a muscle of given excitation comes to rest where force and weight
    agree (1e-4 asked)."""
    hanging = Muscle(
        name="biceps",
        path=GivenPath(joints=("drop",), function=lambda x: 0.3 + x[0]),
        force=30.0,
        fibre=0.1,
        slack=0.2,
        damping=0.1,
        excitation=(0.5, 0.5),
        activation=(0.01, 1.0),
    )
    link = Link(mass=1.0, com=(0.0, 0.0, 0.0), inertia=np.zeros((3, 3)))
    drop = prismatic("drop", axis=(0.0, -1.0, 0.0), actuated=False)
    tree = Tree(links=(link,), joints=(drop,), gravity=(0.0, -9.81, 0.0), elements=(hanging,))
    low, high = -0.055, -0.02
    for _ in range(60):  # the length at which the pull is the weight, by halves
        place = (low + high) / 2
        pull = 0.5 * active_force(1 + 10 * place) + passive_force(1 + 10 * place)
        low, high = (low, place) if 30.0 * pull > 9.81 else (place, high)
    motion = simulate(tree, lambda t, q, qd: ca.vertcat(0.0, 0.5), ([place, 0.5], [0.0, 0.0]), 2.0)
    assert motion.q[0] == pytest.approx(place, abs=1e-8)
    still = Problem(
        tree=tree,
        motion=BSpline(points=8),
        duration=0.2,
        objective=squares("speed", lambda at: at.qd[0]),
        constraints=(path("range", lambda at: at.q[0], lower=-0.05, upper=-0.02),),
    )
    solution = solve(still, Transcription(method=Radau(intervals=5))).require()
    assert solution.q(0.1)[0] == pytest.approx(place, abs=1e-4)


def test_of_a_motion_that_repeats_tendons_are_asked_for_equilibrium_at_one_end():
    """At the other one it follows, and a row of its own would depend on the others."""
    tree = arm(tendon="compliant")
    swing = replace(lift(tree, 8), constraints=(), symmetry=periodic(tree))
    program = transcribe_phase(swing, Transcription(method=Spline(nodes=2)))
    x = join_variables(program.layout, np.outer([-1.2, 0.2, 0.1, 0.2, 0.1], np.ones(8)), 0.5)
    nlp = program.nlp
    equal = np.flatnonzero(nlp.g_lower == nlp.g_upper)
    slopes = np.array(ca.DM(nlp.jacobian(x, [])[1]))[equal]
    assert np.linalg.matrix_rank(slopes) == len(equal) == 8 + 2 * 8 + 2 * 2


def test_guess_begins_with_tendons_in_equilibrium():
    """Of waypoints of the joints alone."""
    tree = arm(tendon="compliant")
    settled = states_at_rest(tree, np.array([[-1.2, 0.5], [0, 0], [0, 0], [0, 0], [0, 0]]))
    for posture, states in zip((-1.2, 0.5), settled.T):
        q, still = ca.DM([posture, *states]), ca.DM.zeros(5)
        lacking = np.array(state_needs(tree, q, still)).ravel()[[2, 4]]
        assert np.abs(lacking).max() < 1e-12


def test_guess_outside_the_reach_of_fibres_is_refused():
    words = (
        "muscle 'flexor': its fibre has 1.93 times its optimal length at the first guess, "
        "with elbow at -3.1: expected 0.2 to 1.8"
    )
    with pytest.raises(ValueError, match=words):
        solve(lift(arm()), Transcription(method=Radau(intervals=4)), guess=Guess(q=[[-3.1, 0.5]]))
