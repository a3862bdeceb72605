"""A saved solution in space: in the browser, or as one page of HTML."""

import argparse
import sys
from collections.abc import Sequence

from ocp.cli.exit_status import of_a_stream, worded
from ocp.cli.flags import read_line
from ocp.cli.output.status_line import waited
from ocp.plots.bodies.viewer import HOST, PORT, Viewer, page
from ocp.progress import say
from ocp.storage import load
from ocp.storage.atomic_files import check_writable

DONE, BAD_ARGUMENTS = 0, 2


def run(arguments: Sequence[str]) -> int:
    """Show a saved solution as the command line asks and return the exit status."""
    flags = read_line(_parser(), arguments)
    try:
        _check_flags(flags)
        with waited("ocp view") as steps:
            if flags.html is not None:
                check_writable(flags.html)
            say(f"reads {flags.file}")
            solution = load(flags.file)
            if flags.html is not None:
                say(f"writes {flags.html}")
                page(solution, flags.html, flags.seconds)
                return DONE
            viewer = Viewer(flags.host, flags.port)
            steps.heard()
        print(f"shown at {viewer.url}, Ctrl-C ends", flush=True)
        viewer.show(solution)
        viewer.stay()
    except (ValueError, OSError) as error:
        if of_a_stream(error):
            raise
        print(f"ocp view: error: {worded(error)}", file=sys.stderr)
        return BAD_ARGUMENTS
    return DONE


def _check_flags(flags: argparse.Namespace) -> None:
    """Raise ValueError for flags that do nothing together."""
    if flags.html is None and flags.seconds is not None:
        raise ValueError("--seconds: is of a page, which --html FILE.html writes")
    if flags.html is not None and (flags.host, flags.port) != (HOST, PORT):
        raise ValueError("--host, --port: a page that --html writes is not served")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ocp view",
        description=run.__doc__,
        epilog="needs the extra `view`",
        allow_abbrev=False,
    )
    words = "a solution, as `ocp run NAME --save FILE.npz` keeps it"
    parser.add_argument("file", metavar="FILE.npz", help=words)
    words = "write one page instead, which needs no network"
    parser.add_argument("--html", metavar="FILE.html", help=words)
    words = "how long the page plays (default: as the motion, and at least 2)"
    parser.add_argument("--seconds", type=float, metavar="NUMBER", help=words)
    parser.add_argument("--host", default=HOST, help=f"where it is served (default: {HOST})")
    parser.add_argument("--port", type=int, default=PORT, help=f"at which port (default: {PORT})")
    return parser
