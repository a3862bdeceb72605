"""Closed loops in the optimiser: one optimum by every way, gaps between the instants, no rows that say nothing new, pins by other means."""

from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np
import pytest
from bipeds import ROOT, biped, steps
from ocp.models.five_bar import five_bar, reaching
from ocp.models.four_bar import four_bar

from ocp import (
    BSpline,
    Guess,
    Problem,
    Solver,
    Task,
    Transcription,
    at_end,
    at_start,
    dynamic_effort,
    effort,
    load,
    squares,
    torque_limits,
)
from ocp.cli.report import describe
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.closed_loops import inverse
from ocp.mechanics import closure, loops
from ocp.mechanics.joints import GROUND, Joint, revolute
from ocp.mechanics.kinematics import poses
from ocp.mechanics.tree import Link, Loop, Point, Tree
from ocp.mechanics.zero_moment import body_weight
from ocp.problem import linear_split, unilateral
from ocp.problem.statement import Constraint
from ocp.problem.symmetry import periodic
from ocp.solution.certificate import verify
from ocp.solution.solving import solve
from ocp.transcription.methods import Integrated, Radau, Spline
from ocp.transcription.transcribe import transcribe, transcription_of
from ocp.transcription.variables import join

TREE = four_bar()
CRANK = np.linspace(0.0, 2.0, 9)
WAY = closure.close(TREE, np.vstack([CRANK, np.ones(9), 2 * np.ones(9)]), ["crank"])
FAST = closure.close_rates(TREE, WAY[:, 0], (5.0, 0.0, 0.0), ["crank"])
WAYS = {
    "explicit": {},
    "variables": {"torques": "variables", "nodes": 8},
    "hermite-simpson": {"method": "hermite-simpson", "intervals": 25},
    "radau": {"method": "radau", "intervals": 10, "order": 4},
    "explicit radau": {"method": "radau", "intervals": 10, "form": "explicit"},
}
CASES = [*((way, "all") for way in WAYS), ("explicit", "crank"), ("radau", "crank")]


def turning(ends="all", points=26, tree=TREE):
    """The crank turns by 2 rad from rest to rest in half a second; ends prescribed for all joints or for the crank alone."""
    at = {
        "all": (WAY[:, 0], WAY[:, -1], 0.0),
        "crank": ({"crank": 0.0}, {"crank": 2.0}, {"crank": 0.0}),
    }[ends]
    return Problem(
        tree=tree,
        motion=BSpline(points=points, degree=5),
        duration=0.5,
        objective=effort(tree, ("crank",)),
        constraints=(at_start(tree, q=at[0], qd=at[2]), at_end(tree, q=at[1], qd=at[2])),
    )


@lru_cache(maxsize=None)
def solved(way, ends="all", points=26):
    guess = Guess(q=WAY) if ends == "crank" else None
    return solve(turning(ends, points), transcription_of(WAYS[way]), guess=guess).require()


def equalities(problem, transcription, solution):
    """The slopes of all equalities by the free variables at a solution, each of length one."""
    plan = transcribe(problem, transcription)
    nlp, x = plan.nlp, join(plan.layout, solution.points, solution.duration, solution.lifted)
    slopes = np.array(ca.DM(nlp.jacobian(x, [])[1]))[nlp.g_lower == nlp.g_upper][
        :, nlp.lower < nlp.upper
    ]
    return slopes / np.linalg.norm(slopes, axis=1)[:, None]


def gap_of(solution, count=2001):
    """Largest gap of a motion (m or rad)."""
    t = np.linspace(0.0, solution.duration, count)
    return np.abs(solution.trace(lambda at: loops.gap(at.tree, at.q), t)).max()


@pytest.mark.parametrize(("way", "ends"), CASES)
def test_every_transcription_finds_the_same_optimum(way, ends):
    assert solved(way, ends).objective == pytest.approx(
        solved("explicit", "all", 60).objective, rel=1e-3
    )


def test_integrated_loops_find_the_same_optimum():
    solution = solve(
        turning(points=16), Transcription(method=Integrated()), guess=solved("explicit")
    ).require()
    assert solution.objective == pytest.approx(solved("explicit", "all", 60).objective, rel=2e-3)
    assert gap_of(solution) < 1e-3
    assert np.abs(solution.q(0.5) - WAY[:, -1]).max() < 1e-3


def test_the_gap_of_an_optimal_motion_stays_below_a_micrometre():
    assert gap_of(solved("explicit", "all", 60)) < 1e-6
    assert gap_of(solve(turning(), Transcription(method=Radau(intervals=25, order=4)))) < 1e-6


def test_an_optimal_motion_carries_its_certificate():
    found = verify(solved("explicit", "all", 60)).require(1e-5)
    assert found.violations["loops"].dense < 1e-6
    verify(solve(turning(), Transcription(dynamics="lie_group"))).require(1e-3)


def test_the_certificate_sees_a_gap():
    solution = solved("explicit", "all", 60)
    points = solution.points.copy()
    points[1, 30] += 1e-3
    assert verify(replace(solution, points=points)).violations["loops"].dense > 1e-5


@pytest.mark.parametrize(("way", "ends"), CASES)
def test_no_equality_that_follows_from_others_reaches_the_solver(way, ends):
    solution = solved(way, ends)
    slopes = equalities(turning(ends), transcription_of(WAYS[way]), solution)
    assert slopes.shape[0] <= slopes.shape[1]
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-6


@pytest.mark.parametrize("accelerations", [False, True])
def test_nor_does_one_of_a_motion_that_repeats_itself(accelerations):
    tree = TREE
    around = {"crank": 2 * np.pi, "coupler": -2 * np.pi}
    problem = Problem(
        tree=tree,
        motion=BSpline(points=80, degree=5),
        duration=1.0,
        objective=effort(tree, ("crank",)),
        constraints=(at_start(tree, q={"crank": 0.0}),),
        symmetry=periodic(tree, shift=around, qdd=accelerations),
    )
    full = closure.close(
        tree, np.vstack([np.linspace(0, 2 * np.pi, 31), np.ones(31), 2 * np.ones(31)]), ["crank"]
    )
    solution = solve(problem, guess=Guess(q=full)).require()
    slopes = equalities(problem, Transcription(), solution)
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-3
    ends = solution.trace(lambda at: ca.vertcat(at.qd, at.qdd), np.array([0.0, 1.0]))
    assert np.allclose(*ends[: 3 * (1 + accelerations)].T, atol=1e-6)
    assert gap_of(solution) < 1e-4


def test_prescribed_accelerations_leave_room_for_the_loops():
    tree = TREE
    problem = turning(points=30)
    problem = replace(
        problem, constraints=(*problem.constraints, at_start(tree, qdd=0.0), at_end(tree, qdd=0.0))
    )
    slopes = equalities(problem, Transcription(), solve(problem).require())
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-3


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, method in FORMULATIONS.items()
        if not method.flexible and name != "configuration_space"
    ],
)
def test_every_formulation_finds_the_same_optimum(name):
    derivatives = "ad" if name != "newton_euler" else "recursive"
    solution = solve(
        turning(points=12), Transcription(dynamics=name, derivatives=derivatives)
    ).require()
    assert solution.objective == pytest.approx(solved("explicit", "all", 12).objective, rel=1e-9)


def test_torque_and_pin_forces_along_the_motion_are_those_of_inverse_dynamics():
    for way in ("explicit", "radau"):
        solution = solved(way)
        for t in (0.1, 0.3):
            q, qd, qdd = (closure.close(TREE, solution.q(t)), solution.qd(t), solution.qdd(t))
            qd = closure.close_rates(TREE, q, qd)
            torque, pins = inverse(TREE, q, qd, closure.close_accelerations(TREE, q, qd, qdd))
            assert np.allclose(
                solution.tau(t), np.array(torque).ravel(), atol=2e-2 * np.abs(solution.tau(t)).max()
            )
            assert np.allclose(
                solution.loop_forces(t), np.array(pins).ravel(), rtol=2e-2, atol=2e-2
            )


def test_reactions_know_the_pin_forces():
    """The rocker's own law: forces of its pivot, of the pin and of gravity accelerate its centre of mass."""
    solution, t = solved("explicit", "all", 60), 0.2
    _, force = solution.reactions(t)
    rocker = TREE.link_index("rocker")
    turn, com = (
        solution.trace(
            lambda at: ca.vertcat(ca.vec(at.frames[rocker][:3, :3]), at.frames[rocker][:3, 3]), t
        )[:9]
        .reshape(3, 3)
        .T,
        0.1,
    )
    angle, rate, speedup = solution.q(t)[2], solution.qd(t)[2], solution.qdd(t)[2]
    along, across = (
        np.array([np.cos(angle), np.sin(angle), 0.0]),
        np.array([-np.sin(angle), np.cos(angle), 0.0]),
    )
    acceleration = com * (speedup * across - rate**2 * along)
    given = (
        turn @ force[:, rocker]
        + np.append(solution.loop_forces(t), 0.0)
        + TREE.links[rocker].mass * np.array(TREE.gravity)
    )
    assert np.allclose(given, TREE.links[rocker].mass * acceleration, atol=1e-9)


def test_drives_that_can_work_against_each_other_share_the_load():
    """Crank and rocker driven: the optimum with both costs less than with either's torque kept at zero."""
    joints = tuple(replace(joint, actuated=joint.name != "coupler") for joint in TREE.joints)
    tree = replace(TREE, joints=joints)
    both = replace(turning(tree=tree), objective=effort(tree, ("crank", "rocker")))
    solution = solve(both).require()
    assert solution.nodes.size and solution.objective < 0.9 * solved("variables").objective
    assert gap_of(solution) < 1e-4
    verify(solution).require(1e-2)
    slopes = equalities(both, Transcription(), solution)
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-6
    meshed = solve(both, Transcription(method=Radau(intervals=10, order=4))).require()
    assert meshed.objective == pytest.approx(solution.objective, rel=5e-3)
    with pytest.raises(
        ValueError,
        match="torques 'explicit': around loops pin the drives can work against each other",
    ):
        solve(both, Transcription(method=Spline(torques="explicit")))


def test_a_pendulum_on_the_coupler_swings_by_itself():
    """One passive joint more than the loop holds: its lack of torque is a law of its own."""
    links, joints = (
        (*TREE.links, Link(mass=0.2, com=(0.1, 0, 0), inertia=np.diag((0.0, 1e-3, 1e-3)))),
        (*TREE.joints, revolute("pendulum", "coupler", home=(0.13, 0, 0), actuated=False)),
    )
    tree = replace(TREE, links=links, joints=joints)
    ends = (np.append(WAY[:, k], -np.pi / 2 - WAY[:2, k].sum()) for k in (0, -1))
    problem = Problem(
        tree=tree,
        motion=BSpline(points=36, degree=5),
        duration=0.8,
        objective=effort(tree, ("crank",)),
        constraints=[at(tree, q=q, qd=0.0) for at, q in zip((at_start, at_end), ends)],
    )
    solution = solve(problem).require()
    hanging = solve(
        problem, Transcription(method=Radau(intervals=40, order=4)), guess=solution
    ).require()
    assert hanging.objective == pytest.approx(solution.objective, rel=1e-3)
    assert np.abs(solution.trace(lambda at: at.needed, solution.times())[1:]).max() < 1e-2
    verify(hanging).require(1e-2)
    with pytest.raises(
        ValueError, match="torques 'variables': loops pin leave 1 passive joints free"
    ):
        solve(problem, Transcription(method=Spline(torques="variables")))


@pytest.mark.parametrize("seed", [1])
def test_a_spatial_chain_welded_at_both_ends_moves_with_one_freedom(seed):
    """Seven joints in random directions, the last link's place and orientation held: orientations close as places do."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, 7)
    joints = []
    for k in range(7):
        axis = np.linalg.qr(rng.standard_normal((3, 3)))[0][0]
        home = np.eye(4)
        home[:3, 3] = 0.3 * rng.standard_normal(3)
        joints.append(
            Joint(
                name=f"j{k}",
                parent=GROUND if k == 0 else f"j{k - 1}",
                home=home,
                screw=(*axis, 0, 0, 0),
            )
        )
    body = Link(mass=1.0, inertia=0.01 * np.eye(3))
    base = Joint(name="base", parent=GROUND, home=np.eye(4), screw=None)
    tree = Tree(
        links=(body,) * 7 + (Link(),),
        joints=(*joints, base),
        points=(Point(name="tip", link="j6"), Point(name="wall", link="base")),
    )
    frame = np.array(poses(tree, ca.DM(q))[6])
    tree = replace(
        tree,
        points=(tree.points[0], Point(name="wall", link="base", position=frame[:3, 3])),
        loops=(
            Loop(
                name="weld",
                start="wall",
                end="tip",
                position="xyz",
                orientation="xyz",
                turn=frame[:3, :3],
            ),
        ),
    )
    assert closure.independent(tree, q).freedom == 1
    tangent = np.linalg.svd(np.array(loops.gap_jacobian(tree, ca.DM(q))))[2][-1]
    lead = int(np.abs(tangent).argmax())
    tree = replace(
        tree,
        joints=tuple(replace(joint, actuated=joint.name == f"j{lead}") for joint in tree.joints),
    )
    other = closure.close(tree, q + 0.2 * tangent, [f"j{lead}"])
    problem = Problem(
        tree=tree,
        motion=BSpline(points=16, degree=5),
        duration=1.0,
        objective=effort(tree, (f"j{lead}",)),
        constraints=(at_start(tree, q=q, qd=0.0), at_end(tree, q=other, qd=0.0)),
    )
    solution = solve(problem).require()
    assert gap_of(solution, 201) < 1e-5
    assert solution.loop_forces(0.3).shape == (6,)
    assert (
        np.linalg.svd(equalities(problem, Transcription(), solution), compute_uv=False)[-1] > 1e-5
    )
    verify(solution).require(1e-3)


def test_a_solution_with_loops_survives_its_file(tmp_path):
    for way in ("explicit", "variables", "radau"):
        solution = solved(way)
        solution.save(tmp_path / "way.npz")
        again = load(tmp_path / "way.npz")
        assert np.array_equal(again.loop_forces(0.2), solution.loop_forces(0.2))
        assert again.problem.tree == solution.problem.tree


def test_a_guess_is_made_to_close():
    plan = transcribe(turning(points=20), Transcription())
    points = plan.guess.reshape(3, 20, order="F")
    motion = replace(solved("explicit"), points=points, problem=turning(points=20))
    assert gap_of(motion) < 2e-3


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: turning("all", tree=four_bar(lengths=(0.3, 0.1, 0.26, 0.21))),
            "pin: position x: what the constraints prescribe at the start leaves a gap of .* m",
        ),
        (
            lambda: replace(
                turning("crank"),
                constraints=(
                    at_start(TREE, q=WAY[:, 0], qd=(1.0, 0.0, 0.0)),
                    at_end(TREE, q=WAY[:, -1], qd=0.0),
                ),
            ),
            "at the start leaves a rate of .* m/s",
        ),
        (
            lambda: replace(
                turning("crank"),
                constraints=(
                    at_start(TREE, q=WAY[:, 0], qd=FAST, qdd=0.0),
                    at_end(TREE, q=WAY[:, -1], qd=0.0),
                ),
            ),
            "leaves an acceleration of .* m/s2",
        ),
        (
            lambda: replace(
                turning(),
                constraints=(
                    *turning().constraints,
                    Constraint(name="loops", function=lambda at: at.q, lower=0, upper=1),
                ),
            ),
            "constraint 'loops': the name is that of the law of motion",
        ),
    ],
)
def test_a_statement_that_contradicts_the_loops_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        solve(make())


def test_a_mesh_of_single_stages_cannot_close_loops():
    with pytest.raises(ValueError, match="order: expected at least 2"):
        solve(turning(), Transcription(method=Radau(order=1)))


def test_integrated_loops_want_their_end_stated_apart():
    ends = Constraint(
        name="turned",
        function=lambda at: (
            at.q[1:] - ca.if_else(at.s > 0.5, ca.DM(WAY[1:, -1]), ca.DM(WAY[1:, 0]))
        ),
        lower=0.0,
        upper=0.0,
        when="ends",
    )
    problem = replace(turning("crank"), constraints=(*turning("crank").constraints, ends))
    with pytest.raises(
        ValueError,
        match="constraint 'turned': with method 'integrated' state what holds at the end by at_end",
    ):
        solve(problem, Transcription(method=Integrated()))


def test_the_five_bar_reaches_where_it_is_told():
    tree, rng = five_bar(), np.random.default_rng(0)
    for x, y in np.column_stack(
        [rng.uniform(-0.15, 0.15, 20), rng.choice([-1, 1], 20) * rng.uniform(0.2, 0.4, 20)]
    ):
        q = reaching((x, y))
        assert np.abs(np.array(loops.gap(tree, ca.DM(q)))).max() < 1e-12
    with pytest.raises(ValueError, match=r"hand: \(1, 0\) m is out of reach of the left crank"):
        reaching((1.0, 0.0))


def test_a_drive_at_its_limit_is_seen_as_such():
    limited = four_bar(torque=0.6)
    problem = replace(
        turning(tree=limited), duration=(0.1, 2.0), objective=turning(tree=limited).objective
    )
    problem = replace(problem, constraints=(*problem.constraints, torque_limits(limited)))
    solution = solve(problem, solver=Solver(options={"max_iter": 300})).require()
    assert np.abs(solution.tau(solution.times())[0]).max() < 0.61


def test_the_report_names_what_cut_joints_pass_and_which_rows_are_redundant():
    """A planar loop closed in space: its rows across the plane say nothing new."""
    loop = replace(TREE.loops[0], position="xyz", orientation="xy", axes="start")
    tree = replace(TREE, loops=(loop,))
    solution = solve(turning(points=20, tree=tree)).require()
    assert solution.objective == pytest.approx(solved("explicit", "all", 20).objective, rel=1e-6)
    report = describe(Task(turning), {}, solution)["loops"]
    assert report["redundant"] == ["pin: position z", "pin: orientation x", "pin: orientation y"]
    forces = np.abs(solution.loop_forces(solution.times()))
    assert (
        report["forces"]["pin: position x"] == {"peak": forces[0].max(), "unit": "N"}
        and not forces[2:].any()
    )


def test_a_body_on_the_ground_closes_loops_too():
    """Two hips coupled by a chain: nothing slips, the chain's moment does work between them, and all is balanced."""
    tree = biped()
    tree = replace(
        tree,
        loops=(
            Loop(name="chain", start="heel_left", end="heel_right", position="", orientation="y"),
        ),
    )
    start = dict.fromkeys(ROOT, 0.0) | {"z": 0.7}
    ground = steps(strike=0.25, leave=0.625, way=0.1)
    problem = Problem(
        tree=tree,
        motion=BSpline(points=6),
        duration=0.8,
        ground=ground,
        objective=dynamic_effort(tree) + 0.01 * squares("smooth", lambda at: at.qdd),
        constraints=(
            torque_limits(tree),
            unilateral(tree, ground),
            linear_split(tree, ground),
            at_start(tree, q=start, qd=0.0),
            at_end(tree, q=start | {"z": 0.65, "x": 0.03}, qd=0.0),
        ),
    )
    solution = solve(problem).require()
    assert (
        gap_of(solution, 101) < 1e-6 and np.abs(solution.loop_forces(solution.times())).max() > 1.0
    )
    t = solution.nodes * solution.duration
    assert np.allclose(solution.tau(t)[6:], solution.lifted[:4], atol=1e-6 * body_weight(tree))
    assert verify(solution).drift < 1e-6
    assert solution.objective < solve(replace(problem, tree=biped())).require().objective


def test_a_statement_need_not_be_hashable():
    problem = turning(points=12)
    named = replace(problem.constraints[0], labels=list(problem.constraints[0].labels))
    assert solve(replace(problem, constraints=(named, *problem.constraints[1:]))).success


def test_an_end_in_another_assembly_is_told_after_the_failure():
    other = closure.close(TREE, (2.0, -1.0, -1.0), ["crank"])
    problem = replace(
        turning("all"),
        constraints=(at_start(TREE, q=WAY[:, 0], qd=0.0), at_end(TREE, q=other, qd=0.0)),
    )
    found = solve(
        problem, Transcription(method=Radau(intervals=10)), Solver(options={"max_iter": 5})
    )
    assert not found.success and any(
        "different assemblies of the loops" in line for line in found.explanation
    )
    stopped = solve(turning(), solver=Solver(options={"max_iter": 1}))
    assert not stopped.success and not any("assemblies" in line for line in stopped.explanation)
