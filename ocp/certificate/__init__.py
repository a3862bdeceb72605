"""Certificates: independent checks of a solution on a dense grid."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.certificate.certify_solution import certify
    from ocp.certificate.checks.convergence import Convergence, keep_convergence
    from ocp.certificate.checks.optimality import program_variables
    from ocp.certificate.checks.replay_motion import replay
    from ocp.certificate.checks.simulation import Simulation, simulate
    from ocp.certificate.contact_violations import (
        ContactQuality,
        Extreme,
        contact_quality,
        extremes_data,
        polygon_margin,
    )
    from ocp.certificate.merged_violations import violations
    from ocp.certificate.row_violations import Violation
    from ocp.certificate.verification import NotVerified, Verification

__all__ = [
    "ContactQuality",
    "Convergence",
    "Extreme",
    "NotVerified",
    "Simulation",
    "Verification",
    "Violation",
    "certify",
    "contact_quality",
    "extremes_data",
    "keep_convergence",
    "polygon_margin",
    "program_variables",
    "replay",
    "simulate",
    "violations",
]

__getattr__, __dir__ = lazy_names(__name__)
