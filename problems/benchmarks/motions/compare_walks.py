"""The default walk by the terms of its objective, by speeds and slopes, and of people at random.

`terms` leaves each weight of the objective out, halves and doubles it, and solves from the solution
of the usual walk; `conditions` and `random` solve from standing, q = 0. Correlations are means
over the sources of people's curves that the report card has.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ocp import Guess, Problem, Solution, Solver, Transcription, verify
from ocp.certificate import NotVerified
from ocp.cli import exit_status, refuse
from ocp.models.human import PEOPLE, Person, human, somebody
from ocp.problems.benchmarks import Claim, print_claims, program_parser
from ocp.problems.gait import TASK, Gait, Terrain, problem, walk
from ocp.problems.gait.card import report_card
from ocp.problems.gait.card.norms import NORMS_FLAG, norms
from ocp.problems.gait.solve_step import NEAR
from ocp.problems.gait.statement.objective_terms import WALKING, HumanCost, human_cost
from ocp.problems.gait.statement.step import likewise
from ocp.solvers import Iteration
from ocp.studies import markdown

R: Mapping[str, str] = {  # columns of correlations, and the curves of the report card
    "hip": "hip_flex",
    "knee": "knee_flex",
    "ankle": "ankle_df",
    "abduction": "hip_abd",
    "list": "pelvis_list",
    "vertical": "force_vertical",
    "fore-aft": "force_fore_aft",
    "knee moment": "moment_knee_flex",
    "hip power": "power_hip",
    "ankle power": "power_ankle",
}
NUMBERS = {"sway (mm)": "com_sideways_mm", "up (mm)": "com_up_mm", "knee (deg)": "stance_knee_deg"}
SOLVED = ("case", "status", "solves", "iterations", "seconds")
CERTIFICATE = ("certified", "worst row", "relative", "next basis (%)", "work (J/kg/m)")
ALL = (*SOLVED, *R, *NUMBERS, *CERTIFICATE)
CHANGES = {"left out": 0.0, "halved": 0.5, "doubled": 2.0}  # of a weight
SPEEDS = (0.6, 0.8, 1.2, 1.6, 2.0)  # m/s
SLOPES = (-5.71, 5.71)  # deg: 10 %
CERTIFIED, CONVERGED = 1e-2, 2e-2  # what is let pass, of the objective on the next basis too
ASKED = {"hip": 0.90, "knee": 0.90, "vertical": 0.95, "abduction": 0.75}  # of r in all conditions
EXPONENT = 0.42  # of speed, by which adults' steps grow (Grieve & Gear 1966 [recalled])
SEED, COUNT = 0, 40  # of random walks, and how many
FASTEST, SLOWEST = 1.8, 0.8  # m/s
UNUSUAL = (0.85, 1.15)  # of the usual step
HEAVIEST = 15.0  # kg: of a backpack


class Tally:
    """How many solves were begun and how many iterations they took, of all that is watched."""

    def __init__(self) -> None:
        self.solves = self.iterations = 0

    def __call__(self, iteration: Iteration) -> None:
        self.solves += iteration.number == 0
        self.iterations += iteration.number > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One line: its `solution`, how many `solves` and `iterations` it took, those that failed too,
    and the processor's `seconds` with building."""

    name: str
    solution: Solution
    solves: int
    iterations: int
    seconds: float


def solved(name: str, stated: Problem, guess: Solution | Guess | None = None) -> Case:
    """Return the Case of a walk from q = 0; with a `guess` from there, by few iterations if that
    is possible and else as from any other."""
    begin, tally = time.process_time(), Tally()
    tries = [{}] if guess is None else [NEAR, {}]
    for options in tries:
        solver = Solver(options=options)
        solution = walk(stated, Transcription(), solver, guess=guess, watch=tally)
        if solution.success:
            break
    seconds = time.process_time() - begin
    counts = {"solves": tally.solves, "iterations": tally.iterations, "seconds": seconds}
    return Case(name=name, solution=solution, **counts)


def weighted(stated: Problem, cost: HumanCost) -> Problem:
    """Return the walk of the man of the tables with other weights of its objective's terms."""
    objective = human_cost(stated.tree, somebody(), cost)
    return replace(stated, objective=10.0 / stated.duration[0] * objective)


def changed(stated: Problem) -> Iterator[tuple[str, Problem]]:
    """Yield (name, walk) with each weight of the objective changed in turn."""
    weights = {each.name: getattr(WALKING, each.name) for each in fields(WALKING)}
    for name, weight in weights.items():
        for words, share in CHANGES.items() if name != "tendons" and weight else ():
            yield f"{name} {words}", weighted(stated, replace(WALKING, **{name: share * weight}))


def by_terms() -> Iterator[Case]:
    """Yield the Cases of the default walk and of changed weights, these from its solution."""
    first = solved("default", problem())
    yield first
    near = replace(first.solution, multipliers={}) if first.solution.success else None
    for name, stated in changed(first.solution.problem):
        yield solved(name, stated, near)


def by_conditions() -> Iterator[Case]:
    """Yield the Cases of speeds, with the default step and with the usual one, and of slopes."""
    for speed in SPEEDS:
        yield solved(f"{speed:g} m/s", problem(Gait(speed=speed)))
        step = usual_step(speed)
        if not np.isclose(step, usual_step(None)):
            longer = problem(Gait(speed=speed, step=step))
            yield solved(f"{speed:g} m/s, step {step:.3f} m", longer)
    for slope in SLOPES:
        yield solved(f"{slope:+g} deg", problem(terrain=Terrain(slope=slope)))


def usual_step(speed: float | None, person: str = "") -> float:
    """Return the length of step (m) that is usual at a speed (m/s), by default the default one.

    It is the default step of the person at the default speed, and grows with speed as adults'.
    """
    usual, step = likewise(human(**somebody(Person(person))))
    return float(step * (1.0 if speed is None else (speed / usual) ** EXPONENT))


def drawn(count: int = COUNT) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, arguments of the problem) of random walks, the same ones always."""
    random = np.random.default_rng(SEED)
    for number in range(count):
        speed = float(random.uniform(SLOWEST, FASTEST))
        longer = float(random.uniform(*UNUSUAL))
        person = str(random.choice(list(PEOPLE)))
        load = float(random.uniform(0.0, HEAVIEST))
        step = longer * usual_step(speed, person)
        name = f"{number}: {speed:.2f} m/s, {step:.3f} m, {person}, {load:.1f} kg"
        yield name, {"speed": speed, "step": step, "person": person, "backpack": load}


def at_random(first: int, count: int) -> Iterator[Case]:
    """Yield the Cases of so many random walks from the `first` on."""
    for name, arguments in list(drawn(first + count))[first:]:
        yield solved(name, TASK.state(arguments))


def begun(case: Case) -> tuple[str, ...]:
    """Return the cost of solving a Case."""
    status = "solved" if case.solution.success else case.solution.status
    return case.name, status, str(case.solves), str(case.iterations), f"{case.seconds:.1f}"


def alike(card: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the figures of a walk's report card."""
    rs, numbers = card["r"], card["numbers"]
    return (
        *(f"{rs[curve]:.3f}" for curve in R.values()),
        *(f"{numbers[name]:.1f}" for name in NUMBERS.values()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether a walk is `certified` as it is; the `worst` row and its `relative` violation; by how
    much the next basis changes the objective, `moved`, infinite where it is not solved there and
    not a number where that was not asked."""

    certified: bool
    worst: str
    relative: float
    moved: float

    @property
    def words(self) -> tuple[str, ...]:
        """The columns of the certificate."""
        certified = "yes" if self.certified else "no"
        moved = "" if np.isnan(self.moved) else f"{100.0 * self.moved:.2f}"
        return certified, self.worst, f"{self.relative:.1e}", moved

    @property
    def converged(self) -> bool:
        """Whether the next basis changes the objective by little; so it is where nobody asked."""
        return not self.moved > CONVERGED


def judge(solution: Solution, finer: bool) -> Judgement:
    """Return the Judgement of a walk, with what the next basis changes where it is to be `finer`
    too."""
    found = verify(solution, finer=finer)
    known, found = found.convergence, replace(found, convergence=None)
    worst = max(found.violations.values(), key=lambda each: each.relative)
    try:
        found.require(CERTIFIED)
        certified = True
    except NotVerified as error:
        print(error, file=sys.stderr)
        certified = False
    moved = np.nan if known is None else known.objective if known.solved else np.inf
    return Judgement(certified=certified, worst=worst.name, relative=worst.relative, moved=moved)


def terms(flags: argparse.Namespace) -> tuple[str, list[Claim]]:
    """Return the table of changed weights, and whether all walks are solved."""
    lines, claims = [], []
    for case in by_terms():
        lines.append(_line(case, flags.norms))
        claims.append((case.solution.success, f"{case.name}: solved"))
    return markdown("terms", (*SOLVED, *R, *NUMBERS), lines), claims


def conditions(flags: argparse.Namespace) -> tuple[str, list[Claim]]:
    """Return the table of speeds and slopes, and whether their walks are certified and alike."""
    lines, claims = [], []
    for case in by_conditions():
        judged, line = _judged(case, flags)
        lines.append(line)
        certified = judged is not None and judged.certified
        claims.append((certified, f"{case.name}: certified to {CERTIFIED:g}"))
        if judged is None:
            continue
        if flags.converged:
            text = f"{case.name}: objective converged to {judged.moved:.4f}, asked {CONVERGED:g}"
            claims.append((judged.converged, text))
        rs = report_card(case.solution)["r"]
        for name, least in ASKED.items():
            r = rs[R[name]]
            claims.append((r >= least, f"{case.name}: r of {name} {r:.3f}, asked {least:g}"))
    return markdown("conditions", ALL, lines), claims


def random_walks(flags: argparse.Namespace) -> tuple[str, list[Claim]]:
    """Return the table of random walks, and how many are solved and certified."""
    lines, cases, judgements = [], [], []
    for case in at_random(flags.first, flags.count):
        judged, line = _judged(case, flags)
        cases.append(case)
        lines.append(line)
        judgements += [] if judged is None else [judged]
    done = [case for case in cases if case.solution.success]
    certified = sum(judged.certified for judged in judgements)
    converged = sum(judged.converged for judged in judgements)
    text = f"{len(done)} of {len(cases)} solved, {certified} certified to {CERTIFIED:g}"
    if flags.converged:
        text += f", {converged} converged to {CONVERGED:g} in their objective"
    if done:
        text += f"; {_spread('iterations', done)}; {_spread('seconds', done)}"
    claim = certified == converged == len(cases), text
    return markdown("random", ALL, lines), [claim]


WAYS: Mapping[str, Callable[[argparse.Namespace], tuple[str, list[Claim]]]] = {
    "terms": terms,
    "conditions": conditions,
    "random": random_walks,
}


def _spread(name: str, cases: Sequence[Case]) -> str:
    middle, most = np.percentile([getattr(case, name) for case in cases], (50, 90))
    return f"{name} {middle:.3g} (median), {most:.3g} (90th percentile)"


def _line(case: Case, files: Sequence[str]) -> tuple[str, ...]:
    """Return the line of a Case, without numbers of one that failed, and say it at once."""
    known = alike(report_card(case.solution, files)) if case.solution.success else ()
    line = _padded((*begun(case), *known), (*SOLVED, *R, *NUMBERS))
    _said(line)
    return line


def _judged(case: Case, flags: argparse.Namespace) -> tuple[Judgement | None, tuple[str, ...]]:
    """Return the Judgement of a Case, None of one that is not solved, and its line with what that
    says, said at once."""
    if not case.solution.success:
        return None, _padded(_line(case, flags.norms), ALL)
    judged = judge(case.solution, flags.converged)
    work = report_card(case.solution)["numbers"]["positive_work_J_kg_m"]
    told = (*judged.words, f"{work:.2f}")
    line = _line(case, flags.norms)
    _said(told)
    return judged, (*line, *told)


def _padded(line: tuple[str, ...], header: Sequence[str]) -> tuple[str, ...]:
    return line + ("",) * (len(header) - len(line))


def _said(line: Sequence[str]) -> None:
    print(*filter(None, line), sep="  ", file=sys.stderr, flush=True)


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status.

    It is 0 if all claims hold, 1 if one is missed, 2 for bad arguments.
    """
    flags = _parser().parse_args(arguments)
    try:
        if flags.first < 0 or flags.count < 1:
            raise ValueError("--first, --count: expected at least 0 and at least 1")
        norms(flags.norms)
    except (ValueError, OSError) as error:
        return refuse("compare_walks", error)
    table, claims = WAYS[flags.what](flags)
    print(table)
    return print_claims(claims)


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_walks", __doc__)
    parser.add_argument("what", choices=WAYS, help="what to compare; each takes minutes")
    parser.add_argument("--norms", **NORMS_FLAG)
    words = "solve conditions and random walks on the next basis too"
    parser.add_argument("--converged", action="store_true", help=words)
    words = "of the random walks the first one that is solved"
    parser.add_argument("--first", type=int, default=0, metavar="N", help=f"{words} (default: 0)")
    words = f"how many of them (default: {COUNT})"
    parser.add_argument("--count", type=int, default=COUNT, metavar="M", help=words)
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
