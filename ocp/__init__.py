"""Optimal motion of multibody systems: state a problem, solve it, verify it.

These are the names of most scripts; each wing (`ocp.problem`, `ocp.dynamics`, ...) has a face of
its own with the rest.
"""

from typing import TYPE_CHECKING

from ocp.startup import AS_COMMAND, end_in_silence

if AS_COMMAND:
    end_in_silence()

from ocp.dynamics import Formulation, forward_dynamics, inverse_dynamics, mass_matrix
from ocp.lazy import lazy_names
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
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.joint_selection import with_limits
from ocp.mechanics.model.joints import (
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
from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.lock_joints import with_locked_joints
from ocp.mechanics.model.quaternions_and_couplings import Follows, polynomial, spline_through
from ocp.mechanics.model.solids import solid, with_link
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.model.unilateral_joints import Stay, cable, slot, stop, wire
from ocp.mechanics.values.parameters import Parameter
from ocp.motion import BSpline
from ocp.problem import (
    Complementarity,
    Compliant,
    Constraint,
    Foot,
    ForceLaw,
    Ground,
    Instant,
    Objective,
    Phase,
    Pin,
    Plane,
    Problem,
    Series,
    Support,
    Symmetry,
    Transition,
    angle_tracking,
    apart,
    area_contact,
    at_end,
    at_rest,
    at_start,
    attitude,
    ball_limits,
    clearance,
    contact_limits,
    contact_outputs,
    contacts,
    continuous,
    dissipation,
    duration,
    dynamic_effort,
    effort,
    final,
    foot_contact,
    footholds,
    force_tracking,
    friction,
    impact,
    in_phases,
    integral,
    jerk,
    jerk_limits,
    joint_limits,
    limits,
    line_contact,
    link_constraint,
    marker_tracking,
    mirror_symmetry,
    mixed_criterion,
    no_penetration,
    off_sphere,
    path,
    periodic,
    point_contact,
    pose_along,
    pose_at_end,
    pose_at_start,
    pose_tracking,
    pressure_inside,
    smoothness,
    squares,
    stage_cost,
    torque_limits,
    torque_rate,
    torque_rate_limits,
    unilateral,
    unit_length,
    upright,
    velocity_limits,
    zmp_inside,
)
from ocp.solution.solution import NotSolved, Solution
from ocp.solvers import Solver
from ocp.solving.plan import Plan, prepare
from ocp.solving.solve_problem import solve
from ocp.solving.solver_attempts import LADDER, PLAIN, Attempt
from ocp.solving.starts.postures import from_posture
from ocp.solving.starts.warm_start import Guess
from ocp.transcription import HermiteSimpson, Integrated, Radau, Spline, Transcription
from ocp.version import VERSION as __version__

if TYPE_CHECKING:
    from ocp.certificate.checks.simulation import simulate
    from ocp.certificate.verification import NotVerified, Verification
    from ocp.estimation.identification import Fit, fit, predict
    from ocp.estimation.inverse_dynamics import measured_torques
    from ocp.estimation.marker_kinematics import MarkerFit, inverse_kinematics
    from ocp.estimation.objective_weights.identify_objective import identify_objective
    from ocp.estimation.objective_weights.objective_fit import ObjectiveFit
    from ocp.estimation.recordings import Recording, noisy
    from ocp.estimation.segment_scaling import Scaling
    from ocp.interchange import (
        load_model,
        read_table,
        save_forces,
        save_model,
        save_motion,
        save_table,
    )
    from ocp.mpc.disturbed_motion import follow
    from ocp.mpc.receding_horizon import track
    from ocp.mpc.regulator import feedback
    from ocp.plots import animate, page, plot
    from ocp.report.data_frames import to_dataframe
    from ocp.report.report import describe, summary
    from ocp.sensitivity.solution_sensitivity import derivative
    from ocp.solving.refinement.complementarity_continuation import tighten
    from ocp.solving.refinement.refine import refine
    from ocp.solving.starts.contact_schedule import schedule_found
    from ocp.solving.starts.phases_from_contacts import phases_found
    from ocp.solving.verify_solution import verify
    from ocp.storage.result_files import load, save
    from ocp.studies import OwnFile, Published, Task, Views, compare, multistart, pareto, sweep

__all__ = [
    "LADDER",
    "PLAIN",
    "Activation",
    "Armature",
    "Attempt",
    "BSpline",
    "Bumper",
    "Complementarity",
    "Compliant",
    "Constraint",
    "CurvedSpring",
    "Damper",
    "Fit",
    "Follows",
    "Foot",
    "ForceLaw",
    "Formulation",
    "Friction",
    "Ground",
    "Guess",
    "HermiteSimpson",
    "Instant",
    "Integrated",
    "Joint",
    "Link",
    "Load",
    "Loop",
    "MarkerFit",
    "NotSolved",
    "NotVerified",
    "Objective",
    "ObjectiveFit",
    "OwnFile",
    "Parameter",
    "PassiveMoment",
    "Phase",
    "Pin",
    "Plan",
    "Plane",
    "Point",
    "Problem",
    "Published",
    "Radau",
    "Recording",
    "Scaling",
    "Series",
    "Solution",
    "Solver",
    "Spline",
    "Spring",
    "Stay",
    "Strength",
    "Strut",
    "Support",
    "Symmetry",
    "Task",
    "Tendon",
    "TorqueSpeed",
    "Transcription",
    "Transition",
    "Tree",
    "Verification",
    "Views",
    "Voluntary",
    "__version__",
    "angle_tracking",
    "animate",
    "apart",
    "area_contact",
    "at_end",
    "at_rest",
    "at_start",
    "attitude",
    "ball",
    "ball_limits",
    "cable",
    "clearance",
    "compare",
    "contact_limits",
    "contact_outputs",
    "contacts",
    "continuous",
    "derivative",
    "describe",
    "dh",
    "dissipation",
    "duration",
    "dynamic_effort",
    "effort",
    "feedback",
    "final",
    "fit",
    "fixed",
    "follow",
    "foot_contact",
    "footholds",
    "force_tracking",
    "forward_dynamics",
    "free",
    "friction",
    "from_posture",
    "identify_objective",
    "impact",
    "in_phases",
    "integral",
    "inverse_dynamics",
    "inverse_kinematics",
    "jerk",
    "jerk_limits",
    "joint_limits",
    "kinematics",
    "limits",
    "line_contact",
    "link_constraint",
    "load",
    "load_model",
    "marker_tracking",
    "mass_matrix",
    "measured_torques",
    "mirror_symmetry",
    "mixed_criterion",
    "multistart",
    "no_penetration",
    "noisy",
    "off_sphere",
    "page",
    "pareto",
    "path",
    "periodic",
    "phases_found",
    "planar",
    "plot",
    "point_contact",
    "polynomial",
    "pose_along",
    "pose_at_end",
    "pose_at_start",
    "pose_tracking",
    "predict",
    "prepare",
    "pressure_inside",
    "prismatic",
    "read_table",
    "refine",
    "revolute",
    "save",
    "save_forces",
    "save_model",
    "save_motion",
    "save_table",
    "schedule_found",
    "screw",
    "simulate",
    "slot",
    "smoothness",
    "solid",
    "solve",
    "spline_through",
    "squares",
    "stage_cost",
    "stop",
    "summary",
    "sweep",
    "tighten",
    "to_dataframe",
    "torque_limits",
    "torque_rate",
    "torque_rate_limits",
    "track",
    "unilateral",
    "unit_length",
    "universal",
    "upright",
    "velocity_limits",
    "verify",
    "wire",
    "with_limits",
    "with_link",
    "with_locked_joints",
    "zmp_inside",
]

# Pictures, studies, certificates and files load when they are first asked for.
__getattr__, __dir__ = lazy_names(__name__)
