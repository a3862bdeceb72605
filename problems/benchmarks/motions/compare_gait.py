"""The predictive gait by derivatives, formulations, sizes, speeds, starts and ground rules."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocp import Guess, Solution, Solver
from ocp.cli import DONE, exit_status, refuse
from ocp.plots import Curve, check_suffix, lines
from ocp.problems.benchmarks import program_parser
from ocp.problems.gait import effort_step as problem
from ocp.problems.gait import walk
from ocp.problems.gait.report.step_report import gait_report
from ocp.storage import check_writable, write
from ocp.studies import markdown
from ocp.transcription import transcription_of

Settings = Mapping[str, Any]
Variant = tuple[str, Settings, Settings]  # its name, arguments of the problem, of the method
# m/s, m: steps grow with speed as adults' do (Inman 1981)
SPEEDS = ((0.8, 0.45), (1.0, 0.53), (1.2, 0.60), (1.4, 0.68), (1.6, 0.75))
SAME = 1e-6  # relative, of equal optima
NOISE = 0.05  # rad, standard deviation of a disturbed start
DERIVATIVES = ("recursive", "ad", "solver")
FORMULATIONS = ("newton_euler", "hollerbach_4x4", "hollerbach_3x3", "lie_group")
SIZES: tuple[Variant, ...] = (
    ("25 nodes", {}, {}),
    ("21 nodes", {}, {"nodes": 3}),
    ("all 55 joints", {"active": "all"}, {}),
    ("10 points, 1 mm, 0.02 m/s", {"points": 10, "contact": 0.001, "slip": 0.02}, {}),
    ("12 points, 1 mm, 0.02 m/s", {"points": 12, "contact": 0.001, "slip": 0.02}, {"nodes": 3}),
    (
        "55 x 6 = 330, 5 mm, 0.3 m/s, jumps",
        {"points": 6, "active": "all", "contact": 0.005, "slip": 0.3, "jump": True},
        {"nodes": 7},
    ),
    ("no smoothness", {"smooth": 0.0}, {}),
)
REACTIONS: tuple[Variant, ...] = (
    ("pressure of each foot, free split", {}, {}),
    ("zero moment point, free split", {"balance": "zmp"}, {}),
    ("zero moment point, linear split", {"balance": "zmp", "split": True}, {}),
    ("zero moment point, two passes", {"balance": "zmp"}, {"torques": "explicit"}),
)


HEADER = (
    *("case", "status", "attempts", "variables", "rows", "iterations"),
    *("build s", "solve s", "total ratio", "objective", "difference"),
)
LIKENESS = (
    *("case", "hip r", "knee r", "ankle r", "abduction r", "list r", "vertical r"),
    *("first peak, valley, second (BW)", "sway, up (mm)", "faults"),
    *("work (J/m)", "contact (mm)", "slip (mm)", "pressure margin (mm)"),
)
JOINTS = ("hip_flex", "knee_flex", "ankle_df")  # laid beside measured adults
PEAKS = ("first_peak", "valley", "second_peak")
MEASURED = ("iterations", "build_seconds", "solve_seconds")  # in the file


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One line of a comparison: what it is, and the solution."""

    name: str
    solution: Solution


def solved(
    name: str,
    arguments: Settings | None = None,
    settings: Settings | None = None,
    guess: Solution | Guess | None = None,
) -> Case:
    """Return the Case of problem(**arguments) under a Transcription of the settings.

    The first guess is q = 0, or the `guess`.
    """
    statement, transcription = problem(**(arguments or {})), transcription_of(settings or {})
    return Case(name=name, solution=walk(statement, transcription, Solver(), guess=guess))


def by_derivatives() -> list[Case]:
    """Solve with every provider of derivatives."""
    return [solved(name, settings={"derivatives": name}) for name in DERIVATIVES]


def by_formulation() -> list[Case]:
    """Solve with every formulation that is fast enough."""
    return [solved(name, settings={"dynamics": name}) for name in FORMULATIONS]


def by_size() -> list[Case]:
    """Solve with more and fewer joints, control points and nodes."""
    return [solved(*case) for case in SIZES]


def by_reactions() -> list[Case]:
    """Solve with the ways to know and to share the ground's forces."""
    return [solved(*case) for case in REACTIONS]


def by_speed() -> list[Case]:
    """Solve for several speeds, from q = 0; where that fails, from the neighbouring solution."""
    cases: list[Case] = []
    for speed, step in SPEEDS:
        name, walking = f"{speed:g} m/s, {step:g} m", {"speed": speed, "step": step}
        case = solved(name, walking)
        if not case.solution.success and cases:
            neighbour = replace(cases[-1].solution, multipliers={})
            case = solved(f"{name}, from its neighbour", walking, guess=neighbour)
        cases.append(case)
    return cases


def by_start(count: int, seed: int = 1) -> list[Case]:
    """Solve from q = 0 and from `count` starts, disturbed by NOISE in every turning joint."""
    statement, rng = problem(), np.random.default_rng(seed)
    turning = np.array([joint.kind == "revolute" for joint in statement.tree.moving])[:, None]
    points = statement.motion.points
    curve = statement.motion.values(np.linspace(0.0, 1.0, 10 * points))
    cases = [solved("q = 0")]
    for number in range(count):
        noise = NOISE * turning * rng.standard_normal((statement.tree.dof, points))
        cases.append(solved(f"start {number + 1}", guess=Guess(q=noise @ curve.T)))
    return cases


WAYS: dict[str, Callable[[], list[Case]]] = {
    "derivatives": by_derivatives,
    "formulations": by_formulation,
    "sizes": by_size,
    "reactions": by_reactions,
    "speeds": by_speed,
}


def table(title: str, cases: Sequence[Case]) -> str:
    """Return a table of cases; times and objectives stand beside those of the first one."""
    first = cases[0].solution
    return markdown(title, HEADER, [_row(case, first) for case in cases])


def _row(case: Case, first: Solution) -> tuple[str, ...]:
    solution, numbers = case.solution, case.solution.statistics
    return (
        case.name,
        "solved" if solution.success else solution.status,
        str(len(numbers["attempts"])),
        str(numbers["variables"]),
        str(numbers["constraints"]),
        str(numbers["iterations"]),
        f"{numbers['build_seconds']:.2f}",
        f"{numbers['solve_seconds']:.2f}",
        f"{numbers['total_seconds'] / first.statistics['total_seconds']:.2f}",
        f"{solution.objective:.6f}",
        f"{solution.objective - first.objective:+.1e}",
    )


def likeness(cases: Sequence[Case]) -> str:
    """Return a table of what the walks are like.

    Correlations with measured adults, forces, work, and errors on the dense grid.
    """
    rows = [(case.name, *_likeness(gait_report(case.solution))) for case in cases]
    return markdown("", LIKENESS, rows)


def _likeness(report: Mapping[str, Any]) -> tuple[str, ...]:
    against, standing, said = report["against"], report["standing"], report["numbers"]
    peaks = [said[f"vertical_{part}"]["BW"] for part in PEAKS]
    margin = min(extreme["value"] for extreme in standing["margins"].values())
    return (
        *(f"{against[joint]['fukuchi']['r']:.3f}" for joint in JOINTS),
        *(f"{report['r'][name]:.3f}" for name in ("hip_abd", "pelvis_list")),
        f"{against['force_vertical']['winter']['r']:.3f}",
        ", ".join(f"{peak:.2f}" for peak in peaks),
        f"{said['com_sideways_mm']:.0f}, {said['com_up_mm']:.0f}",
        str(len(report["faults"])),
        f"{said['positive_work_J_m']:.0f}",
        f"{1e3 * standing['height']['value']:.1f}",
        f"{1e3 * standing['slip']['value']:.1f}",
        f"{1e3 * margin:.1f}",
    )


def draw_speeds(cases: Sequence[Case], path: str) -> None:
    """Draw effort and positive work per metre over the speed, as shares of those at the first."""
    reports = [gait_report(case.solution) for case in cases]
    speeds = tuple(report["numbers"]["speed_m_s"] for report in reports)
    # J T / 10 over the step's length
    effort = [report["objective"] / (10.0 * speed) for report, speed in zip(reports, speeds)]
    work = [report["numbers"]["positive_work_J_m"] for report in reports]
    shares = {
        "dynamic effort and smoothness per metre": [value / effort[0] for value in effort],
        "positive work per metre": [value / work[0] for value in work],
    }
    curves = [
        Curve(label=label, x=speeds, y=tuple(share), colour=k)
        for k, (label, share) in enumerate(shares.items())
    ]
    lines(path, curves, x="speed (m/s)", y=f"relative to {speeds[0]:g} m/s")


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    flags = _parser().parse_args(arguments)
    try:
        _check(flags)
    except (ValueError, OSError) as error:
        return refuse("compare_gait", error)
    everything = []
    for what in flags.what:
        cases = by_start(flags.starts) if what == "starts" else WAYS[what]()
        print(table(what, cases), likeness(cases), sep="\n")
        if what == "starts":
            print(_starts(cases))
        if what == "speeds" and flags.plot is not None:
            draw_speeds(cases, flags.plot)
        everything += cases
    if flags.csv is not None:
        write(flags.csv, _comma_separated(everything))
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_gait", __doc__)
    parser.add_argument(
        "what", nargs="+", choices=(*WAYS, "starts"), help="what to compare; some take minutes"
    )
    parser.add_argument(
        "--starts",
        type=int,
        default=20,
        metavar="N",
        help="number of disturbed starts (default: 20)",
    )
    parser.add_argument("--plot", metavar="FILE.png", help="draw the speeds")
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="write name, status, iterations, seconds and objective of every case",
    )
    return parser


def _check(flags: argparse.Namespace) -> None:
    """Raise ValueError or OSError naming a flag that cannot be met."""
    if flags.starts < 1:
        raise ValueError(f"--starts: expected at least 1, got {flags.starts}")
    if flags.plot is not None and "speeds" not in flags.what:
        raise ValueError("--plot: draws the speeds; ask for speeds")
    for path in filter(None, (flags.csv, flags.plot)):
        check_writable(path)
    if flags.plot is not None:
        check_suffix(flags.plot)


def _starts(cases: Sequence[Case]) -> str:
    first, *others = (case.solution for case in cases)
    converged = [one.objective for one in others if one.success]
    good = sum(objective <= first.objective * (1 + SAME) for objective in converged)
    best = min(converged)
    return (
        f"{len(converged)} of {len(others)} converge, {good} to the same or a lower optimum than "
        f"q = 0; lowest {best:.6f}, {100 * (1 - best / first.objective):.2f} % below\n"
    )


def _comma_separated(cases: Sequence[Case]) -> str:
    rows = [",".join(["case", "status", *MEASURED, "objective"])]
    for case in cases:
        numbers = [f"{case.solution.statistics[name]:.6g}" for name in MEASURED]
        objective = f"{case.solution.objective:.9g}"
        rows.append(",".join([f'"{case.name}"', case.solution.status, *numbers, objective]))
    return "\n".join([*rows, ""])


if __name__ == "__main__":
    sys.exit(exit_status(run))
