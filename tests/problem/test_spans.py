"""Spans of constraints: hulls of control points, open ends, rows that no variable moves."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import SIDES, biped, steps
from limited_arm import arm_problem, limited, placed

from ocp import (
    BSpline,
    Constraint,
    Problem,
    Solver,
    Spline,
    Transcription,
    effort,
    joint_limits,
    path,
    solve,
    velocity_limits,
)
from ocp.certificate import violations
from ocp.problem import Span, mirror_symmetry, unilateral
from ocp.transcription import transcribe_phase
from ocp.transcription.transcribe import transcribe
from ocp.transcription.variables.layout import Layout, join_variables


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda arm: mirror_symmetry(arm, [0], [1, 1]),
            r"mirror_symmetry: expected index and sign for 2 coordinates, got \(1,\) and \(2,\)",
        ),
        (
            lambda arm: mirror_symmetry(arm, [0, 1], [1, 1], shift={"knee": 0.1}),
            "unknown joint 'knee'; the joints are shoulder, elbow",
        ),
        (
            lambda arm: arm_problem(
                Constraint(
                    name="two",
                    function=lambda start, end: end.q,
                    lower=(0, 0, 0),
                    upper=1,
                    when="joined",
                )
            ),
            "constraint 'two': its function has 2 rows, its bounds 3",
        ),
        (
            lambda arm: arm_problem(
                path("bent", lambda at: ca.sin(at.q[0]), upper=0.5, when="hull")
            ),
            "constraint 'bent': when 'hull': expected a function linear in q",
        ),
        (
            lambda arm: arm_problem(
                joint_limits(arm, hull=True),
                path("heavy", lambda at: at.tau, upper=5.0, when="hull"),
            ),
            "constraint 'heavy': when 'hull': expected a function linear in q",
        ),
        (
            lambda arm: arm_problem(path("p", lambda at: at.q, upper=1.0, when="hulls")),
            r"constraint 'p': when: expected one of path, start, end, ends, joined, hull, "
            r"durations or \(a, b\), got 'hulls'",
        ),
        (
            lambda arm: arm_problem(path("p", lambda at: at.q, upper=1.0, when=(0.1, 0.2, 0.3))),
            "constraint 'p': when: expected 0 <= a <= b <= 1",
        ),
        (lambda arm: Span(start=0.6, end=0.5), r"expected 0 <= a <= b <= 1, got \(0.6, 0.5\)"),
    ],
)
def test_what_cannot_be_joined_or_hulled_is_refused_by_name(build, message):
    with pytest.raises(ValueError, match=message):
        transcribe_phase(build(limited()))


@pytest.mark.parametrize("degree", [3, 4])
@pytest.mark.parametrize("clamped", [True, False], ids=["clamped", "unclamped"])
def test_limits_of_control_points_hold_all_along(clamped, degree):
    arm = limited()
    motion = BSpline(points=9, degree=degree, clamped=clamped)
    nlp = transcribe(arm_problem(joint_limits(arm, hull=True), motion=motion)).nlp
    assert len(nlp.g_lower) == 0
    assert nlp.lower.reshape(-1, 2).tolist() == [[-1, -2]] * 9
    assert nlp.upper.reshape(-1, 2).tolist() == [[2, 4]] * 9
    rng, curve = np.random.default_rng(degree), motion.values(np.linspace(0, 1, 401))
    for _ in range(20):
        x = np.where(
            rng.random(18) < 0.5,
            rng.uniform(nlp.lower, nlp.upper),
            rng.choice([0, 1], 18) * (nlp.upper - nlp.lower) + nlp.lower,
        )
        q = x.reshape(-1, 2).T @ curve.T
        assert (q >= np.array([[-1], [-2]]) - 1e-12).all()
        assert (q <= np.array([[2], [4]]) + 1e-12).all()


def test_a_linear_function_of_q_holds_for_every_control_point():
    problem = arm_problem(
        path(
            "line",
            lambda at: at.q[0] - 2 * at.q[1],
            lower=-0.5,
            upper=0.7,
            when="hull",
            labels=("line",),
        )
    )
    transcribed = transcribe_phase(problem)
    (row,) = transcribed.rows
    points = np.random.default_rng(2).standard_normal((2, 7))
    found = np.array(
        transcribed.nlp.constraints(join_variables(Layout(problem=problem), points, 0.8))
    ).ravel()
    assert np.allclose(found[row.row[0]], points[0] - 2 * points[1])
    assert np.array_equal(row.s, problem.motion.nodes)
    beyond = solve(problem, solver=Solver(options={"max_iter": 0}))
    worst = violations(replace(beyond, points=np.array([np.zeros(7), np.full(7, 0.45)])))["line"]
    assert worst.dense == pytest.approx(0.4) and worst.label == "line"


@pytest.mark.parametrize(
    ("open_start", "open_end"), [(False, False), (True, False), (False, True), (True, True)]
)
def test_an_open_end_is_left_out_itself(open_start, open_end):
    span = Span(start=0.25, end=0.5, open_start=open_start, open_end=open_end)
    assert span.holds([0.2, 0.25 - 1e-12, 0.3, 0.5 + 1e-12, 0.51]).tolist() == [
        False,
        not open_start,
        True,
        not open_end,
        False,
    ]
    row = placed(
        arm_problem(path("fast", lambda at: at.velocity("tip")[0], upper=1.0, when=span)), nodes=2
    )["fast"]
    inside = [k / 8 for k in (2, 3, 4)]
    assert row.s.tolist() == inside[open_start : 3 - open_end]


def test_closed_ends_between_the_nodes_are_instants_too():
    speed = {"function": lambda at: at.velocity("tip")[0], "upper": 1.0}
    rows = placed(
        arm_problem(
            path("closed", **speed, when=(0.3, 0.7)),
            path("point", **speed, when=(0.3, 0.3)),
            path("open", **speed, when=Span(start=0.3, end=0.7, open_start=True, open_end=True)),
            path("narrow", **speed, when=Span(start=0.3, end=0.32, open_start=True, open_end=True)),
        ),
        nodes=1,
    )
    assert rows["closed"].s.tolist() == [0.3, 0.5, 0.7] and rows["open"].s.tolist() == [0.5]
    assert rows["point"].s.tolist() == [0.3] and rows["narrow"].s.tolist() == [
        0.31
    ]  # at least once


def test_a_span_may_ask_between_the_nodes_too_of_what_the_motion_does():
    when = Span(start=0.25, end=0.5, open_end=True, between=1)
    fast = path("fast", lambda at: at.velocity("tip")[0], upper=1.0, when=when)
    assert placed(arm_problem(fast), nodes=2)["fast"].s.tolist() == [k / 16 for k in (4, 5, 6, 7)]
    with pytest.raises(ValueError, match="span: between: expected a number from 0 on, got -1"):
        Span(start=0.0, end=1.0, between=-1)


def test_violations_look_only_where_a_span_holds():
    rising = solve(arm_problem(), solver=Solver(options={"max_iter": 0}))
    rising = replace(rising, points=np.array([rising.problem.motion.nodes, np.zeros(7)]))  # q_1 = s
    spans = {
        "closed": Span(start=0.25, end=0.5),
        "open": Span(start=0.25, end=0.5, open_end=True),
        "late": Span(start=0.75, end=1.0),
    }
    problem = replace(
        rising.problem,
        constraints=tuple(
            path(name, lambda at: at.q[0], upper=0.0, when=span, units="rad")
            for name, span in spans.items()
        ),
    )
    found = violations(
        replace(rising, problem=problem, transcription=Transcription(method=Spline(nodes=2)))
    )
    assert found["closed"].nodes == pytest.approx(0.5)
    assert found["open"].nodes == pytest.approx(0.375)
    assert found["open"].dense == pytest.approx(0.4875) and found["late"].time == pytest.approx(0.8)
    assert found["closed"].time == pytest.approx(0.4)


def test_a_row_that_no_variable_moves_is_dropped_when_satisfied():
    rows = placed(
        arm_problem(
            path("given", lambda at: ca.vertcat(1.0, at.q[0]), lower=(0.5, -1), upper=(1.5, 1)),
            velocity_limits(fast()),
        )
    )
    assert (rows["given"].row[0] == -1).all()
    assert (rows["given"].variable[0] == -1).all()
    assert (rows["given"].row[1, 1:-1] >= 0).all()
    tree, ground = biped(), steps(strike=0.25, leave=0.625)
    stands = Problem(
        tree=tree,
        motion=BSpline(points=5),
        duration=0.8,
        objective=effort(),
        constraints=unilateral(tree, ground),
        ground=ground,
    )
    row = placed(stands, nodes=4)["unilateral"]
    there = (row.row >= 0) | (row.variable >= 0)
    assert np.array_equal(there, [row.s > 0.25, row.s < 0.625])
    assert tuple(SIDES) == ("right", "left")


def fast():
    """The arm with rates limited."""
    return replace(
        limited(), joints=tuple(replace(joint, velocity=9.0) for joint in limited().joints)
    )


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            lambda: arm_problem(
                path(
                    "given",
                    lambda at: ca.vertcat(at.q[0], 1.0),
                    upper=(1, 0.5),
                    labels=("turn", "one"),
                )
            ),
            r"given \(one, s = 0\) is 1 whatever the motion, expected within \(-inf, 0.5\)",
        ),
        (
            lambda: arm_problem(
                path("timed", lambda at: at.t, upper=0.5, when=(0.5, 1.0), labels=("t",))
            ),
            r"timed \(t, s = 0.6\d*\) is 0.5\d* whatever the motion, expected within \(-inf, 0.5\)",
        ),
        (
            lambda: Problem(
                tree=biped(),
                motion=BSpline(points=5),
                duration=0.8,
                objective=effort(),
                ground=steps(),
                constraints=(
                    path(
                        "push",
                        lambda at: at.reaction.push("right") / 300,
                        lower=0.1,
                        labels=("right",),
                    ),
                ),
            ),
            r"push \(right, s = 0\) is 0 whatever the motion, expected within \(0.1, inf\)",
        ),
    ],
)
def test_a_row_that_no_variable_moves_is_refused_by_name_when_violated(problem, message):
    with pytest.raises(ValueError, match=message):
        transcribe_phase(problem(), Transcription(method=Spline(nodes=4)))
