"""NIOSH's equation on the examples of its manual, and at the ends of its tables."""

import numpy as np
import pytest

from ocp.problems.lifting.report.niosh import FASTEST, Grasp, Work, judged, multipliers, recommended

INCH, POUND = 0.025, 23 / 51  # as the manual equates its two systems of units, formula by formula
# DHHS (NIOSH) 94-110, examples 1 to 4 of single tasks: H, V at start and end (in), A at the start
# (deg), work, and the recommended weights as printed (lb); the destination of the third needs no
# control. Prints are of multipliers rounded to two digits.
EXAMPLES = {
    "punch press stock": ((23, 15), (23, 64), 0, Work(coupling="fair"), (16.3, 14.5)),
    "supply rolls": ((20, 27), (20, 10), 0, Work(coupling="poor"), (20.9, 18.1)),
    "bags into a hopper": ((18, 15), (10, 36), 45, Work(coupling="fair"), (18.9, None)),
    "package inspection": ((10, 22), (20, 59), 0, Work(rate=3, coupling="fair"), (34.9, 15.2)),
}


def grasp(place, angle=0.0):
    """Where hands are, H and V in inches."""
    return Grasp(ahead=place[0] * INCH, high=place[1] * INCH, angle=np.radians(angle))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_manual_are_recommended_the_printed_weights(name):
    start, end, turned, work, printed = EXAMPLES[name]
    origin, there = grasp(start, turned), grasp(end)
    travel = there.high - origin.high
    for at, expected in zip((origin, there), printed):
        if expected is not None:
            weight = recommended(multipliers(at, origin, travel, work)) / POUND
            assert weight == pytest.approx(expected, rel=0.025)


def test_the_best_lift_is_of_the_load_constant_and_each_limit_allows_nothing():
    best, work = Grasp(ahead=0.2, high=0.75), Work(coupling="good")
    assert recommended(multipliers(best, best, 0.1, work)) == pytest.approx(23.0)
    for wrong in ({"ahead": 0.64}, {"high": 1.76}, {"angle": np.radians(136)}, {"high": -0.01}):
        at = Grasp(**{"ahead": 0.2, "high": 0.75} | wrong)
        assert recommended(multipliers(at, best, 0.1, work)) == 0.0
    assert recommended(multipliers(best, best, 1.76, work)) == 0.0


@pytest.mark.parametrize(
    "rate, hours, low, high",
    [
        (0.0, 1.0, 1.0, 1.0),
        (2.4, 1.0, 0.898, 0.898),  # between the rows of 2 and 3, as example 7 does
        (12.0, 0.5, 0.37, 0.37),
        (13.0, 1.0, 0.0, 0.34),
        (9.0, 1.5, 0.3, 0.3),
        (12.0, 2.0, 0.0, 0.21),
        (8.0, 8.0, 0.18, 0.18),
        (10.0, 3.0, 0.0, 0.13),
        (16.0, 1.0, 0.0, 0.0),
    ],
)
def test_how_often_and_how_long_counts_by_table_5_and_the_height_at_the_start(
    rate, hours, low, high
):
    work, there = Work(rate=rate, hours=hours), Grasp(ahead=0.4, high=1.0)
    for height, expected in ((0.74, low), (0.75, high)):
        factors = multipliers(there, Grasp(ahead=0.4, high=height), 0.3, work)
        assert factors["F"] == pytest.approx(expected)


def test_couplings_count_by_the_height_where_hands_are():
    origin = Grasp(ahead=0.4, high=0.3)
    found = {
        word: [
            multipliers(Grasp(ahead=0.4, high=high), origin, 0.5, Work(coupling=word))["C"]
            for high in (0.74, 0.75)
        ]
        for word in ("good", "fair", "poor")
    }
    assert found == {"good": [1.0, 1.0], "fair": [0.95, 1.0], "poor": [0.9, 0.9]}


def test_a_lift_is_judged_by_its_worse_end_and_told_when_it_is_too_fast():
    t = np.linspace(0.0, 2.0, 101)
    to_the_left = np.array([np.full(101, 0.4), 0.4 + 0.3 * t, np.full(101, 0.4)])
    entry = judged(to_the_left, t, 10.0, Work())
    angles = [entry[when]["multipliers"]["A"] for when in ("start", "end")]
    assert angles == pytest.approx([1 - 0.0032 * 45] * 2)
    worse = min(entry[when]["recommended_kg"] for when in ("start", "end"))
    assert entry["lifting_index"] == pytest.approx(10.0 / worse)
    assert entry["hand_speed"] == pytest.approx(0.3) and entry["hand_speed"] < FASTEST
    turned = judged(to_the_left, t, 10.0, Work(), forward=np.radians(45))
    assert turned["start"]["multipliers"]["A"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"rate": -1.0}, "rate: expected lifts a minute, at least 0, got -1"),
        ({"hours": 9.0}, "hours: expected more than 0, at most 8 h, got 9"),
        ({"coupling": "glue"}, "coupling: expected one of good, fair, poor, got 'glue'"),
    ],
)
def test_work_that_the_equation_does_not_know_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Work(**wrong)
