"""Walk by muscles in measured conditions, and tell what people spend; the same command goes on."""

import json
import sys
from collections.abc import Sequence
from functools import partial

from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.problems.gait.benchmark.design import SETS, chosen, swept
from ocp.problems.gait.benchmark.tables import by_laws, claims, data, table
from ocp.problems.gait.conditions.walk_study import (
    STUDY_FLAGS,
    claims_text,
    names_among,
    say_cell,
    study_parser,
    walks,
)
from ocp.storage import check_writable, write

LEVEL = {"speed": None, "step": None, "slope": 0.0, "load": ""}  # what goes without saying


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status.

    It is 0 if all claims hold, 1 if one is missed, 2 for bad arguments.
    """
    parser = study_parser("gait.benchmark", __doc__, SETS, "sets")
    parser.add_argument("--json", metavar="FILE.json", help="write all numbers")
    flags = parser.parse_args(arguments)
    try:
        conditions = chosen(names_among(flags.only, SETS))
        if flags.json is not None:
            check_writable(flags.json)
        words = "walks are written down, before the first is solved: some seconds each"
        print(f"{len(conditions)} {words}", file=sys.stderr)
        options = {name: getattr(flags, name) for name in STUDY_FLAGS}
        study = swept(conditions, watch=partial(say_cell, usual=LEVEL), **options)
    except (ValueError, OSError) as error:
        return refuse("gait.benchmark", error)
    done = walks(conditions, study)
    told = claims(done)
    print(table(done), by_laws(done), claims_text(told), sep="\n\n")
    if flags.json is not None:
        write(flags.json, (json.dumps(data(done), indent=1) + "\n").encode())
    return DONE if all(holds for holds, _ in told) else FAILED


if __name__ == "__main__":
    sys.exit(exit_status(run))
