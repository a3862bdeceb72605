"""Muscles: their curves, activation, paths, cost in metabolic power, and fatigue."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.mechanics.muscles.activation_dynamics import activation_rate, excitation_for_rate
    from ocp.mechanics.muscles.fatigue import (
        ELBOW,
        Fatigue,
        fatigue_rates,
        hold_endurance,
        measured_endurance,
    )
    from ocp.mechanics.muscles.fibres import Fibre
    from ocp.mechanics.muscles.force_curves import (
        active_force,
        force_velocity,
        force_velocity_inverse,
        passive_energy,
        passive_force,
        tendon_energy,
        tendon_force,
        tendon_length,
        tendon_stiffness,
    )
    from ocp.mechanics.muscles.metabolics import (
        Energetics,
        FibreState,
        Smoothing,
        basal_rate,
        bhargava_2004,
        efficiency,
        uchida_2016,
        umberger_2003,
        umberger_2010,
    )
    from ocp.mechanics.muscles.mujoco_muscle import MujocoMuscle
    from ocp.mechanics.muscles.muscle import Muscle, muscles_of
    from ocp.mechanics.muscles.muscle_paths import (
        GivenPath,
        Path,
        PathPoint,
        PointPath,
        PolynomialPath,
    )
    from ocp.mechanics.muscles.path_fits import PathSamples, fit_polynomial, sample_path
    from ocp.mechanics.muscles.simm_splines import SimmSpline
    from ocp.mechanics.muscles.thelen_millard import MillardMuscle, ThelenMuscle, curve_differences
    from ocp.mechanics.muscles.wrapping import WrapCylinder, WrapEllipsoid, WrapPast, WrapSphere

__all__ = [
    "ELBOW",
    "Energetics",
    "Fatigue",
    "Fibre",
    "FibreState",
    "GivenPath",
    "MillardMuscle",
    "MujocoMuscle",
    "Muscle",
    "Path",
    "PathPoint",
    "PathSamples",
    "PointPath",
    "PolynomialPath",
    "SimmSpline",
    "Smoothing",
    "ThelenMuscle",
    "WrapCylinder",
    "WrapEllipsoid",
    "WrapPast",
    "WrapSphere",
    "activation_rate",
    "active_force",
    "basal_rate",
    "bhargava_2004",
    "curve_differences",
    "efficiency",
    "excitation_for_rate",
    "fatigue_rates",
    "fit_polynomial",
    "force_velocity",
    "force_velocity_inverse",
    "hold_endurance",
    "measured_endurance",
    "muscles_of",
    "passive_energy",
    "passive_force",
    "sample_path",
    "tendon_energy",
    "tendon_force",
    "tendon_length",
    "tendon_stiffness",
    "uchida_2016",
    "umberger_2003",
    "umberger_2010",
]

# Force elements import single modules of this package, and fits import force elements.
__getattr__, __dir__ = lazy_names(__name__)
