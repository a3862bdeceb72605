"""Derivatives of optima by their numbers: first-order conditions beside central differences of
solves.

For every parameter the derivative of the objective, and of the small problems also that of the
motion, q(t) at fixed times. A claim is missed where they differ by more than 1e-5 and 1e-4.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import ocp
from ocp import Parameter, Problem, Solution, Solver, Transcription, solve
from ocp.cli import BAD_ARGUMENTS
from ocp.problems.arms.pr_mixed import problem as pr_mixed
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.problems.benchmarks import print_claims, program_parser
from ocp.problems.gait import effort_step as gait
from ocp.problems.gait import walk
from ocp.problems.mechanisms.four_bar_effort import problem as four_bar
from ocp.problems.swing_ups.cart_pole_swing import problem as cart_pole
from ocp.studies import markdown

TIGHT = Solver(options={"tol": 1e-12, "bound_relax_factor": 0.0})
COSTS, MOTIONS = 1e-5, 1e-4  # that derivatives may be off, over their size
INSTANTS = 41
LEAST = 1e-4  # of J over the parameter, or of q over it: a smaller derivative counts as this one


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem with `open_flags`; of what stands `beside` them a payload is of the last link, and
    a weight of the objective. Differences go `step` of each value; of motions that are `moving` too
    quickly from one active set to the next none are taken."""

    problem: Callable[..., Problem]
    open_flags: tuple[Parameter, ...]
    beside: tuple[Parameter, ...] = ()
    step: float = 1e-4
    moving: bool = True
    solved: Callable[..., Solution] = solve


PAYLOAD, WEIGHT = Parameter("payload", 0.1, "kg"), Parameter("weight", 1.0)
TORQUE, GRAVITY = Parameter("torque", 10.0, "N m"), Parameter("gravity", 9.81, "m/s2")
MIXED = Parameter("u", 0.01)
WALKING = (
    Parameter("speed", 1.2, "m/s"),
    Parameter("step", 0.6, "m"),
    Parameter("width", 0.1, "m"),
    Parameter("stature", 1.75, "m"),
    Parameter("mass", 75.0, "kg"),
    Parameter("backpack", 5.0, "kg"),
    Parameter("hands", 20.0, "N"),
    Parameter("smooth", 0.0025),
    Parameter("contact", 0.002, "m"),
    Parameter("slip", 0.1, "m/s"),
)
CASES = {
    "two_link_lift": Case(
        problem=two_link_lift,
        open_flags=(Parameter("load", 10.0, "N"), GRAVITY, TORQUE, MIXED),
        beside=(PAYLOAD,),
    ),
    "pr_mixed": Case(
        problem=pr_mixed,
        open_flags=(Parameter("stroke", 0.6854, "m"), MIXED, Parameter("force", 10.0, "N"), TORQUE),
        beside=(PAYLOAD,),
    ),
    "cart_pole": Case(
        problem=cart_pole,
        open_flags=(
            Parameter("travel", 1.0, "m"),
            Parameter("duration", 2.0, "s"),
            Parameter("force", 20.0, "N"),
        ),
        beside=(PAYLOAD, WEIGHT),
    ),
    "four_bar": Case(
        problem=four_bar,
        open_flags=(Parameter("duration", 1.0, "s"), TORQUE, GRAVITY),
        beside=(PAYLOAD, WEIGHT),
    ),
    "gait": Case(problem=gait, open_flags=WALKING, step=2e-5, moving=False, solved=walk),
}


def stated(case: Case) -> Problem:
    """Return the problem of a case with its parameters."""
    problem = case.problem(**{each.name: each for each in case.open_flags})
    if PAYLOAD in case.beside:
        *links, last = problem.tree.links
        laden = replace(last, mass=last.mass + PAYLOAD)
        problem = replace(problem, tree=replace(problem.tree, links=(*links, laden)))
    if WEIGHT in case.beside:
        problem = replace(problem, objective=WEIGHT * problem.objective)
    return problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Of one parameter the derivative of the objective, `measured` by differences, how far these
    are `apart` over their size, and those of the motion, zero where none is asked for."""

    parameter: Parameter
    derivative: float
    measured: float
    apart: float
    motion: float


def rows(case: Case) -> Iterator[Row]:
    """Yield the Row of every parameter of a case."""
    solution = case.solved(stated(case), Transcription(), TIGHT).require(coarse=True)
    plan: Any = solution.plan
    t = np.linspace(0.0, 0.99 * solution.duration, INSTANTS)
    for one in (*case.open_flags, *case.beside):
        step = case.step * one.value
        ahead, behind = (
            plan.solve(solution, **{one.name: one.value + end}).require(coarse=True)
            for end in (step, -step)
        )
        ours = ocp.derivative(solution, "objective", one.name)
        measured = (ahead.objective - behind.objective) / (2 * step)
        size = max(abs(ours), abs(measured), LEAST * abs(solution.objective / one.value))
        motion = 0.0
        if case.moving:
            slope = ocp.derivative(solution, "q", one.name)(t)
            there = (ahead.q(t) - behind.q(t)) / (2 * step)
            least = LEAST * np.abs(solution.q(t)).max() / one.value
            motion = float(np.abs(slope - there).max() / max(np.abs(there).max(), least))
        yield Row(
            parameter=one,
            derivative=ours,
            measured=measured,
            apart=abs(ours - measured) / size,
            motion=motion,
        )


def compared(name: str) -> tuple[str, list[tuple[bool, str]]]:
    """Return the table of a case and what must hold of it."""
    lines, done = [], []
    for row in rows(CASES[name]):
        unit = row.parameter.unit
        numbers = f"{row.derivative:.9g}", f"{row.measured:.9g}"
        off = f"{row.apart:.0e}", f"{row.motion:.0e}" if CASES[name].moving else ""
        lines.append((row.parameter.name, f"1/({unit})" if unit else "", *numbers, *off))
        done.append(row)
        print(f"{name}: {row.parameter.name}", file=sys.stderr, flush=True)
    header = ("by", "unit", "derivative of J", "differences", "off", "motion off")
    worst = max(row.apart for row in done)
    claims = [(worst <= COSTS, f"{name}: objective off by at most {worst:.1e}")]
    if CASES[name].moving:
        worst = max(row.motion for row in done)
        claims.append((worst <= MOTIONS, f"{name}: motion off by at most {worst:.1e}"))
    return markdown(name, header, lines), claims


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status.

    It is 0 if all claims hold, 1 if one is missed, 2 for bad arguments.
    """
    parser = program_parser("compare_slopes", __doc__)
    words = f"any of {', '.join(CASES)} (default: all)"
    parser.add_argument("what", nargs="*", metavar="PROBLEM", help=words)
    names = parser.parse_args(arguments).what or list(CASES)
    for name in names:
        if name not in CASES:
            print(
                f"compare_slopes: error: unknown problem {name!r}; "
                f"expected some of {', '.join(CASES)}",
                file=sys.stderr,
            )
            return BAD_ARGUMENTS
    claims: list[tuple[bool, str]] = []
    for name in names:
        table, ours = compared(name)
        print(table)
        claims += ours
    return print_claims(claims)


if __name__ == "__main__":
    sys.exit(run())
