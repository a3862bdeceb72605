"""The statement of an optimal motion: what is asked, and nothing about how it is computed.

A `Problem` is a frozen value: tree, basis of the motion, duration, objective, constraints, loads,
ground, symmetry and outputs. Functions of an `Instant` say what is asked; `constraints`, `contact`,
`balance`, `avoidance` and `objectives` hold the usual ones. Wherever a record takes a number, it
takes a `Parameter` of `ocp.mechanics`, a named number that is given for each solve or free within
bounds; `validity` says what keeps the free ones sound. A motion of several phases states a `Phase`
for each, a part of the motion with a basis, duration, ground, constraints and objective of its own,
and links between them, each a `Transition`: `continuous`, `impact` or `link_constraint`.
"""

from ocp.problem.constraint import INSIDE, Constraint, Span
from ocp.problem.constraints.activations import drive_states
from ocp.problem.constraints.attitudes import attitude, unit_length
from ocp.problem.constraints.avoidance import apart, off_box, off_edges, off_sphere
from ocp.problem.constraints.ball_limits import ball_limits
from ocp.problem.constraints.limb_coupling import swing_together
from ocp.problem.constraints.limits_and_boundaries import (
    at_end,
    at_rest,
    at_start,
    jerk_limits,
    joint_limits,
    limits,
    path,
    torque_limits,
    torque_rate_limits,
    velocity_limits,
)
from ocp.problem.constraints.poses import (
    pose_along,
    pose_at_end,
    pose_at_start,
    pose_tracking,
    upright,
)
from ocp.problem.constraints.strength import STRENGTH, strength_limits
from ocp.problem.constraints.time_series import Curves, Series, curves
from ocp.problem.constraints.tracking import (
    angle_tracking,
    force_tracking,
    marker_tracking,
    match_markers,
    weight_roots,
)
from ocp.problem.contact.balance import (
    contact_limits,
    dissipation,
    friction,
    linear_split,
    pressure_inside,
    unilateral,
    zmp_inside,
)
from ocp.problem.contact.complementarity import (
    Complementarity,
    Touch,
    touch_labels,
    touch_size,
    touches,
)
from ocp.problem.contact.compliant import Compliant, Sphere
from ocp.problem.contact.contact_implicit_loads import contact_outputs, contacts
from ocp.problem.contact.contact_kinds import area_contact, line_contact, point_contact
from ocp.problem.contact.feet import along, clearance, foot_contact, in_place, no_penetration
from ocp.problem.contact.footholds import footholds
from ocp.problem.contact.ground import (
    Foot,
    Ground,
    Pin,
    Plane,
    Support,
    bearing_slots,
    bears,
    in_force,
    slots,
)
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.contact.reactions import Reaction, share_reaction, two_pass, zero_moment_point
from ocp.problem.contact.state_dependent_forces import Acting, ForceLaw
from ocp.problem.instant import Instant
from ocp.problem.muscle_terms import (
    LAWS,
    fibre_of,
    joint_contact_force,
    metabolic_powers,
    muscle_effort,
    muscle_outputs,
)
from ocp.problem.objectives import (
    Objective,
    Term,
    duration,
    dynamic_effort,
    effort,
    final,
    integral,
    jerk,
    mixed_criterion,
    samples,
    smoothness,
    squares,
    torque_rate,
)
from ocp.problem.phases.phases import Phase, Strike, Transition, continuous, impact, link_constraint
from ocp.problem.phases.split_into_phases import ground_between, in_phases, phases_of
from ocp.problem.reserved_names import RESERVED
from ocp.problem.stage_cost import stage_cost
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry, mirror_symmetry, periodic

__all__ = [
    "INSIDE",
    "LAWS",
    "RESERVED",
    "STRENGTH",
    "Acting",
    "Complementarity",
    "Compliant",
    "Constraint",
    "Curves",
    "Foot",
    "ForceLaw",
    "Ground",
    "Instant",
    "Objective",
    "Phase",
    "Pin",
    "Plane",
    "PointMass",
    "Problem",
    "Reaction",
    "Series",
    "Span",
    "Sphere",
    "Strike",
    "Support",
    "Symmetry",
    "Term",
    "Touch",
    "Transition",
    "along",
    "angle_tracking",
    "apart",
    "area_contact",
    "at_end",
    "at_rest",
    "at_start",
    "attitude",
    "ball_limits",
    "bearing_slots",
    "bears",
    "clearance",
    "contact_limits",
    "contact_outputs",
    "contacts",
    "continuous",
    "curves",
    "dissipation",
    "drive_states",
    "duration",
    "dynamic_effort",
    "effort",
    "fibre_of",
    "final",
    "foot_contact",
    "footholds",
    "force_tracking",
    "friction",
    "ground_between",
    "impact",
    "in_force",
    "in_phases",
    "in_place",
    "integral",
    "jerk",
    "jerk_limits",
    "joint_contact_force",
    "joint_limits",
    "limits",
    "line_contact",
    "linear_split",
    "link_constraint",
    "marker_tracking",
    "match_markers",
    "metabolic_powers",
    "mirror_symmetry",
    "mixed_criterion",
    "muscle_effort",
    "muscle_outputs",
    "no_penetration",
    "off_box",
    "off_edges",
    "off_sphere",
    "path",
    "periodic",
    "phases_of",
    "point_contact",
    "pose_along",
    "pose_at_end",
    "pose_at_start",
    "pose_tracking",
    "pressure_inside",
    "samples",
    "share_reaction",
    "slots",
    "smoothness",
    "squares",
    "stage_cost",
    "strength_limits",
    "swing_together",
    "torque_limits",
    "torque_rate",
    "torque_rate_limits",
    "touch_labels",
    "touch_size",
    "touches",
    "two_pass",
    "unilateral",
    "unit_length",
    "upright",
    "velocity_limits",
    "weight_roots",
    "zero_moment_point",
    "zmp_inside",
]
