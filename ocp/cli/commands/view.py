"""The `ocp view` command: a saved solution in space, in the browser or as one page of HTML."""

import argparse
from collections.abc import Sequence

from ocp.cli.exit_status import DONE, REFUSED, refuse
from ocp.cli.flags import HOST, add_address, read_line
from ocp.cli.output.status_line import status_line
from ocp.plots import page
from ocp.plots.bodies.viewer import PORT, Viewer
from ocp.solvers.progress import say
from ocp.storage import load
from ocp.storage.atomic_files import check_writable


def command(arguments: Sequence[str]) -> int:
    """Show a saved solution as the command line asks and return the exit status."""
    flags = read_line(_parser(), arguments)
    try:
        if flags.html is None and flags.seconds is not None:
            raise ValueError("--seconds: is of a page, which --html FILE.html writes")
        if flags.html is not None and (flags.host, flags.port) != (HOST, PORT):
            raise ValueError("--host, --port: a page that --html writes is not served")
        with status_line("ocp view") as steps:
            if flags.html is not None:
                check_writable(flags.html)
            say(f"reads {flags.file}")
            solution = load(flags.file)
            if flags.html is not None:
                say(f"writes {flags.html}")
                page(solution, flags.html, flags.seconds)
                return DONE
            viewer = Viewer(flags.host, flags.port)
            steps.clear()
        print(f"shown at {viewer.url}, Ctrl-C ends", flush=True)
        viewer.show(solution)
        viewer.stay()
    except REFUSED as error:
        return refuse("ocp view", error)
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ocp view",
        description=command.__doc__,
        epilog="needs the extra `view`, but for --html",
        allow_abbrev=False,
    )
    words = "a solution, as `ocp run NAME --save FILE.npz` keeps it"
    parser.add_argument("file", metavar="FILE.npz", help=words)
    words = "write one page instead, with curves, which needs no network and no extra"
    parser.add_argument("--html", metavar="FILE.html", help=words)
    words = "how long the page plays (default: as the motion, and at least 2)"
    parser.add_argument("--seconds", type=float, metavar="NUMBER", help=words)
    add_address(parser, PORT)
    return parser
