"""Exertion of a run: people's terms of walking, with the work of muscles behind tendons.

Work and force both cost: without force the cheapest run is a blow of the ground, without work the
force is flat and lasts (Schroeder & Kuo 2021, PLoS Comput Biol 17:e1009608).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ocp import Objective, Tree
from ocp.problems.gait.statement.objective_terms import STIFF, human_cost
from ocp.spelling import suggest_fields

# N m/rad of the man of STATURE and MASS: how much torque stretches the tendons by an angle of the
# joint. Of triceps surae 250 to 400 at 100 N m, released quickly (Hof 1998), of ankles that sprint
# 7 N m/deg, whatever the speed (Kuitunen et al. 2002). Of the knee's extensors the 261 N m of this
# model over a stretch of 4 % at the greatest force (Arnold et al. 2013), of tendons of 0.12 m at
# 0.04 m from the joint [recalled].
TENDONS: Mapping[str, float] = MappingProxyType({"ankle_df": 400.0, "knee_flex": 2175.0})
# Angular momentum has no weight: what people keep of it is known of walking
RUNNING = replace(STIFF, excitation=0.1, momentum=0.0, tendons=TENDONS)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Weights of what running costs.

    `smooth`: weight of squared accelerations; `excitation`: that of muscles' excitation, squared;
    `work`: that of their work, both ways; `tendons`: those of ankles and knees stretch, and what
    they give back costs nothing.
    """

    smooth: float = RUNNING.smoothness
    excitation: float = RUNNING.excitation
    work: float = RUNNING.work
    tendons: bool = True


def run_cost(body: Tree, who: Mapping[str, Any], effort: Effort) -> Objective:
    """Return the cost of running: the terms of a walk by its weights, but for those of `effort`.

    `who` tells stature (m) and mass (kg).
    """
    own = {"smoothness": effort.smooth, "excitation": effort.excitation, "work": effort.work}
    cost = replace(RUNNING, **own, tendons=RUNNING.tendons if effort.tendons else {})
    return human_cost(body, who, cost)
