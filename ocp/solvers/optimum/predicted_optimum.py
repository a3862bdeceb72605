"""Predicted optimum for other bounds or parameters, by the quadratic model at the old one.

    minimise f'd + d'H d / 2 subject to bounds of x + d and of g + J d, those of the new program

f' and J are of the new program at the old point, H of the Lagrangian with the old multipliers.
Unlike a tangent it lets constraints become active and inactive (Robinson 1980; Diehl 2001, section
5.2, calls it the tangential predictor). IPOPT follows the central path of this model down to LEVELS
of its barrier. The first is one at which optima hardly depend on the old active set (Gondzio 1998).
It goes on to the next while that takes NEXT iterations at most: beyond, the model itself is in
doubt. There the program's own solver takes over.
"""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ocp.solvers.casadi_plugins import WARM, quadratic
from ocp.solvers.nlp import NLP, Exact, Option, Options

LEVELS, FIRST, NEXT = (1e-4, 1e-5), 40, 3  # of the barrier; iterations to the first, to others
BARRIERS = (1e-5, 1e-7)  # first ones of the solver, if the path ended at each of LEVELS
PUSH = 1e-6  # distance of a predicted start from bounds
LINEAR = ("linear_solver", "mumps_", "ma27_", "ma57_", "ma86_", "ma97_", "hsllib")


def near_path(barrier: float, push: float = PUSH) -> dict[str, Option]:
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
    options: Options = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Prediction({len(self.x)} variables, {self.iterations} iterations)"


def predict_optimum(
    nlp: NLP,
    x: np.ndarray,
    x_multipliers: np.ndarray,
    g_multipliers: np.ndarray,
    options: Options | None = None,
) -> Prediction | None:
    """Return the Prediction of a program's optimum, None if the model has none.

    Args:
        nlp: the program, with exact derivatives.
        x, x_multipliers, g_multipliers: optimum of the program with other numbers.
        options: of IPOPT; those of its linear solver are used.
    """
    exact: Exact = nlp
    nothing = ca.DM(0, 1)
    slope = exact.gradient(x, nothing)[1]
    g, jacobian = exact.jacobian(x, nothing)
    curvature = exact.hessian("exact")(x, nothing, 1.0, g_multipliers)
    parts = (np.array(slope).ravel(), np.array(g).ravel(), jacobian.nonzeros())
    given: dict[str, np.ndarray] = {"p": np.concatenate([*parts, curvature.nonzeros()])}
    given |= {"lbx": nlp.lower - x, "ubx": nlp.upper - x}
    given |= {"lbg": nlp.g_lower, "ubg": nlp.g_upper, "x0": np.zeros(len(x))}
    given |= {"lam_x0": x_multipliers, "lam_g0": g_multipliers}
    kept = {name: value for name, value in (options or {}).items() if name.startswith(LINEAR)}
    count = 0
    met: list[float] = []
    for level in LEVELS:
        solver = quadratic(nlp, kept | _level_options(level, NEXT if met else FIRST))
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


def _level_options(level: float, most: int) -> dict[str, Option]:
    """Return the options with which IPOPT stops at a level of the barrier."""
    near = {"mu_target": level, "tol": 10 * level, "compl_inf_tol": max(1e-4, 10 * level)}
    return near_path(level, level) | near | {"max_iter": most}
