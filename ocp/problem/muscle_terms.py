"""Effort of muscles as objectives, and what their fibres and tendons do as outputs."""

from collections.abc import Callable, Sequence
from functools import partial

import casadi as ca

from ocp.mechanics.elements import Muscle
from ocp.mechanics.elements.forces import State
from ocp.mechanics.elements.joint_elements import graph_number
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.muscles.muscle import Fibre, muscles_of
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_type, positive
from ocp.problem.instant import Instant
from ocp.problem.objectives import integral, squares
from ocp.problem.terms import Objective

OF = {"excitation": "tau", "activation": "q"}
WEIGHTS = ("equal", "volume")
SQUARE = 2.0


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
    return _muscle(at.tree, name).fibres(_state(at))


def muscle_outputs(
    tree: Tree, words: str | Sequence[str] = ()
) -> dict[str, Callable[[Instant], Matrix]]:
    """Outputs of muscles, for `Problem.outputs`.

    Args:
        tree: the tree.
        words: names of muscles, or words in them; none for all.

    Returns:
        {"NAME fibre length", "NAME fibre velocity" (both as Fibre has them), "NAME tendon force"
        (N), "NAME power" (W, given to the bodies): function of the Instant}.
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
    return _muscle(at.tree, name).tension_force(_state(at))


def _power(at: Instant, name: str) -> Matrix:
    return -_muscle(at.tree, name).loss(_state(at))


QUANTITIES = {
    "fibre length": _length,
    "fibre velocity": _velocity,
    "tendon force": _force,
    "power": _power,
}


def _muscle(tree: Tree, name: str) -> Muscle:
    known = {each.name: each for each in muscles_of(tree)}
    if name not in known:
        raise ValueError(f"muscle {name!r}: none has that name; there are {', '.join(known)}")
    return known[name]


def _state(at: Instant) -> State:
    return State(tree=at.tree, q=at.q, qd=at.qd, known=at.moves)
