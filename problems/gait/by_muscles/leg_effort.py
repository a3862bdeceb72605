"""Cost of legs that muscles move: what the cost of human motion counts there of joints.

Excitations and work weigh as those of joints do in `human_cost`, by volume and over weight times
metres at 1 m/s, so that no weight is of muscles alone. In the place of fibres' work metabolic
energy may stand by any law, times the efficiency of work.
"""

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from ocp import Instant, Objective, Tree, integral
from ocp.mechanics import body_weight, expression_of, is_open, nominal
from ocp.mechanics.muscles import Muscle, muscles_of
from ocp.models.human import volumes
from ocp.models.human.muscles.leg_muscles import LITRE, TENSION
from ocp.problem import LAWS, fibre_of, metabolic_powers, muscle_effort
from ocp.problems.gait.card.energy import SHORTENING
from ocp.problems.gait.statement.objective_terms import IDLE, WALKING, HumanCost

EXCITATIONS, WORK, ENERGY = "excitations of muscles", "work of muscles", "energy of muscles"


def leg_effort(
    tree: Tree, body: Tree, who: Mapping[str, Any], spare: str, cost: HumanCost = WALKING
) -> Objective:
    """Return the cost of legs that muscles move.

    Args:
        tree: the body with its muscles.
        body: the same by torques, of whose joints the cost of human motion is.
        who: stature (m), mass and muscles (kg), as `somebody` tells.
        spare: beside excitations "work" of fibres, or metabolic energy by one of LAWS, or
            "excitation" for nothing else.
        cost: weights of human motion.

    Returns:
        The Objective (s).
    """
    mean = mean_volume(body, who)
    known = muscles_of(tree)
    total = sum(float(nominal(each.volume)) for each in known) / (TENSION * LITRE)
    effort = cost.excitation * total / mean * muscle_effort(tree, weights="volume")
    if spare in LAWS:
        weight = _weight(tree)
        spent = integral(ENERGY, lambda at: ca.sum1(metabolic_powers(at, spare)) / weight)
        return effort + cost.work * SHORTENING * spent
    if spare == "work":
        return effort + cost.work * integral(WORK, _fibre_work(tree, mean))
    return effort


def mean_volume(body: Tree, who: Mapping[str, Any]) -> float:
    """Return the mean volume (cm3) of the muscles that turn a joint one way, over all joints."""
    pairs = volumes(body, who["stature"], who["muscles"]).values()
    return float(np.mean([float(nominal(each)) for pair in pairs for each in pair]))


def _fibre_work(tree: Tree, mean: float) -> Callable[[Instant], Any]:
    """Return the function of an Instant that gives the work of active fibres, both ways, over the
    weight; the size of a power is rounded within that of a joint by the muscle's volume over the
    `mean` of joints."""
    known, weight = muscles_of(tree), _weight(tree)

    def size(at: Instant, each: Muscle) -> Any:
        fibre = fibre_of(at, each.name)
        speed = fibre.velocity * each.fastest * nominal(each.fibre)
        power = nominal(each.force) * fibre.active * speed / weight
        idle = IDLE * (float(nominal(each.volume)) / (TENSION * LITRE * mean)) ** 2
        return ca.sqrt(power**2 + idle) - idle**0.5

    return lambda at: sum((size(at, each) for each in known), 0.0)


def _weight(tree: Tree) -> Any:
    weight = body_weight(tree)
    return expression_of(weight) if is_open(weight) else weight
