"""Conditions in which people's metabolic power was measured, and the study that walks in them.

They are seven of the ten sets by which Afschrift et al. (2025, PLoS Computational Biology 21)
judge predicted gaits, Koelewijn's in two. Speeds and stride rates are those of the people: steps
are given, not found, and where they were not told they are those of van der Zee's people at that
speed [assumed].
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ocp import Attempt, Problem, Solution, Solver, Transcription, refine, verify
from ocp.motion import quadrature
from ocp.problem import LAWS, metabolic_powers
from ocp.problems.gait.card import report_card
from ocp.problems.gait.conditions.measuring import TOLERANCE, bare_share, certified, measured_by
from ocp.problems.gait.conditions.people import (
    ABE,
    GOMENUKA,
    KOELEWIJN,
    KOELEWIJN_SLOWLY,
    SCHERTZER,
    VAN_DER_ZEE,
    measured_step,
)
from ocp.problems.gait.muscle_gait import OPTIONS, problem, walk_by_muscles
from ocp.problems.gait.solve_step import counted
from ocp.studies import Study, carry_out, cell, content_of, recipe

SLOPES = ("slopes", "slow", "gentle", "steep")  # sets over grades
SETS = ("loads", "trunk", *SLOPES, "rates", "speeds")
# Browning, Modica, Kram & Goswami (2007), 1.25 m/s: load (kg, of legs on each side), strides a
# second and net metabolic power over mass and speed (J/kg/m), the mass that of the bare body
BROWNING_SPEED = 1.25
BROWNING = {
    "": (0.91, 2.35),
    "foot=2": (0.85, 3.16),
    "foot=4": (0.81, 3.94),
    "shank=4": (0.87, 2.89),
    "thigh=8": (0.92, 3.56),
    "waist=16": (0.90, 3.11),
}
# m/s: Koelewijn et al. (2019), Abe et al. (2015), Gomenuka et al. (2014), Schertzer & Riemer (2014)
KOELEWIJN_SPEED, KOELEWIJN_SLOW = 1.3, 0.8
ABE_SPEED, GOMENUKA_SPEED, SCHERTZER_SPEED = 1.25, 1.111, 1.389
TRUNK = (0.0, 16.0)  # kg, of the loads of Schertzer's people
# Umberger & Martin (2007), 1.3 m/s: metabolic power (W/kg) by stride rate over the preferred one,
# for which that of Koelewijn's people at that speed stands in what is walked. Theirs is 54.3
# strides a minute, and the cheapest 0.2 % above (their abstract)
UMBERGER_SPEED = 1.3
CHEAPEST = 1.002 * 54.3 / 60.0  # strides a second
UMBERGER = {-20.0: 4.26, -10.0: 3.29, 0.0: 3.05, 10.0: 3.26, 20.0: 3.68}
ROUNDS = 3  # of refinement; the first is on the usual basis
SPEEDS = (0.9, 1.1, 1.4, 1.6)  # m/s, of van der Zee's people


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of one of the SETS.

    Attributes:
        set: to which it belongs.
        value: of what changes in it: a load, a grade (%), a stride rate (%) or a speed (m/s).
        speed: of walking (m/s).
        strides: a second.
        grade: of the ground (%).
        load: that is worn.
        people: what was measured (J/kg/m); None where steps alone were.
    """

    set: str
    value: Any
    speed: float
    strides: float
    grade: float = 0.0
    load: str = ""
    people: float | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the problem."""
        slope = float(np.degrees(np.arctan(self.grade / 100.0)))
        step = round(self.speed / (2.0 * self.strides), 4)
        return {"speed": self.speed, "step": step, "slope": slope, "load": self.load}

    @property
    def name(self) -> str:
        """What it is called in tables."""
        units = {"loads": "kg", "trunk": "kg", "rates": "% of the rate", "speeds": "m/s"}
        text = self.value if self.set == "loads" else f"{self.value:+g}"
        return f"{self.set}: {text or 'none'} {units.get(self.set, '%')}"


def _conditions() -> Iterator[Condition]:
    """Yield the conditions set after set."""
    for load, (strides, cost) in BROWNING.items():
        yield Condition(
            set="loads",
            value=load,
            speed=BROWNING_SPEED,
            strides=strides,
            load=load,
            people=cost,
        )
    for name, speed, grades in (
        ("slopes", KOELEWIJN_SPEED, KOELEWIJN),
        ("slow", KOELEWIJN_SLOW, KOELEWIJN_SLOWLY),
        ("gentle", ABE_SPEED, _at_usual_rates(ABE_SPEED, ABE)),
        ("steep", GOMENUKA_SPEED, _at_usual_rates(GOMENUKA_SPEED, GOMENUKA)),
    ):
        for grade, (strides, cost) in grades.items():
            yield Condition(
                set=name, value=grade, speed=speed, strides=strides, grade=grade, people=cost
            )
    for mass, (strides, power) in _at_usual_rates(SCHERTZER_SPEED, SCHERTZER).items():
        if mass in TRUNK:
            yield Condition(
                set="trunk",
                value=mass,
                speed=SCHERTZER_SPEED,
                strides=strides,
                load=f"trunk={mass:g}" if mass else "",
                people=power / SCHERTZER_SPEED,
            )
    preferred = KOELEWIJN[0.0][0]
    for share, power in UMBERGER.items():
        yield Condition(
            set="rates",
            value=share,
            speed=UMBERGER_SPEED,
            strides=preferred * (1.0 + share / 100.0),
            people=power / UMBERGER_SPEED,
        )
    for speed in SPEEDS:
        yield Condition(set="speeds", value=speed, speed=speed, strides=VAN_DER_ZEE[speed])


def _at_usual_rates(
    speed: float, numbers: Mapping[float, float]
) -> dict[float, tuple[float, float]]:
    """Return {value: (strides a second, number)} with the rate of van der Zee's people at a speed
    (m/s)."""
    strides = speed / (2.0 * measured_step(speed))
    return {value: (strides, number) for value, number in numbers.items()}


CONDITIONS = tuple(_conditions())


def chosen(sets: Collection[str]) -> tuple[Condition, ...]:
    """Return the conditions of some SETS."""
    return tuple(each for each in CONDITIONS if each.set in sets)


def nearer(condition: Condition) -> Condition:
    """Return the condition from whose walk one starts: of its set the next that departs less from
    the first of CONDITIONS in the same way, or else that one."""
    place, far = _departure(condition)
    alike = {0.0: CONDITIONS[0]}
    for each in chosen((condition.set,)):
        where, size = _departure(each)
        if where in ("", place) and 0.0 <= size / (far or 1.0) < 1.0 and each is not condition:
            alike[abs(size)] = each
    return alike[max(alike)]


def _departure(condition: Condition) -> tuple[str, float]:
    """Return the place of a condition's load, and its value less the usual one of its set (kg, %,
    m/s)."""
    place, _, mass = condition.load.partition("=")
    if condition.set == "speeds":
        return place, condition.value - BROWNING_SPEED
    return place, float(mass or condition.value or 0.0)


def on_the_way(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return conditions, each after the one from whose walk it starts."""
    known: dict[str, Condition] = {}
    for condition in conditions:
        way = [condition]
        while nearer(way[0]) is not way[0]:
            way.insert(0, nearer(way[0]))
        known |= {each.name: known.get(each.name, each) for each in way}
    return tuple(known.values())


def swept(conditions: Sequence[Condition], **options: Any) -> Study:
    """Walk in conditions and return the Study, its cells in their order.

    The first of CONDITIONS, level walking without a load, is solved from standing; every other one
    starts from the walk `nearer` to that, and from standing should it fail from there.

    Args:
        conditions: in which to walk.
        options: those of `carry_out`: file, workers, watch, retry, seconds.
    """
    way = recipe(problem, Transcription(), Solver(), method=walk_refined, measure=walked)
    order = on_the_way(conditions)
    names = [each.name for each in order]
    plan: list[tuple[Any, int | None]] = []
    for each in order:
        near = names.index(nearer(each).name)
        start = near if near < len(plan) else None
        after = None if start is None else plan[start][0]
        plan.append((cell(each.arguments, content_of(way, each.arguments), after), start))
    study = carry_out(plan, **options)
    return replace(study, cells=tuple(study.cells[names.index(each.name)] for each in conditions))


def walk_refined(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
) -> Solution:
    """Solve a walk by muscles, and where its certificate fails to TOLERANCE, on finer bases, ROUNDS
    at most; where it holds on none of these the walk is what it was."""
    found = walk_by_muscles(problem, transcription, solver, guess=guess, watch=watch)
    if not found.success:
        return found
    known = replace(found, verification=verify(found))
    if certified(known)["certified"]:
        return known
    finer = refine(
        found.problem,
        TOLERANCE,
        found.transcription,
        replace(solver, plugin=found.statistics["plugin"]),
        guess=found,
        attempts=(Attempt(options=OPTIONS),),
        rounds=ROUNDS,
        settle=False,
        watch=watch,
    )
    return counted("coarse", found, finer) if finer.success else known


def walked(solution: Solution) -> dict[str, float]:
    """Return {name: number} of a walk by muscles: those of `measured`, what muscles spend, by each
    of the LAWS too, their fibres' efficiency, what the ground gives, and what knees bear at most.
    """
    if not solution.success:
        return {}
    card = report_card(solution)
    now, curves = card["numbers"], card["curves"]
    per = bare_share(solution.problem.tree) * now["speed_m_s"]
    timing = card["muscles"]["agreement"]
    return {
        **measured_by(solution, card),
        "muscles_J_kg_m": now["metabolic"]["muscles_W_kg"] / per,
        **{name: now["energy"][name] for name in ("given_J_kg_m", "taken_J_kg_m", "efficiency")},
        "knee_BW": max(now["knee_BW"]),
        **{f"{law}_J_kg_m": rate / per for law, rate in _spent(solution).items()},
        "ankle_W_kg": float(max(curves["power_ankle"])),
        **{
            f"r_{name}": card["r"][name]
            for name in ("moment_knee_flex", "power_knee", "power_ankle")
        },
        **{f"on_{source}": share for source, share in timing.items()},
    }


def _spent(solution: Solution) -> dict[str, float]:
    """Return {law: what all muscles spend on the mean (W/kg)}."""
    basis, mass = solution.problem.motion, sum(link.mass for link in solution.problem.tree.links)
    instants, weights = quadrature(basis, "gauss", 2 * basis.degree)
    powers = solution.trace(
        lambda at: ca.vertcat(*(ca.sum1(metabolic_powers(at, law)) for law in LAWS)),
        instants * solution.duration,
    )
    return dict(zip(LAWS, (powers @ weights / float(mass)).tolist()))
