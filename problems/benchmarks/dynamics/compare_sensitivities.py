"""Costs of derivatives of torques by every formulation, as a test of the claim that recursive
analytical sensitivities are cheap."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, fields

import numpy as np

from ocp.cli import DONE, exit_status, refuse
from ocp.plots import Curve, Panel, check_suffix, panels
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.sensitivity_costs import (
    AUTOMATIC,
    COMPOSITE,
    FIRST,
    GIVEN,
    LIMIT,
    NAMES,
    PUBLISHED,
    RECURSIVE,
    SECOND,
    TORQUES,
    Cost,
    measured,
    trees,
)
from ocp.storage import check_writable, write
from ocp.studies import markdown

WORDS = {
    (TORQUES, GIVEN): ("torques", ""),
    (FIRST, PUBLISHED): ("Jacobian", "analytical"),
    (FIRST, RECURSIVE): ("Jacobian", "analytical"),
    (FIRST, AUTOMATIC): ("Jacobian", "AD"),
    (SECOND, RECURSIVE): ("Hessian", "analytical"),
    (SECOND, PUBLISHED): ("Hessian", "analytical, AD"),
    (SECOND, AUTOMATIC): ("Hessian", "AD"),
}  # of a quantity and a way, in the order of the tables
REFERENCE = "newton_euler"  # whose automatic derivatives are those of the leanest torques
NOTES = """\
analytical  the formulation's own sensitivities (--derivatives published); of `composite`, which
        knows no formulation, its recursions of first and second order (--derivatives recursive).
AD      automatic differentiation of the formulation's torques. The papers state no second
        derivatives: the analytical Jacobian is differentiated automatically, or the torques twice.
Jacobians are those by (q, qd, qdd), Hessians upper triangles of that of multipliers . tau.
Repetitions are left out of all graphs. Differences are 3 n + 1 evaluations of the torques. Chains:
        general, seeded, revolute; human_like: a floating base and five limbs, 55 joints.
~       a graph that is expected to be so large and was not built: a power of n through the two
        chains before leads beyond the limit.
Times   are medians over rounds, by turns within a formulation, of processor time in this run."""


def table(title: str, costs: Sequence[Cost], cell: Callable[[Cost], str]) -> str:
    """Return a cell of every cost as text: quantities, formulations and ways by models."""
    models = list(dict.fromkeys(cost.model for cost in costs))
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for key, words in WORDS.items():
        for cost in costs:
            if (cost.quantity, cost.way) == key:
                rows.setdefault((words[0], cost.formulation, words[1]), {})[cost.model] = cell(cost)
    lines = [(*head, *(cells.get(model, "") for model in models)) for head, cells in rows.items()]
    return markdown(title, ("of", "formulation", "by", *models), lines)


def instructions(cost: Cost) -> str:
    """Return the size of a graph as text, or "~" and the size that is expected."""
    if cost.instructions is not None:
        return str(cost.instructions)
    return "" if cost.expected is None else f"~{cost.expected:.1e}"


def microseconds(cost: Cost) -> str:
    """Return the time of a call (us) as text."""
    return "" if cost.microseconds is None else f"{cost.microseconds:.4g}"


def claims(costs: Sequence[Cost]) -> str:
    """Return as text for which chains analytical derivatives have fewer instructions than rivals.

    And the powers of n with which they and the automatic ones grow between the two largest chains
    that were built.
    """
    header = (
        *("of", "formulation", "< AD of it", f"< AD of {REFERENCE}", "< composite"),
        *("< differences", "grows as", "AD as"),
    )
    names = dict.fromkeys(cost.formulation for cost in costs if cost.way in (PUBLISHED, RECURSIVE))
    rows = [
        (WORDS[quantity, AUTOMATIC][0], name, *_claim(costs, name, quantity))
        for quantity in (FIRST, SECOND)
        for name in names
    ]
    return markdown("Chains on which the analytical derivatives are the smaller ones", header, rows)


def _claim(costs: Sequence[Cost], name: str, quantity: str) -> Iterator[str]:
    """Yield the cells of one line of `claims`."""
    composite = counts(costs, COMPOSITE, quantity, RECURSIVE)
    own = composite if name == COMPOSITE else counts(costs, name, quantity, PUBLISHED)
    automatic = counts(costs, name, quantity, AUTOMATIC)
    yield smaller(own, automatic)
    yield smaller(own, counts(costs, REFERENCE, quantity, AUTOMATIC))
    yield "" if name == COMPOSITE else smaller(own, composite)
    torques = counts(costs, name, TORQUES, GIVEN) if quantity == FIRST else {}
    yield smaller(own, {n: (3 * n + 1) * count for n, count in torques.items()})
    yield growth(own)
    yield growth(automatic)


def counts(costs: Iterable[Cost], formulation: str, quantity: str, way: str) -> dict[int, int]:
    """Return {n: instructions} of the chains for which they are known."""
    return {
        cost.joints: cost.instructions
        for cost in costs
        if cost.model.startswith("chain")
        and (cost.formulation, cost.quantity, cost.way) == (formulation, quantity, way)
        and cost.instructions is not None
    }


def smaller(own: dict[int, int], rival: dict[int, int]) -> str:
    """Return in words for which n, of those that both know, the own count is the smaller one."""
    both = [n for n in own if n in rival]
    less = [n for n in both if own[n] < rival[n]]
    if not both:
        return ""
    if less in ([], both):
        return "all" if less else "none"
    if less == both[-len(less) :]:
        return f"from {less[0]} on"
    return f"up to {less[-1]}" if less == both[: len(less)] else ", ".join(map(str, less))


def growth(known: dict[int, int]) -> str:
    """Return in words the power of n that leads from the last count but one to the last."""
    last = list(known.items())[-2:]
    if len(last) < 2:
        return ""
    (few, small), (many, large) = last
    return f"n^{np.log(large / small) / np.log(many / few):.1f}"


def curves(costs: Sequence[Cost], quantity: str, value: str) -> list[Curve]:
    """Return the Curves of one quantity of chains over n: analytical solid, automatic dotted."""
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for cost in costs:
        amount = getattr(cost, value)
        if cost.quantity == quantity and cost.model.startswith("chain") and amount is not None:
            lines.setdefault((cost.formulation, cost.way), []).append((cost.joints, amount))
    return [
        Curve(
            label=f"{name}, {'AD' if way == AUTOMATIC else 'analytical'}",
            x=[n for n, _ in points],
            y=[amount for _, amount in points],
            colour=NAMES.index(name),
            dash="dotted" if way == AUTOMATIC else "solid",
        )
        for (name, way), points in lines.items()
    ]


def draw(path: str, costs: Sequence[Cost]) -> None:
    """Draw instructions and times of first and second derivatives of chains over n."""
    several = [
        Panel(
            curves=curves(costs, quantity, value),
            x="joints",
            y=f"{label}, {unit}",
            log=True,
            log_y=True,
        )
        for value, unit in (("instructions", "instructions"), ("microseconds", "us"))
        for quantity, label in ((FIRST, "Jacobian"), (SECOND, "Hessian"))
    ]
    panels(path, several, rows=2)


def comma_separated(costs: Sequence[Cost]) -> str:
    """Return the Costs as the text of a CSV file."""
    lines = [
        ",".join("" if value is None else str(value) for value in astuple(cost)) for cost in costs
    ]
    return "\n".join([",".join(field.name for field in fields(Cost)), *lines, ""])


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    flags = _parser().parse_args(arguments)
    try:
        names = _names(flags.only)
        for flag, value, least in (("joints", flags.joints, 2), ("limit", flags.limit, 1)):
            if value < least:
                raise ValueError(f"--{flag}: expected at least {least}, got {value}")
        for path in filter(None, (flags.csv, flags.plot)):
            check_writable(path)
        if flags.plot is not None:
            check_suffix(flags.plot)
    except (ValueError, OSError) as error:
        return refuse("compare_sensitivities", error)
    costs = []
    for cost in measured(trees(flags.joints), names, flags.limit):
        costs.append(cost)
        what = f"{cost.model}, {cost.formulation}, {cost.quantity}, {cost.way}"
        print(f"{what}: {instructions(cost)} instructions", file=sys.stderr, flush=True)
    print(table("Instructions", costs, instructions))
    print(table("Microseconds of a call", costs, microseconds))
    print(claims(costs), NOTES, f"Limit   {flags.limit} instructions.", sep="\n")
    if flags.csv is not None:
        write(flags.csv, comma_separated(costs))
    if flags.plot is not None:
        draw(flags.plot, costs)
    return DONE


def _names(only: str | None) -> tuple[str, ...]:
    """Return the names between the commas, all for None; raise ValueError naming an odd one."""
    names = NAMES if only is None else tuple(name.strip() for name in only.split(","))
    for name in names:
        if name not in NAMES:
            raise ValueError(f"--only: expected some of {', '.join(NAMES)}, got {name!r}")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_sensitivities", __doc__)
    parser.add_argument(
        "--joints",
        type=int,
        default=55,
        metavar="N",
        help="largest chain; from 55 on the human-like tree too (default: 55, which takes minutes)",
    )
    parser.add_argument("--only", metavar="NAMES", help="formulations, or composite, by commas")
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT,
        metavar="N",
        help=f"largest graph to build, in instructions (default: {LIMIT})",
    )
    parser.add_argument("--csv", metavar="FILE", help="write all numbers, one per line")
    parser.add_argument("--plot", metavar="FILE.png", help="draw both orders over joint numbers")
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
