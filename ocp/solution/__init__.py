"""Solving, and the answer: attempts, solutions, files, certificates, and why a solve failed."""

from typing import TYPE_CHECKING

from ocp.later import later
from ocp.solution.attempts import LADDER, PLAIN, Attempt
from ocp.solution.budget import budget, staged
from ocp.solution.files import check_writable, plain, versions, write
from ocp.solution.plan import Plan, prepare
from ocp.solution.postures import from_posture, posture
from ocp.solution.solution import NotSolved, Solution
from ocp.solution.solving import solve
from ocp.solution.spending import totals
from ocp.solution.starts import Guess, start

if TYPE_CHECKING:
    from ocp.solution.archive import load
    from ocp.solution.bounds import Violation, violations
    from ocp.solution.certificate import NotVerified, Verification, verify
    from ocp.solution.identification import Fit, fit, predicted
    from ocp.solution.inverse_kinematics import MarkerFit, inverse_kinematics
    from ocp.solution.marker_scaling import Scaling
    from ocp.solution.measured_torques import measured_torques
    from ocp.solution.optimality import variables
    from ocp.solution.recordings import Recording, noisy
    from ocp.solution.refinement import refine
    from ocp.solution.replaying import replay
    from ocp.solution.report import describe
    from ocp.solution.sampling import dense, traces
    from ocp.solution.shares import shared_solution
    from ocp.solution.simulation import Simulation, simulate
    from ocp.solution.standing import Extreme, Footing, as_data, footing, margin
    from ocp.solution.tracking import Replan, Tracked, simulated, track

__all__ = [
    "LADDER",
    "PLAIN",
    "Attempt",
    "Extreme",
    "Fit",
    "Footing",
    "Guess",
    "MarkerFit",
    "NotSolved",
    "NotVerified",
    "Plan",
    "Recording",
    "Replan",
    "Scaling",
    "Simulation",
    "Solution",
    "Tracked",
    "Verification",
    "Violation",
    "as_data",
    "budget",
    "check_writable",
    "dense",
    "describe",
    "fit",
    "footing",
    "from_posture",
    "inverse_kinematics",
    "load",
    "margin",
    "measured_torques",
    "noisy",
    "plain",
    "posture",
    "predicted",
    "prepare",
    "refine",
    "replay",
    "shared_solution",
    "simulate",
    "simulated",
    "solve",
    "staged",
    "start",
    "totals",
    "traces",
    "track",
    "variables",
    "verify",
    "versions",
    "violations",
    "write",
]

# What looks at a finished motion loads when it is first asked for.
__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.solution.archive": ("load",),
        "ocp.solution.bounds": (
            "Violation",
            "violations",
        ),
        "ocp.solution.identification": (
            "Fit",
            "fit",
            "predicted",
        ),
        "ocp.solution.inverse_kinematics": (
            "MarkerFit",
            "inverse_kinematics",
        ),
        "ocp.solution.marker_scaling": ("Scaling",),
        "ocp.solution.measured_torques": ("measured_torques",),
        "ocp.solution.optimality": ("variables",),
        "ocp.solution.recordings": (
            "Recording",
            "noisy",
        ),
        "ocp.solution.refinement": ("refine",),
        "ocp.solution.certificate": (
            "NotVerified",
            "Verification",
            "verify",
        ),
        "ocp.solution.replaying": ("replay",),
        "ocp.solution.report": ("describe",),
        "ocp.solution.sampling": (
            "dense",
            "traces",
        ),
        "ocp.solution.shares": ("shared_solution",),
        "ocp.solution.simulation": (
            "Simulation",
            "simulate",
        ),
        "ocp.solution.tracking": (
            "Replan",
            "Tracked",
            "simulated",
            "track",
        ),
        "ocp.solution.standing": (
            "Extreme",
            "Footing",
            "as_data",
            "footing",
            "margin",
        ),
    },
)
