"""Joints between the ground and the root link of a model: fixed, free or planar."""

from collections.abc import Collection, Mapping, Sequence

from numpy.typing import ArrayLike

from ocp.mechanics.model.joints import GROUND, Joint, fixed, free, make_slides, revolute
from ocp.mechanics.model.tree import Link

BASES = ("fixed", "free", "planar")
FORWARD, ASIDE, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
Row = tuple[list[Joint], list[Link]]


def base_joints(kind: str, link: Link, joints: Collection[str], links: Collection[str]) -> Row:
    """Return the joints of a base, and the links that they carry, the last the root `link`.

    They are called "base_x" and so on, the last "base", with more underscores where other names
    want
    it; nothing drives them.

    Args:
        kind: "fixed"; "free", three slides and a ball; or "planar", slides along x and z and a turn
            about y.
        link: root of the model.
        joints, links: names that are taken.

    Raises:
        ValueError: another kind.
    """
    if kind not in BASES:
        raise ValueError(f"base: expected one of {', '.join(BASES)}, got {kind!r}")
    name = "base"
    while True:
        row = _rows(kind, name)
        names = [each.name for each in row]
        if not {*names, f"{name}.w"} & {*joints} and not {*names[:-1]} & {*links}:
            return row, [Link()] * (len(row) - 1) + [link]
        name += "_"


def _rows(kind: str, name: str) -> list[Joint]:
    if kind == "fixed":
        return [fixed(name)]
    if kind == "free":
        return list(free(name))
    return planar_joints(name, GROUND, {"x": FORWARD, "z": UP}, ASIDE)


def planar_joints(
    name: str,
    parent: str,
    slides: Mapping[str, Sequence[float]],
    axis: Sequence[float],
    home: ArrayLike = (0.0, 0.0, 0.0),
) -> list[Joint]:
    """Return two slides and the turn about the axis across them, which nothing drives.

    Args:
        name: of the turn.
        parent: link that carries them.
        slides: {letter: direction (3,)}.
        axis: of the turn (3,).
        home: of the first slide in its parent: a place (3, m) or a pose (4x4).
    """
    joints = make_slides(name, parent, home, slides, actuated=False)
    return [*joints, revolute(name, joints[-1].name, axis=axis, actuated=False)]
