"""The certificate of a saved solution, without the solver's word."""

import argparse
import sys
from collections.abc import Sequence

from ocp.certificate import NotVerified, verify
from ocp.cli.exit_status import of_a_stream, worded
from ocp.cli.flags import read_line
from ocp.cli.output.status_line import waited
from ocp.mechanics.values.validation import positive
from ocp.progress import say
from ocp.storage import load

CERTIFIED, NOT_CERTIFIED, BAD_ARGUMENTS = 0, 1, 2
TOLERANCE = 1e-3  # where none is given


def run(arguments: Sequence[str]) -> int:
    """Certify a saved solution; the exit status is 0 if it holds, 1 if not, 2 for bad arguments."""
    flags = read_line(_parser(), arguments)
    try:
        tolerance = positive("--tolerance", flags.tolerance)
        with waited("ocp verify"):
            say(f"reads {flags.file}")
            solution = load(flags.file)
            certificate = verify(solution)
        print(certificate)
        certificate.require(tolerance)
    except NotVerified as error:
        print(f"ocp verify: {flags.file}: {error}", file=sys.stderr)
        return NOT_CERTIFIED
    except (ValueError, OSError) as error:
        if of_a_stream(error):
            raise
        print(f"ocp verify: error: {worded(error)}", file=sys.stderr)
        return BAD_ARGUMENTS
    return CERTIFIED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ocp verify", description=run.__doc__, allow_abbrev=False)
    words = "a solution, as `ocp run NAME --save FILE.npz` keeps it"
    parser.add_argument("file", metavar="FILE.npz", help=words)
    words = f"what it has to hold to (default: {TOLERANCE:g}, as of `ocp run NAME --verify`)"
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, metavar="NUMBER", help=words)
    return parser
