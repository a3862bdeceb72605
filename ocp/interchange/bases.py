"""What holds the root link of a model: nothing that moves, all six ways, or those of a plane."""

from collections.abc import Collection, Sequence

from ocp.mechanics.joints import GROUND, Joint, fixed, prismatic, revolute
from ocp.mechanics.tree import Link

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SLIDES, TURNS = {"x": X, "y": Y, "z": Z}, {"yaw": Z, "pitch": Y, "roll": X}
BASES = {  # the coordinates of a base by its kind
    "fixed": (),
    "free": ("x", "y", "z", "yaw", "pitch", "roll"),
    "planar": ("x", "z", "pitch"),
}
Row = tuple[list[Joint], list[Link]]


def base_row(kind: str, link: Link, taken: Collection[str]) -> Row:
    """Return the joints of a base, and the links that they carry, the last the root `link`.

    "fixed" is rigid, "free" slides along x, y, z and turns by yaw, pitch and roll about z, y, x,
    "planar" slides along x and z and turns about y. Its names begin with "base", and with more
    where that is `taken`. Raises ValueError for another kind.
    """
    if kind not in BASES:
        raise ValueError(f"base: expected one of {', '.join(BASES)}, got {kind!r}")
    name = "base"
    while name in taken or any(other.startswith(f"{name}.") for other in taken):
        name += "_"
    if not BASES[kind]:
        return [fixed(name)], [link]
    return floating(name, GROUND, link, BASES[kind])


def floating(
    name: str, parent: str, link: Link, ways: Sequence[str], home: object = (0.0, 0.0, 0.0)
) -> Row:
    """Return the undriven joints along and about some `ways`, named like "base.x", and their links:
    the last is the one given, those before it have no mass."""
    joints: list[Joint] = []
    for way in ways:
        make = prismatic if way in SLIDES else revolute
        joints.append(
            make(
                f"{name}.{way}",
                joints[-1].name if joints else parent,
                axis=SLIDES.get(way) or TURNS[way],
                home=(0.0, 0.0, 0.0) if joints else home,
                actuated=False,
            )
        )
    return joints, [Link()] * (len(joints) - 1) + [link]
