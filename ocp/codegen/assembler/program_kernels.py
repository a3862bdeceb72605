"""Constant sums and products of a program as machine code that is made without a compiler: what
sums.c and scatter.c do elsewhere."""

from collections.abc import Mapping
from itertools import count as numbers

import casadi as ca
import numpy as np

from ocp.codegen.assembler import NAME, gather_scatter, load_function
from ocp.codegen.assembler.batch_loop import LANES
from ocp.codegen.assembler.instructions import Code
from ocp.codegen.block_product import Product
from ocp.codegen.compiler.scatter import stretches_of
from ocp.codegen.compiler.sparse_matvec import Sums
from ocp.index_sets import distinct

SUMMED = 10_000  # entries of constant matrices from which on machine code gains more than it costs
RUN, STEP = 1400, 10  # products of numbers that a run and a step are worth, in forty evaluations


def assemble_sums(functions: Mapping[str, Sums]) -> dict[str, ca.Function] | None:
    """Return functions, None where that would not pay.

    Raises Unable where the system does not let them be loaded.
    """
    matrices = [
        matrix for each in functions.values() for _, parts in each.results for _, matrix in parts
    ]
    if sum(each.nnz() for each in matrices) < SUMMED:
        return None
    return {name: _summing(each) for name, each in functions.items()}


def _summing(sums):
    text, tables = Code(), {}
    gather_scatter.loops(text)
    text.begin(NAME)
    for number, (_, parts) in enumerate(sums.results):
        for place, (vector, matrix) in enumerate(parts):
            own = f"{number}_{place}"
            across = matrix.T
            pattern = across.sparsity()
            tables[f"starts{own}"] = np.array(pattern.colind(), dtype=np.int32)
            tables[f"from{own}"] = np.array(pattern.row(), dtype=np.int32)
            tables[f"weight{own}"] = np.array(across.nonzeros(), dtype=np.float64)
            text.input(vector)
            text.output(number, f"unwanted{own}")
            gather_scatter.summed(text, own, matrix.shape[0], more=place > 0)
            text.mark(f"unwanted{own}")
    text.end()
    _written(text, tables)
    return load_function(text, _dense(sums.shapes), _dense(shape for shape, _ in sums.results), 0)


def assemble_scatter(given, wheres, count: int) -> ca.Function | None:
    """Return the function (values, ...) -> the nonzeros (count,) of a sum of products, ((products,
    shapes of the values), ...), that go to the places `wheres` (runs, K, pairs) of each product
    among them, -1 for nowhere; None where that would not pay.

    Raises Unable where the system does not let it be loaded.
    """
    works = _works(given, wheres)
    kinds = sorted({kind for each in works for kind in each.kinds})
    if not _pays(works, kinds):
        return None
    shapes = [shape for _, every in given for shape in every]
    text = Code()
    tables: dict[str, np.ndarray] = {}
    gather_scatter.loops(text)
    routines = dict(zip(kinds, gather_scatter.products(text, kinds) if kinds else ()))
    every = np.concatenate([np.ravel(each) for each in wheres])
    once = np.count_nonzero(every >= 0) == count
    text.begin(NAME)
    if not once:
        text.output(0)
        gather_scatter.zeroed(text, count)
    names = numbers()
    for each in works:
        each.add(text, tables, routines, once, names)
    text.end()
    _written(text, tables)
    return load_function(
        text, _dense(shapes), _dense([(count, 1)]), max((each.room for each in works), default=0)
    )


def _pays(works, kinds):
    """Tell whether machine code gains more than it takes to make: by each run, and each step of the
    products, which are written out."""
    gained = sum(each.product.weight.size * each.product.shape[0] for each in works)
    steps = sum(2 * inner * last for inner, last, _, _ in kinds)
    return gained > RUN * sum(len(each.product.runs) for each in works) + STEP * steps


def _works(given, wheres):
    works, first, rest = [], 0, iter(wheres)
    for products, own in given:
        sizes = np.array([rows for rows, _ in own])
        works += [_Work(product, next(rest), sizes, first) for product in products]
        first += len(own)
    return works


class _Work:
    """A product, what it takes of values `first` on, of these sizes, and `where` results go."""

    def __init__(self, product: Product, where, sizes, first):
        self.product, self.where, self.sizes, self.first = product, where, sizes, first
        pairs, slots = product.shape
        self.last = product.weight.shape[2]
        self.stride = -(-pairs // LANES) * LANES
        self.longest = max(end - start for start, end in product.runs)
        self.block = self.stride * slots
        self.out = 8 * self.block * self.longest
        self.stretch = stretches_of(where, self.stride)
        self.room = self.block * self.longest + self.stride * self.last

    @property
    def kinds(self):
        """What the products of its runs are, by their lengths."""
        return {self.kind(end - start) for start, end in self.product.runs}

    def kind(self, length):
        return length * self.product.shape[1], self.last, self.stride, self.out

    def add(self, text, tables, routines, once, names):
        """Add what makes it."""
        product = self.product
        taken = self._taken(tables, next(names))
        text.add("48 89 DF")  # mov rdi, rbx
        gather_scatter.zeroed(text, self.block * self.longest)
        runs = sorted(enumerate(product.runs), key=lambda each: each[1][1] - each[1][0])
        for run, (start, end) in runs:  # in the order in which the virtual machine has them
            for k in range(start, end):
                for kernel, label, table, size in taken:
                    text.input(self.first + kernel, k * int(self.sizes[kernel]))
                    text.add("48 8D BB", 8 * self.block * (k - start))  # lea rdi, [rbx + ...]
                    gather_scatter.moved(text, label, table, size)
            name = next(names)
            weight = product.weight[start:end].reshape(-1, self.last)
            tables[f"weight{name}"] = np.repeat(weight.ravel(), LANES)
            text.to("48 8D 2D", f"weight{name}")  # lea rbp, [rip + ...]
            text.to("E8", routines[self.kind(end - start)])  # call
            text.add("48 81 EB", 8 * self.stride)  # sub rbx, 8 stride
            self._given(text, tables, run, once, name)

    def _taken(self, tables, name):
        """Return what takes entries of values to a block: (number of the value, loop, table, number
        of pairs), ...; what comes first to a place is copied, others are added."""
        product, found = self.product, []
        ends = np.cumsum(self.sizes)
        kernel = np.searchsorted(ends, product.nonzero, side="right")
        entry = product.nonzero - (ends - self.sizes)[kernel]
        slot, pair = np.divmod(product.place, product.shape[0])
        alone = np.zeros(len(entry), dtype=bool)
        alone[np.unique(product.place, return_index=True)[1]] = True
        for chosen, label in ((alone, "copied"), (~alone, "added")):
            for number in distinct(kernel[chosen])[0].tolist():
                own = chosen & (kernel == number)
                table = f"{label}{name}_{number}"
                pairs = np.column_stack([entry, slot * self.stride + pair])[own]
                tables[table] = pairs[::-1]  # loops take the last one first
                found.append((number, label, table, int(own.sum())))
        return found

    def _given(self, text, tables, run, once, name):
        first, end = np.searchsorted(self.stretch[0], (run, run + 1))
        if end > first:
            tables[f"given{name}"] = self.stretch[1][first:end]
            text.add("48 8D B3", self.out)  # lea rsi, [rbx + ...]
            text.output(0)
            label = "stretched" if once else "stretched_more"
            gather_scatter.moved(text, label, f"given{name}", int(end - first))


def _dense(shapes):
    return [ca.Sparsity.dense(*shape) for shape in shapes]


def _written(text, tables):
    for label, values in tables.items():
        kind = np.float64 if values.dtype == np.float64 else np.int32
        text.table(label, np.ascontiguousarray(values, dtype=kind).tobytes())
