"""A strict minimum of a program with the active set that makes it one, met to rounding.

With that set held, the first-order conditions are equations, which Newton's method solves: of free
variables v with steps dv, held ones b with given steps db, active rows g_A with multipliers y,

    [H_vv  J_Av'] [dv]     [slope_v + H_vb db]
    [J_Av  0    ] [y ] = - [J_Ab db - dg_A   ]        dg_A what active rows lack to their bounds
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ocp.solvers.linear_algebra.saddle_point import SaddlePoint, factorise
from ocp.solvers.minimize import Solver, minimize
from ocp.solvers.nlp import NLP, Iterate, own_residual, violation
from ocp.solvers.plugins import WARM

MOST = 12  # steps of Newton's method, and changes of the active set
TIGHT = Solver(
    options={
        **WARM["ipopt"],
        "mu_init": 1e-9,
        "warm_start_bound_push": 1e-7,
        "warm_start_slack_bound_push": 1e-7,
        "tol": 1e-12,
        "dual_inf_tol": 1e-7,
        "compl_inf_tol": 1e-11,
        "bound_relax_factor": 0.0,
        "max_iter": 100,
    }
)  # distances times multipliers of 1e-12 leave no doubt about what is active
ROUGH = 1e-2  # first-order residual, over max(1, |objective|), of what may be called an optimum
SETTLED = 1e-9  # change of the point, over its size, at which Newton's method has ended
WRONG = 1e-9  # of the largest multiplier, or of a bound: what is on the wrong side by more changes
Label = Callable[[str, int], str]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Optimum:
    """A strict minimum to rounding: its `point`, and which side of its bounds every variable and
    row is held at, `held_x` (variables,) and `held_g` (constraints,), 1 upper, -1 lower, 0 none;
    of equal bounds the side of its multiplier. `slope` is the gradient of f, `jacobian` of g,
    `hessian` of the Lagrangian, `system` that of the free variables and active rows."""

    nlp: NLP
    point: Iterate
    held_x: np.ndarray
    held_g: np.ndarray
    slope: np.ndarray
    jacobian: ca.DM
    hessian: ca.DM
    system: SaddlePoint

    def __repr__(self) -> str:
        bounds, rows = np.count_nonzero(self.held_x), np.count_nonzero(self.held_g)
        return f"Optimum({bounds} of {len(self.held_x)} variables at bounds, {rows} active rows)"

    @property
    def free(self) -> np.ndarray:
        """Numbers of the variables that no bound holds."""
        return np.flatnonzero(self.held_x == 0)

    @property
    def active(self) -> np.ndarray:
        """Numbers of the rows that are held at a bound."""
        return np.flatnonzero(self.held_g)


def default_label(kind: str, number: int) -> str:
    """Return the name of a "variable" or "row" that has none."""
    return f"{kind} {number}"


def tighten(nlp: NLP, point: Iterate) -> Iterate:
    """Return a solver's point with complementarity to rounding, as far as IPOPT can meet it.

    From loose points one cannot tell what is active.
    """
    outcome = minimize(
        nlp,
        TIGHT,
        point.x,
        x_multipliers=point.x_multipliers,
        g_multipliers=point.g_multipliers,
    )
    return Iterate(
        x=outcome.x,
        g=outcome.g,
        x_multipliers=outcome.x_multipliers,
        g_multipliers=outcome.g_multipliers,
    )


def find_optimum(nlp: NLP, point: Iterate, label: Label = default_label) -> Optimum:
    """Return the Optimum that a tightened point is near, found by Newton's method on its active
    set.

    Active is what has a multiplier larger than its distance; rows that turn out to be violated, and
    multipliers of the wrong sign, change that. Raises ValueError if the point is not near to a
    strict minimum, naming what it is that moves at no cost; and without exact derivatives.
    """
    if nlp.gradient is None or nlp.jacobian is None or nlp.hessian is None:
        raise ValueError("sensitivity: expected a program with exact derivatives")
    size = max(1.0, abs(float(nlp.objective(point.x))))
    residual = own_residual(nlp, point)
    if not residual <= ROUGH * size:
        raise ValueError(
            f"sensitivity: the point is no optimum: its first-order residual is {residual:.3g}"
        )
    held = _identified(nlp, point)
    for _ in range(MOST):
        near = _linearised(nlp, point, *held)
        fresh = _newton(near)
        wrong = _wrong(nlp, fresh, held)
        if wrong.any():
            held = _changed(nlp, fresh, held, wrong)
            continue
        change = np.abs(fresh.x - point.x).max(initial=0.0)
        point = fresh
        if change <= SETTLED * max(1.0, np.abs(point.x).max(initial=0.0)):
            near = _linearised(nlp, point, *held)
            _check_strict(near, label)
            return near
    names = ", ".join(_named(label, wrong, len(point.x))) or "Newton's method does not converge"
    raise ValueError(f"sensitivity: no active set explains the optimum; in doubt: {names}")


def _named(label: Label, wrong: np.ndarray, variables: int) -> list[str]:
    """Return the names of the worst of what is on the wrong side."""
    worst = [int(k) for k in np.argsort(-wrong)[:6] if wrong[k] > 0]
    return [label("variable", k) if k < variables else label("row", k - variables) for k in worst]


def _identified(nlp: NLP, point: Iterate) -> tuple[np.ndarray, np.ndarray]:
    """Return at which side every variable and row is held, as a solver's point shows it."""
    return (
        _sides(point.x, nlp.lower, nlp.upper, point.x_multipliers),
        _sides(point.g, nlp.g_lower, nlp.g_upper, point.g_multipliers),
    )


def _sides(
    value: np.ndarray, lower: np.ndarray, upper: np.ndarray, multiplier: np.ndarray
) -> np.ndarray:
    side = np.where(multiplier > 0, 1, -1)
    distance = np.where(side > 0, upper - value, value - lower)
    return np.where((lower == upper) | (np.abs(multiplier) > distance), side, 0)


def _linearised(nlp: NLP, point: Iterate, held_x: np.ndarray, held_g: np.ndarray) -> Optimum:
    """Return the conditions of an optimum at a point, linearised, with their active set."""
    exact: Any = nlp  # whose derivatives are
    nothing = ca.DM(0, 1)
    slope = np.array(exact.gradient(point.x, nothing)[1]).ravel()
    g, jacobian = exact.jacobian(point.x, nothing)
    upper = exact.hessian("exact")(point.x, nothing, 1.0, point.g_multipliers)
    hessian = ca.triu2symm(upper)
    free, active = np.flatnonzero(held_x == 0).tolist(), np.flatnonzero(held_g).tolist()
    return Optimum(
        nlp=nlp,
        point=replace(point, g=np.array(g).ravel()),
        held_x=held_x,
        held_g=held_g,
        slope=slope,
        jacobian=jacobian,
        hessian=hessian,
        system=factorise(hessian[free, free], jacobian[active, free]),
    )


def _newton(near: Optimum) -> Iterate:
    """Return the point that meets the linearised conditions of an active set."""
    nlp, point, free, active = near.nlp, near.point, near.free, near.active
    to_x = np.where(near.held_x > 0, nlp.upper, nlp.lower) - point.x
    to_g = np.where(near.held_g > 0, nlp.g_upper, nlp.g_lower) - point.g
    dx = np.where(near.held_x == 0, 0.0, to_x)
    kept = np.where(near.held_g == 0, 0.0, point.g_multipliers)
    # what is solved for is the change of multipliers, so that dependent rows keep what they share
    first = near.slope + np.array(near.hessian @ dx + near.jacobian.T @ kept).ravel()
    second = to_g - np.array(near.jacobian @ dx).ravel()
    solved, _ = near.system.solve(np.append(-first[free], second[active])[:, None])
    dx[free] = solved[: len(free), 0]
    y = kept.copy()
    y[active] += solved[len(free) :, 0]
    z = -near.slope - np.array(near.hessian @ dx + near.jacobian.T @ y).ravel()
    z[free] = 0.0
    g = point.g + np.array(near.jacobian @ dx).ravel()
    return Iterate(x=point.x + dx, g=g, x_multipliers=z, g_multipliers=y)


def _wrong(nlp: NLP, point: Iterate, held: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return by how much, of what may be, every variable and row is on the wrong side (variables +
    rows,): violated where it is not held, pulled or not needed where it is; up to WRONG nothing."""
    value = np.append(point.x, point.g)
    multiplier = np.append(point.x_multipliers, point.g_multipliers)
    lower, upper = np.append(nlp.lower, nlp.g_lower), np.append(nlp.upper, nlp.g_upper)
    side = np.append(*held)
    bound = np.maximum(1.0, np.minimum(np.abs(lower), np.abs(upper)))
    beyond = violation(value, lower, upper) / bound
    # what has no multiplier is let go: of rows that say the same, one may have it all
    pulled = 2 * WRONG - multiplier * side / max(1.0, np.abs(multiplier).max(initial=0.0))
    amount = np.where(side == 0, beyond, np.where(lower == upper, 0.0, pulled))
    return np.where(amount > WRONG, amount, 0.0)


def _changed(
    nlp: NLP, point: Iterate, held: tuple[np.ndarray, np.ndarray], wrong: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the active set with all changed that is wrong."""
    side, value = np.append(*held), np.append(point.x, point.g)
    upper = np.append(nlp.upper, nlp.g_upper)
    fresh = np.where(side != 0, 0, np.where(value > upper, 1, -1))
    parts = np.split(np.where(wrong > 0, fresh, side), [len(point.x)])
    return parts[0], parts[1]


def _check_strict(near: Optimum, label: Label) -> None:
    """Raise ValueError unless the objective grows along all that the active set leaves open."""
    if not near.system.convex:
        raise ValueError("sensitivity: the point is no minimum: the objective falls along a way")
    moves = near.system.loose()
    if moves is not None:
        names = name_largest(moves[: near.system.size], near.free, "variable", label)
        raise ValueError(
            f"sensitivity: the minimum is not strict: at no cost to second order moves {names}"
        )


def name_largest(vector: np.ndarray, numbers: np.ndarray, kind: str, label: Label) -> str:
    """Return the names of the largest entries of a vector."""
    share = np.abs(vector)
    chosen = [k for k in np.argsort(-share)[:6] if share[k] > 0.05 * share.max()]
    return ", ".join(label(kind, int(numbers[k])) for k in chosen)
