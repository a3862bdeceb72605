"""Exertion of a run: people's terms of walking, with the work of muscles behind tendons.

Work and force both cost: without force the cheapest run is a blow of the ground, without work the
force is flat and lasts (Schroeder & Kuo 2021, PLoS Comput Biol 17:e1009608).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ocp import Objective, Tree
from ocp.problems.gait.statement.objective_terms import SMOOTH, human_cost
from ocp.problems.gait.statement.objective_terms import WEIGHTS as WALKING
from ocp.spelling import suggest_fields

WORK, EXCITATION = "work", "excitation"  # names of terms
# Angular momentum has no weight: what people keep of it is known of walking
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {name: weight for name, weight in WALKING.items() if name not in ("momentum", WORK, EXCITATION)}
)
# N m/rad of the man of STATURE and MASS: how much torque stretches the tendons by an angle of the
# joint. Of triceps surae 250 to 400 at 100 N m, released quickly (Hof 1998), of ankles that sprint
# 7 N m/deg, whatever the speed (Kuitunen et al. 2002). Of the knee's extensors the 261 N m of this
# model over a stretch of 4 % at the greatest force (Arnold et al. 2013), of tendons of 0.12 m at
# 0.04 m from the joint [recalled].
TENDONS: Mapping[str, float] = MappingProxyType({"ankle_df": 400.0, "knee_flex": 2175.0})


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Weights of what running costs.

    `smooth`: weight of squared accelerations; `excitation`: that of muscles' excitation, squared;
    `work`: that of their work, both ways; `tendons`: those of ankles and knees stretch, and what
    they give back costs nothing.
    """

    smooth: float = SMOOTH
    excitation: float = 0.1
    work: float = 0.8
    tendons: bool = True


def run_cost(body: Tree, who: Mapping[str, Any], effort: Effort) -> Objective:
    """Return the cost of running: the terms of a walk by its weights, but for those of `effort`.

    `who` tells stature (m) and mass (kg).
    """
    weights = {EXCITATION: effort.excitation} | dict(WEIGHTS) | {WORK: effort.work}
    return human_cost(body, who, effort.smooth, weights, TENDONS if effort.tendons else {})
