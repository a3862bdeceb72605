"""A human rises from a seat: how it sits, when the seat is left, and what its joints give."""

import numpy as np
import pytest

from ocp import Transcription
from ocp.mechanics import body_weight, position
from ocp.models.human import human
from ocp.problems.human.sit_to_stand import (
    MOMENTS,
    SEAT,
    TASK,
    lines,
    problem,
    report,
    seated,
)
from ocp.solvers import Solver


@pytest.fixture(scope="module")
def risen():
    """A rise on a coarse basis."""
    return TASK.method(problem(points=7), Transcription(), Solver()).require(coarse=True)


def test_one_sits_with_flat_feet_and_the_hips_over_the_seat():
    body = human()
    sits = seated(body, 0.53, np.radians(15))
    q = np.array([sits[joint.name] for joint in body.moving])
    heel, ball, hip = (
        np.array(position(body, q, name), dtype=float).ravel()
        for name in ("heel_r", "ball_med_r", "hip_r")
    )
    assert heel[1] == pytest.approx(0.0, abs=1e-9) and ball[1] == pytest.approx(0.0, abs=1e-9)
    assert hip[1] == pytest.approx(0.53) and hip[2] < heel[2] - 0.1
    with pytest.raises(ValueError, match=r"seat: the hips would be 1\.08 m high, the knees 0\.484"):
        problem(seat=1.0)


@pytest.mark.commands
def test_the_seat_bears_until_it_is_left(risen):
    leaning, rising = risen.phases.values()
    weight = body_weight(leaning.problem.tree)
    seat = leaning.trace(lambda at: at.reaction.force(SEAT), leaning.times(41))[1] / weight
    assert seat[0] > 0.5
    assert seat.min() > -1e-6
    assert seat[-1] == pytest.approx(0.0, abs=1e-6)
    foot = rising.trace(lambda at: at.reaction.force("left"), rising.times(41))[1] / weight
    assert foot[0] > 0.25
    assert foot[-1] == pytest.approx(0.5, abs=0.1)
    assert [phase.name for phase in risen.problem.phases] == ["leaning", "rising"]


@pytest.mark.commands
def test_hips_and_knees_give_most_as_the_seat_is_left_and_ankles_later(risen):
    entry = report(risen)["rise"]
    moments = entry["moments"]
    assert set(moments) == set(MOMENTS)
    for joint in ("hip", "knee"):
        least, most = entry["people"][f"{joint}_Nm_kg"]
        assert least < moments[joint]["Nm_kg"] < most
        assert 0.0 < moments[joint]["after_seat_off_s"] < 0.3
    assert moments["ankle"]["s"] > max(moments["hip"]["s"], moments["knee"]["s"])
    assert 1.53 < entry["hip_and_knee_Nm_kg"] < 2.2
    assert 1.0 < entry["feet_BW"] < 1.3
    assert 20 < entry["lean_deg"] < 50
    assert len(lines(report(risen))) == 5
