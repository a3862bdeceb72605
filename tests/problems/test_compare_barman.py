"""Alterations that would give Barman's printed time: data, weight and stroke."""

from dataclasses import replace
from math import cos, pi, sqrt

import numpy as np
import pytest

from ocp import solve
from ocp.problems.arms import pr_mixed, two_link_time
from ocp.problems.published import compare_barman as barman
from ocp.problems.published.compare_barman import CHANGES, FREE, Change, Data, problem

SHORT = barman.data_of(CHANGES[0])
NEAREST = {
    "q1(T) = 0.6 m: a stroke of 0.50 m": -0.0018,
    "u = 0.005, half the weight": 0.0135,
    "theta_2 = q2": 0.0503,
}
WEIGHT, STROKE = 0.00442, 0.60197  # that make the printed time at the knots


@pytest.mark.parametrize(
    ("changes", "stated"),
    [({}, {}), ({"u": 0.02, "end": (0.6, -pi / 4)}, {"u": 0.02, "stroke": 0.5})],
)
def test_its_data_are_those_of_the_gallery_unless_altered(changes, stated):
    altered, known = problem(Data(**changes)), pr_mixed.problem(**stated)
    assert solve(altered).require().objective == pytest.approx(
        solve(known).require().objective, rel=1e-9
    )


def test_the_short_stroke_comes_near_the_print_and_natural_slips_do_not():
    """The command tries all alterations; these are the nearest, and readings of the angles."""
    words = {one.words: one for one in CHANGES}
    off = {key: barman.at_knots(barman.data_of(words[key])) / barman.PRINTED - 1 for key in NEAREST}
    assert off == pytest.approx(NEAREST, abs=1e-3)


@pytest.mark.parametrize(
    ("row", "ends", "value"),
    [(0, (0.0044, 0.00444), WEIGHT), (1, (0.55, 0.68), STROKE)],
    ids=["weight", "stroke"],
)
def test_one_number_alone_makes_the_printed_time(row, ends, value):
    make = FREE[row][1]
    needed = barman.exact(make, ends)
    assert needed == pytest.approx(value, abs=6e-6)
    assert barman.at_knots(make(needed)) == pytest.approx(barman.PRINTED, abs=1e-6)


def test_no_number_is_named_where_none_makes_the_time():
    assert np.isnan(barman.exact(FREE[0][1], (0.02, 0.05)))


@pytest.mark.parametrize("data", [SHORT, Data(turned=0.0, inertia=0.05)])
def test_force_and_torque_at_rest_are_what_the_weight_says(data):
    """Along a best motion of free duration the Hamiltonian is 0, and at rest both costates but
    those of the rates are multiplied by 0."""
    solution = solve(problem(data, points=42)).require()
    for t in (0.0, solution.duration):
        assert (solution.tau(t) ** 2).sum() == pytest.approx(1 / data.u - 1, rel=4e-3)


def test_given_the_time_weights_do_not_matter_and_the_force_is_at_its_limit():
    stopped = replace(problem(Data()), duration=barman.PRINTED)
    lighter = replace(problem(Data(u=0.003, power=1.0, lead=False)), duration=barman.PRINTED)
    first, second = (solve(one).require() for one in (stopped, lighter))
    t = np.linspace(0, barman.PRINTED, 50)
    assert np.abs(first.q(t) - second.q(t)).max() < 1e-4
    assert 0.2 < barman.full(first) < 0.3
    assert barman.full(solve(problem(SHORT)).require()) == 0


def test_internal_forces_peak_at_the_end_unless_the_effort_is_lighter():
    assert barman.before_end(SHORT) == 0
    assert 0.07 < barman.before_end(Data(u=WEIGHT)) < 0.12


@pytest.mark.parametrize(
    "stated", [two_link_time.problem(), pr_mixed.problem(), problem(SHORT), problem(Data(u=WEIGHT))]
)
def test_the_second_joint_passes_the_smaller_force_all_along_as_the_thesis_says(stated):
    """The planes are horizontal, and the joints bear the weight of their links."""
    solution = solve(stated).require()
    first, second = np.linalg.norm(solution.reactions(solution.times(201))[1], axis=0)
    assert (second < first).all()
    weightless = replace(stated, tree=replace(stated.tree, gravity=(0.0, 0.0, 0.0)))
    other = solve(weightless).require()
    assert other.duration == pytest.approx(solution.duration, rel=1e-9)
    np.testing.assert_allclose(other.tau(0.0), solution.tau(0.0), rtol=1e-7)
    first, second = np.linalg.norm(other.reactions(other.times(201))[1], axis=0)
    assert not (second < first).all()


def test_the_least_time_is_that_of_the_centre_of_mass():
    way = pi / 4 - 0.1 + 0.1 * (cos(pi / 4) - cos(0.6))
    assert barman.least_time(Data()) == pytest.approx(2 * sqrt(way / 10), rel=1e-12)
    assert solve(problem(Data(u=0.0), points=102)).require().duration == pytest.approx(
        barman.least_time(Data()), abs=2e-4
    )


def test_pairs_alter_different_data_and_lie_near_the_print():
    odd = Change(words="u", fields={"u": WEIGHT}), Change(words="limits", fields={"limit": 10.0})
    same = Change(words="u again", fields={"u": 0.01})
    assert [line[0] for line in barman.pairs((*odd, same))] == ["u; limits"]
