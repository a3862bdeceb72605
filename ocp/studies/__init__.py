"""Many solves: tasks, designs of parameters, workers, a data base, tables, solvers compared."""

from typing import TYPE_CHECKING

from ocp.later import later
from ocp.solution.wandering import wandering
from ocp.studies.task import OwnFile, Published, Task, Views

if TYPE_CHECKING:
    from ocp.studies.branches import SLIGHT, chained, lines_of
    from ocp.studies.comparison import Comparison, compare
    from ocp.studies.content import cell, content_of, recipe
    from ocp.studies.designs import grid, latin_hypercube, zipped
    from ocp.studies.measures import outputs
    from ocp.studies.processes import EngineError
    from ocp.studies.rows import StudyFileError
    from ocp.studies.schedule import Progress
    from ocp.studies.solver_entries import Entry
    from ocp.studies.solver_runs import Run
    from ocp.studies.study import (
        Front,
        Optimum,
        Study,
        carry_out,
        multistart,
        open_study,
        pareto,
        ranked,
        restarts,
        sweep,
        variants,
    )
    from ocp.studies.tables import aligned, markdown, markdown_lines

__all__ = [
    "SLIGHT",
    "Comparison",
    "EngineError",
    "Entry",
    "Front",
    "Optimum",
    "OwnFile",
    "Progress",
    "Published",
    "Run",
    "Study",
    "StudyFileError",
    "Task",
    "Views",
    "aligned",
    "carry_out",
    "cell",
    "chained",
    "compare",
    "content_of",
    "grid",
    "latin_hypercube",
    "lines_of",
    "markdown",
    "markdown_lines",
    "multistart",
    "open_study",
    "outputs",
    "pareto",
    "ranked",
    "recipe",
    "restarts",
    "sweep",
    "variants",
    "wandering",
    "zipped",
]

# Data bases, processes and tables load when they are first asked for: a run needs none of them.
__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.studies.branches": ("SLIGHT", "chained", "lines_of"),
        "ocp.studies.comparison": ("Comparison", "compare"),
        "ocp.studies.content": ("cell", "content_of", "recipe"),
        "ocp.studies.designs": ("grid", "latin_hypercube", "zipped"),
        "ocp.studies.measures": ("outputs",),
        "ocp.studies.processes": ("EngineError",),
        "ocp.studies.rows": ("StudyFileError",),
        "ocp.studies.schedule": ("Progress",),
        "ocp.studies.solver_entries": ("Entry",),
        "ocp.studies.solver_runs": ("Run",),
        "ocp.studies.study": ("Front", "Optimum", "Study", "carry_out", "multistart")
        + ("open_study", "pareto", "ranked", "restarts", "sweep", "variants"),
        "ocp.studies.tables": ("aligned", "markdown", "markdown_lines"),
    },
)
