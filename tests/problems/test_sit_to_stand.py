"""A human rises from a seat: how it sits, when the seat is left, and what its joints give."""

import numpy as np
import pytest

from ocp import solve
from ocp.mechanics import body_weight, positions
from ocp.models.walkers.jumper import jumper
from ocp.problems.human.sit_to_stand import FEET, MOMENTS, lines, problem, report, seated


@pytest.fixture(scope="module")
def risen():
    """Return a rise on a coarse basis."""
    return solve(problem(points=9)).require(coarse=True)


def test_one_sits_with_flat_feet_and_the_hips_over_the_seat():
    body, sits = jumper(arms=False), seated(0.53, np.radians(15))
    q = np.array([sits[joint.name] for joint in body.moving])
    heel, ball, hip = (
        np.array(each).ravel() for each in positions(body, q, ("heel", "ball", "hip"))
    )
    assert heel[1] == pytest.approx(0.0, abs=1e-9)
    assert ball[1] == pytest.approx(0.0, abs=1e-9)
    assert hip[1] == pytest.approx(0.53)
    assert hip[0] < heel[0] - 0.1
    with pytest.raises(ValueError, match=r"seat: the hips would be 1\.08 m high, the knees 0\.484"):
        problem(seat=1.0)


def test_the_seat_bears_until_it_is_left(risen):
    leaning, rising = risen.phases.values()
    weight = body_weight(leaning.problem.tree)
    seat = leaning.trace(lambda at: at.reaction.force("hip"), leaning.times(41))[1] / weight
    assert seat[0] > 0.5
    assert seat.min() > -1e-6
    assert seat[-1] == pytest.approx(0.0, abs=1e-6)
    feet = rising.trace(lambda at: at.reaction.force(FEET), rising.times(41))[1] / weight
    assert feet[0] > 0.5
    assert feet[-1] == pytest.approx(1.0, abs=0.2)
    assert [phase.name for phase in risen.problem.phases] == ["leaning", "rising"]


def test_hips_and_knees_give_most_as_the_seat_is_left_and_ankles_later(risen):
    entry = report(risen)["rise"]
    moments = entry["moments"]
    assert set(moments) == set(MOMENTS)
    for joint in ("hip", "knee"):
        least, most = entry["people"][f"{joint}_Nm_kg"]
        assert least < moments[joint]["Nm_kg"] < most
        assert 0.0 < moments[joint]["after_seat_off_s"] < 0.15
    assert moments["ankle"]["s"] > max(moments["hip"]["s"], moments["knee"]["s"])
    assert 20 < entry["lean_deg"] < 50
    assert len(lines(report(risen))) == 5
