"""Closed loops at the edges: chains in space, bodies on the ground, files, guesses, refusals."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import ROOT, biped, steps
from turning_crank import FAST, TREE, WAY, equalities, gap_of, solved, turning

import ocp
from ocp.cli.output.run_report import describe
from ocp.mechanics import GROUND, body_weight, poses
from ocp.mechanics.kinematics import loop_assembly, loop_closure
from ocp.models.mechanisms.five_bar import five_bar, reaching
from ocp.models.mechanisms.four_bar import four_bar
from ocp.problem import linear_split, unilateral
from ocp.transcription import transcribe_phase


def welded_chain(rng, q):
    """Seven joints in random directions, the last link's place and orientation held as they are at
    q; driven where it moves most. Return the tree and that joint's name."""
    joints = []
    for k in range(7):
        home = np.eye(4)
        axis = np.linalg.qr(rng.standard_normal((3, 3)))[0][0]
        home[:3, 3] = 0.3 * rng.standard_normal(3)
        parent = f"j{k - 1}" if k else GROUND
        joints.append(ocp.Joint(name=f"j{k}", parent=parent, home=home, screw=(*axis, 0, 0, 0)))
    body = ocp.Link(mass=1.0, inertia=0.01 * np.eye(3))
    base = ocp.Joint(name="base", parent=GROUND, home=np.eye(4), screw=None)
    tip = ocp.Point(name="tip", link="j6")
    tree = ocp.Tree(links=(body,) * 7 + (ocp.Link(),), joints=(*joints, base), points=(tip,))
    frame = np.array(poses(tree, ca.DM(q))[6])
    wall = ocp.Point(name="wall", link="base", position=frame[:3, 3])
    turn = frame[:3, :3]
    weld = ocp.Loop(
        name="weld", start="wall", end="tip", position="xyz", orientation="xyz", turn=turn
    )
    tree = replace(tree, points=(tip, wall), loops=(weld,))
    tangent = np.linalg.svd(np.array(loop_closure.gap_jacobian(tree, ca.DM(q))))[2][-1]
    lead = f"j{int(np.abs(tangent).argmax())}"
    driven = tuple(replace(joint, actuated=joint.name == lead) for joint in tree.joints)
    return replace(tree, joints=driven), lead, tangent


def test_a_spatial_chain_welded_at_both_ends_moves_with_one_freedom():
    """Orientations close as places do."""
    rng = np.random.default_rng(1)
    q = rng.uniform(-1, 1, 7)
    tree, lead, tangent = welded_chain(rng, q)
    assert loop_assembly.independent_rows(tree, q).freedom == 1
    other = loop_assembly.close_coordinates(tree, q + 0.2 * tangent, [lead])
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=16, degree=5),
        duration=1.0,
        objective=ocp.effort(tree, (lead,)),
        constraints=(ocp.at_start(tree, q=q, qd=0.0), ocp.at_end(tree, q=other, qd=0.0)),
    )
    solution = ocp.solve(problem).require()
    assert gap_of(solution, 201) < 1e-5
    assert solution.loop_forces(0.3).shape == (6,)
    slopes = equalities(problem, ocp.Transcription(), solution)
    assert np.linalg.svd(slopes, compute_uv=False)[-1] > 1e-5
    ocp.verify(solution).require(1e-3)


def test_a_solution_with_loops_survives_its_file(tmp_path):
    for way in ("explicit", "variables", "radau"):
        solution = solved(way)
        ocp.save(solution, tmp_path / "way.npz")
        again = ocp.load(tmp_path / "way.npz")
        assert np.array_equal(again.loop_forces(0.2), solution.loop_forces(0.2))
        assert again.problem.tree == solution.problem.tree


def test_a_guess_is_made_to_close():
    plan = transcribe_phase(turning(points=20), ocp.Transcription())
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
                    ocp.at_start(TREE, q=WAY[:, 0], qd=(1.0, 0.0, 0.0)),
                    ocp.at_end(TREE, q=WAY[:, -1], qd=0.0),
                ),
            ),
            "at the start leaves a rate of .* m/s",
        ),
        (
            lambda: replace(
                turning("crank"),
                constraints=(
                    ocp.at_start(TREE, q=WAY[:, 0], qd=FAST, qdd=0.0),
                    ocp.at_end(TREE, q=WAY[:, -1], qd=0.0),
                ),
            ),
            "leaves an acceleration of .* m/s2",
        ),
        (
            lambda: replace(
                turning(),
                constraints=(
                    *turning().constraints,
                    ocp.Constraint(name="loops", function=lambda at: at.q, lower=0, upper=1),
                ),
            ),
            "constraint 'loops': the name is that of the law of motion",
        ),
    ],
)
def test_a_statement_that_contradicts_the_loops_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        ocp.solve(make())


def test_a_mesh_of_single_stages_cannot_close_loops():
    with pytest.raises(ValueError, match="order: expected at least 2"):
        ocp.solve(turning(), ocp.Transcription(method=ocp.Radau(order=1)))


def test_integrated_loops_want_their_end_stated_apart():
    ends = ocp.Constraint(
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
        ocp.solve(problem, ocp.Transcription(method=ocp.Integrated()))


def test_the_five_bar_reaches_where_it_is_told():
    tree, rng = five_bar(), np.random.default_rng(0)
    for x, y in np.column_stack(
        [rng.uniform(-0.15, 0.15, 20), rng.choice([-1, 1], 20) * rng.uniform(0.2, 0.4, 20)]
    ):
        q = reaching((x, y))
        assert np.abs(np.array(loop_closure.gap(tree, ca.DM(q)))).max() < 1e-12
    with pytest.raises(ValueError, match=r"hand: \(1, 0\) m is out of reach of the left crank"):
        reaching((1.0, 0.0))


def test_a_drive_at_its_limit_is_seen_as_such():
    limited = four_bar(torque=0.6)
    problem = replace(
        turning(tree=limited), duration=(0.1, 2.0), objective=turning(tree=limited).objective
    )
    problem = replace(problem, constraints=(*problem.constraints, ocp.torque_limits(limited)))
    solution = ocp.solve(problem, solver=ocp.Solver(options={"max_iter": 300})).require()
    assert np.abs(solution.tau(solution.times())[0]).max() < 0.61


def test_the_report_names_what_cut_joints_pass_and_which_rows_are_redundant():
    """A planar loop closed in space: its rows across the plane say nothing new."""
    loop = replace(TREE.loops[0], position="xyz", orientation="xy", axes="start")
    tree = replace(TREE, loops=(loop,))
    solution = ocp.solve(turning(points=20, tree=tree)).require()
    assert solution.objective == pytest.approx(solved("explicit", "all", 20).objective, rel=1e-6)
    report = describe(ocp.Task(turning), {}, solution)["loops"]
    assert report["redundant"] == ["pin: position z", "pin: orientation x", "pin: orientation y"]
    forces = np.abs(solution.loop_forces(solution.times()))
    assert report["forces"]["pin: position x"] == {"peak": forces[0].max(), "unit": "N"}
    assert not forces[2:].any()


def test_a_body_on_the_ground_closes_loops_too():
    """Two hips coupled by a chain: nothing slips, the chain's moment acts between them, and all is
    balanced."""
    tree = biped()
    tree = replace(
        tree,
        loops=(
            ocp.Loop(
                name="chain", start="heel_left", end="heel_right", position="", orientation="y"
            ),
        ),
    )
    start = dict.fromkeys(ROOT, 0.0) | {"z": 0.7}
    ground = steps(strike=0.25, leave=0.625, way=0.1)
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=6),
        duration=0.8,
        ground=ground,
        objective=ocp.dynamic_effort(tree) + 0.01 * ocp.squares("smooth", lambda at: at.qdd),
        constraints=(
            ocp.torque_limits(tree),
            unilateral(tree, ground),
            linear_split(tree, ground),
            ocp.at_start(tree, q=start, qd=0.0),
            ocp.at_end(tree, q=start | {"z": 0.65, "x": 0.03}, qd=0.0),
        ),
    )
    solution = ocp.solve(problem).require(coarse=True)
    assert gap_of(solution, 101) < 1e-6
    assert np.abs(solution.loop_forces(solution.times())).max() > 1.0
    t = solution.nodes * solution.duration
    assert np.allclose(solution.tau(t)[6:], solution.lifted[:4], atol=1e-6 * body_weight(tree))
    assert ocp.verify(solution).drift < 1e-6


def test_a_statement_need_not_be_hashable():
    problem = turning(points=12)
    named = replace(problem.constraints[0], labels=list(problem.constraints[0].labels))
    assert ocp.solve(replace(problem, constraints=(named, *problem.constraints[1:]))).success


def test_an_end_in_another_assembly_is_told_after_the_failure():
    other = loop_assembly.close_coordinates(TREE, (2.0, -1.0, -1.0), ["crank"])
    problem = replace(
        turning("all"),
        constraints=(ocp.at_start(TREE, q=WAY[:, 0], qd=0.0), ocp.at_end(TREE, q=other, qd=0.0)),
    )
    found = ocp.solve(
        problem,
        ocp.Transcription(method=ocp.Radau(intervals=10)),
        ocp.Solver(options={"max_iter": 5}),
    )
    assert not found.success
    assert any("different assemblies of the loops" in line for line in found.explanation)
    stopped = ocp.solve(turning(), solver=ocp.Solver(options={"max_iter": 1}))
    assert not stopped.success and not any("assemblies" in line for line in stopped.explanation)
