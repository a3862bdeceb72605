"""Files that a run writes, and a result that is never lost."""

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ocp import interchange  # whose names load when they are asked for
from ocp.cli.exit_status import error_words
from ocp.problem.statement import Problem
from ocp.report.mechanism_report import Report
from ocp.solution.solution import Solution
from ocp.solvers.progress import say
from ocp.storage.atomic_files import check_writable, plain, write
from ocp.storage.result_files import save
from ocp.studies.store.argument_flags import Arguments
from ocp.studies.task import OwnFile, Views

FILES = ("save", "report", "motion", "forces", "plot", "animate")
TABLES = (".mot", ".sto", ".csv")
ENDINGS = {
    "save": (".npz",),
    "motion": (*TABLES, ".yaml", ".yml", ".mcap"),
    "forces": TABLES,
    "plot": (".png", ".svg", ".pdf"),
    "animate": (".gif", ".mp4", ".html"),
}


def check_paths(outputs: Arguments, files: Sequence[OwnFile] = ()) -> None:
    """Raise an error before a solve where a file could not be written after it.

    Args:
        outputs: {flag: path or None} of the run.
        files: a problem's own, beside those of every run.

    Raises:
        OSError: a file that cannot be written.
        ValueError: another ending than the flag's, a file of two flags, or a film without ffmpeg.
    """
    names = [*FILES, *(each.name for each in files)]
    for name in names:
        if outputs[name] is not None and not Path(outputs[name]).name:
            raise ValueError(f"--{name}: expected the name of a file, got {outputs[name]!r}")
    asked = {name: Path(outputs[name]).resolve() for name in names if outputs[name] is not None}
    for name in asked:
        check_writable(outputs[name])
    for name, place in asked.items():
        other = next(each for each in asked if asked[each] == place)
        if other != name:
            raise ValueError(f"--{name}: {outputs[name]} is the file of --{other} too")
    for name, known in (ENDINGS | {each.name: each.endings for each in files}).items():
        path = outputs[name]
        if path is not None and Path(path).suffix.lower() not in known:
            endings = ", ".join(known)
            raise ValueError(f"--{name}: expected a file ending in {endings}, got {path!r}")
    if Path(outputs["animate"] or "").suffix.lower() == ".mp4":
        from ocp.plots.bodies.animation import ffmpeg  # which no other run needs

        try:
            ffmpeg()
        except ValueError as error:
            raise ValueError(f"--animate: {error}") from None


def check_tables(outputs: Arguments, statement: Problem) -> None:
    """Raise ValueError where ground forces are asked for of a problem that has no ground."""
    parts = list(statement.parts.values())
    if outputs["forces"] is not None and all(part.ground is None for part in parts):
        raise ValueError("--forces: this problem has no ground")


def write_files(
    name: str, views: Views, solution: Solution, report: Callable[[], Report], outputs: Arguments
) -> bool:
    """Write the files that were asked for, and tell whether all of them are written.

    What cannot be written is named on stderr and keeps no other file from being written; then the
    solution itself goes to another place, which is named too.

    Args:
        name: of the problem, before each message.
        views: of the problem, which draw its pictures.
        solution: to be written.
        report: made for its file alone.
        outputs: {flag: path or None} of the run.
    """
    writers: dict[str, Callable[[str], object]] = {
        "save": lambda path: save(solution, path),
        "report": lambda path: write(path, json.dumps(plain(report(), null=True), indent=2) + "\n"),
        "motion": lambda path: interchange.save_motion(solution, path),
        "forces": lambda path: interchange.save_forces(solution, path),
        "plot": lambda path: views.plot(solution, path),
        "animate": lambda path: views.animate(solution, path),
    }
    for own in views.files:
        writers[own.name] = partial(own.write, solution)
    whole = True
    for what, writer in writers.items():
        if outputs[what] is None:
            continue
        say(f"writes {outputs[what]}")
        try:
            writer(outputs[what])
        except BrokenPipeError:
            raise
        except (OSError, ValueError) as error:
            whole = False
            print(f"{name}: --{what}: {error_words(error)}", file=sys.stderr)
            if what == "save":
                print(f"{name}: {_elsewhere(solution, outputs[what])}", file=sys.stderr)
    return whole


def _elsewhere(solution: Solution, asked: str) -> str:
    """Save a solution where there is room, in a new folder; return words that name the place."""
    for place in (tempfile.gettempdir(), Path.home(), Path.cwd()):
        try:
            folder = Path(tempfile.mkdtemp(prefix="ocp-", dir=place))
        except OSError:
            continue
        path = folder / Path(asked).name
        try:
            save(solution, path)
            return f"the solution was saved as {path}"
        except (OSError, ValueError):
            folder.rmdir()
    return "the solution could not be saved anywhere else"
