"""The `ocp` command: one word says what is done, the rest of the line belongs to it."""

import importlib
import sys
from collections.abc import Sequence

from ocp.cli.exit_status import BAD_ARGUMENTS, DONE, exit_status
from ocp.spelling import suggestion
from ocp.version import VERSION

WORDS = {
    "run": ("commands.run:command", "solve a problem: of the gallery, or of your own file"),
    "walk": (
        "commands.walk:command",
        "predict how somebody walks, as `ocp run gait` does",
    ),
    "study": (
        "commands.study:command",
        "solve it for many parameters, in parallel, in a file that resumes",
    ),
    "compare": (
        "commands.compare:command",
        "compare solvers on problems, judged by their certificates",
    ),
    "list": ("commands.list_problems:command", "list the gallery by task and by kind, or solve it"),
    "papers": ("commands.papers:command", "print published values beside ours, redraw figures"),
    "verify": ("commands.verify:command", "certify a saved solution"),
    "view": ("commands.view:command", "show a saved solution in space, in the browser"),
    "lab": ("commands.lab:command", "report a gait laboratory's files: angles, moments, strides"),
    "model": ("commands.model:command", "tell what the file of a robot or a body holds"),
    "app": ("commands.app:command", "move a problem's parameters on a page, solved anew"),
    "docs": ("book.build_book:command", "build the documentation with its gallery"),
    "completion": (
        "commands.completion:command",
        "print what completes commands in bash, zsh or fish",
    ),
}
VERSIONED = ("--version",)


def command(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    return exit_status(_command, list(sys.argv[1:] if arguments is None else arguments))


def _command(given: Sequence[str]) -> int:
    if given and given[0] in WORDS:
        place, _, name = WORDS[given[0]][0].partition(":")
        return getattr(importlib.import_module(f"ocp.cli.{place}"), name)(given[1:])
    if given and given[0] in VERSIONED:
        print(f"ocp {VERSION}")
        return DONE
    asked = bool({*given} & {"-h", "--help"})
    if given and not asked:
        near = suggestion(given[0], (*WORDS, *VERSIONED))
        print(f"ocp: no command {given[0]!r}{near}", file=sys.stderr)
    print(usage(), file=sys.stdout if asked else sys.stderr)
    return DONE if asked else BAD_ARGUMENTS


def usage() -> str:
    """Return the usage text of the command."""
    width = max(map(len, WORDS))
    lines = [f"  ocp {word:<{width}}  {text}" for word, (_, text) in WORDS.items()]
    more = "ocp COMMAND --help says more, ocp --version which one it is"
    return "\n".join(["usage: ocp COMMAND ...", "", *lines, "", more])
