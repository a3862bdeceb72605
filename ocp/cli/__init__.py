"""The command line: run a task, study it, compare solvers on it."""

from typing import TYPE_CHECKING

from ocp.cli.ending import ended
from ocp.cli.run import main
from ocp.later import later

if TYPE_CHECKING:
    from ocp.cli.listing import first_line, modules, tasks

__all__ = ["ended", "first_line", "main", "modules", "tasks"]

# What lists the gallery, its tables and charts, loads when it is first asked for.
__getattr__, __dir__ = later(__name__, {"ocp.cli.listing": ("first_line", "modules", "tasks")})
