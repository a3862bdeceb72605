"""Calls of functions that a user states, with errors that name constraint, objective or output."""

import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import casadi as ca

from ocp.mechanics.values.parameters import parameters_of
from ocp.mechanics.values.types import Matrix
from ocp.problem.instant import NoRate
from ocp.transcription.kernels.instant_symbols import Inputs
from ocp.transcription.kernels.kernels import Kernel, as_column, make_kernel

TRUTH = (
    "it asks whether an expression is true (if, and, or, not, max, min); "
    "take ca.if_else, ca.logic_and, ca.fmax, ca.fmin"
)
NUMPY = r"\s*casadi: a numpy function was called on a casadi value"  # begin of its FutureWarning
RANGE = "an index is out of range; q, qd, qdd and tau have {size} rows"
REASONS = {  # words of CasADi: ours
    "truth value": TRUTH,
    'Assertion "stop<=len"': RANGE,
    "Out of bounds": RANGE,
    "overloaded function 'SX_get'": "an index is no number; tree.coordinate(name) gives a joint's",
    "is_scalar()": "a vector is no number; of float and the functions of math take CasADi's",
    "not iterable by design": "a matrix is no list; take ca.vertsplit(matrix) or its indices",
}


def call_user_function(what: str, function: Callable, inputs: Inputs) -> Matrix:
    """Return the result of a user's function of the Instants of `inputs`, as an SX column.

    Raises ValueError naming `what`, and the line, if it fails.
    """
    instants = inputs.at if isinstance(inputs.at, tuple) else (inputs.at,)
    with named_errors(what, function, instants[0].tree.dof):
        value = function(*instants)
    return as_column(what, value)


@contextmanager
def named_errors(what: str, function: Callable, size: int) -> Iterator[None]:
    """Make whatever fails inside a ValueError that names `what` and the function's line.

    `size` is the number of coordinates. That CasADi may answer numpy's functions otherwise one day
    goes unsaid: it is no matter of who states a problem.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", NUMPY, FutureWarning)
            yield
    except NoRate as error:
        raise ValueError(f"{what}: {error}") from None
    except ValueError:  # which names what is wrong already
        raise
    except Exception as error:
        where, reason = _line(function, error), _reason(error, size)
        why = reason or f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')}"
        cause = None if reason else error  # CasADi's own trace says no more than the reason
        raise ValueError(f"{what}: its function fails{where}: {why}") from cause


def kernel_of(
    inputs: Inputs, parts: Sequence[tuple[str, Matrix]], *, squares: bool = False
) -> Kernel:
    """Return the kernel of columns of expressions, ((what, column), ...).

    Raises ValueError naming what depends on symbols that no motion determines.
    """
    try:
        return make_kernel(inputs, ca.vertcat(*(stack for _, stack in parts)), squares=squares)
    except RuntimeError:
        for what, stack in parts:
            strange = _strange(inputs, stack)
            if strange:
                raise ValueError(
                    f"{what}: depends on {', '.join(strange)}, which no motion determines; "
                    "symbols of one's own are not taken"
                ) from None
        raise


def function_of(name: str, arguments: Sequence[Matrix], values: Matrix) -> ca.Function:
    """Return the Function of a column of a finished motion.

    Raises ValueError naming the parameters for which its problem has no numbers.
    """
    try:
        return ca.Function(name, arguments, [values])
    except RuntimeError:
        known = parameters_of(ca.veccat(*arguments))
        left = [each.name for each in parameters_of(values) if each not in known]
        if not left:
            raise
        raise ValueError(
            f"problem: a solution's has numbers for all parameters, got one that leaves "
            f"{', '.join(map(repr, left))} open; take ocp.mechanics.with_values(problem, "
            "{parameter: number})"
        ) from None


def _strange(inputs: Inputs, stack: Matrix) -> list[str]:
    """Return the names of symbols in a column that are not those of the inputs."""
    known = [inputs.y, inputs.s, *(each.symbol for each in inputs.stand_ins)]
    own = {symbol.element_hash() for symbol in ca.symvar(ca.veccat(*known))}
    return [symbol.name() for symbol in ca.symvar(stack) if symbol.element_hash() not in own]


def _reason(error: Exception, size: int) -> str:
    """Return the meaning of an error of CasADi in our words; "" of another."""
    found = (reason for words, reason in REASONS.items() if words in str(error))
    return next(found, "").format(size=size)


def _line(function: Callable, error: Exception) -> str:
    """Return the line at which a function failed, or begins, as ` (file.py, line 7)`."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == code.co_filename]
    return f" ({Path(code.co_filename).name}, line {lines[-1] if lines else code.co_firstlineno})"
