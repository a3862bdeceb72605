"""Certificates: independent checks of a solution on a dense grid."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.certificate.checks.optimality import program_variables
    from ocp.certificate.checks.replay_motion import replay
    from ocp.certificate.checks.simulation import Simulation, simulate
    from ocp.certificate.constraint_violations import violations
    from ocp.certificate.contact_violations import (
        ContactQuality,
        Extreme,
        contact_quality,
        extremes_data,
        polygon_margin,
    )
    from ocp.certificate.row_violations import Violation
    from ocp.certificate.verification import NotVerified, Verification
    from ocp.certificate.verify_solution import verify

__all__ = [
    "ContactQuality",
    "Extreme",
    "NotVerified",
    "Simulation",
    "Verification",
    "Violation",
    "contact_quality",
    "extremes_data",
    "polygon_margin",
    "program_variables",
    "replay",
    "simulate",
    "verify",
    "violations",
]

__getattr__, __dir__ = lazy_names(__name__)
