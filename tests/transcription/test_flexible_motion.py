"""Optimal motions of flexible trees: what is chosen by default, every transcription alike, the
certificate, files, pictures, refusals."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from flexible_trees import mixed

import ocp
from ocp.certificate.checks.energy import energy_error, required_forces
from ocp.cli.commands.run import run_task
from ocp.dynamics import BOOK, FORMULATIONS, NEWTON_EULER, forward_dynamics, hybrid_dynamics
from ocp.dynamics.formulations import book, lagrange, lie_group
from ocp.mechanics import Modes, Place, assumed_modes, position
from ocp.mechanics.kinematics import kinematics
from ocp.models.arms.flexible_arm import flexible_arm, strip
from ocp.plots import plot_torques, stick
from ocp.plots.bodies.stick_figures import BENT
from ocp.problems.arms.two_link_time import problem as rigid_problem
from ocp.studies import random_guess
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription.shooting import integrate_passive


def reach(tree, points=24, duration=1.0, angle=0.4, **more):
    """Turn every driven joint from rest to rest with least effort, bending as smoothly as may
    be."""
    amplitudes = list(sum(tree.amplitude_rows, ()))
    driven = [joint.name for joint in tree.moving if joint.actuated]
    objective = ocp.effort(tree, driven) + 1e-3 * ocp.squares(
        "shaking", lambda at: at.qdd[amplitudes]
    )
    goal = ocp.at_end(tree, q=dict.fromkeys(driven, angle), qd=dict.fromkeys(driven, 0.0))
    constraints = (ocp.at_start(tree, q=0.0, qd=0.0), goal, *more.pop("constraints", ()))
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=points, degree=5),
        duration=duration,
        objective=objective,
        constraints=constraints,
        **more,
    )


def arm(**options):
    """One link with one shape: as little as bends."""
    return flexible_arm(1, bend=1, **{"damping": 0.02} | options)


@pytest.fixture(scope="module")
def solution():
    """A short reach."""
    return ocp.solve(reach(arm(), points=40)).require()


def stated():
    """Modes of that arm whose integrals the user states, with shapes known at the tip only."""
    modes = arm(stiffening=False).links[0].modes
    told = (
        "names",
        "mass",
        "com",
        "inertia",
        "first",
        "moment",
        "coupling",
        "stiffness",
        "damping",
    )
    (matrix,) = modes.at((1.0, 0.0, 0.0))
    tip = Place(
        position=(1.0, 0.0, 0.0),
        shift=[(matrix @ (1.0, 0.0, 0.0, 1.0))[:3]],
        turn=[(0.0, 0.0, matrix[1, 0])],
    )
    return Modes(**{name: getattr(modes, name) for name in told}, places=(tip,))


# What is chosen


def test_the_tree_chooses_its_dynamics_and_derivatives(solution):
    assert solution.transcription.dynamics is BOOK and solution.transcription.derivatives == "ad"
    rigid = transcribe_phase(rigid_problem(points=8)).transcription
    assert rigid.dynamics is NEWTON_EULER and rigid.derivatives == "ad"  # of two coordinates
    kept = transcribe_phase(
        rigid_problem(points=8), ocp.Transcription(dynamics="book", derivatives="ad")
    ).transcription
    assert kept.dynamics is BOOK and kept.derivatives == "ad"


@pytest.mark.parametrize(
    "settings",
    [
        {"dynamics": "newton_euler"},
        {"derivatives": "recursive"},
        {"dynamics": "waters", "derivatives": "ad"},
    ],
)
def test_a_wrong_choice_is_refused_by_name(settings):
    with pytest.raises(
        ValueError,
        match="^link 'shoulder' is flexible, which only the formulation 'book' knows, "
        "with derivatives 'ad'$",
    ):
        transcribe_phase(reach(arm()), transcription_of(settings))


def test_the_report_says_what_was_chosen(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_task(ocp.Task(rigid_problem), ["--points", "8"]) == 0
    assert "newton_euler, derivatives ad" in capsys.readouterr().out
    assert (
        run_task(
            ocp.Task(rigid_problem),
            ["--points", "8", "--quiet", "--dynamics", "auto", "--derivatives", "auto"],
        )
        == 0
    )
    with pytest.raises(SystemExit):
        run_task(ocp.Task(rigid_problem), ["--help"])
    assert "auto is newton_euler, for flexible links book" in " ".join(
        capsys.readouterr().out.split()
    )


def test_random_starts_do_not_bend_the_links():
    straight, off = (random_guess(reach(arm()), ocp.Transcription(), number).q for number in (0, 3))
    assert np.array_equal(off[1], straight[1]) and np.abs(off[0] - straight[0]).max() > 0.1


# Dynamics


@pytest.mark.parametrize("seed", range(3))
def test_forward_hybrid_and_inverse_dynamics_are_one_law(seed):
    """Lagrange's equations by AD of the energies, J z'' = R, and the hybrid form, on random mixed
    trees with loads."""
    tree, _, q, qd, qdd, loads = mixed(seed)
    q, qd, qdd = map(ca.DM, (q, qd, qdd))
    tau = book.inverse(tree, q, qd, qdd, loads)
    scale = float(ca.norm_inf(qdd))
    for found in (
        forward_dynamics(tree, q, qd, tau, loads),
        ca.evalf(lagrange.forward(tree, q, qd, tau, loads)),
    ):
        assert float(ca.norm_inf(found - qdd)) < 1e-9 * scale
    active = [k % 2 == 0 for k in range(tree.dof)]
    known = ca.vertcat(*(qdd[k] if active[k] else tau[k] for k in range(tree.dof)))
    accelerations, forces = hybrid_dynamics(tree, q, qd, known, active, loads)
    assert float(ca.norm_inf(accelerations - qdd)) < 1e-9 * scale
    assert float(ca.norm_inf(forces - tau)) < 1e-9 * float(ca.norm_inf(tau))


def test_rigid_trees_keep_the_lie_group_recursion():
    tree, q = flexible_arm(bend=0), ca.DM([0.3, -0.4])
    assert (
        float(ca.norm_inf(forward_dynamics(tree, q, q, q) - lie_group.forward(tree, q, q, q))) == 0
    )


def test_held_joints_let_the_link_ring_at_its_frequency_and_damping():
    """One mode, clamped: d = e^(-z w t) (cos w' t + z w / w' sin w' t), within the geometric terms
    of its size."""
    tree, step, count = arm(damping=0.05), 2e-4, 2000
    modes = tree.links[0].modes
    mass, stiffness = modes.masses[0, 0], modes.stiffness[0][0]
    w = np.sqrt(stiffness / mass)
    found = integrate_passive(tree, np.array([1e-3, 0.0]), np.zeros((3, 2 * count + 1)), step)
    t, decay, slow = step * np.arange(count + 1), 0.05 * w, w * np.sqrt(1 - 0.05**2)
    expected = 1e-3 * np.exp(-decay * t) * (np.cos(slow * t) + decay / slow * np.sin(slow * t))
    assert w * t[-1] > 6 and np.abs(found[0] - expected).max() < 1e-9


def balance(tree, motion, loads):
    """Rate of the momentum (6,) about the global origin, and what the ground, gravity and loads
    give (6,)."""
    at, rate, more = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))
    spin = ca.vertcat(*kinematics.momentum(tree, at, rate))
    change = ca.Function(
        "change", [at, rate, more], [ca.jtimes(spin, at, rate) + ca.jtimes(spin, rate, more)]
    )(*motion)
    moment, force, q = *book.reactions(tree, *motion, loads), motion[0]
    weight = sum(link.mass for link in tree.links) * ca.DM(tree.gravity)
    pushes = [(kinematics.center_of_mass(tree, q), weight, 0)]
    pushes += [
        (position(tree, q, push.point), ca.DM(push.force), ca.DM(push.moment)) for push in loads
    ]
    for k, (joint, frame) in enumerate(zip(tree.joints, kinematics.poses(tree, q))):
        if tree.parents[k] < 0:
            pushes.append(
                (
                    (frame @ ca.DM([*joint.anchor, 1.0]))[:3],
                    frame[:3, :3] @ force[:, k],
                    frame[:3, :3] @ moment[:, k],
                )
            )
    return change, sum(
        ca.vertcat(ca.cross(place, force) + moment, force) for place, force, moment in pushes
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_joints_pass_makes_the_momentum_change(seed):
    tree, _, *motion, loads = mixed(seed)
    change, given = balance(tree, [ca.DM(part) for part in motion], loads)
    assert float(ca.norm_inf(change - given)) < 1e-11 * float(ca.norm_inf(change))


@pytest.mark.parametrize(("stiffening", "order"), [(False, 2), (True, 4)])
def test_moments_about_axes_are_the_torques_but_for_what_turns_leave_out(stiffening, order):
    """Exactly at the shoulder, whose frame is a rotation; at the elbow, behind a link that bends
    both ways, the gap falls with the square of bending, with stiffening with its fourth power."""
    tree, gaps = flexible_arm(bend=1, bend_y=1, gravity=9.81, stiffening=stiffening), []
    for size in (1e-2, 1e-3):
        q, qd, qdd = (ca.DM([0.3, size, -size / 2, -0.8, size, size]) for _ in range(3))
        tau, moment = (
            book.inverse(tree, q, qd, qdd),
            book.reactions(tree, q, qd, qdd)[0][2, :],
        )
        assert float(moment[0]) == pytest.approx(float(tau[0]), rel=1e-12)
        gaps.append(abs(float(moment[1] - tau[3])))
    assert 1e-8 < gaps[0] < 1e-2 and np.log10(gaps[0] / gaps[1]) == pytest.approx(order, abs=0.1)


# Every transcription


def test_every_transcription_reaches_the_same_optimum():
    problem, costs = reach(arm(), points=42), {}
    for name, settings in {
        "constrained": {},
        "variables": {"torques": "variables", "nodes": 12},
        "integrated": {"method": "integrated"},
        "hermite-simpson": {"method": "hermite-simpson", "intervals": 60},
        "radau": {"method": "radau", "intervals": 24, "order": 4},
        "explicit": {"method": "radau", "intervals": 24, "order": 4, "form": "explicit"},
    }.items():
        costs[name] = ocp.solve(problem, transcription_of(settings)).require().objective
    assert costs["explicit"] == pytest.approx(costs["radau"], rel=1e-7)
    assert all(cost == pytest.approx(costs["radau"], rel=1e-3) for cost in costs.values()), costs


def test_a_random_tree_of_rigid_and_flexible_links_costs_the_same_in_spline_and_collocation():
    tree = mixed(4)[0]
    pull = ocp.Load(
        point=tree.points[0].name, force=(0.5, -1.0, 0.3), moment=lambda t: ca.vertcat(0, t, 0.1)
    )
    spline = ocp.solve(reach(tree, duration=0.8, angle=0.3, loads=(pull,))).require(coarse=True)
    stages = ocp.solve(
        spline.problem, ocp.Transcription(method=ocp.Radau(intervals=8, order=4))
    ).require(coarse=True)
    assert spline.objective == pytest.approx(stages.objective, rel=1e-3)
    certificate = ocp.verify(spline)
    assert certificate.drift < 1e-2 and certificate.energy_error < 1e-3 and certificate.kkt < 1e-6
    assert energy_error(spline, required_forces) < 1e-12


# The certificate


def test_the_certificate_knows_bending_and_damping(solution):
    certificate = ocp.verify(solution).require(1e-2)
    assert set(certificate.violations) == {
        "at_start.q",
        "at_start.qd",
        "at_end.q",
        "at_end.qd",
        "passive_joints",
    }
    assert certificate.drift < 1e-4 and certificate.energy_error < 1e-3 and certificate.kkt < 1e-6
    assert energy_error(solution, required_forces) < 1e-12
    tree = solution.problem.tree
    undamped = replace(
        tree, links=(replace(tree.links[0], modes=replace(tree.links[0].modes, damping=None)),)
    )
    assert (
        ocp.verify(replace(solution, problem=replace(solution.problem, tree=undamped))).drift
        > 10 * certificate.drift
    )


def test_a_wrong_planner_is_found_out(monkeypatch):
    """Plan with a beam that weighs nothing against gravity: Lagrange's equations from the energies
    let it drop.

    One of the house's own formulations that erred so would be; a formulation of one's own states
    its own mechanics.
    """
    wrong = ocp.Formulation(
        name="wrong",
        flexible=True,
        inverse=lambda tree, q, qd, qdd, loads=(): book.inverse(
            replace(tree, gravity=(0, 0, 0)), q, qd, qdd, loads
        ),
    )
    monkeypatch.setitem(FORMULATIONS, "wrong", wrong)
    certificate = ocp.verify(
        ocp.solve(reach(arm(gravity=1.0), points=16), ocp.Transcription(dynamics=wrong)).require(
            coarse=True
        )
    )
    assert certificate.drift > 0.01 and certificate.energy_error > 1e-3
    with pytest.raises(ocp.NotVerified, match="simulation drifts from the plan by"):
        certificate.require(1e-3)


def test_a_mesh_is_certified_too():
    certificate = ocp.verify(
        ocp.solve(
            reach(arm()), ocp.Transcription(method=ocp.Radau(intervals=30, order=4))
        ).require()
    )
    assert certificate.drift < 1e-4 and certificate.energy_error < 1e-5 and certificate.kkt < 1e-6


def test_constraints_see_where_the_bent_tip_is(solution):
    low = ocp.path("table", lambda at: at.position("tip")[1], lower=0.05, when="end", units="m")
    bound = ocp.solve(
        replace(solution.problem, constraints=(*solution.problem.constraints, low))
    ).require()
    assert float(bound.trace(lambda at: at.position("tip"), bound.duration)[1]) == pytest.approx(
        float(position(bound.problem.tree, bound.q(bound.duration), "tip")[1]), abs=1e-12
    )


# Files, pictures, refusals


@pytest.mark.parametrize(
    "modes", [stated(), assumed_modes(strip(0.2), bend_z=1, torsion=1)], ids=["stated", "made"]
)
def test_files_give_flexible_trees_back_exactly(tmp_path, solution, modes):
    tree = arm()
    tree = replace(tree, links=(replace(tree.links[0], modes=modes),))
    stopped = ocp.solve(reach(tree, points=8))
    ocp.save(stopped, tmp_path / "a.npz")
    again, t = ocp.load(tmp_path / "a.npz"), stopped.times(7)
    assert again.problem.tree == tree and hash(again.problem.tree.links[0].modes) == hash(modes)
    assert np.array_equal(again.q(t), stopped.q(t)) and np.array_equal(again.tau(t), stopped.tau(t))
    assert again.transcription == stopped.transcription


def test_links_are_drawn_bent(solution):
    t = solution.times(5)
    figure = stick(solution, t)
    tree = solution.problem.tree
    where = np.array([position(tree, q, "tip").full().ravel() for q in solution.q(t).T])
    assert figure.axes == ["x", "y"]
    assert np.abs(figure.places[:, figure.tips["tip"]] - where).max() < 1e-12
    chain = [a for a, _ in figure.bars["link"]] + [figure.bars["link"][-1][1]]
    line = figure.places[2, chain]
    along, away = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0]), line - line[0]
    off = along[0] * away[:, 1] - along[1] * away[:, 0]
    shift = [
        float((tree.links[0].modes.at((x, 0.0, 0.0))[0] @ (x, 0.0, 0.0, 1.0))[1])
        for x in (*BENT, 1.0)
    ]
    expected = solution.q(t[2])[1] * (np.array(shift[:-1]) - np.array(BENT) * shift[-1])
    assert np.abs(expected).max() > 1e-4 and np.abs(off[1:-1] - expected).max() < 1e-6


def test_links_with_shapes_known_at_places_are_drawn_straight(solution):
    trees = (
        replace(arm(), links=(replace(arm().links[0], modes=stated()),)),
        arm(stiffening=False),
    )
    same = (replace(solution, problem=replace(solution.problem, tree=tree)) for tree in trees)
    figure, bent = (stick(each, solution.times(5)) for each in same)
    assert len(figure.bars["link"]) == 1
    assert np.allclose(
        figure.places[:, figure.tips["tip"]], bent.places[:, bent.tips["tip"]], atol=1e-12
    )


def test_the_overview_has_amplitudes_in_a_panel_of_their_own(solution):
    labels = [axes.get_ylabel() for axes in ocp.plot(solution).axes]
    assert labels[:4] == ["angle (rad)", "amplitude (m)", "torque (N m)", "joint force, norm (N)"]
    assert [axes.get_ylabel() for axes in plot_torques(solution).axes] == ["torque (N m)"]
    moment, force = solution.reactions(0.3)
    assert moment[2, 0] == pytest.approx(solution.tau(0.3)[0], rel=1e-12)
    assert np.linalg.norm(force) > 0.1
