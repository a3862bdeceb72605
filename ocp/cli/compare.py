"""Solvers compared: problems by solvers, Hessians, derivatives, formulations and transcriptions, each run judged by its certificate.

Every run has a process of its own, with limits of time and memory, and solves as the problem's own command does: a gait with options tuned for
IPOPT, a swing-up from the best of several coarse solutions by IPOPT. The defaults try every solver at its best on the small problems and the
gait; lists at other flags multiply the runs. `python -m problems.compare_solvers two_link_time gait --solvers ipopt,snopt --seconds 400`
"""

import argparse
import csv
import importlib
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields
from itertools import product
from math import inf
from pathlib import Path
from types import MappingProxyType

from ocp.dynamics import DERIVATIVES, FORMULATIONS
from ocp.plots import Panel, check_suffix, panels
from ocp.problems.__main__ import gallery
from ocp.solution.files import check_writable, write
from ocp.solvers.backend import HESSIANS
from ocp.studies.profiles import curves, data_profile, performance_profile, ranked
from ocp.studies.solver_runs import SOLVERS, TRANSCRIPTIONS, Run, execute
from ocp.studies.tables import markdown
from ocp.studies.workers import processors

DONE, BAD_ARGUMENTS, INTERRUPTED = 0, 2, 130
PROBLEMS = ("two_link_time", "two_link_lift", "acrobot_swing", "four_bar_effort", "gait")
SMALLEST = 1e-3  # s: least time that counts in a profile, about what a clock and a call cost
NOTES = MappingProxyType(
    {
        "alpaqa": "an augmented Lagrangian with first derivatives only: many thousands of cheap evaluations; tolerance 1e-5",
        "fatrop": "takes the whole program as one dense stage: a spline has no stages of states and controls to exploit",
        "feasiblesqpmethod": "wants a start that meets all constraints; from one it sets its fixed variables contradictory bounds in its first step",
        "sqpmethod-qrqp": "CasADi's own active-set method, written to be embedded: from a far start it fails at the first quadratic program",
        "qrsqp": "likewise, with any Hessian",
        "sqpmethod-hpipm": "wants quadratic programs in stages of states and controls",
        "sqpmethod-ipqp": "CasADi's example of an interior-point method, for strictly feasible programs without fixed variables",
        "blocksqp": "its linear solver ma27 and its restoration phase, which needs ma27, are not in the wheel, so it runs without either",
        "snopt": "curvature from gradients only; without the extra `snopt` it is not available",
    }
)


def run(arguments=None):
    """Do what the command line asks for and return the exit status."""
    flags = _parser().parse_args(arguments)
    try:
        wanted, kept = _wanted(flags), {}
        for path in filter(None, (flags.csv, flags.plot)):
            check_writable(path)
        if flags.plot is not None:
            check_suffix(flags.plot)
        if flags.csv is not None and not flags.again and Path(flags.csv).exists():
            kept = {one.key: one for one in read(Path(flags.csv).read_text(encoding="utf-8"))}
    except (ValueError, OSError) as error:
        print(f"compare_solvers: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    done = dict(kept)
    try:
        with ThreadPoolExecutor(flags.workers) as pool:
            for found in pool.map(
                lambda one: kept.get(one.key) or execute(one, flags.seconds, flags.memory), wanted
            ):
                done[found.key] = found
                if found.key not in kept and flags.csv is not None:
                    write(flags.csv, comma_separated(done.values()))
                if not flags.quiet:
                    print(
                        f"{' '.join(found.key)}: {found.verdict}{f' ({found.reason})' if found.reason else ''}",
                        flush=True,
                    )
    except KeyboardInterrupt:
        print(
            "\ncompare_solvers: interrupted; with --csv the same command goes on from there",
            file=sys.stderr,
        )
        return INTERRUPTED
    found = [done[one.key] for one in wanted]
    print(report(found, flags))
    if flags.plot is not None:
        draw(found, flags.plot)
    return DONE


def report(runs, flags):
    """Return the tables, one for each problem, notes, and what SNOPT costs beside IPOPT, as text."""
    names = list(dict.fromkeys(one.problem for one in runs))
    notes = [
        f"{name:<18} {NOTES[name]}"
        for name in dict.fromkeys(one.solver for one in runs)
        if name in NOTES
    ]
    parts = [table(name, [one for one in runs if one.problem == name]) for name in names]
    head = (
        f"{processors()} processors, {flags.workers} runs at a time, at most {flags.seconds:g} s of solving and {flags.memory:g} GB each; "
        "times are those of this run: compare them with each other only"
    )
    return "\n".join([head, "", *parts, *notes, *ratios(runs)])


def table(name, runs):
    """Return a problem's runs as a table, the solved ones first and by time; gaps are to the best certified objective of all transcriptions."""
    best = min((one.objective for one in runs if one.good), default=None)
    base = {
        _setting(one): one.solve
        for one in runs
        if one.solver == "ipopt" and one.hessian == "exact" and one.good
    }
    rows = []
    for one in sorted(
        runs,
        key=lambda one: (not one.good, one.solve if one.solve is not None else inf, one.solver),
    ):
        gap = f"{(one.objective - best) / max(1.0, abs(best)):+.1e}" if one.good else ""
        times = (
            f"{one.solve / base[_setting(one)]:.1f}" if one.good and _setting(one) in base else ""
        )
        rows.append(
            (
                one.solver,
                one.hessian,
                one.derivatives,
                one.dynamics,
                one.transcription,
                one.verdict,
                *(_word(value) for value in (one.objective, gap, one.iterations, one.evaluations)),
                *(_seconds(value) for value in (one.build, one.solve)),
                times,
                "" if one.memory is None else f"{one.memory:.0f}",
                *(
                    "" if value is None else f"{value:.0e}"
                    for value in (one.nodes, one.kkt, one.dense, one.drift)
                ),
                one.reason[:110].replace("|", "/"),
            )
        )
    header = (
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
    plain = [
        k for k in (2, 3, 4) if len({row[k] for row in rows}) == 1
    ]  # what all runs share stands in the title
    shared = ", ".join(rows[0][k] for k in plain)
    keep = [k for k in range(len(header)) if k not in plain]
    return markdown(
        f"{name}: {shared}" if shared else name,
        [header[k] for k in keep],
        [[row[k] for k in keep] for row in rows],
    )


def ratios(runs):
    """Yield a line for each problem that both IPOPT and SNOPT solved: their times, and of what SNOPT's consists."""
    for one in runs:
        other = next(
            (
                two
                for two in runs
                if two.solver == "ipopt"
                and two.hessian == "exact"
                and _setting(two) == _setting(one)
            ),
            None,
        )
        if not one.solver.startswith("snopt") or other is None or not (one.good and other.good):
            continue
        rest = one.solve - (one.functions or 0.0) - (one.bridge or 0.0)
        yield (
            f"{one.problem}: IPOPT : {one.solver.upper()} = {other.solve:.3g} s : {one.solve:.3g} s = 1 : {one.solve / other.solve:.3g}; "
            f"of SNOPT's time {one.functions:.3g} s are functions and derivatives, {one.bridge:.3g} s the bridge to Drake, {rest:.3g} s "
            "SNOPT itself"
        )


def costs(runs, measure):
    """Return {solver and settings that vary: {problem: cost}} of the runs that solved; the cost is their `measure`."""
    solvers, found = {one.solver for one in runs}, {}
    varied = [
        k for k in range(2, 6) if len({(one.solver, one.key[k]) for one in runs}) > len(solvers)
    ]
    for one in runs:
        own, value = (
            found.setdefault(" ".join([one.solver, *(one.key[k] for k in varied)]), {}),
            getattr(one, measure),
        )
        if one.good and value is not None:
            own[one.problem] = max(value, SMALLEST)
    return found


def draw(runs, path):
    """Draw the performance profile, and the data profiles over time and over evaluations, of the solvers that solved anything."""
    problems = sorted({one.problem for one in runs})
    seconds, evaluations = (
        {name: found for name, found in costs(runs, measure).items() if found}
        for measure in ("solve", "evaluations")
    )
    order = ranked(performance_profile(seconds))
    shown = []
    for profile, start, label in (
        (performance_profile(seconds), 1.0, "time, in units of the fastest solver's"),
        (data_profile(seconds, problems), SMALLEST, "solver time (s)"),
        (data_profile(evaluations, problems), 1.0, "evaluations"),
    ):
        end = 1.5 * max(
            (corner for stairs in profile.values() for corner, _ in stairs), default=10 * start
        )
        shown.append(
            Panel(
                curves=tuple(curves(profile, start, max(end, 2 * start), order)),
                x=label,
                y=f"share of {len(problems)} problems solved",
                log=True,
            )
        )
    panels(path, shown)


def comma_separated(runs):
    """Return Runs as the text of a CSV file."""
    text, names = io.StringIO(), [entry.name for entry in fields(Run)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(one) for one in runs)
    return text.getvalue()


def read(text):
    """Return the Runs of a CSV file; raise ValueError if it is none of a comparison."""
    kinds = {entry.name: entry.type for entry in fields(Run)}
    rows = list(csv.DictReader(io.StringIO(text)))
    if rows and set(rows[0]) != set(kinds):
        raise ValueError(
            "--csv: the file that is there holds another table; --again writes over it"
        )
    return [
        Run(**{name: _typed(kinds[name], value) for name, value in row.items()}) for row in rows
    ]


def _typed(kind, value):
    if kind is str:
        return value
    return None if value == "" else int(value) if kind == int | None else float(value)


def _wanted(flags):
    """Return the Runs to be done; raise ValueError naming what there is not."""
    names = flags.problems or PROBLEMS
    _known("problem", names, [name for name in gallery() if _states(name)])
    solvers, hessians = (
        _listed("--solvers", flags.solvers, SOLVERS),
        _listed("--hessians", flags.hessians, ("best", *HESSIANS)),
    )
    rest = [
        _listed(flag, text, known)
        for flag, text, known in (
            ("--derivatives", flags.derivatives, DERIVATIVES),
            ("--dynamics", flags.dynamics, FORMULATIONS),
            ("--transcriptions", flags.transcriptions, TRANSCRIPTIONS),
        )
    ]
    for flag, value in (
        ("--seconds", flags.seconds),
        ("--memory", flags.memory),
        ("--workers", flags.workers),
    ):
        if not value > 0:
            raise ValueError(f"{flag}: expected a positive number, got {value}")
    found = [
        Run(
            problem=name,
            solver=solver,
            hessian=SOLVERS[solver].hessian if hessian == "best" else hessian,
            derivatives=derivatives,
            dynamics=dynamics,
            transcription=transcription,
        )
        for name, solver, hessian, derivatives, dynamics, transcription in product(
            names, solvers, hessians, *rest
        )
    ]
    return list({one.key: one for one in found}.values())


def _states(name):
    """Tell whether a module of the gallery states a problem of its own."""
    problem = getattr(importlib.import_module(f"ocp.problems.{name}"), "problem", None)
    return problem is not None and problem.__module__ == f"ocp.problems.{name}"


def _listed(flag, text, known):
    names = (
        [name.strip() for name in text.split(",") if name.strip()]
        if text is not None
        else list(known)
    )
    _known(flag, names, known)
    return names


def _known(what, names, known):
    odd = next((name for name in names if name not in known), None)
    if odd is not None or not names:
        raise ValueError(f"{what}: expected some of {', '.join(known)}, got {odd!r}")


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m problems.compare_solvers", description=__doc__, allow_abbrev=False
    )
    add = parser.add_argument
    add(
        "problems",
        nargs="*",
        metavar="PROBLEM",
        help=f"modules of problems (default: {', '.join(PROBLEMS)})",
    )
    add("--solvers", metavar="NAME,...", help=f"some of {', '.join(SOLVERS)} (default: all)")
    add(
        "--hessians",
        default="best",
        metavar="NAME,...",
        help=f"best, each solver's own, or some of {', '.join(HESSIANS)} (default: best)",
    )
    add(
        "--derivatives",
        default="recursive",
        metavar="NAME,...",
        help=f"some of {', '.join(DERIVATIVES)} (default: recursive)",
    )
    add(
        "--dynamics",
        default="newton_euler",
        metavar="NAME,...",
        help=f"some of {', '.join(FORMULATIONS)} (default: newton_euler)",
    )
    add(
        "--transcriptions",
        default="spline",
        metavar="NAME,...",
        help=f"some of {', '.join(TRANSCRIPTIONS)} (default: spline)",
    )
    add(
        "--seconds",
        type=float,
        default=120.0,
        metavar="FLOAT",
        help="limit of a solve (default: 120)",
    )
    add(
        "--memory",
        type=float,
        default=4.0,
        metavar="FLOAT",
        help="limit of a run's address space, GB (default: 4)",
    )
    add(
        "--workers",
        type=int,
        default=1,
        metavar="COUNT",
        help="runs at a time (default: 1, so that times can be compared)",
    )
    add(
        "--csv",
        metavar="FILE",
        help="keep the runs there as they finish; those already there are not run again",
    )
    add("--again", action="store_true", help="run all again")
    add("--plot", metavar="FILE.png", help="draw the performance profile and data profiles")
    add("--quiet", action="store_true", help="print the tables alone")
    return parser


def _setting(one):
    """Return the part of a run's key without its solver and its Hessian."""
    return one.problem, *one.key[3:]


def _word(value):
    return "" if value is None else f"{value:.7g}" if isinstance(value, float) else str(value)


def _seconds(value):
    return "" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(run())
