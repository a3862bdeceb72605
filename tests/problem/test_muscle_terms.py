"""Efforts and outputs of muscles."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import (
    BSpline,
    Link,
    Problem,
    Radau,
    Transcription,
    Tree,
    at_end,
    at_start,
    revolute,
    solve,
)
from ocp.mechanics.muscles import GivenPath, Muscle, muscles_of
from ocp.problem import muscle_effort, muscle_outputs


def muscle(name, joints, lever, force):
    path = GivenPath(
        joints=joints, function=lambda x: 0.3 + lever * sum(x[k] for k in range(len(joints)))
    )
    return Muscle(name=name, path=path, force=force, fibre=0.1, slack=0.2)


def arm():
    link = Link(mass=1.0, com=(0.15, 0.0, 0.0), inertia=np.diag([0.01, 0.02, 0.02]))
    return Tree(
        links=(link, link),
        joints=(
            revolute("shoulder", actuated=False),
            revolute("elbow", "shoulder", home=(0.3, 0.0, 0.0), actuated=False),
        ),
        elements=(
            muscle("deltoid", ("shoulder",), -0.03, 500.0),
            muscle("pectoral", ("shoulder",), 0.03, 500.0),
            muscle("biceps", ("shoulder", "elbow"), -0.02, 400.0),
            muscle("triceps", ("elbow",), 0.03, 600.0),
        ),
    )


def reach(objective, **others):
    tree = arm()
    return Problem(
        tree=tree,
        motion=BSpline(points=12),
        duration=0.4,
        objective=objective,
        constraints=(at_start(tree, q=(0.0, 0.3), qd=0.0), at_end(tree, q=(0.4, 0.9), qd=0.0)),
        **others,
    )


def names(chosen):
    return [each.name for each in chosen]


def test_muscles_are_chosen_by_words_and_joints():
    tree = arm()
    assert names(muscles_of(tree)) == ["deltoid", "pectoral", "biceps", "triceps"]
    assert names(muscles_of(tree, "ceps")) == ["biceps", "triceps"]
    assert names(muscles_of(tree, joint="shoulder")) == ["deltoid", "pectoral", "biceps"]
    assert names(muscles_of(tree, "ceps", joint="shoulder")) == ["biceps"]
    with pytest.raises(ValueError, match="muscles: 'soleus' is in no name"):
        muscles_of(tree, "soleus")
    with pytest.raises(ValueError, match="unknown joint 'knee'"):
        muscles_of(tree, joint="knee")


@pytest.mark.parametrize("of", ["excitation", "activation"])
@pytest.mark.parametrize("power", [2.0, 3.0])
def test_effort_is_the_integral_of_weighted_powers(of, power):
    objective = muscle_effort(arm(), of, power=power, weights="volume")
    solution = solve(reach(objective), Transcription(method=Radau(intervals=8)))
    assert solution.success
    t, rows = solution.nodes * solution.duration, list(solution.problem.tree.states)
    values = (solution.tau if of == "excitation" else solution.q)(t)[rows]
    shares = np.array([500.0, 500.0, 400.0, 600.0]) / 2000.0
    weights = solution.problem.motion.weights * solution.duration
    assert solution.objective == pytest.approx(float(shares @ values**power @ weights), rel=1e-9)


def test_outputs_tell_what_muscles_do():
    tree = arm()
    stated = reach(muscle_effort(tree), outputs=muscle_outputs(tree, "biceps"))
    solution = solve(stated, Transcription(method=Radau(intervals=8)))
    t = np.linspace(0.0, 0.4, 9)
    q, qd = solution.q(t), solution.qd(t)
    length = (0.3 - 0.02 * (q[0] + q[1]) - 0.2) / 0.1
    assert solution.output("biceps fibre length", t).ravel() == pytest.approx(length)
    rate = -0.02 * (qd[0] + qd[1])
    assert solution.output("biceps fibre velocity", t).ravel() == pytest.approx(rate / 1.0)
    force = solution.output("biceps tendon force", t).ravel()
    assert solution.output("biceps power", t).ravel() == pytest.approx(-force * rate)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"of": "force"}, "of: expected one of excitation, activation, got 'force'"),
        ({"weights": "mass"}, "weights: expected one of equal, volume, got 'mass'"),
        ({"power": 0.0}, "power: expected a number above 0"),
    ],
)
def test_bad_effort_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        muscle_effort(arm(), **change)


def test_tree_without_muscles_has_no_effort_of_them():
    with pytest.raises(ValueError, match="the tree has no muscles"):
        muscle_effort(replace(arm(), elements=()))
