"""Problems as plain data and back, with one phase or several."""

from ocp.problem.statement import Problem
from ocp.storage.atomic_files import plain
from ocp.storage.phase_data import problem_of_phases, stated_phases
from ocp.storage.single_phase_data import Statement, read, written
from ocp.transcription.kernels.tapes import Tape


def stated(problem: Problem) -> Statement:
    """Return the Statement of a problem.

    Raises ValueError naming a load or an element that cannot be written as data.
    """
    if problem.phases:
        return stated_phases(problem)
    tapes: list[Tape] = []
    data, missing = written(problem, tapes)
    return Statement(data=plain(data), tapes=tuple(tapes), missing=missing)


def problem_of(statement: Statement) -> Problem:
    """Return the Problem of a Statement.

    Raises ValueError, KeyError, TypeError, AttributeError or IndexError for what is none.
    """
    if "phases" in statement.data:
        return problem_of_phases(statement)
    return read(statement.data, statement.tapes)
