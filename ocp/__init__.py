"""Optimal motion of multibody systems: state a problem, solve it, verify it.

These are the names of most scripts; each wing (`ocp.problem`, `ocp.dynamics`, ...) has a face of
its own with the rest.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ocp.startup import AS_COMMAND, end_in_silence

if AS_COMMAND:
    end_in_silence()

# The wheel carries `models` and `problems` inside this package; in a clone they stand beside it.
if not (Path(__file__).parent / "models").is_dir():
    __path__.append(str(Path(__file__).parent.parent))

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
from ocp.mechanics.model.coordinates import Follows, polynomial
from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.joint_selection import limited
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
from ocp.mechanics.model.lock_joints import locked
from ocp.mechanics.model.mimic import through
from ocp.mechanics.model.solids import solid, with_link
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.model.unilateral import Stay, cable, slot, stop, wire
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
    bearing,
    clearance,
    contact_outputs,
    contacts,
    continuous,
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
    joined,
    joint_limits,
    limits,
    line_contact,
    marker_tracking,
    mirrored,
    mixed,
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
from ocp.solving.ladder import LADDER, PLAIN, Attempt
from ocp.solving.plan import Plan, prepare
from ocp.solving.solve_problem import solve
from ocp.solving.starts.postures import from_posture
from ocp.solving.starts.warm_start import Guess
from ocp.transcription import HermiteSimpson, Integrated, Radau, Spline, Transcription
from ocp.version import VERSION as __version__

if TYPE_CHECKING:
    from ocp.certificate.checks.simulation import simulate
    from ocp.certificate.verification import NotVerified, Verification
    from ocp.certificate.verify_solution import verify
    from ocp.estimation.identification import Fit, fit, predict
    from ocp.estimation.inverse_dynamics import measured_torques
    from ocp.estimation.marker_kinematics import MarkerFit, inverse_kinematics
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
    from ocp.mpc.receding_horizon import track
    from ocp.plots import animate, plot
    from ocp.report.data_frames import to_dataframe
    from ocp.report.report import describe, summary
    from ocp.sensitivity.sensitivity import derivative
    from ocp.solving.refinement.complementarity_continuation import tighten
    from ocp.solving.refinement.refine import refine
    from ocp.solving.starts.contact_schedule import schedule_found
    from ocp.solving.starts.phases_from_contacts import phases_found
    from ocp.storage.npz import load, save
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
    "bearing",
    "cable",
    "clearance",
    "compare",
    "contact_outputs",
    "contacts",
    "continuous",
    "derivative",
    "describe",
    "dh",
    "duration",
    "dynamic_effort",
    "effort",
    "final",
    "fit",
    "fixed",
    "foot_contact",
    "footholds",
    "force_tracking",
    "forward_dynamics",
    "free",
    "friction",
    "from_posture",
    "impact",
    "in_phases",
    "integral",
    "inverse_dynamics",
    "inverse_kinematics",
    "jerk",
    "jerk_limits",
    "joined",
    "joint_limits",
    "kinematics",
    "limited",
    "limits",
    "line_contact",
    "load",
    "load_model",
    "locked",
    "marker_tracking",
    "mass_matrix",
    "measured_torques",
    "mirrored",
    "mixed",
    "multistart",
    "no_penetration",
    "noisy",
    "off_sphere",
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
    "squares",
    "stage_cost",
    "stop",
    "summary",
    "sweep",
    "through",
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
    "with_link",
    "zmp_inside",
]

# Pictures, studies, certificates and files load when they are first asked for.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ocp.interchange": (
            "load_model",
            "read_table",
            "save_forces",
            "save_model",
            "save_motion",
            "save_table",
        ),
        "ocp.plots": ("animate", "plot"),
        "ocp.storage.npz": ("load", "save"),
        "ocp.report.report": ("describe", "summary"),
        "ocp.report.data_frames": ("to_dataframe",),
        "ocp.sensitivity.sensitivity": ("derivative",),
        "ocp.estimation.identification": ("Fit", "fit", "predict"),
        "ocp.estimation.marker_kinematics": ("MarkerFit", "inverse_kinematics"),
        "ocp.estimation.segment_scaling": ("Scaling",),
        "ocp.estimation.inverse_dynamics": ("measured_torques",),
        "ocp.estimation.recordings": ("Recording", "noisy"),
        "ocp.solving.refinement.refine": ("refine",),
        "ocp.certificate.verify_solution": ("NotVerified", "Verification", "verify"),
        "ocp.certificate.checks.simulation": ("simulate",),
        "ocp.mpc.receding_horizon": ("track",),
        "ocp.solving.starts.phases_from_contacts": ("phases_found",),
        "ocp.solving.starts.contact_schedule": ("schedule_found",),
        "ocp.solving.refinement.complementarity_continuation": ("tighten",),
        "ocp.studies": (
            "OwnFile",
            "Published",
            "Task",
            "Views",
            "compare",
            "multistart",
            "pareto",
            "sweep",
        ),
    },
)
