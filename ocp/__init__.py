"""Optimal motion of multibody systems: state a problem, solve it, verify it."""
from ocp.beams import Beam, Body, assumed_modes
from ocp.constraints import at_end, at_start, joint_limits, mirrored, path, torque_limits, velocity_limits
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
from ocp.modes import Modes, Place
from ocp.nlp import Iteration, Solver
from ocp.objectives import duration, dynamic_effort, effort, final, integral, mixed, smoothness, squares
from ocp.plots import (animate, plot, plot_convergence, plot_joints, plot_reactions, plot_snapshots, plot_torques, spy)
from ocp.problem import Constraint, Instant, Objective, Problem, Term
from ocp.solution import NotSolved, Solution, load
from ocp.solve import Guess, solve
from ocp.spline import BSpline, refine
from ocp.study import compare, latin_hypercube, multistart, open_study, pareto, sweep, zipped
from ocp.transcribe import Transcription
from ocp.tree import GROUND, Joint, Link, Load, Loop, Point, Tree, dh, fixed, inward, outward, prismatic, revolute, screw
from ocp.verify import NotVerified, Verification, Violation, verify
from ocp.version import VERSION as __version__
