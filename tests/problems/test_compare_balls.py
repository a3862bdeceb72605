"""Comparison of trees with ball joints, on a few of them."""

from ocp.problems.benchmarks.dynamics.compare_balls import BODIES, CLAIMS, free_bodies, measured


def test_random_trees_with_balls_keep_every_claim():
    for figure, (what, most) in zip(measured(11), CLAIMS.items()):
        assert figure < most, what


def test_free_bodies_tumble_as_closed_forms_say():
    for figure, (what, most) in zip(free_bodies(), BODIES.items()):
        assert figure < most, what
