"""A first step and a last one as phases: each part is stated in one phase, and cut."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from ocp import BSpline, Constraint, Phase, Problem, Solution, Tree, continuous, path
from ocp.mechanics import nominal, positive
from ocp.models.human import STATURE, Person, somebody
from ocp.problem import Ground, phases_of
from ocp.problems.gait.solve_step import strong
from ocp.problems.gait.starting_stopping.end_states import steady
from ocp.problems.gait.statement.constraint_families import FAMILIES, Step, requirements
from ocp.problems.gait.statement.contact_schedule import Schedule, usual_schedule
from ocp.problems.gait.statement.walking_task import (
    ELASTIC,
    LIVING,
    Accuracy,
    usual_accuracy,
)
from ocp.spelling import suggest_fields

SMOOTH = ("q", "qd", "qdd")  # that goes on from phase to phase
ROOM = 0.4, 2.0  # of usual durations: within which those that are free are sought
WALKING = frozenset(FAMILIES) - {"symmetry"}
BETWEEN = WALKING - {"coupling", "clearance"}  # what is asked between standing and walking
KNEE = 55.0, 65.0  # deg: by which the knee is bent in the middle of its swing, as in walks
POINTS = 18  # of people with strength over angle, a step: half the segments' cost is 3 to 4 % less
OWN = 1.01  # of the walk's tolerances: its own state is within them


@dataclass(frozen=True, slots=True, kw_only=True)
class Walker:
    """Who starts or stops: the steady walk, the body's `size` (stature over 1.75 m), the steps'
    length and `width` (m) and `time` (s), tolerances of contacts (m, m/s), and the schedule of a
    step."""

    walked: Solution
    points: int
    size: float
    step: float
    time: float
    width: float
    accuracy: Accuracy
    when: Schedule

    @property
    def body(self) -> Tree:
        """The body that walks."""
        return self.walked.problem.tree

    @property
    def double(self) -> float:
        """How long both feet bear in a step (s)."""
        return self.when.toe_off * self.time

    @property
    def single(self) -> float:
        """How long one foot bears in a step (s)."""
        return self.time - self.double

    def spline(self, time: float) -> BSpline:
        """Return a spline over a time (s) by segments as long as those of a step of `points`."""
        whole: Any = self.walked.problem.motion
        segments = max(2, ceil((self.points - whole.degree) * time / self.time - 1e-9))
        return BSpline(points=segments + whole.degree, degree=whole.degree)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyWalk:
    """The steady walk that is begun or ended, by flags of `gait`.

    `speed`: of the steady walk (m/s); `step`: length of its steps (m); `width`: distance between
    the feet in walking (m); `person`, `active`, `objective` and `smooth`: as of `gait`; `points`:
    control points of a step by segments as long as those of the motion, by default 18 of people
    with strength over angle, of others those of the walk.
    """

    speed: float = 1.2
    step: float = 0.6
    width: float = 0.1
    person: str = ""
    active: str = "gait"
    objective: str = ELASTIC
    smooth: float | None = None
    points: int | None = None


def walker(walk: SteadyWalk, **others: float) -> Walker:
    """Return the Walker of a steady walk.

    Raises ValueError naming the first of speed, step and some `others` that is not above 0, and
    where points are too few.
    """
    for name, value in (others | {"speed": walk.speed, "step": walk.step}).items():
        positive(name, value)
    close = usual_accuracy(walk.objective)
    walked = steady(**asdict(replace(walk, points=None)))
    whole: Any = walked.problem.motion
    usual = POINTS if strong(walked.problem) else whole.points
    points = usual if walk.points is None else walk.points
    if points <= whole.degree:
        raise ValueError(f"points: expected at least {whole.degree + 1}, got {points}")
    return Walker(
        walked=walked,
        points=points,
        size=float(somebody(Person(walk.person))["stature"] / STATURE),
        step=walk.step,
        time=walk.step / walk.speed,
        width=walk.width,
        accuracy=replace(
            close, contact=nominal(close.contact) * OWN, slip=nominal(close.slip) * OWN
        ),
        when=usual_schedule(walk.objective in LIVING, 0.0),
    )


def lifted(body: Tree, joint: str, when: float) -> Constraint:
    """Return the constraint that a knee is bent as in walks at an instant of a part."""
    row = body.coordinate(joint)
    return path(
        "clearance",
        lambda at: at.q[row],
        lower=np.radians(KNEE[0]),
        upper=np.radians(KNEE[1]),
        when=(when, when),
        labels=(joint,),
        units="rad",
    )


def part(
    who: Walker,
    ground: Ground,
    durations: Mapping[str, float],
    *,
    lead: str = "right",
    families: Collection[str] = BETWEEN,
    beside: tuple[Constraint, ...] = (),
    free: bool = False,
) -> tuple[Phase, ...]:
    """Return the phases {name: how long it lasts (s)} of a part of a motion, with what families ask
    of it and what is asked `beside`; `free` durations are found. The foot of the side `lead` stands
    all along."""
    if strong(who.walked.problem):  # whose cost of rates of torques keeps them smooth
        ground = replace(ground, sharing="smooth")
    one = Step(body=who.body, ground=ground, step=who.step, size=who.size, symmetry=None, lead=lead)
    whole = sum(durations.values())
    stated = Problem(
        tree=who.body,
        motion=who.spline(whole),
        duration=whole,
        objective=who.walked.problem.objective,
        ground=ground,
        constraints=(*requirements(one, families, who.accuracy), *beside),
    )
    ends = np.cumsum(list(durations.values())) / whole
    return phases_of(
        stated,
        dict(zip(durations, (*ends[:-1].tolist(), 1.0))),
        motions=[who.spline(time) for time in durations.values()],
        durations=[
            (ROOM[0] * time, ROOM[1] * time) if free else time for time in durations.values()
        ],
        last=False,
    )


def joined_up(who: Walker, phases: tuple[Phase, ...], ends: tuple[Constraint, ...]) -> Problem:
    """Return the motion of phases that go on from each other, with what is asked of its ends; it
    costs what the walk does, a second as much as there."""
    return Problem(
        tree=who.body,
        phases=phases,
        links=(continuous(*SMOOTH),) * (len(phases) - 1),
        objective=who.walked.problem.objective,
        constraints=ends,
    )
