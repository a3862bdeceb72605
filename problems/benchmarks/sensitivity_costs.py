"""Costs of first and second derivatives of every formulation's torques: analytical, automatic, and
by the composite recursion.

A graph is built if its size, continued from the two trees before, stays within a limit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.derivatives import composite_bodies
from ocp.models.arms.general_chain import general_chain
from ocp.models.walkers.human_like import human_like
from ocp.problems.benchmarks.derivative_costs import microseconds, scalar

SIZES, HUMAN = (2, 3, 4, 6, 9, 12, 24, 55), 55  # joints of chains, of the human-like tree
LIMIT = 800_000  # instructions
COMPOSITE = "composite"  # stands where a formulation does
NAMES = (*FORMULATIONS, COMPOSITE)
PUBLISHED, AUTOMATIC, RECURSIVE, GIVEN = "published", "automatic", "recursive", "given"
FIRST, SECOND, TORQUES = "jacobian", "hessian", "tau"

Key = tuple[str, str]  # quantity, way


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one quantity of a tree by a formulation and a way: how large its graph is, and how long it
    takes.

    `quantity`: torques, their Jacobian by (q, qd, qdd), or the upper triangle of the Hessian of
    multipliers . tau. Of a graph that was not built there is the expected size alone.
    """

    model: str
    joints: int
    formulation: str
    quantity: str
    way: str
    expected: float | None = None
    instructions: int | None = None
    microseconds: float | None = None


def trees(joints: int) -> Iterator[tuple[str, Tree]]:
    """Yield (name, tree): chains of up to so many joints, and from 55 on the human-like tree."""
    yield from ((f"chain{n}", general_chain(n)) for n in SIZES if n <= joints)
    if joints >= HUMAN:
        yield "human_like", human_like()


def builders(tree: Tree, name: str) -> dict[Key, Callable[[], ca.Function]]:
    """Return {(quantity, way): what builds its function} of a formulation, or of the composite
    recursion.

    The published Hessian is the automatic derivative of multipliers . dtau, published: the papers
    state first derivatives only.
    """
    q, qd, qdd, weight = symbols = [
        ca.SX.sym(what, tree.dof) for what in ("q", "qd", "qdd", "weight")
    ]
    motion, stacked = (q, qd, qdd), ca.vertcat(q, qd, qdd)
    if name == COMPOSITE:
        return {
            (FIRST, RECURSIVE): lambda: scalar(
                motion, composite_bodies.sensitivity(tree, *motion)[:3]
            ),
            (SECOND, RECURSIVE): lambda: scalar(
                symbols, composite_bodies.curvature(tree, weight, *motion)[:4]
            ),
        }
    formulation = FORMULATIONS[name]
    tau = cache(lambda: formulation.inverse(tree, *motion))
    slopes = cache(lambda: ca.horzcat(*formulation.sensitivity(tree, *motion)))
    ways = {
        (TORQUES, GIVEN): lambda: scalar(motion, [tau()]),
        (FIRST, AUTOMATIC): lambda: scalar(motion, [ca.jacobian(tau(), stacked)]),
        (SECOND, AUTOMATIC): lambda: scalar(
            symbols, [ca.triu(ca.hessian(ca.dot(weight, tau()), stacked)[0])]
        ),
    }
    if formulation.sensitivity is not None:
        ways[FIRST, PUBLISHED] = lambda: scalar(motion, [slopes()])
        ways[SECOND, PUBLISHED] = lambda: scalar(
            symbols, [ca.triu(ca.jacobian(slopes().T @ weight, stacked))]
        )
    return ways


def measured(
    several: Iterable[tuple[str, Tree]],
    names: Sequence[str] = NAMES,
    limit: float = LIMIT,
    timed: bool = True,
) -> Iterator[Cost]:
    """Yield the Costs of (name, tree), the trees growing, by formulations (or "composite").

    Times of one formulation on one tree are taken by turns; none unless `timed`. Graphs that are
    expected to have more than `limit` instructions are not built.
    """
    before: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    for model, tree in several:
        for name in names:
            functions, expected, lean = {}, {}, 1.0
            for key, build in builders(tree, name).items():
                guess = continued(before.get((name, *key), []), size(tree))
                expected[key] = None if guess is None else lean * guess
                if guess is None or lean * guess <= limit:
                    functions[key] = build()
                    count = functions[key].n_instructions()
                    before.setdefault((name, *key), []).append((size(tree), count))
                    if guess is not None and key == (TORQUES, GIVEN):
                        lean = count / guess  # as is a tree with massless links, axes that meet
            yield from _costs(model, tree, name, expected, functions, timed)


def _costs(
    model: str,
    tree: Tree,
    name: str,
    expected: Mapping[Key, float | None],
    functions: Mapping[Key, ca.Function],
    timed: bool,
) -> Iterator[Cost]:
    times = dict(zip(functions, microseconds(list(functions.values())))) if timed else {}
    for key, guess in expected.items():
        known = key in functions
        yield Cost(
            model=model,
            joints=tree.dof,
            formulation=name,
            quantity=key[0],
            way=key[1],
            expected=None if known else guess,
            instructions=functions[key].n_instructions() if known else None,
            microseconds=times.get(key),
        )


def size(tree: Tree) -> float:
    """Return of how many joints a serial chain is that has as many pairs of a link and a joint that
    moves it: 55 of a chain of 55, 40 of the human-like tree."""
    pairs = 0
    for link in range(len(tree.joints)):
        while link >= 0:
            pairs, link = pairs + (tree.rows[link] is not None), tree.parents[link]
    return (float(np.sqrt(8 * pairs + 1)) - 1) / 2


def continued(before: Sequence[tuple[float, int]], joints: float) -> float | None:
    """Return the instructions that a power of the size through the last two (size, instructions)
    gives for so many joints; None without two."""
    if len(before) < 2:
        return None
    (small, few), (large, many) = before[-2:]
    power = np.log(many / few) / np.log(large / small)
    return float(many * (joints / large) ** power)
