"""Active set of a strict minimum, met to rounding by Newton's method.

With the active set fixed, the first-order conditions are equations of free variables v with steps
dv, variables b at bounds with given steps db, and active rows g_A with multipliers y,

    [H_vv  J_Av'] [dv]     [slope_v + H_vb db]
    [J_Av  0    ] [y ] = - [J_Ab db - dg_A   ]        dg_A distance to their bounds
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp.solvers.casadi_plugins import WARM
from ocp.solvers.linear_algebra.saddle_point import SaddlePoint, factorise
from ocp.solvers.minimize import Solver, minimize
from ocp.solvers.nlp import NLP, Exact, Iterate, own_residual, violation

MOST = 12  # Newton steps and changes of the active set
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
    """A strict minimum: its `point`, active set, and derivatives there.

    `held_x` (variables,) and `held_g` (constraints,) are 1 at an upper bound, -1 at a lower one, 0
    for inactive ones; of equal bounds the side of the multiplier. `slope` is the gradient of f,
    `jacobian` that of g, `hessian` of the Lagrangian, `system` that of free variables and active
    rows.
    """

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
        """Numbers of the variables that are not at bounds."""
        return np.flatnonzero(self.held_x == 0)

    @property
    def active(self) -> np.ndarray:
        """Numbers of the rows at bounds."""
        return np.flatnonzero(self.held_g)


def default_label(kind: str, number: int) -> str:
    """Return the default name of a "variable" or "row"."""
    return f"{kind} {number}"


def tighten(nlp: NLP, point: Iterate) -> Iterate:
    """Return a solver's point with complementarity to rounding, as far as IPOPT reaches it.

    Loose points do not show what is active.
    """
    outcome = minimize(
        nlp, TIGHT, point.x, x_multipliers=point.x_multipliers, g_multipliers=point.g_multipliers
    )
    return Iterate(
        x=outcome.x,
        g=outcome.g,
        x_multipliers=outcome.x_multipliers,
        g_multipliers=outcome.g_multipliers,
    )


def find_optimum(nlp: NLP, point: Iterate, label: Label = default_label) -> Optimum:
    """Return the Optimum near a tightened point, by Newton's method on its active set.

    Active is what has a multiplier larger than its distance; violated rows, and multipliers of the
    wrong sign, change the set.

    Args:
        nlp: a program with exact derivatives.
        point: from `tighten`.
        label: names a "variable" or "row" by its number in errors.

    Raises:
        ValueError: the point is not near to a strict minimum, naming what moves at no cost; or
            derivatives are missing.
    """
    if nlp.gradient is None or nlp.jacobian is None or nlp.hessian is None:
        raise ValueError("sensitivity: expected a program with exact derivatives")
    size = max(1.0, abs(float(nlp.objective(point.x))))
    residual = own_residual(nlp, point)
    if not residual <= ROUGH * size:
        raise ValueError(
            f"sensitivity: the point is no optimum: its first-order residual is {residual:.3g}"
        )
    held = _active_sides(nlp, point)
    for _ in range(MOST):
        near = _linearise(nlp, point, *held)
        fresh = _newton(near)
        wrong = _active_set_errors(nlp, fresh, held)
        if wrong.any():
            held = _change_active_set(nlp, fresh, held, wrong)
            continue
        change = np.abs(fresh.x - point.x).max(initial=0.0)
        point = fresh
        if change <= SETTLED * max(1.0, np.abs(point.x).max(initial=0.0)):
            near = _linearise(nlp, point, *held)
            check_strict(near.system, near.free, label)
            return near
    names = (
        ", ".join(_worst_names(label, wrong, len(point.x))) or "Newton's method does not converge"
    )
    raise ValueError(f"sensitivity: no active set explains the optimum; in doubt: {names}")


def _worst_names(label: Label, wrong: np.ndarray, variables: int) -> list[str]:
    """Return the names of the largest violations."""
    worst = [int(k) for k in np.argsort(-wrong)[:6] if wrong[k] > 0]
    return [label("variable", k) if k < variables else label("row", k - variables) for k in worst]


def _active_sides(nlp: NLP, point: Iterate) -> tuple[np.ndarray, np.ndarray]:
    """Return the active sides of variables and rows at a solver's point."""
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


def _linearise(nlp: NLP, point: Iterate, held_x: np.ndarray, held_g: np.ndarray) -> Optimum:
    """Return the linearised conditions of an optimum at a point, with an active set."""
    exact: Exact = nlp
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
    """Return the point that meets the linearised conditions."""
    nlp, point, free, active = near.nlp, near.point, near.free, near.active
    to_x = np.where(near.held_x > 0, nlp.upper, nlp.lower) - point.x
    to_g = np.where(near.held_g > 0, nlp.g_upper, nlp.g_lower) - point.g
    dx = np.where(near.held_x == 0, 0.0, to_x)
    kept = np.where(near.held_g == 0, 0.0, point.g_multipliers)
    # Solving for the change of multipliers lets dependent rows keep their shares
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


def _active_set_errors(nlp: NLP, point: Iterate, held: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the relative error of the active set for variables and rows (variables + rows,).

    That is the violation of an inactive bound, or a multiplier of the wrong sign or zero of an
    active one; up to WRONG it counts as zero.
    """
    value = np.append(point.x, point.g)
    multiplier = np.append(point.x_multipliers, point.g_multipliers)
    lower, upper = np.append(nlp.lower, nlp.g_lower), np.append(nlp.upper, nlp.g_upper)
    side = np.append(*held)
    bound = np.maximum(1.0, np.minimum(np.abs(lower), np.abs(upper)))
    beyond = violation(value, lower, upper) / bound
    # Without a multiplier a row leaves the set: of equal rows, one may have it all
    pulled = 2 * WRONG - multiplier * side / max(1.0, np.abs(multiplier).max(initial=0.0))
    amount = np.where(side == 0, beyond, np.where(lower == upper, 0.0, pulled))
    return np.where(amount > WRONG, amount, 0.0)


def _change_active_set(
    nlp: NLP, point: Iterate, held: tuple[np.ndarray, np.ndarray], wrong: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the active set with all wrong entries changed."""
    side, value = np.append(*held), np.append(point.x, point.g)
    upper = np.append(nlp.upper, nlp.g_upper)
    fresh = np.where(side != 0, 0, np.where(value > upper, 1, -1))
    parts = np.split(np.where(wrong > 0, fresh, side), [len(point.x)])
    return parts[0], parts[1]


def check_strict(system: SaddlePoint, free: np.ndarray, label: Label = default_label) -> None:
    """Raise ValueError unless the objective grows along all feasible directions.

    Args:
        system: of the first-order conditions.
        free: numbers of its variables.
        label: names a "variable" by its number.
    """
    if not system.convex:
        raise ValueError("sensitivity: the point is no minimum: the objective falls along a way")
    moves = system.loose()
    if moves is not None:
        names = name_largest(moves[: system.size], free, "variable", label)
        raise ValueError(
            f"sensitivity: the minimum is not strict: at no cost to second order moves {names}"
        )


def name_largest(vector: np.ndarray, numbers: np.ndarray, kind: str, label: Label) -> str:
    """Return the names of the largest entries of a vector."""
    share = np.abs(vector)
    chosen = [k for k in np.argsort(-share)[:6] if share[k] > 0.05 * share.max()]
    return ", ".join(label(kind, int(numbers[k])) for k in chosen)
