"""The programs whose growth is measured: a name for each, and what it says."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ocp import BSpline, Problem, Transcription, at_end, at_start, dynamic_effort, torque_limits
from ocp.problems.arms.two_link_time import problem as arm
from ocp.problems.benchmarks.scale.cases.riding import bodies
from ocp.problems.benchmarks.scale.cases.steps import planar_steps, steps
from ocp.problems.benchmarks.scale.cases.trees import SHAPES, depths
from ocp.transcription import transcription_of

POINTS = 8  # control points of every joint of a lift
BEND = 1.2  # rad: by which every limb bends in a lift, from the ground to its tip
SIZES: Mapping[tuple[str, str], tuple[int, ...]] = {  # of shapes, by how torques are found
    ("star", "variables"): (11, 19, 39, 67, 99, 199),
    ("boughs", "variables"): (15, 31, 63, 127, 255),
    ("caterpillar", "variables"): (10, 20, 40, 70, 100, 200),
    ("chain", "variables"): (5, 10, 20, 50, 100, 200),
    ("star", "explicit"): (11, 19, 39, 67, 99),
    ("chain", "explicit"): (5, 10, 20, 50, 100),
}
CONTROL = (8, 16, 32, 64, 128, 256, 512)  # points of every joint
SIX, STEPS = 6, (1, 2, 4, 8)
AT_ONCE = "human, from standing at once"
JOINTS = (38, 55, 76, 110)
LARGE = (  # shape, torques, joints, control points
    ("star", "variables", 199, 32),
    ("star", "variables", 399, 8),
    ("chain", "variables", 6, 2048),
)
LONG = (16, 32)  # steps of the planar biped


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem as it is solved: its `transcription`, the `guess` and IPOPT's `options`."""

    problem: Problem
    transcription: Transcription = field(default_factory=Transcription)
    guess: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)


def lift(shape: str, joints: int, torques: str, points: int = POINTS) -> Case:
    """Return the lift of a tree of that shape, from hanging to bent, at rest at both ends, in a
    second with the least squared torques; `torques` are "variables" or "explicit"."""
    tree = SHAPES[shape](joints)
    bent = BEND / max(depths(tree.parents))
    problem = Problem(
        tree=tree,
        motion=BSpline(points=points),
        duration=1.0,
        objective=dynamic_effort(tree),
        constraints=(
            at_start(tree, q=0.0, qd=0.0),
            at_end(tree, q=bent, qd=0.0),
            torque_limits(tree),
        ),
    )
    return Case(problem=problem, transcription=transcription_of({"torques": torques}))


def least_time(points: int) -> Case:
    """Return the swing of two links in least time, on so many control points."""
    return Case(problem=arm(points=points))


def human_walk(count: int) -> Case:
    """Return so many steps of a human, see `steps`."""
    return _stated(*steps(count))


def planar_walk(count: int) -> Case:
    """Return so many steps of the planar biped, see `planar_steps`."""
    return _stated(*planar_steps(count))


def burdened(joints: int) -> Case:
    """Return a step of one or two bodies of so many joints, see `bodies`."""
    return _stated(*bodies(joints))


def _stated(problem: Problem, guess: Any, options: Mapping[str, Any]) -> Case:
    return Case(problem=problem, guess=guess, options=options)


def cases() -> Iterator[tuple[str, str, int, Callable[[], Case]]]:
    """Yield (part, line, size, what makes the Case) of all programs."""
    for (shape, torques), sizes in SIZES.items():
        line = f"{shape}, torques {torques}"
        yield from (("chains", line, n, partial(lift, shape, n, torques)) for n in sizes)
    yield from (("steps", AT_ONCE, k, partial(human_walk, k)) for k in STEPS)
    yield from (("steps", "planar biped", k, partial(planar_walk, k)) for k in STEPS)
    yield from (("points", "two links", n, partial(least_time, n)) for n in CONTROL)
    six = partial(lift, "chain", SIX, "variables")
    yield from (("points", "six joints", n, partial(six, n)) for n in CONTROL)
    yield from (("humans", "a step", n, partial(burdened, n)) for n in JOINTS)
    for shape, torques, n, points in LARGE:
        name = f"{shape} of {n} joints"
        yield "largest", name, points, partial(lift, shape, n, torques, points)
    yield from (("largest", "planar biped, steps", k, partial(planar_walk, k)) for k in LONG)
