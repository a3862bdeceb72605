"""What holds the root link of a model: nothing that moves, all ways, or those of a plane."""

from collections.abc import Collection, Sequence
from typing import Any

from ocp.mechanics.model.joints import GROUND, Joint, fixed, free, revolute, slides_along
from ocp.mechanics.model.tree import Link

BASES = ("fixed", "free", "planar")
FORWARD, ASIDE, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
Row = tuple[list[Joint], list[Link]]


def base_row(kind: str, link: Link, joints: Collection[str], links: Collection[str]) -> Row:
    """Return the joints of a base, and the links that they carry, the last the root `link`.

    "fixed" is rigid; without drives "free" has three slides and a ball, "planar" slides along x and
    z and a turn about y. They are called "base_x" and so on, the last "base", with more underscores
    where the names of other `joints` and `links` want it. Raises ValueError for another kind.
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
    return in_plane(name, GROUND, {"x": FORWARD, "z": UP}, ASIDE)


def in_plane(
    name: str,
    parent: str,
    slides: dict[str, Any],
    axis: Sequence[float],
    home: Any = (0.0, 0.0, 0.0),
) -> list[Joint]:
    """Return two slides along directions, called by their letters, and the turn about the axis
    across them, that nothing drives."""
    joints = slides_along(name, parent, home, slides, actuated=False)
    return [*joints, revolute(name, joints[-1].name, axis=axis, actuated=False)]
