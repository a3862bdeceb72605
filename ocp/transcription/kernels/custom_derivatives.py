"""Kernel inputs with derivatives of their own: inverse dynamics, angular momentum, muscles.

A symbol stands for each; its derivatives come from recursions rather than from differentiation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import casadi as ca

from ocp.codegen.record_content import record_content
from ocp.dynamics.derivatives.momentum import (
    angular_momentum,
    join_momentum_curvature,
    momentum_curvature_parts,
    momentum_slope,
)
from ocp.dynamics.derivatives.muscle_derivatives import (
    muscle_column,
    muscle_curvature,
    muscle_slope,
)
from ocp.dynamics.formulation_record import Provider
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.types import Matrix

_content_of_record = memoize(8)(record_content)


@dataclass(frozen=True, kw_only=True)
class Torque:
    """Inverse dynamics whose derivatives are given rather than derived: `symbol` (n,) stands for
    `value` (n,), which is `made` only where it is asked for, a function of `place` = (q, qd, qdd,
    moment and force of every load), and of `records`; `provider` differentiates it at `arguments`.

    Where the place is made of entries of y and of constants, `chosen` has the former's numbers in
    it and in y.
    """

    symbol: Matrix
    made: Callable[[], Matrix]
    place: Matrix
    provider: Provider
    tree: Tree
    records: tuple
    arguments: tuple
    chosen: tuple | None

    @cached_property
    def value(self) -> Matrix:
        """What the symbol stands for."""
        return self.made()

    @cached_property
    def content(self) -> tuple[str, bool]:
        """A text of all that its derivatives follow from beside its value and place, and whether
        its value follows from that and its place too."""
        return _content_of("torque", self.tree, *self.records)

    def slope(self, run: Callable) -> tuple[Matrix, Matrix | None]:
        """Return d value / d place, and the value if it costs little beside."""
        parts = run(self.provider.slope_parts(self.tree, *self.arguments))
        return ca.horzcat(*self.provider.join_slopes(self.tree, parts)), None

    def parameter_slope(self, parameters: Matrix) -> Matrix | None:
        """Return d value / d parameters, the place held, by the provider's recursion where that
        adds fewer instructions to the slopes' than automatic differentiation does; else None."""
        find, known = self.provider.parameter_slopes, (self.tree, *self.arguments)
        own = find and find(*known, parameters)
        if own is None:
            return None
        parts = self.provider.slope_parts(*known)
        automatic = ca.jacobian(ca.cse(self.value), parameters)
        counts = [count_instructions([*parts, each]) for each in (own, automatic)]
        return own if counts[0] < counts[1] else None

    def curvature(self, run: Callable, weight: Matrix) -> tuple[Matrix, Matrix]:
        """Return the upper triangle of the second derivatives, and the gradient, of weight . value
        by place."""
        n, symbol = self.symbol.shape[0], ca.SX.sym("weight", *self.symbol.shape)
        scalar_parts = self.provider.curvature_parts(self.tree, symbol, *self.arguments)
        parts = run(scalar_parts, ((symbol, ca.densify(weight)),))
        by_qq, by_q_qd, by_q_qdd, by_qd_qd, by_q_load, slope = self.provider.join_curvature(
            self.tree, parts
        )
        empty, loads = type(by_qq), by_q_load.shape[1]
        upper = ca.vertcat(
            ca.horzcat(by_qq, by_q_qd, by_q_qdd, by_q_load),
            ca.horzcat(empty(n, n), by_qd_qd, empty(n, n + loads)),
            empty(n + loads, 3 * n + loads),
        )
        return upper, slope


def count_instructions(expressions: Sequence[Matrix]) -> int:
    """Return the number of instructions of scalar expressions together, without repetitions."""
    column = ca.cse(ca.vertcat(*(ca.vec(ca.SX(each)) for each in expressions)))
    return int(ca.Function("count", ca.symvar(column), [column]).n_instructions())


@dataclass(frozen=True, kw_only=True)
class OfState:
    """A `symbol` in place of a function of `place` = (q, qd) of a `tree`, entries of which may be
    `chosen`."""

    symbol: Matrix
    place: Matrix
    tree: Tree
    chosen: tuple | None

    @cached_property
    def arguments(self) -> tuple[Matrix, Matrix]:
        """q and qd."""
        q, qd = ca.vertsplit(self.place, self.tree.dof)
        return q, qd


@dataclass(frozen=True, kw_only=True)
class Spin(OfState):
    """The angular momentum about the centre of mass in place of a Torque: `symbol` (3,) stands for
    `value` (3,), a function of `place` = (q, qd), which is made only where it is asked for."""

    @cached_property
    def value(self) -> Matrix:
        """What the symbol stands for."""
        return angular_momentum(self.tree, *self.arguments)

    @cached_property
    def content(self) -> tuple[str, bool]:
        """As of a Torque."""
        return _content_of("momentum", self.tree)

    def slope(self, run: Callable) -> tuple[Matrix, Matrix | None]:
        """Return d value / d place, and the value if it costs little beside."""
        return run([momentum_slope(self.tree, *self.arguments)])[0], None

    def curvature(self, run: Callable, weight: Matrix) -> tuple[Matrix, Matrix]:
        """Return the upper triangle of the second derivatives, and the gradient, of weight . value
        by place."""
        n, symbol = self.tree.dof, ca.SX.sym("weight", 3)
        parts = run(
            momentum_curvature_parts(self.tree, symbol, *self.arguments),
            ((symbol, ca.densify(weight)),),
        )
        by_qq, by_q_qd, slope = join_momentum_curvature(self.tree, parts)
        empty = type(by_qq)
        return ca.vertcat(ca.horzcat(by_qq, by_q_qd), empty(n, 2 * n)), slope


@dataclass(frozen=True, kw_only=True)
class MuscleColumn(OfState):
    """Torques and needs of muscles over polynomial paths in place of a Torque: `symbol` (n,) stands
    for `value` (n,), a function of `place` = (q, qd), which is made only where it is asked for."""

    @cached_property
    def value(self) -> Matrix:
        """What the symbol stands for."""
        return muscle_column(self.tree, *self.arguments)

    @cached_property
    def content(self) -> tuple[str, bool]:
        """As of a Torque."""
        return _content_of("muscles", self.tree)

    def slope(self, run: Callable) -> tuple[Matrix, Matrix | None]:
        """Return d value / d place, and the value if it costs little beside."""
        slope, value = run(muscle_slope(self.tree, *self.arguments))
        return slope, ca.densify(value)

    def curvature(self, run: Callable, weight: Matrix) -> tuple[Matrix, Matrix | None]:
        """Return the upper triangle of the second derivatives, and the gradient where none of
        place is `chosen`, of weight . value by place."""
        pattern = weight.sparsity()
        symbol = ca.SX.sym("weight", pattern.nnz())
        parts = muscle_curvature(self.tree, ca.SX(pattern, symbol), *self.arguments)
        asked = parts[:1] if self.chosen is not None else parts
        upper, *slope = run(asked, ((symbol, ca.vec(weight.nz[:])),))
        return upper, slope[0] if slope else None


StandIn: TypeAlias = Torque | Spin | MuscleColumn


def chosen_of(place: Matrix, y: Matrix) -> tuple | None:
    """Return which entries of an expression are entries of y, and which ones.

    None if another one depends on y.
    """
    slope = ca.jacobian(place, y)
    if not slope.is_constant() or any(entry != 1 for entry in ca.DM(slope).nonzeros()):
        return None
    return slope.sparsity().get_triplet()


def _content_of(kind: str, *records: object) -> tuple[str, bool]:
    texts, whole = zip(*map(_content_of_record, records))
    return f"{kind} {' '.join(texts)}", all(whole)
