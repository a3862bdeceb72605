"""Problems as plain data and back, with one phase or several."""

from ocp.problem.statement import Problem
from ocp.storage.atomic_files import plain
from ocp.storage.phase_data import phases_data, phases_from_data
from ocp.storage.single_phase_data import Statement, read_problem, write_problem
from ocp.transcription.kernels.tapes import Tape


def problem_data(problem: Problem) -> Statement:
    """Return the Statement of a problem.

    Raises ValueError naming a load or an element that cannot be written as data.
    """
    if problem.phases:
        return phases_data(problem)
    tapes: list[Tape] = []
    data, missing = write_problem(problem, tapes)
    return Statement(data=plain(data), tapes=tuple(tapes), missing=missing)


def problem_from_data(statement: Statement) -> Problem:
    """Return the Problem of a Statement.

    Raises ValueError, KeyError, TypeError, AttributeError or IndexError for what is none.
    """
    if "phases" in statement.data:
        return phases_from_data(statement)
    return read_problem(statement.data, statement.tapes)
