"""Margins of drives: the smallest by name, the others together."""

from ocp.solution.strength_reserves import Reserve, closest_line, reserve_lines


def left(share, time=0.5):
    """So much left of 40 N m."""
    return Reserve(room=40.0 * share, bound=-40.0, unit="N m", time=time)


def test_the_closest_are_told_first_and_the_others_counted():
    known = {f"joint{k} upwards": left(k / 20) for k in range(15)}
    lines = [text for _, text in reserve_lines(known)]
    assert len(lines) == 11 and lines[0] == "joint0 upwards: 0 of 40 N m left at t = 0.5 s"
    assert lines[-1] == "of 5 others at least 50% of theirs left"
    ((_, text),) = closest_line(known)
    assert text.startswith(lines[0]) and text.endswith("; 1 of 15 within 1% of theirs")
    assert closest_line({}) == reserve_lines({}) == []


def test_more_than_all_is_said_to_be_too_much():
    ((_, text),) = reserve_lines({"knee downwards": left(-0.1)})
    assert text == "knee downwards: 4 of 40 N m too much at t = 0.5 s"
    assert left(-0.1).full and left(0.009).full and not left(0.011).full
