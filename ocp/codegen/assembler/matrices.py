"""Graphs of matrices as steps: products and sums entry by entry, and the scalar graphs they call.

A matrix is an array of values, one for each nonzero, so what only moves entries takes no step. All
of an operation is written at once, which spares the scalar graph of it: what CasADi would expand
and serialize is two thirds of the time that machine code takes to make.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ocp.codegen.assembler.casadi_reader import instructions_of
from ocp.codegen.assembler.ir import ADD, CONSTANTS, MUL, STEPS, SUB, Steps, known, steps_of

ENTRYWISE = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ)
SAME = (ca.OP_RESHAPE, ca.OP_HORZCAT, ca.OP_VERTCAT)  # entries side by side, as they were


class Part(NamedTuple):
    """Steps of one operation: as of Steps, with operands by number: of a step, k; of a constant c,
    -1 - 2 c; of an input's entry e, -2 - 2 e. `room` is how many places it uses, `at` where it is
    among the operations."""

    code: np.ndarray
    x: np.ndarray
    y: np.ndarray
    asked: np.ndarray
    place: np.ndarray
    room: int
    at: int


class Unknown(Exception):
    """Raised for an operation that is not known here."""


def steps_of_matrices(function: ca.Function) -> Steps | None:
    """Return the Steps of a function of matrices, None where it has an operation that is not known
    here."""
    try:
        return _Reader(function).read()
    except Unknown:
        return None


class _Reader:
    def __init__(self, function):
        self.function = function
        self.count = 0
        self.parts: list[Part] = []
        self.numbers: list[np.ndarray] = [np.array(list(CONSTANTS.values()))]
        self.constants = len(CONSTANTS)
        self.values: dict[int, np.ndarray] = {}
        self.given: list[tuple[np.ndarray, np.ndarray]] = []
        sizes = [function.nnz_in(k) for k in range(function.n_in())]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.zero = self.constant(np.zeros(1))[0]
        self.one = self.constant(np.ones(1))[0]
        self.minus = self.constant(-np.ones(1))[0]

    def constant(self, numbers):
        """Return the values of numbers."""
        first, self.constants = self.constants, self.constants + len(numbers)
        self.numbers.append(numbers)
        return -1 - 2 * np.arange(first, self.constants)

    def read(self):
        function = self.function
        for at in range(function.n_instructions()):
            op = function.instruction_id(at)
            taken, put = function.instruction_input(at), function.instruction_output(at)
            self._read(at, op, taken, put)
        return self._steps()

    def _read(self, at, op, taken, put):
        """Read one operation, of work vectors `taken`, to `put`."""
        matrix = self.function.instruction_MX(at)
        if op == ca.OP_INPUT:
            info = matrix.info()
            entries = self.starts[info["ind"]] + info["offset"] + np.arange(matrix.nnz())
            self.values[put[0]] = -2 - 2 * entries
        elif op == ca.OP_OUTPUT:
            info, values = matrix.info(), self.values[taken[0]]
            entries = info["offset"] + np.arange(len(values))
            number = np.full(len(values), info["ind"])
            self.given.append((np.column_stack([number, entries]), values))
        elif op == ca.OP_CALL:
            self._call(at, matrix.which_function(), taken, put)
        elif op == ca.OP_CONST:
            self.values[put[0]] = self.constant(np.array(matrix.to_DM().nonzeros()))
        elif op in SAME:
            if op == ca.OP_VERTCAT and matrix.size2() != 1:
                raise Unknown
            self.values[put[0]] = np.concatenate([self.values[k] for k in taken])
        elif op in MOVES:
            places = MOVES[op](matrix)
            values = np.append(self.values[taken[0]], self.zero)  # -1 is nowhere
            self.values[put[0]] = values[places]
        elif op == ca.OP_MTIMES:
            patterns = [matrix.dep(k).sparsity() for k in range(3)]
            self.values[put[0]] = self._product(at, patterns, [self.values[k] for k in taken])
        elif op in ENTRYWISE:
            operands = [self.values[k] for k in taken]
            if not {len(each) for each in operands} <= {1, matrix.nnz()}:
                raise Unknown
            operands = [np.broadcast_to(each, matrix.nnz()) for each in operands]
            self.values[put[0]] = self._entrywise(at, op, *operands)
        else:
            raise Unknown

    def _add(self, at, code, x, y, asked=None, place=None, room=0):
        """Add a Part; what others do not take stays in registers, unless it has places."""
        asked, place = (
            np.zeros(len(code), dtype=int) if each is None else each for each in (asked, place)
        )
        self.parts.append(Part(code, x, y, asked, place, room, at))
        self.count += len(code)

    def _call(self, at, function, taken, put):
        """Read a call of a scalar graph."""
        if not function.is_a("SXFunction"):
            raise Unknown
        instructions = instructions_of(function)
        if not known(instructions):
            raise Unknown
        steps = steps_of(instructions)
        own, constants = len(steps.code), self.constant(steps.constants)
        number, entry = steps.inputs.T
        inputs = np.zeros(len(number), dtype=int)
        for k, source in enumerate(taken):
            chosen = number == k
            inputs[chosen] = self.values[source][entry[chosen]] if source >= 0 else self.zero
        meant = np.concatenate([self.count + np.arange(own), constants, inputs])
        room = 1 + int(steps.place.max(initial=0))
        self._add(at, steps.code, meant[steps.x], meant[steps.y], steps.asked, steps.place, room)
        for k, target in enumerate(put):
            if target >= 0:
                values = np.full(function.nnz_out(k), self.zero)
                chosen = steps.outputs[:, 0] == k
                values[steps.outputs[chosen, 1]] = meant[steps.given[chosen]]
                self.values[target] = values

    def _entrywise(self, at, op, x, y=None):
        """Return the values of an operation of one step on all entries."""
        there = ~self._is(x, self.zero)
        result = np.full(len(x), self.zero)
        if y is not None:
            also = ~self._is(y, self.zero)
            if op == ca.OP_ADD:
                result, there = np.where(there, x, y), there & also
            elif op == ca.OP_SUB:
                result, there = x.copy(), also
            else:
                there &= also
        ((code, *sides, _),) = STEPS[op]
        count, first = int(there.sum()), self.count
        named = {"x": x[there], "y": x[there] if y is None else y[there]} | {
            name: np.full(count, -1 - 2 * k) for k, name in enumerate(CONSTANTS)
        }
        one, other = (named[side] for side in sides)
        self._add(at, np.full(count, code), one, other)
        result[there] = first + np.arange(count)
        return result

    def _product(self, at, patterns, operands):
        """Return the values of z + x y: a sum for each of z's entries, in the order of x's columns;
        what is multiplied by one, or added to zero, takes no step."""
        left, right, target = _terms(patterns)
        there = ~(self._is(operands[1], self.zero)[left] | self._is(operands[2], self.zero)[right])
        left, right, target = left[there], right[there], target[there]
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
        count = int(lengths.sum())
        code, one, other = (np.zeros(count, dtype=int) for _ in range(3))
        at_product, at_sum = made[multiplied] - self.count, result[added] - self.count
        code[at_product], one[at_product], other[at_product] = MUL, x[multiplied], y[multiplied]
        code[at_sum] = np.where(turned[added], SUB, ADD)
        one[at_sum], other[at_sum] = before[added], made[added]
        closes = np.concatenate([opens[1:], [True]])
        z[target[closes]] = result[closes]
        self._add(at, code, one, other)
        return z

    def _is(self, values, value):
        """Tell which values are a constant of the same number."""
        number = (-1 - value) // 2
        every = np.concatenate(self.numbers)
        equal = every.view(np.uint64) == every[number : number + 1].view(np.uint64)
        constant = (values < 0) & (values % 2 == 1)
        return constant & equal[np.where(constant, (-1 - values) // 2, 0)]

    def _steps(self):
        """Return all that was read."""
        constants, which = np.unique(
            np.concatenate(self.numbers).view(np.uint64), return_inverse=True
        )
        places = self._places()

        def numbered(values):
            number = (-1 - values) // 2
            constant = (values < 0) & (values % 2 == 1)
            result = np.where(values < 0, self.count + len(constants) + number, values)
            result[constant] = self.count + which.ravel()[number[constant]]
            return result

        parts: Sequence[Any] = [
            np.concatenate([getattr(each, name) for each in self.parts] or [np.zeros(0, dtype=int)])
            for name in ("code", "x", "y", "asked")
        ]
        code, x, y, asked = parts
        entries = [np.arange(self.function.nnz_in(k)) for k in range(self.function.n_in())]
        of_input = [np.full(len(each), k) for k, each in enumerate(entries)]
        outputs = [places for places, _ in self.given]
        nothing = np.zeros(0, dtype=int)
        return Steps(
            code=code,
            x=numbered(x),
            y=numbered(y),
            asked=asked,
            place=places,
            constants=constants.view(np.float64),
            inputs=np.column_stack(
                [np.concatenate([*of_input, nothing]), np.concatenate([*entries, nothing])]
            ),
            outputs=np.concatenate([*outputs, np.zeros((0, 2), dtype=int)]),
            given=numbered(np.concatenate([*(each for _, each in self.given), nothing])),
        )

    def _places(self):
        """Return the place of every step's result. An operation has its places from when it is
        done to when its last result is taken; what a scalar graph has in places that it uses again
        goes to one of its own if others take it."""
        starts = np.concatenate([[0], np.cumsum([len(each.code) for each in self.parts])])
        last = [each.at for each in self.parts]
        taken = np.zeros(self.count, dtype=bool)
        for number, part in enumerate(self.parts):
            sources = np.concatenate([part.x, part.y])
            sources = sources[(sources >= 0) & (sources < starts[number])]
            taken[sources] = True
            for source in np.unique(np.searchsorted(starts, sources, side="right") - 1):
                last[source] = part.at
        held: list[tuple[int, int, int]] = []  # (first, end, last operation)
        places = np.zeros(self.count, dtype=int)
        for number, part in enumerate(self.parts):
            kept = np.flatnonzero(taken[starts[number] : starts[number + 1]])
            own = part.place.copy()
            own[kept] = part.room + np.arange(len(kept))
            held = [each for each in held if each[2] >= part.at]
            first = _room(held, part.room + len(kept))
            held.append((first, first + part.room + len(kept), last[number]))
            places[starts[number] : starts[number + 1]] = first + own
        return places


def _room(held, size):
    """Return where so many places are free between those that are held."""
    first = 0
    for start, end, _ in sorted(held):
        if start - first >= size:
            return first
        first = max(first, end)
    return first


def _terms(patterns):
    """Return of z + x y the places of x, y and z of each product within z's pattern; sums one after
    another, each in the order of x's columns."""
    z, x, y = patterns
    row, column = (np.array(each, dtype=int) for each in y.get_triplet())
    starts, rows_of_x = np.array(x.colind()), np.array(x.row(), dtype=int)
    lengths = starts[row + 1] - starts[row]
    right = np.repeat(np.arange(len(row)), lengths)
    within = np.arange(len(right)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    left = starts[row[right]] + within
    keys = column[right] * z.size1() + rows_of_x[left]
    place = _found(z, keys)
    right, left, place = (each[place >= 0] for each in (right, left, place))
    order = np.argsort(place, kind="stable")
    return left[order], right[order], place[order]


def _keys(pattern):
    row, column = (np.array(each, dtype=int) for each in pattern.get_triplet())
    return column * pattern.size1() + row


def _found(pattern, keys):
    """Return which nonzeros of a pattern have these keys, -1 for none."""
    known = _keys(pattern)
    if not len(known):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)


def _mapped(matrix):
    return np.array(matrix.mapping().nonzeros(), dtype=int)


def _transposed(matrix):
    row, column = (np.array(each, dtype=int) for each in matrix.dep(0).sparsity().get_triplet())
    return np.lexsort((column, row))


def _projected(matrix):
    return _found(matrix.dep(0).sparsity(), _keys(matrix.sparsity()))


MOVES: dict[int, Callable[[ca.MX], np.ndarray]] = {
    ca.OP_GETNONZEROS: _mapped,
    ca.OP_TRANSPOSE: _transposed,
    ca.OP_PROJECT: _projected,
}
