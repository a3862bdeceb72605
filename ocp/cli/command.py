"""The `ocp` command: one word says what is done, the rest of the line belongs to it."""

import importlib
import sys
from collections.abc import Sequence

DONE, BAD_ARGUMENTS = 0, 2
WORDS = {
    "study": "solve a problem for many parameters, in parallel, in a file that resumes",
    "compare": "compare solvers on problems, each run judged by its certificate",
    "docs": "build the documentation with its gallery",
}


def command(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    word, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    rest = rest[:-1]
    if word not in WORDS:
        print(usage(), file=sys.stderr if word not in ("-h", "--help", "") else sys.stdout)
        return DONE if word in ("-h", "--help", "") else BAD_ARGUMENTS
    return importlib.import_module(f"ocp.cli.{word}").run(rest)


def usage() -> str:
    """Return what the command can do."""
    width = max(map(len, WORDS))
    lines = [f"  ocp {word:<{width}}  {text}" for word, text in WORDS.items()]
    return "\n".join(["usage: ocp COMMAND ...", "", *lines])
