"""Objective of Falisse, Afschrift & De Groote (2022), by which they and PredSim predict walking.

Over the way (m), the integral of

    500 E^2 / m + 2000 a^2 + 50000 (q''/A)^2 + 1e6 e^2 + 1000 t^2 + 0.001 (a'/100)^2

each square the mean over all of its kind: metabolic powers E of muscles (W) over the body's mass m
(kg), activations a, accelerations q'' over bounds A but of arms, excitations e of arms' drives,
torques t that limit joints (N m), and rates of activation. The weights are as printed (2019, 2022)
and as PredSim has them by default, and so are bounds and coefficients, read in its tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import casadi as ca

from ocp import Instant, Objective, Tree, squares
from ocp.mechanics import nominal
from ocp.mechanics.muscles import muscles_of
from ocp.problem import metabolic_powers
from ocp.problems.gait.statement.objective_terms import excitation

FALISSE = "falisse_2022"
SPENT, ACTIVE, RATES = "energy of muscles, squared", "activations of muscles", "rates of muscles"
OF_MUSCLES = {SPENT, ACTIVE, RATES}
SCALE = 0.01  # J is in hundreds
ENERGY, ACTIVATION, ACCELERATION, ARMS, LIMITS, RATE = 500.0, 2e3, 5e4, 1e6, 1e3, 1e-3
FULL = 100.0  # 1/s: over which rates of activation count
DRIVE, LAG = 150.0, 0.035  # N m and s: of their arms' drives
LAW = "bhargava_by_force"
# Bounds of accelerations (rad/s2, m/s2), the larger of both; joints of the spine and of the head,
# which they have not, as their trunk's [assumed]
BOUNDS: Mapping[str, float] = MappingProxyType(
    {
        "glob_tz": 61.37,
        "glob_ty": 16.87,
        "glob_tx": 5.912,
        "glob_rx": 19.79,
        "glob_ry": 61.55,
        "glob_rz": 92.03,
        "hip_flex": 201.4,
        "hip_abd": 145.5,
        "hip_rot": 136.9,
        "knee_flex": 441.8,
        "ankle_df": 430.3,
        "ankle_inv": 232.9,
        "toe_ext": 500.0,
        **{f"{part}_flex": 52.84 for part in ("spine", "head")},
        **{f"{part}_lat": 109.7 for part in ("spine", "head")},
        **{f"{part}_rot": 38.75 for part in ("spine", "head")},
    }
)
# Torques (N m) at the limits of joints, K1 exp(K2 (x - x2)) + K3 exp(K4 (x - x1)), by the sign with
# which x is our angle, and K1, K2, K3, K4, x1, x2 (after Anderson & Pandy 1999)
TORQUES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "hip_flex": (1.0, -2.44, 5.05, 1.51, -21.88, -0.6981, 1.81),
        "hip_abd": (-1.0, -0.03, 14.94, 0.03, -14.94, -0.5, 0.5),
        "hip_rot": (1.0, -0.03, 14.94, 0.03, -14.94, -0.92, 0.92),
        "knee_flex": (-1.0, -6.09, 33.94, 11.03, -11.33, -2.4, 0.13),
        "ankle_df": (1.0, -2.03, 38.11, 0.18, -12.12, -0.74, 0.52),
        "ankle_inv": (1.0, -60.21, 16.32, 60.21, -16.32, -0.65, 0.65),
        "toe_ext": (1.0, -0.9, 14.87, 0.18, -70.08, 0.0, 1.134),
        "spine_flex": (-1.0, -0.35, 30.72, 0.25, -20.36, -0.5236, 0.17),
        "spine_lat": (1.0, -0.25, 20.36, 0.25, -20.36, -0.3491, 0.3491),
        "spine_rot": (1.0, -0.25, 20.36, 0.25, -20.36, -0.3491, 0.3491),
    }
)
LIMITED = 17  # joints that they limit
UPPER = ("clav_", "shou_", "elb_", "wri_")  # joints of arms
DIGITS = str.maketrans("", "", "0123456789")


def falisse_objective(tree: Tree, body: Tree, who: Mapping[str, Any], step: Any) -> Objective:
    """Return the objective of Falisse et al. (2022), in hundreds.

    Joints of trunk and head, whose muscles are no elements, count as muscles do by the share of
    their strength, and torques beside muscles as arms' drives, which may lag.

    Args:
        tree: the body with its muscles.
        body: the same by torques.
        who: stature (m), mass and muscles (kg), as `somebody` tells.
        step: length of a step (m).
    """
    known = muscles_of(tree)
    states = [tree.coordinate(f"{each.name}.activation") for each in known]
    names = [joint.name for joint in body.moving]
    arms = [row for row, name in enumerate(names) if name.startswith(UPPER)]
    rows = [row for row in range(len(names)) if row not in arms]
    bounds = ca.DM([BOUNDS[_kind(names[row])] for row in rows])
    crossed = {joint for each in known for joint in each.joints(tree)}
    reserves = [row for row, name in enumerate(names) if name in crossed]
    count, mass = len(known), sum(float(nominal(link.mass)) for link in tree.links)

    def driven(at: Instant, rows: Sequence[int]) -> Any:
        return ca.vertcat(at.tau[rows], LAG * at.tau_rate[rows]) / DRIVE

    terms = (
        (ENERGY / count / mass, SPENT, lambda at: metabolic_powers(at, LAW)),
        (ACTIVATION / count, ACTIVE, lambda at: at.q[states]),
        (RATE / count / FULL**2, RATES, lambda at: at.qd[states]),
        (ACCELERATION / len(rows), "accelerations", lambda at: at.qdd[rows] / bounds),
        (ARMS / len(arms), "arms", lambda at: driven(at, arms)),
        (ARMS / len(arms), "reserves", lambda at: driven(at, reserves)),
        (LIMITS / LIMITED, "limits", lambda at: ca.vertcat(*limit_torques(at.tree, at.q))),
    )
    squared = (weight * squares(name, function) for weight, name, function in terms)
    return SCALE / step * sum(squared, ACTIVATION / count * excitation(body, who))


def limit_torques(tree: Tree, q: Any) -> Iterator[Any]:
    """Yield the torques (N m) that limit joints of legs and trunk at coordinates `q`, of the spine
    by its angles together."""
    angles: dict[str, Any] = {}
    for row, joint in enumerate(tree.moving):
        kind = _kind(joint.name)
        if kind in TORQUES:
            whole = kind if kind.startswith("spine") else joint.name
            angles[whole] = angles.get(whole, 0.0) + q[row]
    for name, angle in angles.items():
        sign, k1, k2, k3, k4, low, high = TORQUES[_kind(name)]
        yield k1 * ca.exp(k2 * (sign * angle - high)) + k3 * ca.exp(k4 * (sign * angle - low))


def _kind(name: str) -> str:
    """Return the kind of a joint: its name without side and number."""
    return name.removesuffix("_r").removesuffix("_l").translate(DIGITS)
