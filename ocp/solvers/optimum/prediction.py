"""Where the optimum of a program goes when its numbers change, by the quadratic model at the old
one.

    minimise f'd + d'H d / 2 subject to bounds of x + d and of g + J d, those of the new program

f' and J are of the new program at the old point, H of the Lagrangian with the old multipliers.
Unlike a tangent it lets constraints become active and let go (Robinson 1980; Diehl 2001, section
5.2, calls it the tangential predictor). An interior point follows the path of this model down to
LEVELS of its barrier, from the first, at which optima have forgotten most of what was active
(Gondzio 1998), as far as the next ones take NEXT iterations at most: beyond, the model itself is in
doubt. There the program's own solver takes over.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ocp.solvers.nlp import NLP
from ocp.solvers.nlpsol import quadratic
from ocp.solvers.plugins import WARM

LEVELS, FIRST, NEXT = (1e-4, 1e-5), 40, 3  # of the barrier; iterations to the first, to others
BARRIERS = (1e-5, 1e-7)  # with which the solver begins where the path ended at each of these
PUSH = 1e-6  # off bounds, of a predicted start
LINEAR = ("linear_solver", "mumps_", "ma27_", "ma57_", "ma86_", "ma97_", "hsllib")


def near_path(barrier: float, push: float = PUSH) -> dict[str, Any]:
    """Return the options with which IPOPT begins near a point of the central path."""
    pushes = {name: push for name in WARM["ipopt"] if "push" in name or "frac" in name}
    return {**WARM["ipopt"], **pushes, "mu_init": barrier}


STARTS = tuple(near_path(barrier) for barrier in BARRIERS)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prediction:
    """A predicted point `x` (variables,) with multipliers of variables and constraints, the
    `iterations` of the model, and the `options` with which IPOPT begins there."""

    x: np.ndarray
    x_multipliers: np.ndarray
    g_multipliers: np.ndarray
    iterations: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Prediction({len(self.x)} variables, {self.iterations} iterations)"


def predict_optimum(
    nlp: NLP,
    x: np.ndarray,
    x_multipliers: np.ndarray,
    g_multipliers: np.ndarray,
    options: Mapping[str, Any] | None = None,
) -> Prediction | None:
    """Return the Prediction from the optimum of a program with other numbers, or None where its
    model has no optimum.

    `x`, `x_multipliers` (variables,) and `g_multipliers` (constraints,) are of that. Of IPOPT's
    `options` those of its linear solver are taken. The NLP brings its derivatives.
    """
    exact: Any = nlp  # whose derivatives are
    nothing = ca.DM(0, 1)
    slope = exact.gradient(x, nothing)[1]
    g, jacobian = exact.jacobian(x, nothing)
    curvature = exact.hessian("exact")(x, nothing, 1.0, g_multipliers)
    parts = (np.array(slope).ravel(), np.array(g).ravel(), jacobian.nonzeros())
    given: dict[str, Any] = {"p": np.concatenate([*parts, curvature.nonzeros()])}
    given |= {"lbx": nlp.lower - x, "ubx": nlp.upper - x}
    given |= {"lbg": nlp.g_lower, "ubg": nlp.g_upper, "x0": np.zeros(len(x))}
    given |= {"lam_x0": x_multipliers, "lam_g0": g_multipliers}
    kept = {name: value for name, value in (options or {}).items() if name.startswith(LINEAR)}
    count = 0
    met: list[float] = []
    for level in LEVELS:
        solver = quadratic(nlp, kept | _at(level, NEXT if met else FIRST))
        result, statistics = solver(**given), solver.stats()
        count += int(statistics["iter_count"])
        if not statistics["success"]:
            break
        met.append(level)
        given |= {"x0": result["x"], "lam_x0": result["lam_x"], "lam_g0": result["lam_g"]}
    if not met:
        return None
    step, z, y = (np.array(given[name]).ravel() for name in ("x0", "lam_x0", "lam_g0"))
    options = STARTS[len(met) - 1]
    return Prediction(
        x=x + step, x_multipliers=z, g_multipliers=y, iterations=count, options=options
    )


def _at(level: float, most: int) -> dict[str, Any]:
    """Return the options with which IPOPT goes to a level of the barrier, and no further."""
    near = {"mu_target": level, "tol": 10 * level, "compl_inf_tol": max(1e-4, 10 * level)}
    return near_path(level, level) | near | {"max_iter": most}
