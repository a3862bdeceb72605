"""The `ocp app` command: a problem on a page of sliders that is solved anew as they move."""

import argparse
import webbrowser
from collections.abc import Sequence

from ocp.cli.exit_status import DONE, REFUSED, refuse
from ocp.cli.flags import add_address, read_line
from ocp.cli.output.status_line import status_line
from ocp.solvers.progress import say
from ocp.studies.explorer.server import Explorer, Server


def command(arguments: Sequence[str]) -> int:
    """Serve a problem's page as the command line asks and return the exit status."""
    flags = read_line(_parser(), arguments)
    try:
        with status_line("ocp app") as steps:
            if not 0 <= flags.port <= 65535:
                raise ValueError(f"--port: expected 0 to 65535, got {flags.port}")
            say(f"states {flags.problem}")
            explorer = Explorer(flags.problem, flags.move or ())
            try:
                server = Server(explorer, flags.host, flags.port)
            except OSError as error:
                explorer.close()
                reason = (error.strerror or f"{error}").lower()
                raise ValueError(f"port {flags.port} of {flags.host}: {reason}") from None
            steps.clear()
        print(f"explored at {server.url}, Ctrl-C or closing the page ends", flush=True)
        if not (flags.no_browser or webbrowser.open(server.url)):
            print("no browser was found: open the address in one", flush=True)
        server.stay()
    except REFUSED as error:
        return refuse("ocp app", error)
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ocp app", description=command.__doc__, allow_abbrev=False
    )
    words = "a problem of the gallery, a FILE.py or module with a TASK, or a model, as FILE.urdf"
    parser.add_argument("problem", metavar="NAME|FILE.py|PACKAGE.MODULE|MODEL", help=words)
    words = "parameters that move (default: all numbers of the problem that may stay open)"
    parser.add_argument("--move", nargs="+", metavar="PARAMETER", help=words)
    add_address(parser, 0)
    parser.add_argument("--no-browser", action="store_true", help="print the address alone")
    return parser
