"""Inputs of kernels gathered from the variables, and constant sums of a program.

CasADi's products make them, or machine code where kernels run as such.
"""

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from ocp.codegen.function_map import map_function
from ocp.codegen.linear_maps import Sums
from ocp.transcription.assembly.blocks import Block
from ocp.transcription.assembly.scatter_gather import matrix_of
from ocp.transcription.kernels.backends import KernelBackend

INPUTS, VALUES, MULTIPLIERS = "inputs", "values", "multipliers"


class GatheredInputs:
    """What kernels take of x at all instants, (width, N) of each block: blocks that take the same
    share it. `values` keeps those of blocks whose slopes were asked for, as these give both.
    `at`(function, count) evaluates kernels; `gathering` are the Gathering of several blocks."""

    def __init__(
        self, x: ca.MX, at: Callable = map_function, gathering: Sequence["Gathering"] = ()
    ) -> None:
        self.x, self.at, self.gathering = x, at, gathering
        self.values: dict[int, ca.MX] = {}
        self.known: list[tuple[Block, ca.MX]] = []

    def __call__(self, block: Block) -> ca.MX:
        for other, inputs in self.known:
            if same_inputs(block, other):
                return inputs
        together = self.of(block)
        gather = together.function(INPUTS) if together else None
        if together and gather is not None:
            self.known += zip(together.distinct, gather.call([self.x]))
            return self(block)
        own = ca.reshape(block.matrix @ self.x, block.kernel.width, len(block.s))
        self.known.append((block, own))
        return own

    def of(self, block: Block) -> "Gathering | None":
        """Return the Gathering that a block is in."""
        for each in self.gathering:
            if any(block is other for other in each.blocks):
                return each
        return None


class Gathering:
    """`blocks` that are assembled to so many `rows`, with the functions of machine code that gather
    what they take of x, sum up their values and hand them their multipliers."""

    def __init__(self, blocks: Sequence, rows: int, machine: KernelBackend | None = None) -> None:
        self.blocks = blocks
        self.distinct: list[Block] = []
        for block in blocks:
            if not any(same_inputs(block, other) for other in self.distinct):
                self.distinct.append(block)
        self.begun: Callable[[], Mapping[str, ca.Function] | None] = lambda: None
        if machine is not None and blocks:
            self.begun = machine.gather_sums(self._functions(rows))

    def function(self, name: str) -> ca.Function | None:
        """Return one of the functions, None where there is no machine code."""
        functions = self.begun()
        return None if functions is None else functions[name]

    def _functions(self, rows: int) -> dict[str, Sums]:
        sizes = [(each.kernel.size, len(each.s)) for each in self.blocks]
        width = self.distinct[0].matrix.shape[1]
        inputs = [((each.kernel.width, len(each.s)), [(0, each.matrix)]) for each in self.distinct]
        spread = [spread_matrix(each, rows) for each in self.blocks]
        handed = [(size, [(0, each.T)]) for size, each in zip(sizes, spread)]
        return {
            INPUTS: Sums(shapes=[(width, 1)], results=inputs),
            VALUES: Sums(shapes=sizes, results=[((rows, 1), list(enumerate(spread)))]),
            MULTIPLIERS: Sums(shapes=[(rows, 1)], results=handed),
        }


def same_inputs(block: Block, other: Block) -> bool:
    """Tell whether two blocks take the same of x, at the same instants."""
    if block is other:
        return True
    if not np.array_equal(block.s, other.s) or block.kernel.width != other.kernel.width:
        return False
    one, two = block.matrix, other.matrix
    return one.sparsity() == two.sparsity() and np.array_equal(one.nonzeros(), two.nonzeros())


def spread_matrix(block: Block, rows: int) -> ca.DM:
    """Return the matrix (rows, m * N) that sums the values of a block up to the rows."""
    return matrix_of(
        rows,
        block.target.size,
        block.target.T.ravel(),
        np.arange(block.target.size),
        block.weight.T.ravel(),
    )
