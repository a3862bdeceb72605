"""Certificates: independent checks of a solution on a dense grid."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.certificate.checks.optimality import variables
    from ocp.certificate.checks.replay_motion import replay
    from ocp.certificate.checks.simulation import Simulation, simulate
    from ocp.certificate.contact_violations import Extreme, Footing, as_data, footing, margin
    from ocp.certificate.row_violations import Violation
    from ocp.certificate.verification import NotVerified, Verification
    from ocp.certificate.verify_solution import verify
    from ocp.certificate.violations import violations

__all__ = [
    "Extreme",
    "Footing",
    "NotVerified",
    "Simulation",
    "Verification",
    "Violation",
    "as_data",
    "footing",
    "margin",
    "replay",
    "simulate",
    "variables",
    "verify",
    "violations",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ocp.certificate.contact_violations": (
            "Extreme",
            "Footing",
            "as_data",
            "footing",
            "margin",
        ),
        "ocp.certificate.checks.optimality": ("variables",),
        "ocp.certificate.checks.replay_motion": ("replay",),
        "ocp.certificate.checks.simulation": (
            "Simulation",
            "simulate",
        ),
        "ocp.certificate.verification": (
            "NotVerified",
            "Verification",
        ),
        "ocp.certificate.verify_solution": ("verify",),
        "ocp.certificate.row_violations": ("Violation",),
        "ocp.certificate.violations": ("violations",),
    },
)
