"""Optimal motion of multibody systems: state a problem, solve it, verify it."""

from pathlib import Path

# The wheel carries `models` and `problems` inside this package; in a clone they stand beside it, and are found there.
if not (Path(__file__).parent / "models").is_dir():
    __path__.append(str(Path(__file__).parent.parent))

from ocp.dynamics import FORMULATIONS
from ocp.dynamics.barman import BARMAN
from ocp.dynamics.book import BOOK
from ocp.dynamics.configuration_space import CONFIGURATION_SPACE
from ocp.dynamics.formulation import Formulation
from ocp.dynamics.hollerbach_3x3 import HOLLERBACH_3X3
from ocp.dynamics.hollerbach_4x4 import HOLLERBACH_4X4
from ocp.dynamics.lie_group import LIE_GROUP
from ocp.dynamics.newton_euler import NEWTON_EULER
from ocp.dynamics.uicker_kahn import UICKER_KAHN
from ocp.dynamics.waters import WATERS
from ocp.mechanics.beams import Beam, Body, assumed_modes
from ocp.mechanics.joints import GROUND, Joint, dh, fixed, prismatic, revolute, screw
from ocp.mechanics.loads import Load
from ocp.mechanics.modes import Modes, Place
from ocp.mechanics.tree import Link, Loop, Point, Tree, inward, outward
from ocp.motion.spline import BSpline, refine
from ocp.plots import (
    animate,
    plot,
    plot_convergence,
    plot_joints,
    plot_outputs,
    plot_reactions,
    plot_snapshots,
    plot_torques,
    spy,
)
from ocp.problem.constraints import (
    at_end,
    at_start,
    joint_limits,
    path,
    torque_limits,
    velocity_limits,
)
from ocp.problem.instant import Instant
from ocp.problem.objectives import (
    duration,
    dynamic_effort,
    effort,
    final,
    integral,
    mixed,
    smoothness,
    squares,
)
from ocp.problem.statement import Constraint, Objective, Problem, Term
from ocp.problem.symmetry import Symmetry, mirrored, periodic
from ocp.solution.archive import load
from ocp.solution.attempts import Attempt
from ocp.solution.certificate import NotVerified, Verification, verify
from ocp.solution.simulation import simulate
from ocp.solution.solution import NotSolved, Solution
from ocp.solution.solving import solve
from ocp.solution.starts import Guess
from ocp.solution.bounds import Violation
from ocp.solvers.minimizing import Solver
from ocp.solvers.record import Iteration
from ocp.studies.designs import latin_hypercube, zipped
from ocp.studies.study import multistart, open_study, pareto, sweep, variants
from ocp.studies.task import Published, Task, Views
from ocp.transcription.transcribe import Transcription
from ocp.version import VERSION as __version__
