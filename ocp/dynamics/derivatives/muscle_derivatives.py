"""Muscles over polynomial paths with first and second derivatives in closed form.

A muscle enters by three numbers: the length L of its path, the rate D = g . qd of that, with the
path's slope g = dL/dq, and, where its torques are weighted by w, W = w . g. What it gives there,

    psi(L, D, W, states, their rates) = W tau(..) + sum of weights and needs of its states,

is a function of few numbers, which automatic differentiation does at little cost. The rest is the
chain rule (derived here), with the second and third derivatives H and T of the path:

    dL = g dq,   dD = (H qd) dq + g dqd,   dW = (H w) dq
    d2 psi = J' psi'' J + (psi_L H + T (psi_D qd + psi_W w)) dq dq + psi_D H dq dqd

Derivatives of polynomials are polynomials, whose monomials all paths over the same joints share.
The excitation that an activation's rate needs is differentiated as an implicit function.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import cast

import casadi as ca
import numpy as np

from ocp.mechanics.elements import Muscle
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.elements.joint_elements import MotionState
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.muscles.activation_dynamics import excitation_derivatives
from ocp.mechanics.muscles.fibres import pull_derivatives
from ocp.mechanics.muscles.muscle_paths import GivenPath, PolynomialPath
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.types import Matrix

LINE = GivenPath(joints=("length",), function=lambda x: x[0])  # whose length is its coordinate
Entries = dict[tuple[int, int], Matrix]


@memoize(64)
def polynomial_muscles(tree: Tree) -> tuple[Muscle, ...]:
    """Return the muscles of a tree whose paths are polynomials."""
    return tuple(
        each
        for each in tree.elements
        if isinstance(each, Muscle) and isinstance(each.path, PolynomialPath)
    )


@memoize(64)
def muscle_rows(tree: Tree) -> tuple[int, ...]:
    """Return the rows of q in which these muscles give torques, and those of their states."""
    state = State(tree=tree, q=None)
    names = {name for joints in _groups(tree) for name in joints}
    names |= {each.name for muscle in polynomial_muscles(tree) for each in muscle.states}
    return tuple(sorted(state.row(name) for name in names))


def muscle_column(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Torques of muscles over polynomial paths, and needs of their states.

    Args:
        tree: the tree.
        q: coordinates (n,), states of elements with them.
        qd: their rates (n,).

    Returns:
        (n,): torques (N m or N) at joints, at states the control, or residual, that their rates
        need.
    """
    total: dict[int, Matrix] = {}
    for each in _views(tree, q, qd):
        tau, *needs = ca.vertsplit(_law_of(each.muscle, "value", each.place(0))[0])
        for row, slope in zip(each.rows, each.slope):
            total[row] = total.get(row, 0) + tau * slope
        total |= dict(zip(each.state_rows, needs))
    return ca.vertcat(*(total.get(row, 0.0) for row in range(tree.dof)))


def muscle_slope(tree: Tree, q: Matrix, qd: Matrix) -> tuple[Matrix, Matrix]:
    """First derivatives of `muscle_column`, and itself, which costs little beside.

    Args:
        tree: the tree.
        q: coordinates (n,).
        qd: their rates (n,).

    Returns:
        (n, 2 n), sparse, by q and qd, and (n,).
    """
    total: Entries = {}
    column: Entries = {}
    for each in _views(tree, q, qd):
        value, first = _law_of(each.muscle, "slope", each.place(0))
        tau, *needs = ca.vertsplit(value)
        columns, chain = each.chain(None)
        moved = first @ chain
        for k, row in enumerate(each.rows):
            own = each.slope[k] * moved[0, :]
            for other in range(len(each.rows)):
                own[other] += tau * each.path.derivative(k, other)
            _add(total, [row], columns, own)
        _add(total, each.state_rows, columns, moved[1:, :])
        _add(column, each.rows, [0], tau * ca.vertcat(*each.slope))
        _add(column, each.state_rows, [0], ca.vertcat(*needs))
    return _assemble(total, (tree.dof, 2 * tree.dof)), _assemble(column, (tree.dof, 1))


def muscle_curvature(tree: Tree, weight: Matrix, q: Matrix, qd: Matrix) -> tuple[Matrix, Matrix]:
    """Second derivatives of the weighted sum of `muscle_column`, and its gradient.

    Args:
        tree: the tree.
        weight: (n,); rows where it is zero by its pattern are left out.
        q: coordinates (n,).
        qd: their rates (n,).

    Returns:
        The upper triangle (2 n, 2 n) by q and qd, sparse, and the gradient (2 n,).
    """
    total: Entries = {}
    pull: Entries = {}
    weighs = {row for row, _ in zip(*weight.sparsity().get_triplet())}
    for each in _views(tree, q, qd):
        crossed = [weight[row] for row in each.rows]
        needs = [weight[row] for row in each.state_rows]
        if not weighs.intersection((*each.rows, *each.state_rows)):
            continue
        across = sum((a * b for a, b in zip(crossed, each.slope)), ca.SX(1, 1))
        place = each.place(across)
        gradient, hessian = _law_of(each.muscle, "curvature", place, needs)
        columns, chain = each.chain(crossed)
        size, count = len(each.rows), len(each.states)
        second = chain.T @ (ca.sparsify(hessian) @ chain)
        second = ca.triu(second)
        by_length, by_rate, by_weight = gradient[0], gradient[1], gradient[2]
        bent = [by_rate * rate + by_weight * w for rate, w in zip(each.joint_rates, crossed)]
        for i in range(size):
            for j in range(size):
                bend = each.path.derivative(i, j)
                second[i, size + count + j] += by_rate * bend
                if j >= i:
                    third = (each.path.derivative(i, j, k) * bent[k] for k in range(size))
                    second[i, j] += by_length * bend + sum(third)
        _add(total, columns, columns, second)
        _add(pull, columns, [0], chain.T @ gradient)
    shape = 2 * tree.dof
    return _assemble(total, (shape, shape)), _assemble(pull, (shape, 1))


@dataclass(frozen=True, kw_only=True)
class _Polynomials:
    """Polynomial paths over the same joints, of coordinates `x` (k,): their lengths (m) and
    derivatives of these, as they are asked for."""

    paths: Sequence[PolynomialPath]
    x: Sequence[Matrix]
    powers: dict[tuple[int, ...], Matrix] = field(default_factory=dict)
    known: dict[tuple[int, ...], Sequence[Matrix]] = field(default_factory=dict)

    @cached_property
    def terms(self) -> Mapping[tuple[int, ...], np.ndarray]:
        """{exponents: coefficients of the paths} of all monomials."""
        terms: dict[tuple[int, ...], np.ndarray] = {}
        for k, path in enumerate(self.paths):
            for exponents, coefficient in zip(path.exponents, path.coefficients):
                terms.setdefault(exponents, np.zeros(len(self.paths)))[k] += coefficient
        return terms

    def power(self, exponents: tuple[int, ...]) -> Matrix:
        """Return the product of the coordinates to these exponents."""
        if exponents not in self.powers:
            last = max((k for k, each in enumerate(exponents) if each), default=None)
            if last is None:
                return ca.SX(1)
            lower = tuple(each - (k == last) for k, each in enumerate(exponents))
            self.powers[exponents] = self.power(lower) * self.x[last]
        return self.powers[exponents]

    def derivative(self, *by: int) -> Sequence[Matrix]:
        """Return the derivatives of all lengths by coordinates of these places, themselves
        without."""
        key = tuple(sorted(by))
        if key not in self.known:
            columns, powers = [np.zeros(len(self.paths))], [ca.SX(1)]
            for exponents, coefficients in self.terms.items():
                factor, left = 1.0, list(exponents)
                for k in key:
                    factor *= left[k]
                    left[k] -= 1
                if factor:
                    columns.append(factor * coefficients)
                    powers.append(self.power(tuple(left)))
            factors = ca.sparsify(ca.DM(np.transpose(columns)))
            self.known[key] = ca.vertsplit(factors @ ca.vertcat(*powers))
        return self.known[key]


@dataclass(frozen=True, kw_only=True)
class _PathView:
    """One of several polynomial paths at a place."""

    group: _Polynomials
    place: int

    def derivative(self, *by: int) -> Matrix:
        """Return the derivative of its length by coordinates of these places, itself without."""
        return self.group.derivative(*by)[self.place]


@dataclass(frozen=True, kw_only=True)
class _View:
    """A muscle in a state of motion: rows of q and numbers of its joints and its states."""

    muscle: Muscle
    path: _PathView
    rows: Sequence[int]
    joint_rates: Sequence[Matrix]
    state_rows: Sequence[int]
    states: Sequence[Matrix]
    rates: Sequence[Matrix]
    dof: int

    @property
    def slope(self) -> list[Matrix]:
        """dL/dq of its joints."""
        return [self.path.derivative(k) for k in range(len(self.rows))]

    @property
    def rate(self) -> Matrix:
        """dL/dt (m/s)."""
        return sum(a * b for a, b in zip(self.slope, self.joint_rates))

    def place(self, across: Matrix) -> list[Matrix]:
        """Return its length, the rate of that, the weighted slope, its states and their rates."""
        return [self.path.derivative(), self.rate, across, *self.states, *self.rates]

    def chain(self, weights: Sequence[Matrix] | None) -> tuple[list[int], Matrix]:
        """Return the columns of (q, qd) that move it, and d(L, D, W, states, rates) by these."""
        size, count = len(self.rows), len(self.states)
        columns = [
            *(*self.rows, *self.state_rows),
            *(self.dof + row for row in (*self.rows, *self.state_rows)),
        ]
        chain = ca.SX(3 + 2 * count, 2 * (size + count))
        for i, slope in enumerate(self.slope):
            chain[0, i] = chain[1, size + count + i] = slope
            for factors, row in ((self.joint_rates, 1), (weights or (), 2)):
                bent = (self.path.derivative(i, j) * each for j, each in enumerate(factors))
                chain[row, i] = sum(bent, ca.SX(1, 1))
        for k in range(count):
            chain[3 + k, size + k] = 1
            chain[3 + count + k, 2 * size + count + k] = 1
        return columns, chain


def _views(tree: Tree, q: Matrix, qd: Matrix) -> Iterator[_View]:
    """Yield the muscles as they are in a state of motion."""
    state, together = State(tree=tree, q=q, qd=qd), _groups(tree)
    for joints, muscles in together.items():
        rows = [state.row(name) for name in joints]
        paths = [each.path for each in muscles if isinstance(each.path, PolynomialPath)]
        group = _Polynomials(paths=paths, x=[q[row] for row in rows])
        for place, muscle in enumerate(muscles):
            own = [state.row(each.name) for each in muscle.states]
            yield _View(
                muscle=muscle,
                path=_PathView(group=group, place=place),
                rows=rows,
                joint_rates=[qd[row] for row in rows],
                state_rows=own,
                states=[q[row] for row in own],
                rates=[qd[row] for row in own],
                dof=tree.dof,
            )


def _groups(tree: Tree) -> dict[tuple[str, ...], list[Muscle]]:
    """Return {joints: muscles whose polynomials are over them}."""
    groups: dict[tuple[str, ...], list[Muscle]] = {}
    for muscle in polynomial_muscles(tree):
        assert isinstance(muscle.path, PolynomialPath)
        groups.setdefault(tuple(muscle.path.joints), []).append(muscle)
    return groups


@dataclass(frozen=True, kw_only=True)
class _Alone:
    """State of motion of a muscle along a straight line: `q` has the length, and its states."""

    q: Matrix
    qd: Matrix
    rows: Mapping[str, int]

    def row(self, joint: str) -> int:
        """Return the row of q of a coordinate."""
        return self.rows[joint]


def _law_of(muscle: Muscle, result: str, *values: Sequence[Matrix]) -> Sequence[Matrix]:
    """Return results of a muscle along a straight line, or their derivatives, at values of the
    inputs that `_law` names."""
    alone = replace(muscle, name="muscle", path=LINE, course=None)
    symbols, expressions = _law(alone)[result]
    places = [ca.densify(ca.vertcat(*each)) for each in values]
    return list(ca.substitute(expressions, symbols, places))


@lru_cache(maxsize=256)
def _law(alone: Muscle) -> Mapping[str, tuple[list[Matrix], list[Matrix]]]:
    """Return {result: (its inputs, expressions)} of a muscle along a straight line.

    Its "value" (1 + needs) is the torque at a slope of 1, and what its states need, "slope" that
    and its derivative by place = (length, its rate, weighted slope, states, their rates), both
    functions of place, "curvature" gradient and Hessian of the weighted sum, functions of place and
    of the needs' weights. The excitation is differentiated as an implicit function.
    """
    names = ["length", *(each.name for each in alone.states)]
    count, rows = len(alone.states), {name: row for row, name in enumerate(names)}
    place, weights = ca.SX.sym("place", 3 + 2 * count), ca.SX.sym("weight", count)
    states, rates = place[3 : 3 + count], place[3 + count :]
    motion = ca.vertcat(place[0], states), ca.vertcat(place[1], rates)
    state = cast(MotionState, _Alone(q=motion[0], qd=motion[1], rows=rows))
    pull, fixed = alone.fibres(state).pull, ca.SX.sym("pull")
    by_pull, bent = _pull_derivatives(alone, state, place)
    known = alone.state_needs(state)
    value = ca.vertcat(alone.torques(state)[0], *(known[row] for row in range(1, count + 1)))
    # Linear in the pull; the excitation, which does not depend on it, comes last.
    left = {1: 0.0} | alone.undriven_needs(state, fixed)
    parts = ca.vertcat(-alone.tension_force(state, fixed), *(left[row] for row in sorted(left)))
    through, factors = ca.jacobian(parts, fixed), ca.vertcat(place[2], weights)
    slope = ca.jacobian(parts, place) + through @ by_pull.T
    hessian, gradient = ca.hessian(ca.dot(factors, parts), place)
    gradient += ca.dot(factors, through) * by_pull
    hessian += ca.dot(factors, through) * bent
    across = ca.SX(ca.Sparsity.unit(place.shape[0], 2)) @ by_pull.T * through[0]
    hessian += across + across.T
    slope, gradient, hessian = ca.substitute([slope, gradient, hessian], [fixed], [pull])
    times = alone.rise, alone.fall, alone.smoothing
    excites, bends = excitation_derivatives(rates[0], states[0], *times)
    pair = 3 + count, 3  # places of the activation's rate and of itself
    for i, row in enumerate(pair):
        slope[1, row] += excites[i]
        gradient[row] += weights[0] * excites[i]
        for j, column in enumerate(pair):
            hessian[row, column] += weights[0] * bends[i][j]
    results: dict[str, tuple[list[Matrix], list[Matrix]]] = {
        "value": ([place], [value]),
        "slope": ([place], [value, slope]),
        "curvature": ([place, weights], [ca.densify(gradient), ca.sparsify(hessian)]),
    }
    return {name: (inputs, list(ca.cse(values))) for name, (inputs, values) in results.items()}


def _pull_derivatives(alone: Muscle, state: MotionState, place: Matrix) -> tuple[Matrix, Matrix]:
    """Return gradient and Hessian of the pull of a muscle's fibres by symbols of a place."""
    inner = ca.vertcat(*alone.contraction(state))
    first, second = pull_derivatives(alone, *ca.vertsplit(inner))
    by_place = ca.jacobian(inner, place)
    bent = by_place.T @ (second @ by_place)
    for factor, each in zip(ca.vertsplit(first), ca.vertsplit(inner)):
        bent += factor * ca.hessian(each, place)[0]
    return by_place.T @ first, bent


def _add(total: Entries, rows: Sequence[int], columns: Sequence[int], values: Matrix) -> None:
    """Add the entries of a sparse matrix at rows and columns of another."""
    values = ca.sparsify(values)
    for (i, j), value in zip(zip(*values.sparsity().get_triplet()), values.nonzeros()):
        place = rows[i], columns[j]
        total[place] = total[place] + value if place in total else value


def _assemble(entries: Entries, shape: tuple[int, int]) -> Matrix:
    """Return the sparse matrix of entries."""
    rows, columns = zip(*entries) if entries else ((), ())
    pattern = ca.Sparsity.triplet(*shape, list(rows), list(columns))
    values = ca.SX(*shape) if not entries else None
    if values is None:
        values = ca.SX(pattern)
        for place, value in entries.items():
            values[place] = value
    return values
