"""Intermediate representation: a scalar graph as steps of a processor, each with two operands.

A value is known by a number: steps come first, then constants, then inputs. So a value has one
name (static single assignment), however often CasADi reuses its place in memory.
"""

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca
import numpy as np

from ocp.codegen.assembler.casadi_reader import Instructions

ADD, MUL, SUB, DIV, SQRT = 0x58, 0x59, 0x5C, 0x5E, 0x51  # opcodes of x86-64
AND, AND_NOT, OR, XOR, COMPARE = 0x54, 0x55, 0x56, 0x57, 0xC2  # AND_NOT: of the first
MIN, MAX = 0x5D, 0x5F  # the second operand of equal ones, and where one is not a number
LEAST, GREATEST = 1, 2  # as MIN and MAX, but of two zeros the one with that sign, and of others
# the number (of no x86-64 processor)
# A product that the next step adds to its first operand, with one rounding: PAIR makes no result
PAIR, FUSE = 3, 4
CALL = 0x100  # plus the number of a function of FUNCTIONS
EQUAL, LESS, LESS_EQUAL = 0, 1, 2  # conditions of COMPARE: false where one is not a number
ONE, ZERO, SIGN, MAGNITUDE = "one", "zero", "sign", "magnitude"
CONSTANTS = {
    ONE: np.float64(1.0),
    ZERO: np.float64(0.0),
    SIGN: np.float64(-0.0),
    MAGNITUDE: np.uint64(2**63 - 1).view(np.float64),
}
X, Y = "x", "y"  # operands of an instruction; a number is that of an earlier step of the same
Step = tuple[int, str | int, str | int, int]  # opcode, operands, condition of COMPARE
Operations = Mapping[int, tuple[Step, ...]]  # of CasADi, as steps
STEPS: dict[int, tuple[Step, ...]] = {
    ca.OP_ADD: ((ADD, X, Y, 0),),
    ca.OP_SUB: ((SUB, X, Y, 0),),
    ca.OP_MUL: ((MUL, X, Y, 0),),
    ca.OP_DIV: ((DIV, X, Y, 0),),
    ca.OP_NEG: ((XOR, X, SIGN, 0),),
    ca.OP_SQ: ((MUL, X, X, 0),),
    ca.OP_TWICE: ((ADD, X, X, 0),),
    ca.OP_INV: ((DIV, ONE, X, 0),),
    ca.OP_SQRT: ((SQRT, X, X, 0),),
    ca.OP_FABS: ((AND, X, MAGNITUDE, 0),),
    ca.OP_LT: ((COMPARE, X, Y, LESS), (AND, 0, ONE, 0)),
    ca.OP_LE: ((COMPARE, X, Y, LESS_EQUAL), (AND, 0, ONE, 0)),
    ca.OP_EQ: ((COMPARE, X, Y, EQUAL), (AND, 0, ONE, 0)),
    ca.OP_NE: ((COMPARE, X, Y, EQUAL), (AND_NOT, 0, ONE, 0)),
    ca.OP_NOT: ((COMPARE, X, ZERO, EQUAL), (AND, 0, ONE, 0)),
    ca.OP_IF_ELSE_ZERO: ((COMPARE, X, ZERO, EQUAL), (AND_NOT, 0, Y, 0)),
    ca.OP_AND: (
        (COMPARE, X, ZERO, EQUAL),
        (COMPARE, Y, ZERO, EQUAL),
        (OR, 0, 1, 0),
        (AND_NOT, 2, ONE, 0),
    ),
    ca.OP_OR: (
        (COMPARE, X, ZERO, EQUAL),
        (COMPARE, Y, ZERO, EQUAL),
        (AND, 0, 1, 0),
        (AND_NOT, 2, ONE, 0),
    ),
    ca.OP_SIGN: (
        (COMPARE, ZERO, X, LESS),
        (AND, 0, ONE, 0),
        (COMPARE, X, ZERO, LESS),
        (AND, 2, ONE, 0),
        (SUB, 1, 3, 0),
        (OR, 0, 2, 0),
        (AND_NOT, 5, X, 0),
        (OR, 4, 6, 0),
    ),
    **{
        op: (
            (COMPARE, X, X, EQUAL),
            (opcode, Y, X, 0),
            (AND_NOT, 0, Y, 0),
            (AND, 0, 1, 0),
            (OR, 2, 3, 0),
        )
        for op, opcode in ((ca.OP_FMIN, MIN), (ca.OP_FMAX, MAX))
    },
}
NAMES = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log expm1 log1p floor
ceil erf pow fmod atan2 hypot copysign"""
FUNCTIONS = tuple(NAMES.split())  # of the C library, of one or two numbers
LIBRARY_CALLS = {name: getattr(ca, f"OP_{name.upper()}") for name in FUNCTIONS}
STEPS |= {op: ((CALL + FUNCTIONS.index(name), X, Y, 0),) for name, op in LIBRARY_CALLS.items()}
PRODUCT: tuple[Step, ...] = ((MUL, X, Y, 0), (ADD, X, 0, 0))  # added in a sum of products
STEPS[ca.OP_CONSTPOW] = STEPS[ca.OP_POW]
OTHERS = ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT


class Steps(NamedTuple):
    """Steps of a graph: opcodes `code`, operands `x` and `y`, `condition` of comparisons, and
    `place` of each result in CasADi's memory, all (m,).

    `constants` (c,); `inputs` and `outputs` (k, 2), number and entry of each; `results` (k,), the
    values of the outputs.
    """

    code: np.ndarray
    x: np.ndarray
    y: np.ndarray
    condition: np.ndarray
    place: np.ndarray
    constants: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray
    results: np.ndarray


def is_supported(instructions: Instructions) -> bool:
    """Tell whether there are steps for all instructions."""
    return set(np.flatnonzero(np.bincount(instructions.op)).tolist()) <= {*STEPS, *OTHERS}


def steps_of(instructions: Instructions, special: Operations) -> Steps:
    """Return the Steps of instructions that are all supported; the `special` ones are those that a
    processor has for itself."""
    op, steps = instructions.op, {**STEPS, **special}
    lengths = np.zeros(max(steps) + 1, dtype=int)
    lengths[list(steps)] = [len(each) for each in steps.values()]
    own = lengths[op]
    ends = np.cumsum(own)
    count = int(ends[-1]) if len(op) else 0
    first, last = ends - own, ends - 1  # steps of each instruction

    # Equal constants are one value; they are compared by bits, as -0.0 differs from 0.0
    bits = instructions.constants[op == ca.OP_CONST].view(np.uint64)
    more = np.array(list(CONSTANTS.values())).view(np.uint64)
    constants, which = np.unique(np.concatenate([more, bits]), return_inverse=True)
    which = which.ravel()
    named = dict(zip(CONSTANTS, (count + which[: len(more)]).tolist()))
    is_input, is_output = op == ca.OP_INPUT, op == ca.OP_OUTPUT
    entries = np.column_stack([instructions.second, instructions.third])[is_input]
    inputs, input_of = np.unique(entries, axis=0, return_inverse=True)

    value = last.copy()  # that each instruction makes
    value[op == ca.OP_CONST] = count + which[len(more) :]
    value[is_input] = count + len(constants) + input_of.ravel()
    x, y = _operand_values(instructions, value)
    code, condition = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    operands = np.zeros((2, count), dtype=int)
    for kind in np.unique(op[own > 0]).tolist():
        at = np.flatnonzero(op == kind)
        values = {X: x[at], Y: y[at], **named}
        for number, (opcode, *names, asks) in enumerate(steps[kind]):
            place = first[at] + number
            code[place], condition[place] = opcode, asks
            for row, name in zip(operands, names):
                row[place] = first[at] + name if isinstance(name, int) else values[name]
    return Steps(
        code=code,
        x=operands[0],
        y=operands[1],
        condition=condition,
        place=np.repeat(instructions.first, own),
        constants=constants.view(np.float64),
        inputs=inputs,
        outputs=np.column_stack([instructions.first, instructions.third])[is_output],
        results=x[is_output],
    )


def _operand_values(instructions: Instructions, value: np.ndarray) -> list[np.ndarray]:
    """Return the values of first and second operands: those last put in their places before.

    Writes are sorted by (place, time), so that one search finds all of them at once.
    """
    op, count = instructions.op, len(instructions.op)
    writers = np.flatnonzero(op != ca.OP_OUTPUT)
    keys = instructions.first[writers].astype(np.int64) * count + writers
    order = np.argsort(keys)
    keys, writers = keys[order], writers[order]
    readers = np.flatnonzero((op != ca.OP_CONST) & (op != ca.OP_INPUT))
    found = []
    for places in (instructions.second, instructions.third):
        source = np.zeros(count, dtype=int)
        wanted = places[readers].astype(np.int64) * count + readers
        source[readers] = value[writers[np.searchsorted(keys, wanted) - 1]]
        found.append(source)
    return found
