"""Estimation from measurements: identification, inverse kinematics, smoothing."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.estimation.consistency import ConsistentMotion, consistent_motion
    from ocp.estimation.identification import Fit, fit, predict
    from ocp.estimation.inverse_dynamics import measured_torques
    from ocp.estimation.marker_kinematics import MarkerFit, inverse_kinematics
    from ocp.estimation.objective_weights.identify_objective import identify_objective
    from ocp.estimation.objective_weights.objective_fit import ObjectiveFit
    from ocp.estimation.recordings import Recording, noisy
    from ocp.estimation.segment_scaling import Scaling

__all__ = [
    "ConsistentMotion",
    "Fit",
    "MarkerFit",
    "ObjectiveFit",
    "Recording",
    "Scaling",
    "consistent_motion",
    "fit",
    "identify_objective",
    "inverse_kinematics",
    "measured_torques",
    "noisy",
    "predict",
]

__getattr__, __dir__ = lazy_names(__name__)
