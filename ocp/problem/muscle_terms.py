"""Effort and metabolic power of muscles, what fibres and tendons do, and what joints bear."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import casadi as ca

from ocp.mechanics.elements import Muscle
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.elements.joint_elements import graph_number
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.muscles.force_curves import active_force
from ocp.mechanics.muscles.metabolics import (
    Energetics,
    FibreState,
    bhargava_2004,
    uchida_2016,
    umberger_2003,
    umberger_2010,
)
from ocp.mechanics.muscles.muscle import Fibre, muscles_of
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_type, positive
from ocp.problem.instant import Instant, link_motions
from ocp.problem.objectives import Objective, integral, squares

OF = {"excitation": "tau", "activation": "q"}
WEIGHTS = ("equal", "volume")
SQUARE = 2.0
LAWS: Mapping[str, Callable[[FibreState, Energetics], Matrix]] = {
    **{each.__name__: each for each in (bhargava_2004, umberger_2003, umberger_2010, uchida_2016)},
    "bhargava_by_force": partial(bhargava_2004, force_dependent=True, negative_work=False),
}


def muscle_effort(
    tree: Tree,
    of: str = "excitation",
    *,
    power: float = SQUARE,
    weights: str = "equal",
    words: str | Sequence[str] = (),
    joint: str = "",
) -> Objective:
    """Effort of muscles: the integral of the sum of w x^p.

    Args:
        tree: the tree.
        of: "excitation" or "activation", which x is.
        power: p, above 0.
        weights: "equal", w = 1, or "volume", a muscle's share in the volume of all that count.
        words: names of muscles, or words in them; none for all.
        joint: a coordinate that they cross; "" for any.

    Returns:
        The Objective (s); a sum of squares where p is 2.

    Raises:
        ValueError: for a tree without such muscles, or an unknown quantity or weight.
    """
    check_type("muscle_effort: tree", tree, Tree)
    power = positive("muscle_effort: power", power)
    for what, value, choices in (("of", of, OF), ("weights", weights, WEIGHTS)):
        if value not in choices:
            raise ValueError(
                f"muscle_effort: {what}: expected one of {', '.join(choices)}, got {value!r}"
            )
    chosen = muscles_of(tree, words, joint=joint)
    if not chosen:
        raise ValueError("muscle_effort: the tree has no muscles")
    rows = [tree.coordinate(f"{each.name}.activation") for each in chosen]
    shares = matrix(_shares(chosen, weights))
    name = f"{of}s of muscles"
    if power == SQUARE:
        return squares(name, lambda at: ca.sqrt(shares) * getattr(at, OF[of])[rows])
    return integral(name, lambda at: ca.dot(shares, getattr(at, OF[of])[rows] ** power))


def _shares(chosen: Sequence[Muscle], weights: str) -> list[Matrix]:
    if weights == WEIGHTS[0]:
        return [1.0] * len(chosen)
    volumes = [graph_number(each.volume) for each in chosen]
    return [volume / sum(volumes) for volume in volumes]


def fibre_of(at: Instant, name: str) -> Fibre:
    """Lengths, velocities and forces of a muscle's fibres at an instant.

    Args:
        at: the instant.
        name: of the muscle.

    Returns:
        The Fibre; lengths are over the optimal one, forces over the largest.

    Raises:
        ValueError: for a name that no muscle has.
    """
    return _fibres(_muscle(at.tree, name), _state(at))


def metabolic_powers(
    at: Instant,
    law: str = "bhargava_2004",
    *,
    words: str | Sequence[str] = (),
) -> Matrix:
    """Metabolic power of muscles at an instant, for objectives and outputs.

    Args:
        at: the instant.
        law: one of `LAWS`, with the rounded maxima of `Smoothing`; bhargava_by_force is that of
            2004 with heat of shortening by force and no work given back, as PredSim has it.
        words: names of muscles, or words in them; none for all.

    Returns:
        Powers (m,), W, in the order of the tree's elements; `basal_rate` comes beside them.

    Raises:
        ValueError: for an unknown law, or words that are in no muscle's name.
    """
    if law not in LAWS:
        raise ValueError(f"metabolic_powers: law: expected one of {', '.join(LAWS)}, got {law!r}")
    powers = [_power_spent(at, each, law) for each in muscles_of(at.tree, words)]
    return ca.vertcat(ca.DM(0, 1), *powers)


def _power_spent(at: Instant, muscle: Muscle, law: str) -> Matrix:
    """Return the metabolic power (W) of one muscle."""
    state, row = _fibres(muscle, _state(at)), at.tree.coordinate(f"{muscle.name}.activation")
    force, length = graph_number(muscle.force), graph_number(muscle.fibre)
    fibre = FibreState(
        excitation=at.tau[row],
        activation=at.q[row],
        length=state.length,
        velocity=state.velocity * muscle.fastest * length,
        active=state.active * force,
        passive=state.passive * force,
        isometric=active_force(state.length, muscle.width),
    )
    energetics = Energetics(
        force=muscle.force,
        length=muscle.fibre,
        max_velocity=muscle.fastest,
        tension=muscle.stress,
        slow_twitch=muscle.slow_twitch,
    )
    return LAWS[law](fibre, energetics)


def joint_contact_force(at: Instant, joint: str) -> Matrix:
    """Force that a joint passes to its link beside the muscles, ligaments and tendons that cross
    it: what its surfaces bear.

    Args:
        at: the instant.
        joint: name of the joint.

    Returns:
        The force (3,), N, in the axes of the joint's link.

    Raises:
        ValueError: for a joint that there is not, and naming muscles whose course in space is not
            known.
    """
    names = [each.name for each in muscles_of(at.tree) if each.line is None]
    if names:
        raise ValueError(
            f"joint_contact_force: no course in space is known of muscles {', '.join(names)}; "
            "expected a PointPath, or a `course` beside another path"
        )
    return at.reactions[1][:, at.tree.link_index(joint)]


def muscle_outputs(
    tree: Tree, words: str | Sequence[str] = ()
) -> dict[str, Callable[[Instant], Matrix]]:
    """Outputs of muscles, for `Problem.outputs`.

    Args:
        tree: the tree.
        words: names of muscles, or words in them; none for all.

    Returns:
        {"NAME fibre length", "NAME fibre velocity" (both as Fibre has them), "NAME tendon force"
        (N), "NAME power" (W, given to the bodies), "NAME metabolic power" (W, after Bhargava
        2004): function of the Instant}.
    """
    outputs: dict[str, Callable[[Instant], Matrix]] = {}
    for each in muscles_of(tree, words):
        for what, function in QUANTITIES.items():
            outputs[f"{each.name} {what}"] = partial(function, name=each.name)
    return outputs


def _length(at: Instant, name: str) -> Matrix:
    return fibre_of(at, name).length


def _velocity(at: Instant, name: str) -> Matrix:
    return fibre_of(at, name).velocity


def _force(at: Instant, name: str) -> Matrix:
    muscle, state = _muscle(at.tree, name), _state(at)
    return muscle.tension_force(state, _fibres(muscle, state).pull)


def _power(at: Instant, name: str) -> Matrix:
    muscle, state = _muscle(at.tree, name), _state(at)
    pull = muscle.tension_force(state, _fibres(muscle, state).pull)
    slope = muscle.path.slope(state)
    return -pull * sum((each * at.qd[row] for row, each in slope.items()), 0.0)


def _metabolic_power(at: Instant, name: str) -> Matrix:
    return _power_spent(at, _muscle(at.tree, name), "bhargava_2004")


QUANTITIES = {
    "fibre length": _length,
    "fibre velocity": _velocity,
    "tendon force": _force,
    "power": _power,
    "metabolic power": _metabolic_power,
}


def _muscle(tree: Tree, name: str) -> Muscle:
    known = {each.name: each for each in muscles_of(tree)}
    if name not in known:
        raise ValueError(f"muscle {name!r}: none has that name; there are {', '.join(known)}")
    return known[name]


def _state(at: Instant) -> State:
    return _state_of(at.tree, at.q, at.qd)


@memoize(4)
def _state_of(tree: Tree, q: Matrix, qd: Matrix) -> State:
    return State(tree=tree, q=q, qd=qd, known=link_motions(tree, q, qd))


@memoize(1)  # the outputs of a muscle ask for them one after another
def _fibres(muscle: Muscle, state: State) -> Fibre:
    return muscle.fibres(state)
