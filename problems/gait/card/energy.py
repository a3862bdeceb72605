"""Energy of a gait: an estimate from the drives' work, beside measured walking.

Muscles pay for work by their efficiencies, shortening 0.25 and lengthening -1.20 (Margaria 1968
[quoted]). Each joint for itself is the upper of two estimates: no energy goes from one to another.
In the lower one the joints of a limb share it, as muscles across two joints let them. Muscles that
are elements of the body spend what Bhargava's law of 2004 says, and joints that they move what the
torques beside them do.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

MINUTE, CALORIE = 60.0, 4.184  # s, J
SHORTENING, LENGTHENING = 0.25, -1.20
# The energy of walking on the level with rest is a linear function of the speed's square, in
# cal/kg/min 29 + 0.0053 v^2, v in m/min (Ralston 1958 [quoted]). Beyond rest, 3.5 ml of oxygen a
# minute for each kg, it takes 0.1 ml for each m/min (American College of Sports Medicine's walking
# equation); a ml of oxygen gives 20.1 J, as of mixed food.
RALSTON = (29.0, 0.0053)
REST, WALKING, OXYGEN = 3.5, 0.1, 20.1
LIMBS = {"leg": ("hip_", "knee_", "ankle_", "toe_"), "arm": ("clav_", "shou_", "elb_", "wri_")}
SOURCE = (
    "an estimate: drives' work over 0.25, negative over -1.2 (Margaria 1968 [quoted]), each joint "
    "for itself or limbs together; people: Ralston 1958 [quoted], rest by the ACSM's equation"
)


def metabolic(
    names: Iterable[str],
    power: np.ndarray,
    weights: np.ndarray,
    mass: float,
    speed: float,
    muscles: float = 0.0,
) -> dict[str, Any]:
    """Return the estimates, plain data: of joints by their `names` and the drives' `power` (n, M;
    W) over a cycle of which samples stand for the shares `weights` (M,).

    `mass` (kg) is the person's, `speed` (m/s) that of walking, `muscles` what those spend that are
    elements (W). `net_W_kg` is each joint for itself, `shared_W_kg` with limbs that share, both
    with muscles, and `muscles_W_kg` these alone.
    """
    net = (burnt(power, weights) + muscles) / mass
    shared = (burnt(np.array([*_limbs(names, power)]), weights) + muscles) / mass
    resting, walking = (each * OXYGEN / MINUTE for each in (REST, WALKING * MINUTE * speed))
    usual = (RALSTON[0] + RALSTON[1] * (MINUTE * speed) ** 2) * CALORIE / MINUTE
    return {
        "net_W_kg": net,
        "net_J_kg_m": net / speed,
        "shared_W_kg": shared,
        "shared_J_kg_m": shared / speed,
        "muscles_W_kg": muscles / mass,
        "rest_W_kg": resting,
        "level_walking_W_kg": walking,
        "level_walking_with_rest_W_kg": usual,
        "source": SOURCE,
    }


def burnt(power: np.ndarray, weights: np.ndarray) -> float:
    """Return the mean metabolic power (W) of several mechanical ones (n, M; W), each for itself."""
    done, taken = (np.maximum(way * power, 0.0).sum(axis=0) @ weights for way in (1, -1))
    return float(done / SHORTENING + taken / -LENGTHENING)


def _limbs(names: Iterable[str], power: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the powers (M,) of legs and arms, and of every other joint."""
    places = [_limb(name) for name in names]
    for place in dict.fromkeys(places):
        yield power[[each == place for each in places]].sum(axis=0)


def _limb(name: str) -> str:
    """Return which limb a joint is of, by kind and side; its own name if it is of none."""
    kinds = (kind for kind, starts in LIMBS.items() if name.startswith(starts))
    return next((f"{kind}{name[-2:]}" for kind in kinds), name)
