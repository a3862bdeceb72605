"""What a run leaves behind: the files that were asked for, and a result that is never lost."""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ocp.progress import say
from ocp.solution.files import plain, write
from ocp.solution.solution import Solution
from ocp.studies.task import Views


def leave(
    name: str,
    views: Views,
    solution: Solution,
    report: Mapping[str, Any],
    outputs: Mapping[str, Any],
) -> bool:
    """Write what was asked for, and tell whether all of it stands where it was asked for.

    What cannot be written is named on stderr and keeps nothing else from being written. The
    solution itself then goes to another place, which is named too.
    """
    text = json.dumps(plain(report, null=True), indent=2) + "\n"
    writers: dict[str, Callable[[str], Any]] = {
        "save": solution.save,
        "report": lambda path: write(path, text),
        "plot": lambda path: views.plot(solution, path),
        "animate": lambda path: views.animate(solution, path),
    }
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
            print(f"{name}: --{what}: {error}", file=sys.stderr)
            if what == "save":
                print(f"{name}: {_elsewhere(solution, outputs[what])}", file=sys.stderr)
    return whole


def _elsewhere(solution: Solution, asked: str) -> str:
    """Save a solution where there is room, in a folder of its own; return words that say where."""
    for place in (tempfile.gettempdir(), Path.home(), Path.cwd()):
        try:
            folder = Path(tempfile.mkdtemp(prefix="ocp-", dir=place))
        except OSError:
            continue
        path = folder / Path(asked).name
        try:
            solution.save(path)
            return f"the solution was saved as {path}"
        except (OSError, ValueError):
            folder.rmdir()
    return "the solution could not be saved anywhere else"
