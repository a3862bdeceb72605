"""A wrong statement is refused at the line where it is written."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import (
    BSpline,
    Link,
    Load,
    Problem,
    Tree,
    at_end,
    at_start,
    duration,
    effort,
    fixed,
    joint_limits,
    mixed_criterion,
    path,
    torque_limits,
)
from ocp.models.arms.two_link import two_link
from ocp.problem import Term


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda arm: at_start(arm, q=(0.0, 1.0, 2.0)),
            r"at_start: q: expected 2 values \(shoulder, elbow\), got 3",
        ),
        (
            lambda arm: at_end(arm, q={"knee": 0.0}),
            "unknown joint 'knee'; the joints are shoulder, elbow",
        ),
        (
            lambda arm: at_start(arm, q=(0.0, np.nan)),
            "at_start: q: joint 'elbow': expected a finite number",
        ),
        (
            lambda arm: at_start(limited(arm), q=(0.0, 3.0)),
            r"at_start: joint 'elbow': 3 rad is outside its limits \(-1, 1\)",
        ),
        (lambda arm: joint_limits(arm), "joint_limits: no joint of the tree has position limits"),
        (
            lambda arm: path("p", lambda at: at.q, lower=(0, 2), upper=(1, 1), labels=("a", "b")),
            "constraint 'p': b: lower bound 2 is above",
        ),
        (
            lambda arm: path("p", lambda at: at.q, lower=np.nan),
            "constraint 'p': lower bound: expected numbers",
        ),
        (
            lambda arm: path("p", lambda at: at.q, when="middle"),
            "constraint 'p': when: expected one of path, start, end, ends",
        ),
        (
            lambda arm: path("p", lambda at: at.q, when=(0.5, 0.2)),
            "constraint 'p': when: expected 0 <= a <= b <= 1",
        ),
        (lambda arm: mixed_criterion(1.5), r"mixed_criterion: expected u in \[0, 1\], got 1.5"),
        (lambda arm: np.nan * effort(), "objective 'effort': expected a finite"),
        (
            lambda arm: Term(name="t", function=abs, kind="middle"),
            "objective 't': kind: expected end, span, integral, squares",
        ),
        (
            lambda arm: statement(arm, duration=(1.0, 0.5)),
            r"duration: expected 0 < lower <= upper \(s\), got \(1, 0.5\)",
        ),
        (
            lambda arm: statement(Tree(links=(Link(mass=1.0),), joints=(fixed("weld"),))),
            "tree: none of its joints moves",
        ),
        (lambda arm: statement(arm, duration=0.0), "duration: expected 0 < lower"),
        (lambda arm: statement(arm, duration=np.nan), "duration:"),
        (
            lambda arm: statement(arm, loads=(Load(point="hand"),)),
            "unknown point 'hand'; the points are tip",
        ),
        (
            lambda arm: statement(arm, loads=("tip",)),
            "loads: expected Load or PointMass or ForceLaw or Touch, got str 'tip'",
        ),
        (
            lambda arm: statement(arm, constraints=(torque_limits(arm), torque_limits(arm))),
            "constraint 'torque_limits': the name is used twice",
        ),
        (
            lambda arm: statement(arm, constraints=("torque",)),
            "constraints: expected Constraint, got str 'torque'",
        ),
    ],
)
def test_a_wrong_statement_is_refused_where_it_is_written(build, message):
    with pytest.raises(ValueError, match=message) as refused:
        build(two_link())
    assert any(entry.path == __import__("pathlib").Path(__file__) for entry in refused.traceback)


def limited(arm):
    return replace(arm, joints=tuple(replace(joint, position=1.0) for joint in arm.joints))


def statement(arm, **changes):
    return Problem(
        **{"tree": arm, "motion": BSpline(points=8), "duration": 1.0, "objective": duration()}
        | changes
    )
