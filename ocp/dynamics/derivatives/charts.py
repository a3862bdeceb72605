"""Charts: trees with balls and followers as trees of single-coordinate joints, which every
formulation knows.

Coordinates, rates and accelerations go in, torques come back by the transpose.

Inside, a ball is three revolute joints x, y, z at angle zero in a chart that moves along: the home
of the first holds R(p / |p|). A follower is its own joint, whose angle is a function of another's
coordinate. With z(y) the single coordinates, near the present place,

    zd = C yd,   zdd = C ydd + dC/dt yd,   tau_y = C' tau_z,   C = dz/dy

which determines derivatives too: those by z are taken where the chart is, and C, dC/dt and their
slopes are those of the angles x, y, z by the quaternion conj(p0) p, p0 held, at p = p0. Lengths of
quaternions are coordinates of their own, of a fictitious inertia that nothing touches,

    tau = INERTIA d2|p|/dt2

so that the four components are independent, the mass matrix is regular, and where no torque acts on
it a length of one stays one. It has no effect on the motion.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.elements import Armature
from ocp.mechanics.model.joints import Joint, revolute
from ocp.mechanics.model.quaternions_and_couplings import (
    COMPONENTS,
    conjugate_matrix,
    rotation_from_quaternion,
)
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.values.parameters import Expression, Parameter, array, matrix
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import freeze

SX = ca.SX
INERTIA = 1.0  # kg m2: of a quaternion's length, which is a number
TURNS = ("x", "y", "z")


@dataclass(frozen=True, kw_only=True)
class Chart:
    """The tree of single-coordinate joints behind a mapped `tree`, and how coordinates go into it.

    Of `inner` coordinates z (m,) the first are those of the `plain` tree, the last the lengths of
    quaternions. `links` are the indices of the tree's links in the plain one, `symbols` (4 balls,)
    the quaternions in its homes.
    """

    tree: Tree
    plain: Tree
    links: tuple[int, ...]
    symbols: Matrix

    @cached_property
    def balls(self) -> list[list[int]]:
        """Rows of the quaternions."""
        return [list(rows) for rows in self.tree.balls]

    @cached_property
    def square(self) -> bool:
        """Whether inner coordinates are as many as the tree's, and none is a curve of them."""
        return all(joint.follows is None for joint in self.tree.joints)

    @cached_property
    def _local(self) -> tuple:
        """Return symbols u, ud, udd (n,) and lengths (balls,), and z (m,) of them.

        u are coordinates, of balls the quaternions conj(p0) p / |p0|^2.
        """
        n, tree = self.tree.dof, self.tree
        u, ud, udd = (SX.sym(name, n) for name in ("u", "ud", "udd"))
        lengths = SX.sym("length", len(self.balls))
        inner: list[Matrix] = []
        stretches: list[Matrix] = []
        for joint, rows in zip(tree.joints, tree.spans):
            if joint.ball:
                stretches.append(lengths[len(stretches)] * ca.norm_2(u[list(rows)]))
                inner.append(_angles(u[list(rows)]))
            elif joint.follows is not None:
                inner.append(SX(joint.follows.function(u[rows[0]])))
            elif rows:
                inner.append(u[rows[0]])
        return (u, ud, udd, lengths), ca.vertcat(*inner, *stretches)

    def _at_home(self, expressions: list[Matrix]) -> list[Matrix]:
        """Return expressions of the local symbols where every chart is at home."""
        u = self._local[0][0]
        place = SX(u)
        for rows in self.balls:
            place[rows] = ca.DM([1, 0, 0, 0])
        return ca.cse([SX(part) for part in ca.substitute(expressions, [u], [place])])

    @cached_property
    def _kinematics(self) -> list[Matrix]:
        """Return z, zd, zdd, C, and the slopes of zd and zdd by u, of the local symbols."""
        (u, ud, udd, _), z = self._local
        slope = ca.jacobian(z, u)
        rate = slope @ ud
        turning = ca.jacobian(rate, u)
        acceleration = slope @ udd + turning @ ud
        parts = [z, rate, acceleration, slope, turning, ca.jacobian(acceleration, u)]
        return [ca.sparsify(part) for part in self._at_home(parts)]

    @cached_property
    def _work_function(self) -> tuple[list[Matrix], list[Matrix]]:
        """Return symbols g (3 m,), torques (m,) and virtual rates (n,), and of

            W = g . (z, zd, zdd) + torques . C rates

        the gradient by (u, ud, udd), second derivatives (u, u), (u, ud), (u, udd), (ud, ud), and
        the slope of C rates by u.
        """
        (u, ud, udd, _), z = self._local
        m, n = z.shape[0], self.tree.dof
        g, torques, virtual = SX.sym("g", 3 * m), SX.sym("torques", m), SX.sym("virtual", n)
        slope = ca.jacobian(z, u)
        rate = slope @ ud
        acceleration = slope @ udd + ca.jtimes(rate, u, ud)
        work = ca.dot(g, ca.vertcat(z, rate, acceleration)) + ca.dot(torques, slope @ virtual)
        gradient = [ca.gradient(work, part) for part in (u, ud, udd)]
        parts = [
            ca.vertcat(*gradient),
            ca.jacobian(gradient[0], u),
            ca.jacobian(gradient[0], ud),
            ca.jacobian(gradient[0], udd),
            ca.jacobian(gradient[1], ud),
            ca.jacobian(slope @ virtual, u),
        ]
        return [g, torques, virtual], [ca.sparsify(part) for part in self._at_home(parts)]

    def at(self, q: Matrix, qd: Matrix, qdd: Matrix) -> "Place":
        """Return a motion q, qd, qdd (n,) in inner coordinates."""
        return Place(chart=self, q=_column(q), qd=_column(qd), qdd=_column(qdd))


@dataclass(frozen=True, kw_only=True)
class Place:
    """A motion `q, qd, qdd` (n,) seen in the inner coordinates of a `chart`."""

    chart: Chart
    q: Matrix
    qd: Matrix
    qdd: Matrix

    @cached_property
    def turn(self) -> Matrix:
        """The matrix T (n, n) with u = T q: conj(p) / |p|^2 at balls."""
        return self._blocks(lambda p: conjugate_matrix(p) / ca.sumsqr(p))

    @cached_property
    def back(self) -> Matrix:
        """The inverse (n, n) of `turn`."""
        return self._blocks(lambda p: conjugate_matrix(p).T)

    def _blocks(self, block: Callable[[Matrix], Matrix]) -> Matrix:
        matrix = SX.eye(self.q.shape[0])
        for rows in self.chart.balls:
            matrix[rows, rows] = block(self.q[rows])
        return ca.sparsify(matrix)

    def evaluate(self, expressions: list[Matrix], more: tuple = ()) -> list[Matrix]:
        """Return expressions of the local symbols, and of `more` (symbol, value), at this place."""
        (u, ud, udd, lengths), _ = self.chart._local
        norms = [ca.norm_2(self.q[rows]) for rows in self.chart.balls]
        places = [self.q, self.turn @ self.qd, self.turn @ self.qdd, ca.vertcat(*norms)]
        symbols = [u, ud, udd, lengths, *(symbol for symbol, _ in more)]
        values = [*places, *(value for _, value in more)]
        pairs = [(s, ca.densify(SX(v))) for s, v in zip(symbols, values) if s.numel()]
        parts = ca.substitute(expressions, [s for s, _ in pairs], [v for _, v in pairs])
        return [ca.sparsify(SX(part)) for part in parts]

    def insert_quaternions(self, expressions: Sequence[Matrix]) -> list[Matrix]:
        """Return expressions of the plain tree with the quaternions in its homes."""
        parts = [SX(part) for part in expressions]
        if not self.chart.balls:
            return parts
        rows = [row for ball in self.chart.balls for row in ball]
        return [SX(part) for part in ca.substitute(parts, [self.chart.symbols], [self.q[rows]])]

    @cached_property
    def _inner_motion(self) -> list[Matrix]:
        return self.evaluate(self.chart._kinematics)

    @property
    def count(self) -> int:
        """How many coordinates the plain tree has."""
        return self.chart.plain.dof

    @cached_property
    def motion(self) -> tuple[Matrix, Matrix, Matrix]:
        """The plain tree's coordinates, rates and accelerations."""
        q, qd, qdd = (part[: self.count] for part in self._inner_motion[:3])
        return ca.densify(q), ca.densify(qd), ca.densify(qdd)

    @cached_property
    def radial(self) -> Matrix:
        """The generalized forces of the lengths of quaternions (balls,)."""
        return INERTIA * ca.densify(self._inner_motion[2][self.count :])

    @cached_property
    def slope(self) -> Matrix:
        """C (m, n)."""
        return self._inner_motion[3] @ self.turn

    @cached_property
    def slopes(self) -> tuple[Matrix, Matrix, Matrix]:
        """C and the slopes of rates and accelerations by q (m, n) each; that of accelerations by qd
        is twice that of rates by q."""
        return self.slope, self._inner_motion[4] @ self.turn, self._inner_motion[5] @ self.turn

    @cached_property
    def inverse_slope(self) -> Matrix:
        """The inverse (n, n) of C, where there are no followers: one number in each row behind the
        turn."""
        forth = self._inner_motion[3].T
        numbers = ca.vertcat(*(1 / entry for entry in forth.nonzeros()))
        return self.back @ SX(forth.sparsity(), numbers)

    def drift(self) -> Matrix:
        """The inner accelerations (m,) at qdd = 0."""
        still = replace(self, qdd=SX.zeros(self.q.shape[0]))
        return ca.densify(still._inner_motion[2])

    def work_derivatives(self, g: Matrix, torques: Matrix, virtual: Matrix) -> list[Matrix]:
        """Return gradient and second derivatives of W by q, qd and qdd, and the slope of C rates.

        W = g . (z, zd, zdd) + torques . C virtual, with g (3 m,), torques (m,), virtual (n,).
        """
        symbols, parts = self.chart._work_function
        values = (g, torques, self.turn @ virtual)
        gradient, *blocks, by_u = self.evaluate(parts, tuple(zip(symbols, values)))
        turn = self.turn
        whole = ca.vertcat(*(turn.T @ part for part in ca.vertsplit(gradient, self.q.shape[0])))
        return [whole, *(turn.T @ block @ turn for block in blocks), by_u @ turn]


@lru_cache(maxsize=64)
def chart_of(tree: Tree) -> Chart:
    """Return the Chart of a mapped tree, the same one for equal trees."""
    joints: list[Joint] = []
    links: list[Link] = []
    places: list[int] = []
    symbols: list[Matrix] = []
    for joint, link in zip(tree.joints, tree.links):
        if joint.ball:
            parts = [
                Parameter(f"chart_{len(symbols)}_{letter}", float(letter == "w"))
                for letter in COMPONENTS
            ]
            symbols.append(ca.vertcat(*(part.expression for part in parts)))
            joints += _turns(joint, symbols[-1])
            links += [Link(), Link(), link]
        else:
            joints.append(replace(joint, follows=None) if joint.follows else joint)
            links.append(link)
        places.append(len(joints) - 1)
    rotors = tuple(each for each in tree.elements if isinstance(each, Armature))
    plain = replace(tree, links=tuple(links), joints=tuple(joints), elements=rotors)
    return Chart(tree=tree, plain=plain, links=tuple(places), symbols=ca.vertcat(*symbols))


def _turns(joint: Joint, symbol: Matrix) -> list[Joint]:
    """Return the three revolute joints of a ball, the home of the first turned by a quaternion."""
    home = array(joint.home).astype(object)
    home[:3, :3] = _product(array(joint.home)[:3, :3], rotation_from_quaternion(symbol))
    names = [f"{joint.name} about {letter}" for letter in TURNS[:2]] + [joint.name]
    parents = [joint.parent, *names[:2]]
    homes = [freeze(home), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
    return [
        revolute(name, parent, axis=axis, home=place, actuated=joint.actuated)
        for name, parent, axis, place in zip(names, parents, np.eye(3).tolist(), homes)
    ]


def _product(rotation: np.ndarray, turn: Matrix) -> np.ndarray:
    """Return a rotation in numbers or parameters times an expression's, as an array of objects."""
    entries = ca.sparsify(matrix(rotation)) @ turn
    rows = [[Expression(entries[i, j]) for j in range(3)] for i in range(3)]
    return np.array(rows, dtype=object)


def _angles(p: Matrix) -> Matrix:
    """Return the angles (3,) of turns about x, then y, then z that a quaternion near one makes."""
    turn = rotation_from_quaternion(p)
    cosine = ca.sqrt(turn[0, 0] ** 2 + turn[0, 1] ** 2)
    return ca.vertcat(
        ca.atan2(-turn[1, 2], turn[2, 2]),
        ca.atan2(turn[0, 2], cosine),
        ca.atan2(-turn[0, 1], turn[0, 0]),
    )


def _column(vector: Matrix) -> Matrix:
    if isinstance(vector, ca.MX):
        raise TypeError("trees with balls or followers: expected SX or numbers, got MX")
    return ca.densify(SX(ca.vertcat(*vector) if isinstance(vector, list) else vector))
