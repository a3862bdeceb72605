"""Noise of markers and plates, estimated from a trial: what weighs them in tracking."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import casadi as ca
import numpy as np

from ocp.estimation.marker_kinematics import MarkerFit
from ocp.estimation.marker_residuals import point_places
from ocp.estimation.tracking.plates_in_band import BAND, PER_SEGMENT, pressure_centre
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.values.validation import positive
from ocp.pickling import portable
from ocp.problem import Series
from ocp.transcription.kernels.kernels import evaluate, function

LEAST = 1e-3  # m: of a marker
STANDING = 100.0  # N: a load whose centre of pressure tells its noise
NORMAL = 0.6745  # of a normal deviation: half of them are less


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasurementNoise:
    """Standard deviations by which a trial's measurements weigh.

    Attributes:
        markers: {marker: m} of each coordinate: of what inverse kinematics leave, over its degrees
            of freedom, soft tissue among it.
        plates: N, and m of the centre of pressure: of errors that stay for a stance.
        instants: N and m, of those that are new at each instant, a body of rigid segments' among
            them.
    """

    markers: Mapping[str, float]
    plates: tuple[float, float]
    instants: tuple[float, float]


def settle_markers(fit: MarkerFit) -> MarkerFit:
    """Return a fit whose tree has its markers where the trial has them on the mean, in the axes of
    their links; residuals are those about it.

    A marker that sits elsewhere than the model has it, or skin that has moved for good, is no
    noise.

    Args:
        fit: of the markers.
    """
    tree, names = fit.tree, tuple(fit.residuals)
    q, off = ca.SX.sym("q", tree.dof), ca.SX.sym("off", 3, len(names))
    frames = kinematics.poses(tree, q)
    points = {point.name: point for point in tree.points}
    turns = [frames[tree.link_index(points[name].link)][:3, :3] for name in names]
    local = ca.horzcat(*(turn.T @ off[:, k] for k, turn in enumerate(turns)))
    given = [ca.vertcat(q, ca.vec(off)), ca.SX.sym("t")]
    turned = function("sites", given, [ca.vec(local)], ["y", "t"], ["sites"])
    rows = np.vstack(list(fit.residuals.values()))
    far = np.nanmean(evaluate(turned, np.vstack([fit.q, rows]), fit.t), axis=1)
    for name, mean in zip(names, far.reshape(-1, 3)):
        place = np.array(points[name].position) + mean
        points[name] = replace(points[name], position=tuple(place))
    settled = replace(tree, points=tuple(points.values()))
    here, own = (point_places(each, names, fit.q)[0] for each in (settled, tree))
    left = np.split(rows - (here - own), len(names))
    return replace(fit, tree=settled, residuals=MappingProxyType(dict(zip(names, left))))


def measured_noise(fit: MarkerFit, forces: Series, plates: tuple[float, float]) -> MeasurementNoise:
    """Return the noise of a trial's markers and plates.

    That of a plate at an instant is estimated by pseudo-residuals, the distance of each sample from
    the mean of its neighbours (Gasser, Sroka & Jennen-Steinmetz 1986), of which the median is
    taken, as strikes are no noise; samples are averaged over an instant of the motion's band. It is
    no less than the constant error, as people are no rigid segments [assumed].

    Args:
        fit: of the markers.
        forces: {foot: (6, N)} moment about the global origin (N m) above force (N).
        plates: standard deviations of constant errors of forces (N) and centres of pressure (m).

    Raises:
        ValueError: for deviations that are not positive.
    """
    name = "measured_noise: plates"
    constant = (
        positive(f"{name}: force", plates[0], unit="N"),
        positive(f"{name}: pressure", plates[1], unit="m"),
    )
    rows = np.vstack(list(fit.residuals.values()))
    known = int(np.isfinite(rows).sum())
    share = known / max(known - fit.points.size, 1)
    markers = {
        marker: max(float(np.sqrt(share * np.nanmean(off**2))), LEAST)
        for marker, off in fit.residuals.items()
    }
    return MeasurementNoise(
        markers=MappingProxyType(markers), plates=constant, instants=_plate_noise(forces, constant)
    )


def _plate_noise(forces: Series, least: tuple[float, float]) -> tuple[float, float]:
    """Return the noise of forces (N) and of centres of pressure (m) at an instant of the band, no
    less than `least`."""
    pushes: list[np.ndarray] = []
    places: list[np.ndarray] = []
    for rows in forces.values.values():
        moment, push = rows[:3], rows[3:]
        load = np.linalg.norm(push, axis=0)
        place = pressure_centre(moment, push)
        inner = (np.minimum(load[2:], load[:-2]) > STANDING) & (load[1:-1] > STANDING)
        for kept, curve in ((pushes, push), (places, place)):
            kept.append((curve[:, 1:-1] - (curve[:, 2:] + curve[:, :-2]) / 2)[:, inner].ravel())
    rate = 1.0 / float(np.median(np.diff(forces.t)))
    averaged = max(rate / (2 * BAND * PER_SEGMENT), 1.0)
    found = []
    for kept, size in zip((pushes, places), least):
        every = np.concatenate(kept)
        middle = float(np.median(np.abs(every))) if every.size else 0.0
        found.append(max(np.sqrt(2 / 3) * middle / NORMAL / np.sqrt(averaged), size))
    return found[0], found[1]
