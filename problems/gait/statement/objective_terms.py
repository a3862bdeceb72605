"""Cost of human motion: effort and discomfort over what people have, by one record of weights.

Weights are round numbers, found by hand with the curves of Winter, Fukuchi, Falisse and Schwartz
at hand: these are no test of them. What each does is told by `python -m problems.compare_walks`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any

import casadi as ca

from ocp import Instant, Objective, Strength, Tree, integral, smoothness, squares
from ocp.mechanics import body_weight, expression_of, forces_of, is_open, nominal
from ocp.mechanics.muscles import Muscle, muscles_of
from ocp.models.human import MASS, STATURE, capacity, human, relative_strength, volumes
from ocp.problems.gait.statement.walking_task import PERCENTILE

HEAD = "head"
OF_TORQUES = "excitation", "passive", "arms"  # terms whose torques count over strength
ACHILLES: Mapping[str, float] = MappingProxyType({"ankle_df": 250.0})


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCost:
    """Weights of what people spare, by name of its term, and tendons behind which muscles work.

    Attributes:
        excitation: of muscles' excitation, squared [assumed].
        passive: of tissue's torques, as Falisse et al. (2019) weigh them beside muscles.
        work: of muscles' work, both ways [assumed].
        upright: of leans of trunk and shoulders [assumed].
        posture: of turns of the pelvis, and of arms about themselves [assumed].
        arms: of torques of shoulders and elbows [assumed; Falisse et al. weigh them high].
        momentum: of angular momentum [assumed].
        head: of nods of neck and head [assumed].
        smoothness: of accelerations, which Falisse et al. cost too [recalled; weight assumed].
        tendons: {joint: stiffness (N m/rad)} of what stretches in series with its muscles, of the
            man of STATURE and MASS; by default triceps surae's, which is 250 to 400 at 100 N m
            (Hof 1998).
    """

    excitation: float = 0.5
    passive: float = 1.0
    work: float = 0.8
    upright: float = 0.08
    posture: float = 0.005
    arms: float = 0.05
    momentum: float = 0.03
    head: float = 0.02
    smoothness: float = 0.03
    tendons: Mapping[str, float] = field(default_factory=lambda: ACHILLES)


WALKING = HumanCost()
# On both feet: upright trunks and heads and small momentum are known of walking alone
STANDING = replace(WALKING, upright=0.0, momentum=0.0, head=0.0)
# Without tendons and an upright head, less smooth: of the objective human, on whose 10 points it
# was found, and of running
STIFF = HumanCost(arms=0.2, momentum=0.007, head=0.0, smoothness=0.0025, tendons={})
# s: between a muscle's excitation and its force, the geometric mean of 15 ms on and 60 ms off, as
# Falisse et al. (2019) have
ACTIVATION = 0.03
ROUNDED = 1.0  # N m, of the man of STATURE: within which it is rounded which of two muscles acts
IDLE = 1e-3  # of weight times 1 m/s, squared: over which the size of power is rounded
LEAN = 0.0873  # rad: 5 degrees, about twice what trunks lean in walking (Chung 2010)
TWIST = 0.5  # rad: how far arms turn about themselves [assumed]
RELAXED = 10.0  # N m, of the man of STATURE as strong as usual: about what holds an arm level
# Of mass, the height of the centre of mass and speed: angular momenta of people who walk stay
# within a few hundredths of that (Herr & Popovic 2008); height over the legs' 0.93 m [assumed]
MOMENTUM, HEIGHT, SPEED = 0.02, 0.9, 1.2


def human_cost(body: Tree, who: Mapping[str, Any], cost: HumanCost = WALKING) -> Objective:
    """Return the cost of a human motion: the terms of this module by their weights in the `cost`,
    those of none left out. `who` tells stature (m), mass (kg) and that of muscles (kg), as
    `somebody` does.

    What torques cost counts over strength, which is as the square of `need`: whatever else is
    spared is weighed by that square too, or the weak and the heavy would spare their muscles alone.
    """
    terms: dict[str, Callable[[], Objective]] = {
        "excitation": lambda: excitation(body, who),
        "passive": lambda: passive_share(body),
        "work": lambda: mechanical_work(body, who, cost.tendons),
        "upright": lambda: squares("upright", _leans),
        "posture": lambda: posture(body),
        "arms": lambda: arm_torques(body),
        "momentum": lambda: momentum(body),
        HEAD: lambda: squares(HEAD, _nods),
    }
    beside = need(body, who) ** 2
    total = beside * cost.smoothness * smoothness(body)
    for name, term in terms.items():
        weight = getattr(cost, name)
        if weight:
            total = total + (weight if name in OF_TORQUES else beside * weight) * term()
    return total


def need(body: Tree, who: Mapping[str, Any]) -> Any:
    """Return the share of strength that it takes somebody to bear the own body, over the usual
    man's: mass times stature over strength, that of the middle one of the driven joints in order of
    it, each over his: who has one weak joint is not weak."""

    def share(name: str) -> float:
        own = (nominal(capacity(body, name, way)) for way in (1, -1))
        return sum(own) / sum(capacity(_usual_man(), name, way) for way in (1, -1))

    driven = sorted(_driven(body), key=share)
    middle = driven[len(driven) // 2]
    strength = relative_strength(body, middle) / relative_strength(_usual_man(), middle)
    return _number(who["mass"]) * _number(who["stature"]) / (MASS * STATURE) / strength


@cache
def _usual_man() -> Tree:
    """Return the man of STATURE and MASS as strong as usual, all of whose joints move."""
    return human(frozen=(), passive=True, strength="angle", percentile=PERCENTILE)


def is_elastic(objective: Objective | None) -> bool:
    """Tell whether an objective is the cost of elastic people, who alone hold their heads."""
    return objective is not None and any(term.name == HEAD for _, term in objective.terms)


def excitation(body: Tree, who: Mapping[str, Any]) -> Objective:
    """Return the excitation of muscles, squared, by volume:

        integral of sum V (a^2 + (t_a a')^2) dt,   a = tau / what the acting side can at the angle

    over all driven joints that no muscle of the tree crosses, V over the mean volume of all. A
    muscle's force follows its excitation e by
    t_a a' = e - a, and over a cycle e^2 is a^2 + (t_a a')^2. Muscles' volumes are those of
    Handsfield et al. (2014); activation squared and weighted by them: Happee & van der Helm (1995)
    [recalled], Ackermann & van den Bogert (2010).
    """
    sizes = volumes(body, who["stature"], who["muscles"])
    numbers = [_number(each) for pair in sizes.values() for each in pair]
    mean = sum(numbers) / len(numbers)
    shares = {name: tuple(_number(each) / mean for each in pair) for name, pair in sizes.items()}
    able = {
        (name, way): isometric_strength(body, name, way)
        for name in _driven(body)
        for way in (1, -1)
    }
    rounded = ROUNDED * size(who)

    def spent(at: Instant) -> Any:
        total: Any = 0.0
        for name, row in _by_torque(at.tree).items():
            down, up = (
                share / able[name, way](at.q[row]) ** 2 for share, way in zip(shares[name], (-1, 1))
            )
            both, more = (up + down) / 2, (up - down) / 2
            tau, rate = at.tau[row], ACTIVATION * at.tau_rate[row]
            total += both * (tau**2 + rate**2) + more * tau * ca.sqrt(tau**2 + rounded**2)
        return total

    return integral("excitation", spent)


def passive_share(body: Tree) -> Objective:
    """Return the torque of tissue at driven joints over the strength of muscles there, squared:
    people do not hang in their ligaments (Falisse et al. 2019 cost it likewise)."""
    rows = _driven(body)
    most = ca.vertcat(
        *(
            ca.fmax(_number(capacity(body, name, 1)), _number(capacity(body, name, -1)))
            for name in rows
        )
    )
    tissue = [each.name for each in forces_of(body) if not isinstance(each, Muscle)]

    def shares(at: Instant) -> Any:
        more = len(forces_of(at.tree)) > len(tissue)  # muscles, or what is worn
        known = at.elements_named(*tissue) if more else at.elements
        return known[list(rows.values())] / most

    return squares("passive", shares)


def mechanical_work(
    body: Tree, who: Mapping[str, Any], tendons: Mapping[str, float] = MappingProxyType({})
) -> Objective:
    """Return the work of muscles at the driven joints, both ways, over weight times metres at 1
    m/s: muscles pay for work, positive and negative (Margaria 1968). Joints that muscles of the
    tree cross are left out.

    In series with a tendon of the stiffness k a muscle shortens by what its joint turns and what
    the tendon stretches: its power is tau (dq/dt + dtau/dt / k), of other joints tau dq/dt. What
    tendons give back costs nothing. The size of a power p is sqrt(p^2 + e) - sqrt(e).
    """
    weight = _number(body_weight(body))

    def work(at: Instant) -> Any:
        driven = _by_torque(at.tree)
        rows, stiffness = list(driven.values()), [tendons.get(name[:-2]) for name in driven]
        stretch = ca.vertcat(*(1 / (size(who) * k) if k else 0.0 for k in stiffness))
        shortening = at.qd[rows] + (stretch * at.tau_rate[rows] if any(stiffness) else 0.0)
        power = at.tau[rows] * shortening / weight
        return ca.sum1(ca.sqrt(power**2 + IDLE) - IDLE**0.5)

    return integral("work", work)


def _nods(at: Instant) -> Any:
    """Return the turns of neck and head from upright, to the left and forward, over LEAN."""
    neck = at.position("head_top") - at.position("C7T1")
    return ca.vertcat(ca.atan2(neck[0], neck[1]), ca.atan2(neck[2], neck[1])) / LEAN


def _leans(at: Instant) -> Any:
    """Return the turns of trunk and shoulders from upright and ahead, to the left, forward and
    about the vertical, over LEAN."""
    trunk = at.position("C7T1") - at.position("L5S1")
    across = at.position("shoulder_l") - at.position("shoulder_r")
    angles = ca.vertcat(
        ca.atan2(trunk[0], trunk[1]), ca.atan2(trunk[2], trunk[1]), ca.atan2(-across[2], across[0])
    )
    return angles / LEAN


def posture(body: Tree) -> Objective:
    """Return the turn of the pelvis, over LEAN, and of the arms about themselves, over TWIST,
    squared: both cost next to nothing in torques, and nobody walks with palms turned out."""
    most = {
        row: LEAN if joint.name.startswith("glob_r") else TWIST
        for row, joint in enumerate(body.moving)
        if joint.name.startswith(("glob_r", "shou_rot", "elb_pron"))
    }
    return squares("posture", lambda at: at.q[list(most)] / ca.DM(list(most.values())))


def arm_torques(body: Tree) -> Objective:
    """Return the torques of shoulders and elbows over RELAXED of the man, of others in proportion
    to their strength there, squared: arms hang (Falisse et al. 2019 weigh their arms' torques,
    over what drives can, far above muscles)."""
    arms = {name: row for name, row in _driven(body).items() if name.startswith(("shou_", "elb_"))}
    relaxed = ca.vertcat(*(RELAXED * relative_strength(body, name) for name in arms))
    return squares("arms", lambda at: at.tau[list(arms.values())] / relaxed)


def momentum(body: Tree) -> Objective:
    """Return the body's angular momentum about its centre of mass, over MOMENTUM of mass, height
    and speed, squared: people keep it small (Herr & Popovic 2008)."""
    mass = sum(_number(link.mass) for link in body.links)
    most = MOMENTUM * mass * HEIGHT * SPEED
    return squares("momentum", lambda at: at.angular_momentum / most)


def size(who: Mapping[str, Any]) -> Any:
    """Return the factor of somebody's torques beside those of the man of STATURE and MASS."""
    return _number(who["stature"]) / STATURE * _number(who["muscles"]) / MASS


def _driven(body: Tree) -> dict[str, int]:
    """Return {joint: row of q} of those with muscles, no states among them."""
    joints = body.moving[: body.dof - len(body.states)]
    return {joint.name: row for row, joint in enumerate(joints) if joint.actuated}


def _by_torque(body: Tree) -> dict[str, int]:
    """Return {joint: row of q} of those with muscles that act as torques, crossed by no muscle that
    is an element of the tree."""
    crossed = {joint for each in muscles_of(body) for joint in each.joints(body)}
    return {name: row for name, row in _driven(body).items() if name not in crossed}


def isometric_strength(body: Tree, joint: str, way: int) -> Callable[[Any], Any]:
    """Return the function of a joint's angle (rad) that gives what its muscles can there, at rest,
    in a direction (N m)."""
    for each in body.elements:
        if isinstance(each, Strength) and (each.joint, each.direction) == (joint, way):
            return lambda q, law=each.capacity: law(q, ca.SX(0))
    best = _number(capacity(body, joint, way))
    return lambda q: best


def _number(value: Any) -> Any:
    """Return a number, or the expression of one that is open."""
    return expression_of(value) if is_open(value) else value
