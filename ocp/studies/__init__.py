"""Many solves: tasks, designs of parameters, workers, a data base, tables, solvers compared."""

from ocp.studies.database import StudyFileError
from ocp.studies.designs import grid, latin_hypercube, zipped
from ocp.studies.random_starts import wandering
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
    "EngineError",
    "Front",
    "Optimum",
    "Progress",
    "Published",
    "Study",
    "StudyFileError",
    "Task",
    "Views",
    "aligned",
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
