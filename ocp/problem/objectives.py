"""Objectives as weighted sums of terms, each a function of an Instant, and the usual ones:
duration, effort, jerk, smoothness and others.

`+` joins objectives and a number scales one: `duration() + 0.01 * effort()`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import NoReturn, TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, Open, as_open, is_open, matrix, nominal
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import (
    check_callable,
    check_type,
    describe_value,
    set_fields,
    shorten,
)
from ocp.pickling import portable
from ocp.problem.instant import Instant
from ocp.spelling import suggest_fields

SQUARED = ("squares", "samples")  # kinds whose functions give residuals
KINDS = ("end", "span", "integral", *SQUARED)


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One part of an objective: a function of an Instant, and what is made of it.

    `kind` is "end", its value at the end; "span", at the end of every phase, summed, as that of the
    duration; "integral", over time; "squares", squared, summed and integrated: the function
    gives the residuals, which Gauss-Newton then uses; or "samples", squared and summed over the
    `instants`, shares of the motion from 0 to 1. Raises ValueError for another kind, what is no
    function, and instants of another kind or beyond the motion.
    """

    name: str
    function: Callable[..., Matrix] = field(repr=False)
    kind: str
    instants: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_type("objective: name", self.name, str)
        check_callable(f"objective {self.name!r}: function", self.function)
        if self.kind not in KINDS:
            raise ValueError(
                f"objective {self.name!r}: kind: expected {', '.join(KINDS)}, got {self.kind!r}"
            )
        if bool(self.instants) != (self.kind == "samples"):
            raise ValueError(f"objective {self.name!r}: instants: of samples, and of these alone")
        if self.instants and not 0 <= min(self.instants) <= max(self.instants) <= 1:
            raise ValueError(f"objective {self.name!r}: instants: expected shares from 0 to 1")

    @property
    def at_end(self) -> bool:
        """Tell whether it is a value at the end, and no integral."""
        return self.kind in ("end", "span")


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Objective:
    """A weighted sum of terms, ((weight, Term), ...).

    `+` joins objectives and a number scales one; weights may be open.
    """

    terms: tuple[tuple[Number, Term], ...]

    def __post_init__(self) -> None:
        if isinstance(self.terms, Objective | Term):
            raise ValueError(
                f"objective: expected terms (weight, Term), got {describe_value(self.terms)}"
            )
        set_fields(self, terms=tuple(_check_pair(pair) for pair in self.terms))

    def __repr__(self) -> str:
        terms = " + ".join(f"{weight:g} {term.name}" for weight, term in self.terms)
        return f"Objective({shorten(terms or '0')})"

    def __add__(self, other: "Objective") -> "Objective":
        if isinstance(other, int | float) and other == 0:  # with which Python's sum begins
            return self
        if not isinstance(other, Objective):
            raise _not_an_objective(
                f"expected another objective beside +, got {describe_value(other)}"
            )
        return Objective(terms=self.terms + other.terms)

    __radd__ = __add__

    def __mul__(self, factor: Number) -> "Objective":
        factor = as_open(factor)
        if not isinstance(factor, int | float | np.number | Open):
            raise _not_an_objective(
                f"weight: expected a number or a Parameter, got {describe_value(factor)}"
            )
        return Objective(terms=tuple((factor * weight, term) for weight, term in self.terms))

    __rmul__ = __mul__

    def _refuse(self, *others: object) -> NoReturn:
        """Raise ValueError for operations that no sum of terms has."""
        raise _not_an_objective("no other operation, and no order, is known of it")

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


def _not_an_objective(what: str) -> ValueError:
    """Return the error of what is no weighted sum of objectives."""
    return ValueError(
        f"objective: {what}; objectives take + of one another and number * objective, as "
        "duration() + 0.01 * effort(), to maximise -1 * objective; a formula of others is one "
        "integral or final(name, function)"
    )


def _check_pair(pair: object) -> tuple[Number, Term]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"objective: expected terms (weight, Term), got {pair!r}")
    weight, term = pair
    check_type("objective: term", term, Term)
    check_type(f"objective {term.name!r}: weight", weight, int, float, np.number, Open)
    if not is_open(weight) and not isfinite(weight):
        raise ValueError(f"objective {term.name!r}: expected a finite weight, got {weight}")
    return weight, term


Function = Callable[[Instant], Matrix]
Joints: TypeAlias = str | Iterable[str] | None


def duration() -> Objective:
    """Return the duration T (s), of all phases together."""
    term = Term(name="duration", function=lambda at: at.T, kind="span")
    return Objective(terms=((1.0, term),))


def effort(tree: Tree | None = None, joints: Joints = None) -> Objective:
    """Return the integral of the squared joint torques (N2 m2 s).

    It is over all joints or over the named `joints` of `tree`, one or several. Raises ValueError
    for what is no tree, or an unknown joint.
    """
    return _of_joints("effort", "tau", tree, joints)


def jerk(tree: Tree | None = None, joints: Joints = None) -> Objective:
    """Return the integral of the squared rates of accelerations (rad2/s5 or m2/s5).

    It is over all joints or over the named `joints` of `tree`, one or several (Flash & Hogan 1985,
    of the hand). Raises ValueError for what is no tree, or an unknown joint.
    """
    return _of_joints("jerk", "qddd", tree, joints)


def torque_rate(tree: Tree | None = None, joints: Joints = None) -> Objective:
    """Return the integral of the squared rates of joint torques (N2 m2/s).

    It is over all joints or over the named `joints` of `tree`, one or several (Uno, Kawato & Suzuki
    1989). Raises ValueError for what is no tree, or an unknown joint.
    """
    return _of_joints("torque_rate", "tau_rate", tree, joints)


def _of_joints(name: str, quantity: str, tree: Tree | None, joints: Joints) -> Objective:
    """Return the integral of a squared quantity of all joints, or of those named."""
    if joints is None:
        if tree is not None:
            _check_tree(name, tree)
        return squares(name, lambda at: _of_moving(at, getattr(at, quantity)))
    rows = _rows(name, tree, joints)
    return squares(name, lambda at: getattr(at, quantity)[rows])


def _of_moving(at: Instant, vector: Matrix) -> Matrix:
    """Return the entries of joints, without those of elements' states."""
    return vector[: -len(at.tree.states)] if at.tree.states else vector


def _rows(name: str, tree: Tree | None, joints: Joints) -> list[int]:
    """Return the rows of q of one or several named joints, of all where none are named.

    Raises ValueError naming the objective if `tree` is none, or has no such joint.
    """
    tree = _check_tree(name, tree)
    if joints is None:
        return list(range(tree.dof - len(tree.states)))
    return [tree.coordinate(joint) for joint in ((joints,) if isinstance(joints, str) else joints)]


def _check_tree(name: str, tree: Tree | None) -> Tree:
    if not isinstance(tree, Tree):
        raise ValueError(
            f"{name}: tree: expected a Tree, got {describe_value(tree)}; joints are named after "
            f"it, as in {name}(tree, ('elbow',))"
        )
    return tree


def dynamic_effort(tree: Tree) -> Objective:
    """Return the dynamic effort (s): torques over their limits, squared and integrated.

    The integral of the sum of (tau_j / |tau_j|max)^2 over the joints with torque limits (Barman
    2020, eq. 5.1). Raises ValueError if no joint has torque limits.
    """
    _check_tree("dynamic_effort", tree)
    limited = {
        row: _largest(*joint.torque)
        for row, joint in enumerate(tree.moving)
        if row not in tree.states
        and all(map(isfinite, nominal(joint.torque)))
        and any(nominal(joint.torque))
    }
    if not limited:
        raise ValueError("dynamic_effort: no joint of the tree has torque limits")
    rows, largest = list(limited), matrix(list(limited.values()))
    return squares("dynamic_effort", lambda at: at.tau[rows] / largest)


def _largest(lower: Number, upper: Number) -> Number:
    """Return the larger of two limits' sizes."""
    if is_open([lower, upper]):
        return as_open(ca.fmax(abs(lower), abs(upper)))
    return max(abs(lower), abs(upper))


def smoothness(
    tree: Tree, joints: Joints = None, turn: Number = 100.0, slide: Number = 9.81 / 5
) -> Objective:
    """Return the integral of the squared accelerations of all joints, or of the named `joints` (s).

    Accelerations count over `turn` (rad/s2) or `slide` (m/s2), whose defaults are for people
    [assumed]. Raises ValueError for an unknown joint.
    """
    rows = sorted(set(_rows("smoothness", tree, joints)))
    scale = matrix([turn if tree.moving[row].kind == "revolute" else slide for row in rows])
    return squares("smoothness", lambda at: at.qdd[rows] / scale)


def mixed_criterion(u: Number) -> Objective:
    """Return (1 - u) T + u effort: the mixed criterion (Xiang, Arora & Abdel-Malek 2009, eq. 67).

    Raises ValueError unless u is in [0, 1].
    """
    if not 0 <= nominal(u) <= 1:
        raise ValueError(f"mixed_criterion: expected u in [0, 1], got {u}")
    return (1 - u) * duration() + u * effort()


def final(name: str, function: Function) -> Objective:
    """Return the value of function(instant), a scalar, at the end of the motion."""
    return Objective(terms=((1.0, Term(name=name, function=function, kind="end")),))


def integral(name: str, function: Function) -> Objective:
    """Return the time integral of function(instant), a scalar."""
    return Objective(terms=((1.0, Term(name=name, function=function, kind="integral")),))


def squares(name: str, function: Function) -> Objective:
    """Return the time integral of the sum of squares of function(instant), the residuals."""
    term = Term(name=name, function=lambda at: ca.vec(function(at)), kind="squares")
    return Objective(terms=((1.0, term),))


def samples(name: str, function: Function, instants: Iterable[float]) -> Objective:
    """Return the sum over `instants`, shares of the motion, of the sum of squares of
    function(instant), the residuals: what was measured there, over its noise."""
    term = Term(
        name=name,
        function=lambda at: ca.vec(function(at)),
        kind="samples",
        instants=tuple(float(each) for each in instants),
    )
    return Objective(terms=((1.0, term),))
