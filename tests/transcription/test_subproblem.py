"""Programs less some of their constraints, on the graphs that they have."""

from dataclasses import replace

import numpy as np
import pytest
from phased_motions import moved

import ocp
from ocp.models.arms.two_link import two_link
from ocp.problems.swing_ups import cart_pole_swing
from ocp.transcription.transcribe import transcribe
from ocp.transcription.transcribe_phase import transcribe_phase

ARM = two_link()
ENDS = ocp.at_start(ARM, q=(0.0, -2.0), qd=0.0), ocp.at_end(ARM, q=(1.0, -1.0), qd=0.0)
SLOW = ocp.path("slow", lambda at: at.qd, lower=-2.5, upper=2.5, labels=("one", "two"))
STRONG = ocp.path("strong", lambda at: at.tau * at.qd, lower=-9.0, upper=9.0, labels=("one", "two"))
BENT = ocp.path("bent", lambda at: at.q, lower=-2.5, upper=1.5, when="hull", labels=("one", "two"))
WHOLE = ocp.Problem(
    tree=ARM,
    motion=ocp.BSpline(points=9),
    duration=0.8,
    objective=ocp.effort(),
    constraints=(*ENDS, BENT, SLOW, STRONG),
)
BARE = replace(WHOLE, constraints=ENDS)
CALM = replace(moved(), constraints=(*moved().constraints, BENT, SLOW, STRONG))
ASKED = "bent", "slow", "strong"
PAIRS = {"one motion": (WHOLE, BARE, transcribe_phase), "phases": (CALM, moved(), transcribe)}


@pytest.mark.parametrize("kind", PAIRS)
def test_a_program_less_constraints_is_that_of_a_problem_that_never_had_them(kind):
    whole, bare, build = PAIRS[kind]
    less, stated = ocp.prepare(whole).without(*ASKED).transcribed, build(bare)
    for name in ("lower", "upper", "g_lower", "g_upper"):
        np.testing.assert_array_equal(getattr(less.nlp, name), getattr(stated.nlp, name))
    x = stated.guess + 0.01 * np.sin(np.arange(len(stated.nlp.lower)))
    weights = np.cos(np.arange(len(stated.nlp.g_lower)))
    for one, other in (
        (less.nlp.constraints(x), stated.nlp.constraints(x)),
        (less.nlp.jacobian(x, [])[1], stated.nlp.jacobian(x, [])[1]),
        (
            less.nlp.hessian("exact")(x, [], 1, weights),
            stated.nlp.hessian("exact")(x, [], 1, weights),
        ),
    ):
        np.testing.assert_allclose(np.array(one), np.array(other), rtol=1e-12, atol=1e-12)
    assert [each.name for each in less.rows] == [each.name for each in stated.rows]


def test_a_solve_goes_on_from_one_of_the_same_plan_without_a_constraint():
    plan = ocp.prepare(WHOLE)
    loose = plan.without(*ASKED).solve().require(coarse=True)
    tight = plan.solve(loose).require()
    times = tight.times()
    assert abs(loose.qd(times)).max() > 2.5 + 1e-3 and abs(tight.qd(times)).max() < 2.5 + 1e-3
    assert loose.objective == pytest.approx(ocp.prepare(BARE).solve().objective, rel=1e-9)
    assert tight.objective > loose.objective and "slow" not in loose.multipliers


def test_a_failure_is_explained_by_what_was_not_left_out():
    plan = ocp.prepare(WHOLE, solver=ocp.Solver(options={"max_iter": 1}))
    failed = plan.without("slow", "strong").solve()
    assert failed.status == "Maximum_Iterations_Exceeded"
    assert failed.explanation and not any("slow" in line for line in failed.explanation)


def test_what_cannot_be_left_out_is_named():
    with pytest.raises(ValueError, match="without: expected names of constraints, got 'fast'"):
        ocp.prepare(WHOLE).without("fast")
    swing = cart_pole_swing.problem()
    plan = ocp.prepare(swing, ocp.Transcription(method=ocp.Integrated()))
    with pytest.raises(ValueError, match="passive joints are integrated"):
        plan.without(plan.transcribed.rows[0].constraint.name)


def test_parameters_at_other_values_leave_nothing_of_what_is_left_out():
    heavy = ocp.Parameter("mass", 0.5, "kg", lower=0.1)
    links = (replace(ARM.links[0], mass=heavy), *ARM.links[1:])
    plan = ocp.prepare(replace(WHOLE, tree=replace(ARM, links=links)))
    left = plan.without(*ASKED)
    for program in (left.transcribed, left.transcribed.at({heavy: 0.6})):
        assert {each.name for each in program.rows}.isdisjoint(ASKED)
    loose = left.solve(mass=0.6).require(coarse=True)
    assert loose.multipliers.keys().isdisjoint(ASKED)
    tight = plan.solve(loose, mass=0.6).require()
    assert tight.statistics["warm_start"] and tight.objective > loose.objective
