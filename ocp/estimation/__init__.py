"""Estimation from measurements: identification, inverse kinematics, smoothing."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.estimation.identification import Fit, fit, predict
    from ocp.estimation.inverse_dynamics import measured_torques
    from ocp.estimation.marker_kinematics import MarkerFit, inverse_kinematics
    from ocp.estimation.objective_weights.identify_objective import identify_objective
    from ocp.estimation.objective_weights.objective_fit import ObjectiveFit
    from ocp.estimation.recordings import Recording, noisy
    from ocp.estimation.segment_scaling import Scaling
    from ocp.estimation.tracking.consistency import ConsistentMotion, consistent_motion
    from ocp.estimation.tracking.mass_centre import settle_mass_centre
    from ocp.estimation.tracking.measurement_noise import (
        MeasurementNoise,
        measured_noise,
        settle_markers,
    )
    from ocp.estimation.tracking.tracking_problem import Stance, tracking_problem

__all__ = [
    "ConsistentMotion",
    "Fit",
    "MarkerFit",
    "MeasurementNoise",
    "ObjectiveFit",
    "Recording",
    "Scaling",
    "Stance",
    "consistent_motion",
    "fit",
    "identify_objective",
    "inverse_kinematics",
    "measured_noise",
    "measured_torques",
    "noisy",
    "predict",
    "settle_markers",
    "settle_mass_centre",
    "tracking_problem",
]

__getattr__, __dir__ = lazy_names(__name__)
