"""Mechanisms as values: joints, trees, loads, loops, bending links, and how all of it moves."""

from typing import TYPE_CHECKING

from ocp.later import later
from ocp.mechanics.checks import frozen, numbers
from ocp.mechanics.closure import close, close_accelerations, close_rates
from ocp.mechanics.coordinates import Follows, Polynomial, attitude, polynomial
from ocp.mechanics.cuts import Loop
from ocp.mechanics.elements import (
    Activation,
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    PassiveMoment,
    Spring,
    Strength,
    Strut,
    Tendon,
    TorqueSpeed,
    Voluntary,
)
from ocp.mechanics.elements.forces import (
    State,
    armatures,
    elastic_energy,
    element_loss,
    element_torques,
    forces_of,
    powers_by_element,
    torques_by_element,
)
from ocp.mechanics.following import through
from ocp.mechanics.joints import (
    GROUND,
    Joint,
    ball,
    dh,
    fixed,
    free,
    planar,
    prismatic,
    revolute,
    screw,
    universal,
)
from ocp.mechanics.kinematics import (
    acceleration,
    center_of_mass,
    jacobian,
    jacobian_at,
    kinetic_energy,
    load_power,
    momentum,
    motions,
    offset,
    orientation,
    place_of,
    point_motion,
    poses,
    position,
    positions,
    potential_energy,
    velocity,
    wrench_torques,
)
from ocp.mechanics.loads import Load, Wrench, acting, attached
from ocp.mechanics.locking import locked
from ocp.mechanics.logarithm import (
    between,
    exp_rotation,
    exp_twist,
    log_pose,
    log_rotation,
    quaternion,
    relative,
)
from ocp.mechanics.modes import Curve, Modes, Place, damped, stiffened
from ocp.mechanics.parameters import (
    Open,
    Parameter,
    array,
    closed,
    matrix,
    parameters_of,
    reference,
    some,
)
from ocp.mechanics.rigid import Motion, joint_pose
from ocp.mechanics.spatial import dh_pose, rotate_x, rotate_y, rotate_z, translate
from ocp.mechanics.stays import Stay, cable, slot, stop
from ocp.mechanics.structure import Structure, structure
from ocp.mechanics.tree import Link, Point, Tree, inward, outward
from ocp.mechanics.types import Matrix
from ocp.mechanics.visuals import Visual
from ocp.mechanics.zero_moment import body_weight, hull, resultant, tangents

if TYPE_CHECKING:
    from ocp.mechanics.beams import Beam, Body, assumed_modes, modes_of
    from ocp.mechanics.shapes import Shape

__all__ = [
    "GROUND",
    "Activation",
    "Armature",
    "Beam",
    "Body",
    "Bumper",
    "Curve",
    "CurvedSpring",
    "Damper",
    "Follows",
    "Friction",
    "Joint",
    "Link",
    "Load",
    "Loop",
    "Matrix",
    "Modes",
    "Motion",
    "Open",
    "Parameter",
    "PassiveMoment",
    "Place",
    "Point",
    "Polynomial",
    "Shape",
    "Spring",
    "State",
    "Stay",
    "Strength",
    "Structure",
    "Strut",
    "Tendon",
    "TorqueSpeed",
    "Tree",
    "Visual",
    "Voluntary",
    "Wrench",
    "acceleration",
    "acting",
    "armatures",
    "array",
    "assumed_modes",
    "attached",
    "attitude",
    "ball",
    "between",
    "body_weight",
    "cable",
    "center_of_mass",
    "close",
    "close_accelerations",
    "close_rates",
    "closed",
    "damped",
    "dh",
    "dh_pose",
    "elastic_energy",
    "element_loss",
    "element_torques",
    "exp_rotation",
    "exp_twist",
    "fixed",
    "forces_of",
    "free",
    "frozen",
    "hull",
    "inward",
    "jacobian",
    "jacobian_at",
    "joint_pose",
    "kinetic_energy",
    "load_power",
    "locked",
    "log_pose",
    "log_rotation",
    "matrix",
    "modes_of",
    "momentum",
    "motions",
    "numbers",
    "offset",
    "orientation",
    "outward",
    "parameters_of",
    "place_of",
    "planar",
    "point_motion",
    "polynomial",
    "poses",
    "position",
    "positions",
    "potential_energy",
    "powers_by_element",
    "prismatic",
    "quaternion",
    "reference",
    "relative",
    "resultant",
    "revolute",
    "rotate_x",
    "rotate_y",
    "rotate_z",
    "screw",
    "slot",
    "some",
    "stiffened",
    "stop",
    "structure",
    "tangents",
    "through",
    "torques_by_element",
    "translate",
    "universal",
    "velocity",
    "wrench_torques",
]

# Beams and their shapes load when they are first asked for.
__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.mechanics.beams": ("Beam", "Body", "assumed_modes", "modes_of"),
        "ocp.mechanics.shapes": ("Shape",),
    },
)
