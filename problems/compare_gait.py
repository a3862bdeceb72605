"""The predictive gait compared with itself: derivatives, formulations, sizes, speeds, starts, and rules for the ground's forces."""

import argparse
import sys
from dataclasses import dataclass, replace

import numpy as np
from ocp.problems.gait.report import gait_report
from ocp.problems.gait.statement import problem, walk

from ocp import Guess, Solver
from ocp.plots import Curve, check_suffix, lines
from ocp.solution.files import check_writable, write
from ocp.transcription.transcribe import transcription_of

DONE, BAD_ARGUMENTS = 0, 2
SPEEDS = (
    (0.8, 0.45),
    (1.0, 0.53),
    (1.2, 0.60),
    (1.4, 0.68),
    (1.6, 0.75),
)  # m/s, m: steps grow with speed as adults' do (Inman 1981)
SAME, NOISE = 1e-6, 0.05  # relative, of equal optima; rad, standard deviation of a disturbed start
DERIVATIVES = ("recursive", "ad", "solver")
FORMULATIONS = ("newton_euler", "hollerbach_4x4", "hollerbach_3x3", "lie_group")
SIZES = (
    ("21 nodes", {}, {}),
    ("16 nodes", {}, {"nodes": 3}),
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
REACTIONS = (
    ("pressure of each foot, free split", {}, {}),
    ("zero moment point, free split", {"balance": "zmp"}, {}),
    ("zero moment point, linear split", {"balance": "zmp", "split": True}, {}),
    ("zero moment point, two passes", {"balance": "zmp"}, {"torques": "explicit"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One line of a comparison: what it is, and the solution."""

    name: str
    solution: object


def solved(name, arguments=None, settings=None, guess=None):
    """Return the Case of problem(**arguments) under Transcription(**settings), from q = 0 or a guess."""
    return Case(
        name=name,
        solution=walk(
            problem(**(arguments or {})), transcription_of((settings or {})), Solver(), guess=guess
        ),
    )


def by_derivatives():
    """Solve with every provider of derivatives."""
    return [solved(name, settings={"derivatives": name}) for name in DERIVATIVES]


def by_formulation():
    """Solve with every formulation that is fast enough."""
    return [solved(name, settings={"dynamics": name}) for name in FORMULATIONS]


def by_size():
    """Solve with more and fewer joints, control points and nodes."""
    return [solved(*case) for case in SIZES]


def by_reactions():
    """Solve with the ways to know and to share the ground's forces."""
    return [solved(*case) for case in REACTIONS]


def by_speed():
    """Solve for several speeds, from q = 0; where that fails, from the neighbouring solution."""
    cases = []
    for speed, step in SPEEDS:
        case = solved(f"{speed:g} m/s, {step:g} m", {"speed": speed, "step": step})
        if not case.solution.success and cases:
            neighbour = replace(cases[-1].solution, multipliers={})
            case = solved(
                f"{case.name}, from its neighbour", {"speed": speed, "step": step}, guess=neighbour
            )
        cases.append(case)
    return cases


def by_start(count, seed=1):
    """Solve from q = 0 and from `count` starts whose control points are disturbed by NOISE in every turning joint."""
    statement, rng = problem(), np.random.default_rng(seed)
    turning = np.array([joint.kind == "revolute" for joint in statement.tree.moving])[:, None]
    curve = statement.motion.values(np.linspace(0.0, 1.0, 10 * statement.motion.points))
    cases = [solved("q = 0")]
    for number in range(count):
        noise = NOISE * turning * rng.standard_normal((statement.tree.dof, statement.motion.points))
        cases.append(solved(f"start {number + 1}", guess=Guess(q=noise @ curve.T)))
    return cases


def table(title, cases):
    """Return a table of cases; times and objectives stand beside those of the first one."""
    first, rows = cases[0].solution, []
    for case in cases:
        numbers, attempts = case.solution.statistics, case.solution.statistics["attempts"]
        rows.append(
            (
                case.name,
                "solved" if case.solution.success else case.solution.status,
                str(len(attempts)),
                str(numbers["variables"]),
                str(numbers["constraints"]),
                str(numbers["iterations"]),
                f"{numbers['build_seconds']:.2f}",
                f"{numbers['solve_seconds']:.2f}",
                f"{numbers['total_seconds'] / first.statistics['total_seconds']:.2f}",
                f"{case.solution.objective:.6f}",
                f"{case.solution.objective - first.objective:+.1e}",
            )
        )
    header = (
        "case",
        "status",
        "attempts",
        "variables",
        "rows",
        "iterations",
        "build s",
        "solve s",
        "total ratio",
        "objective",
        "difference",
    )
    return "\n".join(
        [
            f"{title}\n",
            *(f"| {' | '.join(line)} |" for line in (header, ("---",) * len(header), *rows)),
            "",
        ]
    )


def likeness(cases):
    """Return a table of what the walks are like: correlations with measured adults, forces, work, and errors on the dense grid."""
    header = (
        "case",
        "hip r",
        "knee r",
        "ankle r",
        "vertical r",
        "first peak, valley, second (BW)",
        "work (J/m)",
        "contact (mm)",
        "slip (mm)",
        "pressure margin (mm)",
    )
    rows = [(case.name, *_likeness(gait_report(case.solution))) for case in cases]
    return "\n".join(
        [f"| {' | '.join(line)} |" for line in (header, ("---",) * len(header), *rows)] + [""]
    )


def _likeness(report):
    angles, standing = report["angles"]["fukuchi"], report["standing"]
    peaks = [
        report["vertical_force"][part]["BW"] for part in ("first_peak", "valley", "second_peak")
    ]
    margin = min(extreme["value"] for extreme in standing["margins"].values())
    return (
        *(f"{angles[joint]['r']:.3f}" for joint in ("hip_flex", "knee_flex", "ankle_df")),
        f"{report['forces']['vertical']['cycle']['r']:.3f}",
        ", ".join(f"{peak:.2f}" for peak in peaks),
        f"{report['positive_work_J_per_m']:.0f}",
        f"{1e3 * standing['height']['value']:.1f}",
        f"{1e3 * standing['slip']['value']:.1f}",
        f"{1e3 * margin:.1f}",
    )


def draw_speeds(cases, path):
    """Draw effort and positive work per metre over the speed, as shares of what they are at the first speed."""
    reports = [gait_report(case.solution) for case in cases]
    speeds = tuple(report["speed_m_s"] for report in reports)
    effort = [
        report["objective"] / (10.0 * report["speed_m_s"]) for report in reports
    ]  # J T / 10 over the step's length
    work = [report["positive_work_J_per_m"] for report in reports]
    lines(
        path,
        [
            Curve(label=label, x=speeds, y=tuple(value / values[0] for value in values), colour=k)
            for k, (label, values) in enumerate(
                (
                    ("dynamic effort and smoothness per metre", effort),
                    ("positive work per metre", work),
                )
            )
        ],
        x="speed (m/s)",
        y=f"relative to {speeds[0]:g} m/s",
    )


def run(arguments=None):
    """Do what the command line asks for and return the exit status."""
    known = {
        "derivatives": by_derivatives,
        "formulations": by_formulation,
        "sizes": by_size,
        "reactions": by_reactions,
        "speeds": by_speed,
        "starts": None,
    }
    parser = argparse.ArgumentParser(
        prog="python -m problems.compare_gait", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "what", nargs="+", choices=tuple(known), help="what to compare; some take minutes"
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
    flags = parser.parse_args(arguments)
    try:
        if flags.starts < 1:
            raise ValueError(f"--starts: expected at least 1, got {flags.starts}")
        if flags.plot is not None and "speeds" not in flags.what:
            raise ValueError("--plot: draws the speeds; ask for speeds")
        for path in filter(None, (flags.csv, flags.plot)):
            check_writable(path)
        if flags.plot is not None:
            check_suffix(flags.plot)
    except (ValueError, OSError) as error:
        print(f"compare_gait: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    everything = []
    for what in flags.what:
        cases = by_start(flags.starts) if what == "starts" else known[what]()
        print(table(what, cases), likeness(cases), sep="\n")
        if what == "starts":
            print(_starts(cases))
        if what == "speeds" and flags.plot is not None:
            draw_speeds(cases, flags.plot)
        everything += cases
    if flags.csv is not None:
        write(flags.csv, _comma_separated(everything))
    return DONE


def _starts(cases):
    first, *others = (case.solution for case in cases)
    good = sum(one.success and one.objective <= first.objective * (1 + SAME) for one in others)
    best = min(one.objective for one in others if one.success)
    return (
        f"{sum(one.success for one in others)} of {len(others)} converge, {good} to the same or a lower optimum than q = 0; "
        f"lowest {best:.6f}, {100 * (1 - best / first.objective):.2f} % below\n"
    )


def _comma_separated(cases):
    keys = ("iterations", "build_seconds", "solve_seconds")
    rows = [
        ",".join(
            [
                f'"{case.name}"',
                case.solution.status,
                *(f"{case.solution.statistics[key]:.6g}" for key in keys),
                f"{case.solution.objective:.9g}",
            ]
        )
        for case in cases
    ]
    return "\n".join([",".join(["case", "status", *keys, "objective"]), *rows, ""])


if __name__ == "__main__":
    sys.exit(run())
