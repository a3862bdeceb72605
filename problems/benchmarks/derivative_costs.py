"""Costs of derivatives of torques by each way: graphs of the same numbers, sized and timed."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.formulations import newton_euler
from ocp.models.arms.general_chain import general_chain
from ocp.models.walkers.human_like import human_like
from ocp.problems.benchmarks.operations import operations
from ocp.problems.benchmarks.shared_constants import share_constants
from ocp.transcription import compile_function

SIZES, LARGE = (2, 6, 12, 24), 12  # joints of chains; from which on the human-like tree comes in
ROUNDS, LEAST = 25, 0.002  # of timing by turns; s that a round lasts


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the file: counts of torques by a `rule`, or of a derivative (a `quantity`).

    With microseconds where they were taken.
    """

    model: str
    joints: int
    quantity: str
    method: str
    rule: str
    multiplications: int | None = None
    additions: int | None = None
    instructions: int | None = None
    microseconds: float | None = None
    compiled_microseconds: float | None = None


def trees(joints: int) -> Iterator[tuple[str, Tree]]:
    """Yield (name, tree) of what derivatives are taken of.

    Chains of up to twice that many joints, and from 12 on the human-like tree.
    """
    yield from ((f"chain{n}", general_chain(n)) for n in SIZES if n <= 2 * joints)
    if joints >= LARGE:
        yield "human_like", human_like()


def derivatives(
    tree: Tree, without: Iterable[tuple[str, str]] = ()
) -> dict[tuple[str, str], tuple[ca.Function, int]]:
    """Return {(quantity, method): (function, instructions)} of torques and their derivatives.

    Those `without` are not built. The nonzeros of each stand in one column. The Jacobian is that by
    (q, qd, qdd), the Hessian the upper triangle of that of multipliers . tau by the same. Loops are
    a scalar graph (composite.slope_parts, curvature_parts) and operations on whole matrices of what
    it gives; their instructions are those of both.
    """
    q, qd, qdd, weight = symbols = [
        ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd", "weight")
    ]
    motion, tau = (q, qd, qdd), newton_euler.inverse(tree, q, qd, qdd)
    stacked = ca.vertcat(*motion)
    builders = {
        ("tau", "newton_euler"): lambda: _sized(motion, [tau]),
        ("jacobian", "AD"): lambda: _sized(motion, [ca.jacobian(tau, stacked)]),
        ("jacobian", "composite"): lambda: _sized(
            motion, composite_bodies.sensitivity(tree, *motion)[:3]
        ),
        ("jacobian", "composite loops"): lambda: looped(
            motion,
            composite_bodies.slope_parts(tree, *motion),
            lambda parts: composite_bodies.join_slopes(tree, parts)[:3],
        ),
        ("hessian", "AD"): lambda: _sized(
            symbols, [ca.triu(ca.hessian(ca.dot(weight, tau), stacked)[0])]
        ),
        ("hessian", "composite"): lambda: _sized(
            symbols, composite_bodies.curvature(tree, weight, *motion)[:4]
        ),
        ("hessian", "composite loops"): lambda: looped(
            symbols,
            ca.cse(list(composite_bodies.curvature_parts(tree, weight, *motion)[:4])),
            lambda parts: composite_bodies.join_curvature(tree, (*parts, None))[:4],
        ),
    }
    return {key: build() for key, build in builders.items() if key not in {*without}}


def scalar(inputs: Sequence[ca.SX], matrices: Iterable[ca.SX]) -> ca.Function:
    """Return the nonzeros of matrices in one column as a scalar graph, repetitions left out: the
    same graph on every processor, whatever the last bits of its constants."""
    plain = ca.Function("plain", inputs, [ca.cse(_column(map(ca.sparsify, matrices)))])
    return ca.Function("kernel", inputs, [ca.cse(share_constants(plain, inputs))])


def _sized(inputs: Sequence[ca.SX], matrices: Iterable[ca.SX]) -> tuple[ca.Function, int]:
    function = scalar(inputs, matrices)
    return function, function.n_instructions()


def looped(
    inputs: Sequence[ca.SX],
    parts: Iterable[ca.SX],
    join: Callable[[Any], Any],
) -> tuple[ca.Function, int]:
    """Return the column that `join` makes of the `parts`, a scalar graph, by operations on whole
    matrices, and the instructions of both."""
    stage = ca.Function("stage", inputs, [ca.SX(part) for part in parts])  # as kernels do
    arguments = [ca.MX.sym(f"i{k}", *part.shape) for k, part in enumerate(inputs)]
    function = ca.Function("kernel", arguments, [_column(join(stage.call(arguments)))])
    return function, stage.n_instructions() + function.n_instructions()


def _column(matrices: Iterable[Any]) -> Any:
    return ca.vertcat(*(matrix.nz[:] for matrix in matrices))


def costs(name: str, tree: Tree, compiled: bool = False) -> Iterator[Record]:
    """Yield a Record for torques and each of their derivatives.

    Raises NoCompiler if `compiled` cannot be had.
    """
    ways = derivatives(tree)
    functions = [function for function, _ in ways.values()]
    slow = microseconds(functions)
    quick: list[float | None] = [None] * len(functions)
    if compiled:
        quick[:] = microseconds([compile_function(function) for function in functions])
    for k, ((quantity, method), (function, instructions)) in enumerate(ways.items()):
        times, plus = (None, None) if "loops" in method else operations(function)
        yield Record(
            model=name,
            joints=tree.dof,
            quantity=quantity,
            method=method,
            rule="folded",
            multiplications=times,
            additions=plus,
            instructions=instructions,
            microseconds=slow[k],
            compiled_microseconds=quick[k],
        )


def microseconds(
    functions: Sequence[ca.Function], rounds: int = ROUNDS, least: float = LEAST
) -> list[float]:
    """Return the median processor time of one call of each function (us), over rounds by turns.

    For a processor's speed drifts; a round of a function lasts at least `least` (s).
    """
    return timed(functions, rounds, least)


def timed(
    calls: Sequence[ca.Function | Callable[[], Any]], rounds: int = ROUNDS, least: float = LEAST
) -> list[float]:
    """Return the times of functions as `microseconds` does, or of anything that is called."""
    calls = [_call(each) if isinstance(each, ca.Function) else each for each in calls]
    counts = [max(1, round(least / max(_seconds(call, 3), 1e-7))) for call in calls]
    turns = [list(map(_seconds, calls, counts)) for _ in range(rounds)]
    return [1e6 * float(np.median(times)) for times in zip(*turns)]


def _seconds(call: Callable[[], None], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def _call(function: ca.Function) -> Callable[[], None]:
    """Return a call that evaluates the function at random numbers in its own buffers."""
    buffer, call = function.buffer()
    arrays = [
        np.random.default_rng(k).uniform(-1, 1, function.nnz_in(k)) for k in range(function.n_in())
    ]
    results = [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
    for place, group in ((buffer.set_arg, arrays), (buffer.set_res, results)):
        for k, array in enumerate(group):
            place(k, memoryview(array))
    return lambda keep=(buffer, arrays, results): call()
