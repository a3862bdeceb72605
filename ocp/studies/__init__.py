"""Many solves: tasks, designs of parameters, workers, a data base, tables, solvers compared."""

from ocp.studies.comparison import Comparison, compare
from ocp.studies.database import StudyFileError
from ocp.studies.designs import grid, latin_hypercube, zipped
from ocp.studies.random_starts import wandering
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
from ocp.studies.task import Published, Task, Views
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
