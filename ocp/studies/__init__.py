"""Many solves: tasks, designs of parameters, workers, a data base, tables, solvers compared."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names
from ocp.solving.starts.random_starts import random_guess
from ocp.studies.task import OwnFile, Published, Task, Views, task_at

if TYPE_CHECKING:
    from ocp.studies.cell_dispatch import Progress
    from ocp.studies.comparison.comparison import Comparison, compare
    from ocp.studies.comparison.limited_run import Run
    from ocp.studies.comparison.solvers import Entry
    from ocp.studies.continuation import SLIGHT, chain_design, lines_of
    from ocp.studies.parameter_designs import grid, latin_hypercube, side_by_side
    from ocp.studies.pareto_front import Front, pareto
    from ocp.studies.solve_cell import outputs
    from ocp.studies.store.argument_flags import call_by_flags, flags_of
    from ocp.studies.store.cell_specification import cell, content_of, recipe
    from ocp.studies.store.row_format import StudyFileError
    from ocp.studies.study import (
        Optimum,
        Study,
        carry_out,
        multistart,
        open_study,
        rank_optima,
        restarts,
        sweep,
        variants,
    )
    from ocp.studies.study_tables import align_columns, markdown, markdown_lines
    from ocp.studies.worker_processes import EngineError

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
    "align_columns",
    "call_by_flags",
    "carry_out",
    "cell",
    "chain_design",
    "compare",
    "content_of",
    "flags_of",
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
    "rank_optima",
    "recipe",
    "restarts",
    "side_by_side",
    "sweep",
    "task_at",
    "variants",
]

# Data bases, processes and tables load when they are first asked for: a run needs none of them.
__getattr__, __dir__ = lazy_names(__name__)
