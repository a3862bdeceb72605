"""Reports of solutions: brief as a value, in full as a summary, a table in notebooks."""

import json
import re
from dataclasses import replace

import pytest

import ocp
from ocp import Parameter, load, solve
from ocp.models.arms.two_link import two_link
from ocp.models.human import ROOT, human
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.report import describe
from ocp.report.mechanism_report import coordinate_counts, coordinate_words
from ocp.storage import plain


@pytest.fixture(scope="module")
def lifted():
    return solve(lift(points=12), certify=True)


def test_coordinates_are_told_with_those_of_the_root_and_fixed_joints():
    assert coordinate_words(coordinate_counts(two_link())) == "2 coordinates"
    words = coordinate_words(coordinate_counts(human()))
    assert words == "38 coordinates (6 of the root, 17 joints fixed)"
    joints = human(frozen=()).dof - len(ROOT)
    assert (joints, len(ROOT)) == (49, 6)  # as the front door and `ocp list` have it


def test_the_summary_is_the_block_that_a_paper_needs(lifted):
    text = ocp.summary(lifted)
    for words in (
        r"statement +2 coordinates, BSpline of 12 points, duration .* s, \d constraints",
        r"status +Solve_Succeeded",
        rf"objective +{lifted.objective:.9g}",
        r"  effort +[\d.]+, weight 0\.\d+",
        r"duration +[\d.]+ s",
        r"solver +ipopt, exact Hessian, newton_euler, derivatives ad, nodes 4, quad",
        r"size +2 coordinates, \d+ variables, \d+ constraints, nonzeros \d+ Jacobian, \d+ Hessian",
        rf"iterations +{lifted.statistics['iterations']}",
        r"seconds +build [\d.e-]+, solve [\d.e-]+",
        r"versions +ocp .*casadi .*numpy .*python ",
        r"  torque_limits +[\d.e+-]+ / [\d.e+-]+ N m",
        r"forward simulation +drift",
        r"energy balance +[\d.e+-]+ relative",
        r"first order +[\d.e+-]+ residual",
    ):
        assert re.search(f"^{words}", text, re.MULTILINE), words


def test_representations_are_short_and_honest(lifted):
    stopped = solve(lift(points=12), attempts=[_stopped()])
    assert repr(stopped).startswith("Solution(status='Maximum_Iterations_Exceeded', objective=")
    for value in (lifted, lifted.verification, lifted.problem, stopped):
        assert len(repr(value)) < 1000 and "0x" not in repr(value)
    assert "drift" in repr(lifted.verification) and "torque_limits" in str(lifted.verification)


def test_notebooks_get_tables(lifted):
    for value, row in ((lifted, "objective"), (lifted.verification, "torque_limits")):
        page = value._repr_html_()
        assert page.startswith("<table>") and row in page and page.count("<tr>") > 5


def test_a_report_is_plain_data(lifted):
    report = describe(lifted, lifted.verification)
    assert json.loads(json.dumps(plain(report, null=True))) == plain(report, null=True)
    assert plain({"a": float("inf"), "b": (1, float("nan"))}) == {"a": "inf", "b": [1, "nan"]}
    assert plain({"a": float("inf")}, null=True) == {"a": None}


def _stopped():
    from ocp import Attempt

    return Attempt(options={"max_iter": 1})


def test_a_least_time_that_is_its_own_lower_bound_is_told():
    slow = solve(replace(fastest(points=10), duration=(0.9, 5.0)))
    assert slow.statistics["at_bounds"] == [
        "duration is at its lower bound, 0.9 s, which decides the answer"
    ]
    assert "at a bound            duration is at its lower bound, 0.9 s" in ocp.summary(slow)
    free = solve(fastest(points=10))
    assert not free.statistics["at_bounds"] and "at a bound" not in ocp.summary(free)


def test_a_free_parameter_without_bounds_that_empties_a_link_is_told():
    payload = Parameter("payload", 0.5, "kg", free=True)
    upper, fore = two_link(torque=10.0).links
    arm = replace(two_link(torque=10.0), links=(upper, replace(fore, mass=fore.mass + payload)))
    lightest = solve(replace(fastest(points=10), tree=arm))
    assert lightest.statistics["at_bounds"] == [
        "link 'elbow': mass is at its lower bound, 0 kg, which decides the answer"
    ]


def test_parameters_at_bounds_are_told_in_the_order_of_the_joints():
    tree = two_link(torque=10.0)
    heavier = [Parameter(f"load{k}", 0.5, "kg", free=True, lower=0.1) for k in range(8)]
    links = [
        replace(link, mass=link.mass + sum(own))
        for link, own in zip(tree.links, (heavier[4:], heavier[:4]))
    ]
    lightest = solve(replace(fastest(points=10), tree=replace(tree, links=tuple(links))))
    assert [line.split()[1] for line in lightest.statistics["at_bounds"]] == [
        each.name for each in heavier[4:] + heavier[:4]
    ]


def test_a_limit_of_the_tree_that_nothing_asks_for_is_told_where_it_is_exceeded():
    problem = fastest(points=10)
    slow = ocp.with_limits(problem.tree, velocity={"elbow": 0.5})
    unasked = describe(solve(replace(problem, tree=slow)))["beyond_limits"]
    assert len(unasked) == 1 and unasked[0].startswith("elbow by ")
    assert unasked[0].endswith("since no velocity_limits are asked")
    asked = (*problem.constraints, ocp.velocity_limits(slow))
    kept = solve(replace(problem, tree=slow, constraints=asked))
    assert kept.success and not describe(kept)["beyond_limits"]
    free = ocp.with_limits(problem.tree, velocity={"elbow": 50.0})
    assert not describe(solve(replace(problem, tree=free)))["beyond_limits"]


def test_a_free_parameter_at_its_bound_is_told(tmp_path):
    payload = Parameter("payload", 0.5, "kg", lower=0.2, upper=2.0, free=True)
    upper, fore = two_link(torque=10.0).links
    arm = replace(two_link(torque=10.0), links=(upper, replace(fore, mass=fore.mass + payload)))
    lightest = solve(replace(fastest(points=10), tree=arm))
    ocp.save(lightest, tmp_path / "lightest.npz")
    for solution in (lightest, load(tmp_path / "lightest.npz")):
        assert "parameter payload is at its lower bound, 0.2 kg, which decides" in ocp.summary(
            solution
        )
