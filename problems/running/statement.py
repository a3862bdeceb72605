"""A human runs at a given speed: what a step asks, in phases of stance and flight.

A step begins where the right foot lands and ends where the left one does; its mirror image goes on
from there. In stance the foot stands on its heel, then flat, then on ball and toes, or begins flat
or on ball and toes: its `strike`. How long each phase lasts is found, and what is least is what
people spare, see `exertion`, over the way.

The foot comes to rest as it lands: it does not strike. A strike would stop the momentum of 1.7 % of
the body where the fore part of a bare foot lands, of 6.8 % at a heel (Lieberman et al. 2010
[recalled]); the peak of some 50 ms that follows a heel's strike is not in the forces here.
"""

from dataclasses import dataclass, replace
from typing import Any

from ocp import (
    BSpline,
    Constraint,
    Objective,
    Parameter,
    Phase,
    Problem,
    Tree,
    continuous,
    friction,
    joint_limits,
    pressure_inside,
    torque_limits,
    unilateral,
)
from ocp.mechanics import check_argument_records, positive
from ocp.models.human import TOUCHING, Person, human, mirror, somebody
from ocp.problem import apart, foot_contact, mirror_symmetry, no_penetration, swing_together
from ocp.problems.gait.statement.strides import progress, shared
from ocp.problems.gait.statement.walking_task import PERCENTILE
from ocp.problems.running.contact_schedule import FLIGHT, STRIKES, stance, swinging
from ocp.problems.running.exertion import Effort, run_cost
from ocp.spelling import suggest_fields
from ocp.transcription import with_dependent_curves

# At 3 m/s 160 are usual (van Oeveren et al. 2017), 170 the cheapest (Lieberman et al. 2015)
STEPS_PER_MINUTE = 165.0
ROOM = 0.6, 1.6  # of usual lengths of step: within which one that is free is sought
SHARES = {  # of the step: what phases last at first, and at least and at most [assumed]
    "heel": {"heel": 0.06, "flat": 0.14, "toes": 0.45, FLIGHT: 0.35},
    "mid": {"flat": 0.20, "toes": 0.45, FLIGHT: 0.35},
    "fore": {"toes": 0.65, FLIGHT: 0.35},
}
SPANS = {"heel": (0.02, 0.2), "flat": (0.1, 0.7), "toes": (0.1, 0.9), FLIGHT: (0.05, 0.9)}
FINER = {"heel": 0.6, "flat": 0.7, "toes": 1.5, FLIGHT: 1.0}  # shares of control points
ROOT = 3  # segments of the root's curves in flight to one of the others'
ROUGH = "smoothness"  # name of the term of accelerations
WIDE = 0.03, 0.10  # m: radii of wrists and hips that keep off each other [assumed]


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Gait:
    """Speed and rhythm of a run, and how feet land.

    `speed`: of running (m/s); `frequency`: steps per minute, 0 to find how long steps are;
    `strike`: what lands first, heel, mid (the whole sole) or fore (ball and toes); `width`:
    distance between the feet (m).
    """

    speed: float = 3.0
    frequency: float = STEPS_PER_MINUTE
    strike: str = "mid"
    width: float = 0.04


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Tolerances of contacts, and fineness of the motion.

    `contact`: tolerance of places where feet stand (m); `slip`: and of their velocity (m/s);
    `points`: control points per joint of a phase, of others in proportion; `degree`: of the
    splines.
    """

    contact: float = 0.0005
    slip: float = 0.005
    points: int = 12
    degree: int = 5


def problem(
    gait: Gait = Gait(),
    person: str = "",
    effort: Effort = Effort(),
    accuracy: Accuracy = Accuracy(),
) -> Problem:
    """Return one step of a run, in phases.

    Args:
        gait: speed, rhythm and strike.
        person: woman or man of a percentile, f5, f50, f95, m5, m50 or m95, or else a man of 1.75 m
            and 75 kg.
        effort: weights of the objective.
        accuracy: fineness of the motion, and tolerances.

    Raises:
        ValueError: a strike that there is none, or a speed that is not positive.
    """
    check_argument_records(problem, locals())
    if gait.strike not in STRIKES:
        raise ValueError(f"strike: expected one of {', '.join(STRIKES)}, got {gait.strike!r}")
    speed = positive("speed", gait.speed)
    who = somebody(Person(person))
    body = human(**who, passive=True, strength="angle", percentile=PERCENTILE)
    usual = 60.0 * speed / (gait.frequency or STEPS_PER_MINUTE)
    lower, upper = (share * usual for share in ROOM)
    step = usual if gait.frequency else Parameter("step", usual, "m", lower, upper, free=True)
    names = (*STRIKES[gait.strike], FLIGHT)
    degree = accuracy.degree
    phases = [
        Phase(
            name,
            motion=BSpline(
                points=max(degree + 1, round(FINER[name] * accuracy.points)), degree=degree
            ),
            duration=tuple(share * usual / speed for share in SPANS[name]),
            **_asked(body, name, names, gait.width, accuracy),
        )
        for name in names
    ]
    stated = Problem(
        tree=body,
        phases=phases,
        links=(continuous("q", "qd", "qdd"),) * len(phases[1:]),
        objective=shared(run_cost(body, who, effort), 10.0 * speed / step),
        symmetry=mirror_symmetry(body, *mirror(body), shift={"glob_tz": step}),
        constraints=(
            joint_limits(body, hull=True),
            torque_limits(body),
            swing_together("coupling", ("shoulder_l", "wrist_l"), ("hip_r", "ankle_r")),
            _hands_off(),
            progress(step, speed),
        ),
    )
    return with_dependent_curves(stated, ROOT * phases[-1].motion.segments)


def as_usual(problem: Problem) -> Problem:
    """Return the step with phases that last as usual."""
    names = tuple(phase.name for phase in problem.phases)
    strike = next(key for key, ways in STRIKES.items() if (*ways, FLIGHT) == names)
    time = problem.phases[0].duration[0] / SPANS[names[0]][0]
    phases = (
        replace(phase, duration=SHARES[strike][phase.name] * time) for phase in problem.phases
    )
    return replace(problem, phases=tuple(phases))


def smoother(problem: Problem, times: float) -> Problem:
    """Return the step with so many times the weight of its smoothness."""
    terms = (
        (times * weight if term.name == ROUGH else weight, term)
        for weight, term in problem.objective.terms
    )
    return replace(problem, objective=Objective(terms=tuple(terms)))


def _asked(
    body: Tree, name: str, names: tuple[str, ...], width: float, accuracy: Accuracy
) -> dict[str, Any]:
    """Return the ground and the constraints of a phase."""
    sides = ("left", "right") if name == FLIGHT else ("left",)
    soles = {side: TOUCHING[side] for side in sides}
    above = no_penetration(swinging(*sides), soles)
    if name == FLIGHT:
        return {"constraints": above}
    ground = stance(body, name, width, first=name == names[0], last=name == names[-2])
    rules = (
        *above,
        *no_penetration(ground, {"right": TOUCHING["right"]}),
        *foot_contact(ground, position=accuracy.contact, velocity=accuracy.slip, between=1),
        pressure_inside(body, ground),
        unilateral(body, ground),
        friction(body, ground),
    )
    return {"ground": ground, "constraints": rules}


def _hands_off() -> Constraint:
    """Keep wrists off hips."""
    wrist, hip = WIDE
    return apart("avoidance", [((f"wrist_{s}", wrist), (f"hip_{s}", hip)) for s in "rl"])
