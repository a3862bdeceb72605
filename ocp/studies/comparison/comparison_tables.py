"""Comparisons of solvers as tables, notes and curves, and as files of comma-separated values."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from math import inf
from pathlib import Path
from typing import Any

from ocp.plots import Panel, panels
from ocp.studies.comparison.limited_run import ANOTHER, Run
from ocp.studies.comparison.profiles import curves, data_profile, performance_profile, rank_solvers
from ocp.studies.comparison.solvers import NOTES
from ocp.studies.comparison.verdict import COARSE
from ocp.studies.study_tables import comma_separated, markdown

SMALLEST = 1e-3  # s: least time that counts in a profile, about what a clock and a call cost
HEADER = (
    "solver",
    "Hessian",
    "derivatives",
    "dynamics",
    "transcription",
    "verdict",
    "objective",
    "gap",
    "iterations",
    "evaluations",
    "build s",
    "solve s",
    "times ipopt's",
    "MB",
    "nodes",
    "kkt",
    "dense",
    "drift",
    "reason",
)
ASIDE = {  # verdicts on optima whose times and objectives are not compared
    COARSE: "an optimum of its program, whose motion the certificate does not pass to 1e-2; left "
    "out of gaps, times and profiles",
    ANOTHER: "more than 1 % above the best certified objective of the problem; likewise",
}
SHARED = (2, 3, 4)  # columns that stand in the title where all runs share them


def report(runs: Sequence[Run]) -> str:
    """Return the tables, one for each problem, notes, and what SNOPT costs beside IPOPT."""
    names = dict.fromkeys(one.problem for one in runs)
    tables = [table(name, [one for one in runs if one.problem == name]) for name in names]
    solvers = dict.fromkeys(one.solver for one in runs)
    notes = [f"{name:<18} {NOTES[name]}" for name in solvers if name in NOTES]
    notes += [
        f"{name:<18} {words}"
        for name, words in ASIDE.items()
        if any(one.verdict == name for one in runs)
    ]
    return "\n".join([*tables, *notes, *ratios(runs)])


def table(name: str, runs: Sequence[Run]) -> str:
    """Return a problem's runs as a table, the solved ones first and by time.

    Gaps are to the best certified objective of all transcriptions.
    """
    goals = [one.objective for one in runs if one.good and one.objective is not None]
    base = {one.settings[1:]: one.solve for one in runs if _is_base(one)}
    rows = [_row(one, min(goals, default=0.0), base) for one in sorted(runs, key=_rank)]
    shared = [k for k in SHARED if len({row[k] for row in rows}) == 1]
    keep = [k for k in range(len(HEADER)) if k not in shared]
    words = ", ".join(rows[0][k] for k in shared)
    return markdown(
        f"{name}: {words}" if words else name,
        [HEADER[k] for k in keep],
        [[row[k] for k in keep] for row in rows],
    )


def ratios(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a line for each problem that both IPOPT and SNOPT solved.

    It has their times, and of what SNOPT's consists.
    """
    base = {(one.problem, *one.settings[1:]): one for one in runs if _is_base(one)}
    for one in runs:
        other = base.get((one.problem, *one.settings[1:]))
        if not one.solver.startswith("snopt") or other is None or not one.good:
            continue
        if one.solve is None or not other.solve:
            continue
        functions, bridge = one.functions or 0.0, one.bridge or 0.0
        yield (
            f"{one.problem}: IPOPT : {one.solver.upper()} = {other.solve:.3g} s : "
            f"{one.solve:.3g} s = 1 : {one.solve / other.solve:.3g}; of SNOPT's time "
            f"{functions:.3g} s are functions and derivatives, {bridge:.3g} s the bridge to Drake, "
            f"{one.solve - functions - bridge:.3g} s SNOPT itself"
        )


def costs(runs: Sequence[Run], measure: str) -> dict[str, dict[str, float]]:
    """Return {solver and settings that vary: {problem: cost}} of the runs that solved.

    The cost is their `measure`, the name of a number of a Run. Names end in how many runs were
    coarse, or found another optimum.
    """
    table: dict[str, dict[str, float]] = {}
    for name, one in zip(_labels(runs), runs):
        own, value = table.setdefault(name, {}), getattr(one, measure)
        if one.good and value is not None:
            own[one.problem] = max(value, SMALLEST)
    return table


def _labels(runs: Sequence[Run]) -> list[str]:
    """Return the label of each run in profiles: all of a solver with its settings alike."""
    solvers = {one.solver for one in runs}
    varied = [
        k for k in range(4) if len({(one.solver, one.settings[k]) for one in runs}) > len(solvers)
    ]
    names = [" ".join([one.solver, *(one.settings[k] for k in varied)]) for one in runs]
    asides = Counter((name, one.verdict) for name, one in zip(names, runs) if one.verdict in ASIDE)
    words = {
        name: ", ".join(f"{asides[name, aside]} {aside}" for aside in ASIDE if asides[name, aside])
        for name in names
    }
    return [f"{name} ({words[name]})" if words[name] else name for name in names]


def draw(runs: Sequence[Run], path: str | Path) -> None:
    """Draw the performance profile, and data profiles over time and over evaluations.

    Solvers that solved nothing are left out.
    """
    problems = sorted({one.problem for one in runs})
    seconds, evaluations = _solvers(runs, "solve"), _solvers(runs, "evaluations")
    fastest = performance_profile(seconds)
    order = rank_solvers(fastest)
    share = f"share of {len(problems)} problems solved"

    def panel(profile: Mapping, start: float, label: str) -> Panel:
        corners = (corner for stairs in profile.values() for corner, _ in stairs)
        end = max(1.5 * max(corners, default=10 * start), 2 * start)
        shown = tuple(curves(profile, start, end, order))
        return Panel(curves=shown, x=label, y=share, log=True)

    panels(
        path,
        [
            panel(fastest, 1.0, "time, in units of the fastest solver's"),
            panel(data_profile(seconds, problems), SMALLEST, "solver time (s)"),
            panel(data_profile(evaluations, problems), 1.0, "evaluations"),
        ],
    )


def runs_as_csv(runs: Iterable[Run]) -> str:
    """Return Runs as the text of a CSV file."""
    return comma_separated([entry.name for entry in fields(Run)], map(asdict, runs))


def read_runs(text: str) -> list[Run]:
    """Return the Runs of a CSV file; raise ValueError if it is none of a comparison."""
    kinds = {entry.name: entry.type for entry in fields(Run)}
    rows = list(csv.DictReader(io.StringIO(text)))
    if rows and set(rows[0]) != set(kinds):
        raise ValueError("--csv: the file that is there holds another table; --again overwrites it")
    return [
        Run(**{name: _typed_value(kinds[name], value) for name, value in row.items()})
        for row in rows
    ]


def _typed_value(kind: Any, value: str) -> Any:
    if kind is str:
        return value
    if value == "":
        return None
    return int(value) if kind == int | None else float(value)


def _is_base(one: Run) -> bool:
    """Tell whether others are compared with a run: IPOPT's with the exact Hessian."""
    return one.solver == "ipopt" and one.hessian == "exact" and one.good


def _rank(one: Run) -> tuple[bool, float, str]:
    return not one.good, inf if one.solve is None else one.solve, one.solver


def _row(one: Run, best: float, base: dict[tuple[str, ...], float | None]) -> list[str]:
    gap = times = ""
    if one.good and one.objective is not None:
        gap = f"{(one.objective - best) / max(1.0, abs(best)):+.1e}"
    fastest = base.get(one.settings[1:])
    if one.good and fastest and one.solve is not None:
        times = f"{one.solve / fastest:.1f}"
    return [
        one.solver,
        *one.settings,
        one.verdict,
        _format(one.objective, ".7g"),
        gap,
        _format(one.iterations, "d"),
        _format(one.evaluations, "d"),
        _format(one.build, ".2f"),
        _format(one.solve, ".2f"),
        times,
        _format(one.memory, ".0f"),
        *(_format(value, ".0e") for value in (one.nodes, one.kkt, one.dense, one.drift)),
        " / ".join(one.reason.replace("|", "/").splitlines()),
    ]


def _format(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _solvers(runs: Sequence[Run], measure: str) -> dict[str, dict[str, float]]:
    """Return the costs of those that solved anything."""
    return {name: own for name, own in costs(runs, measure).items() if own}
