"""Certificates: independent checks of a solution on a dense grid."""

from typing import TYPE_CHECKING

from ocp.lazy import later

if TYPE_CHECKING:
    from ocp.certificate.contact_violations import Extreme, Footing, as_data, footing, margin
    from ocp.certificate.optimality import variables
    from ocp.certificate.replay import replay
    from ocp.certificate.simulation import Simulation, simulate
    from ocp.certificate.verify import NotVerified, Verification, verify
    from ocp.certificate.violations import Violation, violations

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

__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.certificate.contact_violations": (
            "Extreme",
            "Footing",
            "as_data",
            "footing",
            "margin",
        ),
        "ocp.certificate.optimality": ("variables",),
        "ocp.certificate.replay": ("replay",),
        "ocp.certificate.simulation": (
            "Simulation",
            "simulate",
        ),
        "ocp.certificate.verify": (
            "NotVerified",
            "Verification",
            "verify",
        ),
        "ocp.certificate.violations": (
            "Violation",
            "violations",
        ),
    },
)
