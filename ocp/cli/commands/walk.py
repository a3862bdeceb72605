"""The `ocp walk` command: the short way to a predicted step of somebody, `ocp run gait`."""

from collections.abc import Sequence

from ocp.cli.commands.run import run_task, short_parser
from ocp.cli.exit_status import DONE
from ocp.studies.store.function_addresses import module_at
from ocp.studies.task import task_of

PROBLEM, PROGRAM = "gait", "ocp walk"
# Flags that its help lists: who walks, how fast, where and with what, in which statement
USUAL = (
    *("speed", "step", "free", "free_timing", "stride"),
    *("person", "stature", "mass", "sex", "age", "percentile"),
    *("slope", "rise", "backpack", "load", "ankle_strength", "points"),
)


def command(arguments: Sequence[str]) -> int:
    """Predict a step of somebody; takes every flag of `ocp run gait`."""
    task = task_of(module_at(PROBLEM))
    if {"-h", "--help"} & {*arguments}:
        print(short_parser(task, PROGRAM, USUAL).format_help(), end="")
        return DONE
    return run_task(task, arguments, PROGRAM)
