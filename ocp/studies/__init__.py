"""Many solves: tasks, designs of parameters, workers, a data base, tables, solvers compared."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names
from ocp.solving.starts.random_starts import random_guess
from ocp.studies.task import OwnFile, Published, Task, Views

if TYPE_CHECKING:
    from ocp.studies.comparison.comparison import Comparison, compare
    from ocp.studies.comparison.run import Run
    from ocp.studies.comparison.solvers import Entry
    from ocp.studies.continuation import SLIGHT, chained, lines_of
    from ocp.studies.designs import grid, latin_hypercube, zipped
    from ocp.studies.outputs import outputs
    from ocp.studies.processes import EngineError
    from ocp.studies.schedule import Progress
    from ocp.studies.store.cell_identity import cell, content_of, recipe
    from ocp.studies.store.row_format import StudyFileError
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
    "random_guess",
    "ranked",
    "recipe",
    "restarts",
    "sweep",
    "variants",
    "zipped",
]

# Data bases, processes and tables load when they are first asked for: a run needs none of them.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ocp.studies.continuation": ("SLIGHT", "chained", "lines_of"),
        "ocp.studies.comparison.comparison": ("Comparison", "compare"),
        "ocp.studies.store.cell_identity": ("cell", "content_of", "recipe"),
        "ocp.studies.designs": ("grid", "latin_hypercube", "zipped"),
        "ocp.studies.outputs": ("outputs",),
        "ocp.studies.processes": ("EngineError",),
        "ocp.studies.store.row_format": ("StudyFileError",),
        "ocp.studies.schedule": ("Progress",),
        "ocp.studies.comparison.solvers": ("Entry",),
        "ocp.studies.comparison.run": ("Run",),
        "ocp.studies.study": ("Front", "Optimum", "Study", "carry_out", "multistart")
        + ("open_study", "pareto", "ranked", "restarts", "sweep", "variants"),
        "ocp.studies.tables": ("aligned", "markdown", "markdown_lines"),
    },
)
