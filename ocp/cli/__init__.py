"""The command line: run a task, study it, compare solvers on it."""

from typing import TYPE_CHECKING

from ocp.cli.commands.run import main
from ocp.cli.exit_status import BAD_ARGUMENTS, DONE, FAILED, exit_status, refuse
from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.cli.commands.certified_list import add_table_flags, certify_problems
    from ocp.cli.commands.list_problems import first_line, modules, tasks

__all__ = [
    "BAD_ARGUMENTS",
    "DONE",
    "FAILED",
    "add_table_flags",
    "certify_problems",
    "exit_status",
    "first_line",
    "main",
    "modules",
    "refuse",
    "tasks",
]

# What lists the gallery, its tables and charts, loads when it is first asked for.
__getattr__, __dir__ = lazy_names(__name__)
