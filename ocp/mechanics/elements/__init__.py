"""Force elements as data of a tree: what acts on its joints, and between its points, by itself."""

from typing import TypeAlias

from ocp.mechanics.elements.of_joints import (
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    Spring,
)
from ocp.mechanics.elements.of_paths import Strut, Tendon
from ocp.mechanics.elements.passive import PassiveMoment

# Each has check(tree); and of a State torques, {row of q: N m or N}, what is stored (J), its loss
# (W).
Element: TypeAlias = (
    Armature | Bumper | CurvedSpring | Damper | Friction | PassiveMoment | Spring | Strut | Tendon
)
KINDS = (
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    PassiveMoment,
    Spring,
    Strut,
    Tendon,
)

__all__ = [
    "KINDS",
    "Armature",
    "Bumper",
    "CurvedSpring",
    "Damper",
    "Element",
    "Friction",
    "PassiveMoment",
    "Spring",
    "Strut",
    "Tendon",
]
