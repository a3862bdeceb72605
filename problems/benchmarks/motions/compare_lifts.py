"""The lift of least exertion beside a squat and a stoop: what each costs, and loads."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ocp import Solution, Solver, Transcription
from ocp.cli import exit_status
from ocp.plots import TEXT, WIDTH, check_suffix, picture, scene, strip
from ocp.problems.benchmarks import program_parser
from ocp.problems.gait.pictures.human_figure import SIDEWAYS
from ocp.problems.lifting import TASK, lift
from ocp.problems.lifting.report.curves import lifted
from ocp.problems.lifting.report.lift_pictures import BOXED, INSTANTS, drawn_points
from ocp.problems.lifting.report.lift_report import lifting_report
from ocp.studies import markdown

STYLES = ("", "squat", "stoop")
NAMES = {"": "best", "squat": "squat", "stoop": "stoop"}
HEADER = (
    *("lift", "objective", "iterations", "L5/S1 (N m)", "shear (N)", "compression (kN)"),
    *("hip, knee (N m)", "knee, hip, lumbar, trunk at the start (deg)", "postural index"),
)


def solved(flags: Mapping[str, Any]) -> dict[str, Solution]:
    """Return {style: the lift}."""
    return {
        style: lift(TASK.state({"style": style, **flags}), Transcription(), Solver())
        for style in STYLES
    }


def postural_index(angles: Mapping[str, float]) -> float:
    """Return knees' flexion over that of ankles, hips and lumbar spine, at the start.

    It is 0 of a stoop and about 1 of a full squat (Burgess-Limerick & Abernethy 1997).
    """
    return angles["knee"] / (angles["ankle"] + angles["hip"] + angles["lumbar"])


def row(style: str, solution: Solution) -> tuple[str, ...]:
    """Return the line of the table of a lift."""
    if not solution.success:
        return (NAMES[style], solution.status, *("-",) * (len(HEADER) - 2))
    report = lifting_report(solution)
    bends = {name: course["start"] for name, course in report["angles_deg"].items()}
    torques = (np.abs(report["torques_Nm"][joint]).max() for joint in ("hip", "knee"))
    whole = report["L5S1_compression"]["with_extensor_N"]["value"]
    return (
        NAMES[style],
        f"{solution.objective:.6g}",
        f"{solution.statistics['iterations']}",
        f"{report['L5S1_extension_Nm']['value']:.0f}",
        f"{report['L5S1_shearing_N']['value']:.0f}",
        f"{whole / 1e3:.2f}",
        ", ".join(f"{torque:.0f}" for torque in torques),
        ", ".join(f"{bends[name]:.0f}" for name in ("knee", "hip", "lumbar", "trunk")),
        f"{postural_index(bends):.2f}",
    )


def verdict(lifts: Mapping[str, Solution]) -> str:
    """Return which of squat and stoop is the better one, and by how much."""
    known = {style: lifts[style].objective for style in STYLES[1:] if lifts[style].success}
    if len(known) < 2:
        return "squat and stoop were not both solved"
    best, worst = sorted(known, key=lambda style: known[style])
    return (
        f"the {best} is better by {100 * (known[worst] / known[best] - 1):.2g} % of its objective"
    )


def draw(lifts: Mapping[str, Solution], path: str | Path) -> None:
    """Draw the lifts that were solved, one above the other, to `path`."""
    chosen = {style: solution for style, solution in lifts.items() if solution.success}
    with picture(path, WIDTH, 2.6 * len(chosen)) as figure:
        panels = np.atleast_1d(figure.subplots(len(chosen), 1))
        for axes, (style, solution) in zip(panels, chosen.items()):
            t = solution.duration * np.array(INSTANTS)
            figures = scene(solution, t, drawn_points(solution))
            strip(axes, figures, BOXED, SIDEWAYS, 1.4, [f"{instant:.2f} s" for instant in t])
            burden = lifted(solution, solution.times(241)).burden
            axes.set_title(
                f"{NAMES[style]}: objective {solution.objective:.4f}, L5/S1 "
                f"{burden.extending.max():.0f} N m, {burden.compression().max() / 1e3:.2f} kN",
                fontsize=TEXT,
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve, print and draw."""
    parser = program_parser("compare_lifts", __doc__)
    parser.add_argument("--plot", default="", metavar="FILE.png", help="draw them side by side")
    parser.add_argument("--box", type=float, default=9.0, help="mass of the box (kg)")
    parser.add_argument("--time", type=float, default=1.2, help="of the lift (s)")
    given = parser.parse_args(arguments)
    if given.plot:
        check_suffix(given.plot)
    lifts = solved({"box": given.box, "time": given.time})
    rows = [row(style, solution) for style, solution in lifts.items()]
    print(markdown("lifts", HEADER, rows))
    print(verdict(lifts))
    if given.plot:
        draw(lifts, given.plot)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
