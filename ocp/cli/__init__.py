"""The command line: run a task, study it, compare solvers on it."""

from ocp.cli.ending import ended
from ocp.cli.listing import first_line, modules, tasks
from ocp.cli.run import main

__all__ = ["ended", "first_line", "main", "modules", "tasks"]
