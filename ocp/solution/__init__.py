"""Solving, and the answer: attempts, solutions, files, certificates, and why a solve failed."""

from ocp.solution.archive import load
from ocp.solution.attempts import Attempt
from ocp.solution.bounds import Violation, violations
from ocp.solution.certificate import NotVerified, Verification, verify
from ocp.solution.files import check_writable, plain, versions, write
from ocp.solution.replaying import replay
from ocp.solution.report import describe
from ocp.solution.sampling import dense, traces
from ocp.solution.simulation import Simulation, simulate
from ocp.solution.solution import NotSolved, Solution
from ocp.solution.solving import solve
from ocp.solution.standing import Extreme, Footing, as_data, footing, margin
from ocp.solution.starts import Guess

__all__ = [
    "Attempt",
    "Extreme",
    "Footing",
    "Guess",
    "NotSolved",
    "NotVerified",
    "Simulation",
    "Solution",
    "Verification",
    "Violation",
    "as_data",
    "check_writable",
    "dense",
    "describe",
    "footing",
    "load",
    "margin",
    "plain",
    "replay",
    "simulate",
    "solve",
    "traces",
    "verify",
    "versions",
    "violations",
    "write",
]
