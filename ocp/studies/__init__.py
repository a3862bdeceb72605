"""Many solves: tasks, designs of parameters, workers, a data base, tables, solvers compared."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ocp.studies.random_starts import wandering
from ocp.studies.task import Published, Task, Views

if TYPE_CHECKING:
    from ocp.studies.comparison import Comparison, compare
    from ocp.studies.database import StudyFileError
    from ocp.studies.designs import grid, latin_hypercube, zipped
    from ocp.studies.solver_entries import Entry
    from ocp.studies.solver_runs import Run
    from ocp.studies.study import (
        Front,
        Optimum,
        Study,
        multistart,
        open_study,
        pareto,
        ranked,
        restarts,
        sweep,
        variants,
    )
    from ocp.studies.tables import aligned, markdown
    from ocp.studies.workers import EngineError, Progress

__all__ = [
    "Comparison",
    "EngineError",
    "Entry",
    "Front",
    "Optimum",
    "Progress",
    "Published",
    "Run",
    "Study",
    "StudyFileError",
    "Task",
    "Views",
    "aligned",
    "compare",
    "grid",
    "latin_hypercube",
    "markdown",
    "multistart",
    "open_study",
    "pareto",
    "ranked",
    "restarts",
    "sweep",
    "variants",
    "wandering",
    "zipped",
]

# Data bases, processes and tables load when they are first asked for: a run needs none of them.
_LATER = {
    "comparison": ("Comparison", "compare"),
    "database": ("StudyFileError",),
    "designs": ("grid", "latin_hypercube", "zipped"),
    "solver_entries": ("Entry",),
    "solver_runs": ("Run",),
    "study": ("Front", "Optimum", "Study", "multistart", "open_study", "pareto", "ranked")
    + ("restarts", "sweep", "variants"),
    "tables": ("aligned", "markdown"),
    "workers": ("EngineError", "Progress"),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"ocp.studies.{module}"), name)
    raise AttributeError(f"module 'ocp.studies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
