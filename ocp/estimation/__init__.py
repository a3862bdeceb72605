"""Estimation from measurements: identification, inverse kinematics, smoothing."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.estimation.identification import Fit, fit, predict
    from ocp.estimation.inverse_dynamics import measured_torques
    from ocp.estimation.marker_kinematics import MarkerFit, inverse_kinematics
    from ocp.estimation.recordings import Recording, noisy
    from ocp.estimation.segment_scaling import Scaling

__all__ = [
    "Fit",
    "MarkerFit",
    "Recording",
    "Scaling",
    "fit",
    "inverse_kinematics",
    "measured_torques",
    "noisy",
    "predict",
]

__getattr__, __dir__ = lazy_names(__name__)
