"""Many values on one plan, and plans that are kept for those who solve by the problem."""

from dataclasses import replace

import pytest

from ocp import Parameter, Plan, prepare, solve
from ocp.problems.arms.two_link_time import problem
from ocp.solving.plan import keep_plans

OPEN = problem(torque=Parameter("torque", 10.0, "N m", 1.0, 50.0), points=6)
TORQUES = [{"torque": number} for number in (8.0, 14.0, 8.5, 13.5)]


def test_a_map_solves_every_set_of_values():
    plan = prepare(OPEN)
    alone, chained = plan.map(TORQUES), plan.map(TORQUES, chain=True, certify=True)
    for values, one, other in zip(TORQUES, alone, chained):
        assert one.parameters == other.parameters == values and one.plan is plan
        assert other.objective == pytest.approx(one.objective, rel=1e-6)
        assert other.verification is not None
    counts = [[each.statistics["iterations"] for each in way] for way in (alone, chained)]
    assert all(other < one for one, other in zip(*(way[1:] for way in counts)))
    near = plan.solve(chained[1], torque=13.5)  # the nearest before it, not the last
    assert (near.points == chained[3].points).all()


def test_a_chain_starts_anew_where_a_neighbour_fails(monkeypatch):
    plan, solved = prepare(OPEN), Plan.solve

    def lost(self, guess=None, **options):
        solution = solved(self, guess, **options)
        return replace(solution, success=guess is None)

    monkeypatch.setattr(Plan, "solve", lost)
    _, other = plan.map(TORQUES[:2], chain=True)
    assert other.success and other.objective == solved(plan, torque=14.0).objective


def test_a_map_refuses_wrong_values_before_it_solves(monkeypatch):
    plan = prepare(OPEN)
    with pytest.raises(ValueError, match="'torque': expected a number within 1 and 50"):
        plan.map([{}, {"torque": 60.0}], watch=pytest.fail)
    with pytest.raises(ValueError, match="map: values by name: expected Mapping, got str 'torque'"):
        plan.map({"torque": 9.0})


def test_a_problem_that_comes_again_is_prepared_once():
    kept = {}
    with keep_plans(kept):
        first = solve(OPEN, values={"torque": 9.0})
        again = solve(OPEN, guess=first, values={"torque": 9.5})
        other = prepare(problem(points=6))
    assert len(kept) == 1 and again.plan.transcribed is first.plan.transcribed
    assert not other.parameters and first.parameters == {"torque": 9.0}
    assert solve(OPEN).plan.transcribed is not first.plan.transcribed
