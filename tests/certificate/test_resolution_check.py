"""A solve says by itself when its mesh is too coarse, with the figure, and is silent otherwise."""

from dataclasses import replace

import pytest

import ocp
from ocp.certificate import resolution_check, row_violations, violations
from ocp.certificate.resolution_check import coarseness
from ocp.certificate.row_violations import violations_between_nodes
from ocp.models.arms.two_link import two_link
from ocp.models.arms.ur5_like import ur5_like
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.benchmarks.motions.compare_verdicts import judged
from ocp.problems.hopping.monoped_hop import problem as monoped
from ocp.problems.mechanisms.four_bar_effort import problem as turning
from ocp.problems.swing_ups.cart_pole_swing import problem as swing
from ocp.solution import solution as solution_module
from ocp.solution.objective_values import dense_terms
from ocp.transcription import transcribe_phase
from ocp.transcription.variables.layout import join_variables


def reach(points=12):
    """An arm like the UR5 reaches in a second with the least effort."""
    arm = ur5_like()
    return ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=points, degree=5),
        duration=1.0,
        objective=ocp.effort(arm),
        constraints=(
            ocp.at_start(arm, q=0.0, qd=0.0),
            ocp.at_end(arm, q=(1.5, -1.0, 1.0, 0.5, -0.5, 1.0), qd=0.0),
        ),
    )


def test_a_law_that_is_missed_between_the_nodes_is_told_with_the_figure():
    coarse = ocp.solve(swing(points=12))
    (line,) = coarse.explanation
    assert coarse.success and line == coarse.statistics["coarse"]
    assert line.startswith("the mesh is too coarse: between its nodes laws of motion are missed")
    assert "next: solve(problem, refine=0.01)" in line
    assert f"{coarse.status}, but the mesh is too coarse" in str(coarse)
    assert coarse.require(coarse=True) is coarse
    with pytest.raises(ocp.NotSolved, match=r"Solve_Succeeded, but\nthe mesh is too coarse"):
        coarse.require()


def test_an_effort_that_a_mesh_hides_between_its_stages_is_told():
    hidden = ocp.solve(reach(), ocp.Transcription(method=ocp.HermiteSimpson(intervals=20)))
    assert hidden.success and hidden.objective < 100  # N2 m2 s, where the least is 766.4
    assert "laws of motion are missed, which leads" in hidden.explanation[0]


def test_a_limit_that_is_overshot_between_the_nodes_is_told():
    arm = two_link(torque=3.0)
    arm = replace(arm, gravity=(0.0, -9.81, 0.0))
    statement = replace(
        fastest(points=5),
        tree=arm,
        constraints=(
            ocp.at_start(arm, q=(0.2, -2.0), qd=0.0),
            ocp.at_end(arm, q=(-1.0, -1.0), qd=0.0),
            ocp.torque_limits(arm),
        ),
    )
    overshot = ocp.solve(statement, ocp.Transcription(method=ocp.Spline(nodes=1)))
    assert overshot.success
    assert "torque_limits (" in overshot.explanation[0] and "N m, " in overshot.explanation[0]


def test_a_cut_joint_that_opens_is_told():
    (line,) = ocp.solve(turning(points=14)).explanation
    assert "loops (pin: position x) is off by 0.0166 m, 2%" in line


def test_a_sum_that_is_no_integral_is_told():
    bumpy = ocp.solve(
        reach(8), ocp.Transcription(method=ocp.Spline(quadrature="trapezoid", panels=1))
    )
    assert "the objective changes by" in bumpy.explanation[0]


def test_a_path_within_its_span_alone_is_looked_at():
    statement = fastest(points=10)
    free = ocp.path("late", lambda at: at.q[0], lower=0.9, when=(0.95, 1.0))
    assert not ocp.solve(replace(statement, constraints=(*statement.constraints, free))).explanation


@pytest.mark.parametrize(
    ("statement", "method"),
    [
        (fastest(), ocp.Spline()),
        (lift(), ocp.Spline()),
        (swing(), ocp.Spline()),
        (swing(), ocp.Radau(intervals=40)),
        (swing(), ocp.HermiteSimpson(intervals=40)),
        (swing(), ocp.HermiteSimpson(intervals=40, form="explicit")),
    ],
    ids=["fastest", "lift", "swing", "swing on radau", "swing on hermite-simpson", "explicitly"],
)
def test_sound_sizes_are_passed_in_silence(statement, method):
    solution = ocp.solve(statement, ocp.Transcription(method=method))
    assert solution.success and solution.explanation == () and not solution.statistics["coarse"]


def test_what_is_missed_counts_alike_in_both_forms():
    forms = [ocp.HermiteSimpson(intervals=12, form=form) for form in ("implicit", "explicit")]
    coarse = [ocp.solve(swing(), ocp.Transcription(method=form)) for form in forms]
    judged = [violations(each)["dynamics"] for each in coarse]
    assert judged[1].relative == pytest.approx(judged[0].relative, rel=1e-6)
    assert coarse[0].explanation == coarse[1].explanation != ()


def test_a_fine_motion_is_told_by_kernels_alone(monkeypatch):
    solution = ocp.solve(swing(points=80))
    transcribed = transcribe_phase(solution.problem, solution.transcription)
    x = join_variables(transcribed.layout, solution.points, solution.duration)
    asked = []
    monkeypatch.setattr(
        resolution_check, "_certificate_gaps", lambda _, __, doubts, ___: asked.append(doubts) or ()
    )
    assert coarseness(transcribed, x, solution) == "" and asked == [set()]


def timed_lift(payload):
    """An arm lifts a payload in a given time, both left open, within all kinds of limits."""
    arm = ocp.with_limits(two_link(torque=20.0), velocity=9.0, torque_rate=300.0, jerk=900.0)
    upper, fore = arm.links
    loaded = replace(arm, links=(upper, replace(fore, mass=fore.mass + payload)))
    return ocp.Problem(
        tree=loaded,
        motion=ocp.BSpline(points=12, degree=5),
        duration=ocp.Parameter("T", 1.0, "s", lower=0.5, upper=2.0),
        objective=ocp.effort() + 1e-3 * ocp.smoothness(loaded),
        constraints=(
            ocp.at_start(loaded, q=(-1.5, 0.0), qd=0.0),
            ocp.at_end(loaded, q=(1.0, 0.5), qd=0.0),
            *ocp.limits(loaded),
        ),
    )


@pytest.mark.parametrize("torques", ["variables", "explicit"])
def test_a_plans_further_solves_are_judged_by_kept_graphs_as_by_new_ones(monkeypatch, torques):
    payload = ocp.Parameter("payload", 0.5, "kg", lower=0.0, upper=2.0)
    plan = ocp.prepare(timed_lift(payload), ocp.Transcription(method=ocp.Spline(torques=torques)))
    first, other = plan.solve(), {"payload": 1.5, "T": 0.8}
    (program,) = plan.at(plan.solve(first, **other).parameters).parts
    made = []
    for module in (row_violations, solution_module):
        for name in ("trace", "trace_cancelled"):
            if hasattr(module, name):
                real = getattr(module, name)
                counted = lambda *what, real=real: made.append(what) or real(*what)
                monkeypatch.setattr(module, name, counted)
    last = plan.solve(first, **other)
    assert last.success and not made
    kept = {each.name: each for each in violations_between_nodes(last, program)}
    row_violations._LAST.clear()
    anew = {each.name: each for each in violations_between_nodes(last, program_of_numbers(last))}
    assert made and kept.keys() == anew.keys() >= {"torque_rate_limits", "jerk_limits"}
    for name, each in kept.items():
        assert each.relative == pytest.approx(anew[name].relative, rel=1e-9, abs=1e-12), name
        assert each.label == anew[name].label or each.relative < 1e-12
    weights = [weight for weight, _ in last.problem.objective.terms]
    by_kept, by_new = dense_terms(last, program), dense_terms(last)
    assert by_kept == pytest.approx(by_new, rel=1e-12) and len(weights) == 2


def test_a_plan_of_phases_makes_no_graphs_for_its_further_solves():
    payload, hop = ocp.Parameter("payload", 0.1, "kg", lower=0.0, upper=5.0), monoped(points=12)
    trunk, *rest = hop.tree.links
    heavier = replace(trunk, mass=trunk.mass + payload)
    plan = ocp.prepare(replace(hop, tree=replace(hop.tree, links=(heavier, *rest))))
    first = plan.solve()
    made = [dict(part.made) for part in plan.transcribed.parts]
    assert all({"densities"} < kept.keys() for kept in made)
    assert plan.solve(first, payload=0.2).success
    assert [list(map(id, part.made.values())) for part in plan.transcribed.parts] == [
        list(map(id, kept.values())) for kept in made
    ]


@pytest.mark.parametrize("points", [8, 12])
def test_torques_between_nodes_are_judged_as_the_motion_needs_them(points):
    method = ocp.Spline(torques="variables", nodes=1)
    coarse = ocp.solve(fastest(points=points), ocp.Transcription(method=method))
    worst = violations(coarse)["torque_limits"]
    (line,) = coarse.explanation
    assert f"torque_limits ({worst.label}) is off by {worst.dense:.3g} N m" in line


def program_of_numbers(solution):
    return transcribe_phase(solution.problem, solution.transcription)


@pytest.mark.parametrize("kind", ["arm", "swing", "hop"])
def test_the_word_of_a_solve_is_that_of_its_certificate(kind):
    """Of random coarse problems: arms, swing-ups and hops, on splines and meshes."""
    verdicts = [judged(kind, seed) for seed in range(2)]
    assert all(each.solved and each.agrees for each in verdicts)


def test_the_acceleration_of_a_standing_foot_counts_by_what_cancels_in_it():
    """A hop whose foot accelerates by 0.1 m/s2 beside hundreds of rad/s2 in its joints."""
    hop = ocp.solve(
        monoped(), ocp.Transcription(method=ocp.Radau(intervals=10, order=6)), attempts=ocp.PLAIN
    )
    certificate = ocp.verify(hop)
    foot = certificate.violations["stance: standing_acceleration.foot"]
    assert foot.dense > 0.05 and foot.relative < 2e-3
    hop.require()
    certificate.require(1e-2)


def test_a_start_of_a_further_solve_is_not_checked():
    plan = ocp.prepare(swing(points=12))
    started = plan.solve(check_mesh=False)
    assert started.success and not started.explanation and "coarse" in plan.solve().explanation[0]


def test_a_table_of_violations_is_that_of_the_motion_as_it_is_now():
    solution = ocp.solve(fastest(points=8))
    before = violations(solution)
    solution.points[:] *= 2.0
    assert violations(solution) != before
    solution.points[:] /= 2.0
    assert violations(solution) == before
