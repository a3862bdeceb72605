"""Walk in all conditions, and tell and draw what changes over each; the same command goes on."""

import json
import sys
from collections.abc import Sequence
from functools import partial

from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.plots import check_suffix
from ocp.problems.gait.conditions.design import AXES, USUAL, chosen, swept
from ocp.problems.gait.conditions.picture import plot_conditions
from ocp.problems.gait.conditions.tables import claims, data, steps_table, table
from ocp.problems.gait.conditions.walk_study import (
    STUDY_FLAGS,
    claims_text,
    names_among,
    say_cell,
    study_parser,
    walks,
)
from ocp.storage import check_writable, write


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status.

    It is 0 if all claims hold, 1 if one is missed, 2 for bad arguments.
    """
    parser = study_parser("gait.conditions", __doc__, AXES, "axes")
    for name, ending, what in (
        ("plot", "png", "draw the page"),
        ("json", "json", "write all numbers"),
        ("csv", "csv", "write the table"),
    ):
        parser.add_argument(f"--{name}", metavar=f"FILE.{ending}", help=what)
    flags = parser.parse_args(arguments)
    try:
        axes = names_among(flags.only, AXES)
        if flags.plot is not None:
            check_suffix(flags.plot)
        for path in filter(None, (flags.plot, flags.json, flags.csv)):
            check_writable(path)
        conditions = chosen(axes)
        options = {name: getattr(flags, name) for name in STUDY_FLAGS}
        study = swept(conditions, watch=partial(say_cell, usual=USUAL), **options)
    except (ValueError, OSError) as error:
        return refuse("gait.conditions", error)
    done = walks(conditions, study)
    print(table(done), steps_table(done), sep="\n\n")
    told = claims(done)
    print(claims_text(told))
    if flags.plot is not None:
        plot_conditions(done, flags.plot)
    if flags.json is not None:
        write(flags.json, (json.dumps(data(done), indent=1) + "\n").encode())
    if flags.csv is not None:
        study.write_csv(flags.csv)
    return DONE if all(holds for holds, _ in told) else FAILED


if __name__ == "__main__":
    sys.exit(exit_status(run))
