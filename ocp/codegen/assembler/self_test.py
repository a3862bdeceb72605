"""Self-test of assembled code: every operation, bit by bit, against CasADi's virtual machine.

The assembler relies on the bits that CasADi's virtual machine gives for special numbers, and on how
graphs are serialized. Another version of CasADi, C library or processor may differ, so all of it is
tried once in a process before any of it is used.
"""

from collections.abc import Callable

import casadi as ca
import numpy as np

from ocp.codegen.assembler import casadi_reader
from ocp.codegen.assembler.ir import LIBRARY_CALLS, STEPS, Y

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan)
ORDINARY = (0.3, -0.7, 1.9, -2.4, 13.0)
POWER = 2.5  # a constant one
PAIRS = np.array([(x, y) for x in SPECIAL + ORDINARY for y in SPECIAL + ORDINARY]).T
NAMES_OF_TWO = "pow", "fmod", "atan2", "hypot", "copysign"
OF_TWO = {LIBRARY_CALLS[name] for name in NAMES_OF_TWO} | {
    op for op, steps in STEPS.items() if op not in LIBRARY_CALLS.values() and Y in sum(steps, ())
}  # operations with two operands


def difference(assemble: Callable[[ca.Function, int], ca.Function | None]) -> str:
    """Return the difference of machine code by `assemble` from CasADi's own, in words; "" without
    any."""
    version, scalar = f"CasADi {ca.CasadiMeta.version()}", operations()
    if is_misread(scalar):
        return f"kernels are not assembled: {version} serializes graphs in another way"
    for function in (scalar, matrices()):
        made = assemble(function, PAIRS.shape[1])
        if made is None:
            return f"kernels are not assembled: {version} has operations that are not known"
        rows = different_rows(made, function)
        if rows:
            codes = list(STEPS)
            names = [name_of(codes[row]) for row in rows] if function is scalar else ["matrices"]
            return f"assembled kernels give other numbers than {version}: {', '.join(names)}"
    return ""


def operations() -> ca.Function:
    """Return a scalar graph with every supported operation on two numbers."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    results = []
    for op in STEPS:
        if op == ca.OP_CONSTPOW:
            results.append(ca.SX.binary(op, x, POWER))
        elif op in OF_TWO:
            results.append(ca.SX.binary(op, x, y))
        else:
            results.append(ca.SX.unary(op, x))
    return ca.Function("operations", [ca.vertcat(x, y)], [ca.vertcat(*results)])


def matrices() -> ca.Function:
    """Return a graph of matrices with every supported operation."""
    x, scalar = ca.MX.sym("x", 2), ca.SX.sym("x", 2)
    parts = ca.vertcat(scalar[0], scalar[1] * scalar[0], ca.sin(scalar[1]), 0.5 - scalar[0])
    called = ca.Function("called", [scalar], [ca.reshape(parts, 2, 2)])(x)
    sparse = ca.MX(ca.DM(ca.Sparsity.upper(2), [0.3, -1.0, 1.0]))
    product = ca.mtimes(called, sparse) + ca.project(called, ca.Sparsity.lower(2))
    beside = ca.horzcat(called.T - product, -called * product, 2 * called + product**2)
    square = ca.reshape(-ca.vec(ca.mac(called, beside, ca.MX.ones(2, 6))), 3, 4)
    entries = ca.vertcat(ca.vec(square @ square.T), called[1, 0])
    return ca.Function("matrices", [x], [-entries])


def is_misread(function: ca.Function) -> bool:
    """Tell whether instructions found in a serialized function differ from those asked for."""
    table = casadi_reader.serialized_table(function)
    asked = casadi_reader.asked_table(function, range(function.n_instructions()))
    return table is not None and not np.array_equal(table, asked)


def different_rows(made: ca.Function, function: ca.Function) -> list[int]:
    """Return the rows of results at PAIRS with bits other than the virtual machine's.

    All values that are not numbers count as equal.
    """
    results = (each(PAIRS) for each in (made, function.map(PAIRS.shape[1])))
    one, other = (np.where(np.isnan(each), np.nan, each) for each in map(np.array, results))
    return np.flatnonzero((one.view(np.int64) != other.view(np.int64)).any(axis=1)).tolist()


def name_of(op: int) -> str:
    """Return an operation's name."""
    names = (name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == op)
    return next(names).removeprefix("OP_").lower()
