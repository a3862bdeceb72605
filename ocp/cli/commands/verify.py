"""The `ocp verify` command: the certificate of a saved solution, without the solver's word."""

import argparse
import sys
from collections.abc import Sequence

from ocp.certificate import NotVerified
from ocp.cli.exit_status import DONE, FAILED, REFUSED, refuse
from ocp.cli.flags import CONVERGED, read_line, relative_tolerance
from ocp.cli.output.status_line import status_line
from ocp.solvers.progress import say
from ocp.solving import verify
from ocp.storage import load

TOLERANCE = 1e-3  # where none is given


def command(arguments: Sequence[str]) -> int:
    """Certify a saved solution; the exit status is 0 if it holds, 1 if not, 2 for bad arguments."""
    parser = argparse.ArgumentParser(
        prog="ocp verify", description=command.__doc__, allow_abbrev=False
    )
    words = "a solution, as `ocp run NAME --save FILE.npz` keeps it"
    parser.add_argument("file", metavar="FILE.npz", help=words)
    words = f"what it has to hold to (default: {TOLERANCE:g}, as of `ocp run NAME --verify`)"
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, metavar="NUMBER", help=words)
    parser.add_argument("--converged", action="store_true", help=CONVERGED)
    flags = read_line(parser, arguments)
    try:
        tolerance = relative_tolerance("--tolerance", flags.tolerance)
        with status_line("ocp verify"):
            say(f"reads {flags.file}")
            solution = load(flags.file)
            certificate = verify(solution, finer=flags.converged)
        print(certificate)
        certificate.require(tolerance)
    except NotVerified as error:
        print(f"ocp verify: {flags.file}: {error}", file=sys.stderr)
        return FAILED
    except REFUSED as error:
        return refuse("ocp verify", error)
    return DONE
