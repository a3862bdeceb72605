"""Graphs of matrices as steps: products and sums entry by entry, and the scalar graphs they call.

A matrix is an array of values, one for each nonzero, so operations that only move entries take no
step. Whole operations are written at once by numpy, without the scalar graph of the function:
expanding and serializing that takes two thirds of the time that machine code takes to make.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ocp.codegen.assembler.casadi_reader import read_instructions
from ocp.codegen.assembler.ir import (
    ADD,
    CONSTANTS,
    MUL,
    PRODUCT,
    STEPS,
    SUB,
    Operations,
    Steps,
    is_supported,
    steps_of,
)

ENTRYWISE = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ)
STACKING = (ca.OP_RESHAPE, ca.OP_HORZCAT, ca.OP_VERTCAT)  # entries follow each other as before
NONE = np.zeros(0, dtype=int)


class Part(NamedTuple):
    """Steps of one operation. Operands are numbered: k for step k, -1 - 2 c for constant c, and
    -2 - 2 e for entry e of the inputs. It uses `room` places; `at` is its place in the graph."""

    code: np.ndarray
    x: np.ndarray
    y: np.ndarray
    condition: np.ndarray
    place: np.ndarray
    room: int
    at: int


class UnsupportedOperation(Exception):
    """Raised for an operation without steps."""


def steps_of_matrices(function: ca.Function, special: Operations) -> Steps | None:
    """Return the Steps of a function of matrices, None if it has an unsupported operation.

    The `special` ones are those of `steps_of`.
    """
    try:
        return _Reader(function, special).steps()
    except UnsupportedOperation:
        return None


class _Reader:
    """Steps of a function of matrices, operation after operation."""

    def __init__(self, function: ca.Function, special: Operations) -> None:
        self.function, self.special = function, special
        self.count = 0
        self.parts: list[Part] = []
        self.numbers: list[np.ndarray] = [np.array(list(CONSTANTS.values()))]
        self.constants = len(CONSTANTS)
        self.values: dict[int, np.ndarray] = {}
        self.outputs: list[tuple[np.ndarray, np.ndarray]] = [(np.zeros((0, 2), dtype=int), NONE)]
        sizes = [function.nnz_in(k) for k in range(function.n_in())]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.zero = self._constant(np.zeros(1))[0]
        self.one = self._constant(np.ones(1))[0]
        self.minus = self._constant(-np.ones(1))[0]
        for at in range(function.n_instructions()):
            self._read_operation(at)

    def _constant(self, numbers: np.ndarray) -> np.ndarray:
        """Return the values of numbers."""
        first, self.constants = self.constants, self.constants + len(numbers)
        self.numbers.append(numbers)
        return -1 - 2 * np.arange(first, self.constants)

    def _is(self, values: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Tell which values are constants with the bits of another."""
        number = (-1 - value) // 2
        every = np.concatenate(self.numbers)
        equal = every.view(np.uint64) == every[number : number + 1].view(np.uint64)
        constant = (values < 0) & (values % 2 == 1)
        return constant & equal[np.where(constant, (-1 - values) // 2, 0)]

    def _read_operation(self, at: int) -> None:
        """Read one operation of the graph; `values` are those of its work vectors."""
        op, matrix = self.function.instruction_id(at), self.function.instruction_MX(at)
        inputs, outputs = self.function.instruction_input(at), self.function.instruction_output(at)
        if op == ca.OP_OUTPUT:
            info, values = matrix.info(), self.values[inputs[0]]
            entries = info["offset"] + np.arange(len(values))
            number = np.full(len(values), info["ind"])
            self.outputs.append((np.column_stack([number, entries]), values))
        elif op == ca.OP_CALL:
            self._call(at, matrix.which_function(), inputs, outputs)
        else:
            self.values[outputs[0]] = self._result(at, op, matrix, inputs)

    def _result(self, at: int, op: int, matrix: ca.MX, inputs: Sequence[int]) -> np.ndarray:
        """Return the values of an operation with one result."""
        if op == ca.OP_INPUT:
            info = matrix.info()
            return -2 - 2 * (self.starts[info["ind"]] + info["offset"] + np.arange(matrix.nnz()))
        if op == ca.OP_CONST:
            return self._constant(np.array(matrix.to_DM().nonzeros()))
        operands = [self.values[k] for k in inputs]
        if op in STACKING and (op != ca.OP_VERTCAT or matrix.size2() == 1):
            return np.concatenate(operands)
        if op in MOVES:
            return np.append(operands[0], self.zero)[MOVES[op](matrix)]  # -1 is nowhere: zero
        if op == ca.OP_MTIMES:
            return self._product(at, [matrix.dep(k).sparsity() for k in range(3)], operands)
        if op in ENTRYWISE and {len(each) for each in operands} <= {1, matrix.nnz()}:
            whole = [np.broadcast_to(each, matrix.nnz()) for each in operands]
            return self._entrywise(at, op, *whole)
        raise UnsupportedOperation

    def _add_part(self, at: int, code: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        """Add steps without conditions, whose results stay in registers unless others need them."""
        zeros = np.zeros(len(code), dtype=int)
        self.parts.append(Part(code, x, y, zeros, zeros, 0, at))
        self.count += len(code)

    def _call(
        self, at: int, function: ca.Function, inputs: Sequence[int], outputs: Sequence[int]
    ) -> None:
        """Read a call of a scalar graph."""
        if not function.is_a("SXFunction"):
            raise UnsupportedOperation
        instructions = read_instructions(function)
        if not is_supported(instructions):
            raise UnsupportedOperation
        steps = steps_of(instructions, self.special)
        count, constants = len(steps.code), self._constant(steps.constants)
        number, entry = steps.inputs.T
        entries = np.zeros(len(number), dtype=int)
        for k, source in enumerate(inputs):
            own = number == k
            entries[own] = self.values[source][entry[own]] if source >= 0 else self.zero
        values = np.concatenate([self.count + np.arange(count), constants, entries])
        room = 1 + int(steps.place.max(initial=0))
        operands = values[steps.x], values[steps.y]
        self.parts.append(Part(steps.code, *operands, steps.condition, steps.place, room, at))
        self.count += count
        for k, target in enumerate(outputs):
            if target >= 0:
                result = np.full(function.nnz_out(k), self.zero)
                own = steps.outputs[:, 0] == k
                result[steps.outputs[own, 1]] = values[steps.results[own]]
                self.values[target] = result

    def _entrywise(
        self, at: int, op: int, x: np.ndarray, y: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the values of an operation of one step on all entries; zeros take none."""
        needed = ~self._is(x, self.zero)
        result = np.full(len(x), self.zero)
        if y is not None:
            also = ~self._is(y, self.zero)
            if op == ca.OP_ADD:
                result, needed = np.where(needed, x, y), needed & also
            elif op == ca.OP_SUB:
                result, needed = x.copy(), also
            else:
                needed &= also
        ((code, *sides, _),) = STEPS[op]
        count, first = int(needed.sum()), self.count
        named = {"x": x[needed], "y": x[needed] if y is None else y[needed]} | {
            name: np.full(count, -1 - 2 * k) for k, name in enumerate(CONSTANTS)
        }
        self._add_part(at, np.full(count, code), *(named[side] for side in sides))
        result[needed] = first + np.arange(count)
        return result

    def _product(
        self, at: int, patterns: Sequence[ca.Sparsity], operands: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return the values of z + x y: a sum for each entry of z, in the order of x's columns.

        Factors of one and sums with zero take no step.
        """
        left, right, target = _terms(*patterns)
        zero_x, zero_y = (self._is(each, self.zero) for each in operands[1:])
        needed = ~(zero_x[left] | zero_y[right])
        left, right, target = left[needed], right[needed], target[needed]
        if not len(target):
            return operands[0]
        z, x, y = operands[0].copy(), operands[1][left], operands[2][right]
        x, y = np.where(self._is(y, self.one), y, x), np.where(self._is(y, self.one), x, y)
        plain, turned = self._is(x, self.one), self._is(x, self.minus)
        opens = np.concatenate([[True], target[1:] != target[:-1]])
        first = opens & self._is(z[target], self.zero)
        turned &= ~first
        # Steps of each term: a product unless it is plain, a sum unless it is the first
        multiplied, added = ~(plain | turned), ~first
        lengths = multiplied.astype(int) + added
        ends = self.count + np.cumsum(lengths)
        made = np.where(multiplied, ends - lengths, y)
        result = np.where(added, ends - 1, made)
        before = np.where(opens, z[target], np.concatenate([[0], result[:-1]]))
        code, one, other = np.zeros((3, int(lengths.sum())), dtype=int)
        at_product, at_sum = made[multiplied] - self.count, result[added] - self.count
        (multiply, *_), (add, *_) = self.special.get(ca.OP_MTIMES, PRODUCT)
        code[at_product] = np.where(added[multiplied], multiply, MUL)
        one[at_product], other[at_product] = x[multiplied], y[multiplied]
        code[at_sum] = np.where(multiplied[added], add, np.where(turned[added], SUB, ADD))
        one[at_sum], other[at_sum] = before[added], made[added]
        closes = np.concatenate([opens[1:], [True]])
        z[target[closes]] = result[closes]
        self._add_part(at, code, one, other)
        return z

    def steps(self) -> Steps:
        """Return all that was read."""
        constants, which = np.unique(
            np.concatenate(self.numbers).view(np.uint64), return_inverse=True
        )

        def final_numbers(values: np.ndarray) -> np.ndarray:
            """Number constants and inputs after the steps, as Steps does."""
            number = (-1 - values) // 2
            constant = (values < 0) & (values % 2 == 1)
            result = np.where(values < 0, self.count + len(constants) + number, values)
            result[constant] = self.count + which.ravel()[number[constant]]
            return result

        code, x, y, condition = (
            np.concatenate([NONE, *(getattr(each, name) for each in self.parts)])
            for name in ("code", "x", "y", "condition")
        )
        sizes = np.diff(self.starts)
        entries = np.concatenate([NONE, *map(np.arange, sizes)])
        return Steps(
            code=code,
            x=final_numbers(x),
            y=final_numbers(y),
            condition=condition,
            place=self._places(),
            constants=constants.view(np.float64),
            inputs=np.column_stack([np.repeat(np.arange(len(sizes)), sizes), entries]),
            outputs=np.concatenate([entry for entry, _ in self.outputs]),
            results=final_numbers(np.concatenate([values for _, values in self.outputs])),
        )

    def _places(self) -> np.ndarray:
        """Return the place of every step's result.

        An operation has its places until its last result is used. Results of a scalar graph that
        others use get places of their own, since the graph reuses its places itself.
        """
        starts = np.concatenate([[0], np.cumsum([len(each.code) for each in self.parts])])
        last = [each.at for each in self.parts]
        used = np.zeros(self.count, dtype=bool)
        for number, part in enumerate(self.parts):
            sources = np.concatenate([part.x, part.y])
            sources = sources[(sources >= 0) & (sources < starts[number])]
            used[sources] = True
            for source in np.unique(np.searchsorted(starts, sources, side="right") - 1):
                last[source] = part.at
        held: list[tuple[int, int, int]] = []  # (first, end, last operation)
        places = np.zeros(self.count, dtype=int)
        for number, part in enumerate(self.parts):
            kept = np.flatnonzero(used[starts[number] : starts[number + 1]])
            own = part.place.copy()
            own[kept] = part.room + np.arange(len(kept))
            held = [each for each in held if each[2] >= part.at]
            size, first = part.room + len(kept), 0
            for start, end, _ in sorted(held):  # the first gap that is wide enough
                if start - first >= size:
                    break
                first = max(first, end)
            held.append((first, first + size, last[number]))
            places[starts[number] : starts[number + 1]] = first + own
        return places


def _terms(
    z: ca.Sparsity, x: ca.Sparsity, y: ca.Sparsity
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the nonzeros of x, y and z of each product in z + x y, within z's pattern.

    Products of one entry of z follow each other, in the order of x's columns.
    """
    row, column = (np.array(each, dtype=int) for each in y.get_triplet())
    starts, x_rows = np.array(x.colind()), np.array(x.row(), dtype=int)
    lengths = starts[row + 1] - starts[row]
    right = np.repeat(np.arange(len(row)), lengths)
    within = np.arange(len(right)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    left = starts[row[right]] + within
    place = _find(z, column[right] * z.size1() + x_rows[left])
    right, left, place = (each[place >= 0] for each in (right, left, place))
    order = np.argsort(place, kind="stable")
    return left[order], right[order], place[order]


def _keys(pattern: ca.Sparsity) -> np.ndarray:
    """Return a number for each nonzero: its place in the dense matrix."""
    row, column = (np.array(each, dtype=int) for each in pattern.get_triplet())
    return column * pattern.size1() + row


def _find(pattern: ca.Sparsity, keys: np.ndarray) -> np.ndarray:
    """Return which nonzeros of a pattern have these keys, -1 for none."""
    own = _keys(pattern)
    if not len(own):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(own, keys), len(own) - 1)
    return np.where(own[places] == keys, places, -1)


def _transpose(matrix: ca.MX) -> np.ndarray:
    row, column = (np.array(each, dtype=int) for each in matrix.dep(0).sparsity().get_triplet())
    return np.lexsort((column, row))


MOVES: dict[int, Callable[[ca.MX], np.ndarray]] = {  # the operand's nonzeros that become the result
    ca.OP_GETNONZEROS: lambda matrix: np.array(matrix.mapping().nonzeros(), dtype=int),
    ca.OP_TRANSPOSE: _transpose,
    ca.OP_PROJECT: lambda matrix: _find(matrix.dep(0).sparsity(), _keys(matrix.sparsity())),
}
