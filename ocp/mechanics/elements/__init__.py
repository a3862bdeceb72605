"""Force elements as data of a tree: what acts on its joints, and between its points, by itself."""

from typing import TypeAlias

from ocp.mechanics.elements.activation import Activation
from ocp.mechanics.elements.coupled_passive_moments import PassiveMoment
from ocp.mechanics.elements.drive_strength import Strength, TorqueSpeed, Voluntary
from ocp.mechanics.elements.element_states import StateVariable
from ocp.mechanics.elements.joint_elements import (
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    Spring,
)
from ocp.mechanics.elements.passive_forces import Deflections, PassiveForce
from ocp.mechanics.elements.tendons import Strut, Tendon
from ocp.mechanics.muscles.mujoco_muscle import MujocoMuscle
from ocp.mechanics.muscles.muscle import Muscle

# Each has check(tree); and of a State torques, {row of q: N m or N}, what is stored (J), its loss
# (W).
Force: TypeAlias = (
    Armature
    | Bumper
    | CurvedSpring
    | Damper
    | Friction
    | MujocoMuscle
    | Muscle
    | PassiveForce
    | PassiveMoment
    | Spring
    | Strut
    | Tendon
)
Drive: TypeAlias = Activation | Strength | TorqueSpeed  # which has check(tree)
Element: TypeAlias = Force | Drive
FORCE_KINDS = (
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    MujocoMuscle,
    Muscle,
    PassiveForce,
    PassiveMoment,
    Spring,
    Strut,
    Tendon,
)
KINDS = (*FORCE_KINDS, Activation, Strength, TorqueSpeed)

__all__ = [
    "FORCE_KINDS",
    "KINDS",
    "Activation",
    "Armature",
    "Bumper",
    "CurvedSpring",
    "Damper",
    "Deflections",
    "Drive",
    "Element",
    "Force",
    "Friction",
    "MujocoMuscle",
    "Muscle",
    "PassiveForce",
    "PassiveMoment",
    "Spring",
    "StateVariable",
    "Strength",
    "Strut",
    "Tendon",
    "TorqueSpeed",
    "Voluntary",
]
