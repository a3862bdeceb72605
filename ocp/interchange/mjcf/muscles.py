"""Muscles of MuJoCo's models: actuators along spatial tendons over sites, cylinders and spheres."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from ocp.interchange.mjcf.compiled_model import major_version
from ocp.interchange.mjcf.equalities import MjModel, object_name
from ocp.interchange.mjcf.tendons import SITE, TENDON, tendon_parts
from ocp.interchange.poses import pose_matrix
from ocp.mechanics.elements import PassiveForce
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.muscles.mujoco_muscle import MujocoMuscle, passive_energy
from ocp.mechanics.muscles.muscle_paths import PathPoint, PointPath
from ocp.mechanics.muscles.wrapping import SHAPES, Surface, WrapPast
from ocp.mechanics.values.types import Matrix

MUSCLE_LAWS = {"gaintype": 2, "biastype": 2, "dyntype": 4}  # of an actuator that is a muscle
GEOMS = {4: SHAPES[1], 5: SHAPES[0]}  # kinds of parts of tendons that are surfaces
LAWS = 9  # numbers of a muscle's gain, and of its bias


@dataclass(frozen=True, slots=True, kw_only=True)
class FibreEnergy:
    """Energy of the passive part of a `muscle` by its path's length, with numbers of its own."""

    muscle: MujocoMuscle

    def __call__(self, x: Matrix) -> Matrix:
        """Return the energy (J) at the length x (m)."""
        own = self.muscle
        length = own.reach[0] + (x - own.lengths[0]) / own.optimal
        return own.force * own.optimal * passive_energy(length, own.longest, own.passive)


def is_muscle(model: MjModel, actuator: int) -> bool:
    """Tell whether an actuator is a muscle along a tendon."""
    laws = [int(getattr(model, f"actuator_{law}")[actuator]) for law in MUSCLE_LAWS]
    on_tendon = int(model.actuator_trntype[actuator]) == TENDON
    return on_tendon and laws == [*MUSCLE_LAWS.values()]


def muscles(
    model: MjModel, links: Sequence[str]
) -> tuple[list[MujocoMuscle], list[PassiveForce], list[str]]:
    """Return the muscles of a model, the passive parts of those that have numbers of their own for
    these, and the names of those that are not read, each with why.

    Args:
        model: compiled by MuJoCo.
        links: names by MuJoCo's numbers of bodies.
    """
    known, passive, lost = list[MujocoMuscle](), list[PassiveForce](), list[str]()
    for k in range(model.nu):
        if not is_muscle(model, k):
            continue
        name = object_name(model, "ACTUATOR", k) or f"actuator {k + 1}"
        reason = _unread(model, k)
        path = None if reason else _path(model, int(model.actuator_trnid[k][0]), links)
        if not isinstance(path, PointPath):
            lost.append(f"{name} ({reason or path})")
            continue
        active, still = (_muscle(model, k, name, path, law) for law in ("gain", "bias"))
        if still != active:
            energy = FibreEnergy(muscle=still)
            passive.append(PassiveForce(name=f"{name} passive", over=path, energy=energy))
            active = replace(active, passive=0.0)
        known.append(active)
    return known, passive, lost


def _unread(model: MjModel, k: int) -> str:
    """Return the reason why a muscle is not read, "" for none."""
    lower, upper = model.actuator_lengthrange[k]
    reasons = {
        "its lengthrange is not stated": not lower < upper,
        "its activation is smoothed": bool(model.actuator_dynprm[k][2]),
        "its gear is not 1": model.actuator_gear[k][0] != 1,
        "its force is limited": bool(model.actuator_forcelimited[k]),
        "its activation acts early": bool(model.actuator_actearly[k]),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _muscle(model: MjModel, k: int, name: str, path: PointPath, law: str) -> MujocoMuscle:
    """Return the muscle of an actuator by the numbers of its "gain", or of its "bias"."""
    numbers = getattr(model, f"actuator_{law}prm")[k]
    low, high, force, scale, *shape = numbers[:LAWS].tolist()
    shortest, longest, fastest, passive, lengthening = shape
    stated = model.actuator_ctrlrange[k].tolist() if model.actuator_ctrllimited[k] else (-inf, inf)
    rise, fall = model.actuator_dynprm[k][:2].tolist()
    return MujocoMuscle(
        name=name,
        path=path,
        force=scale / float(model.actuator_acc0[k]) if force < 0 else force,
        lengths=tuple(model.actuator_lengthrange[k].tolist()),
        reach=(low, high),
        shortest=shortest,
        longest=longest,
        fastest=fastest,
        passive=passive,
        lengthening=lengthening,
        rise=rise,
        fall=fall,
        excitation=(max(stated[0], 0.0), min(stated[1], 1.0)),
    )


def _path(model: MjModel, tendon: int, links: Sequence[str]) -> PointPath | str:
    """Return the path of a spatial tendon, or the reason why it is not read."""
    points: list[PathPoint | Surface] = []
    for kind, number, entry in tendon_parts(model, tendon):
        if kind == SITE:
            link = _link(links, int(model.site_bodyid[number]))
            points.append(PathPoint(link=link, position=model.site_pos[number]))
        elif kind in GEOMS:
            surface = _surface(model, number, int(entry), links, GEOMS[kind])
            if surface is None:
                return "the side of a surface is on another body"
            points.append(surface)
        else:
            return "its tendon has a pulley, or runs over joints"
    return PointPath(points=points)


def _surface(
    model: MjModel, geom: int, side: int, links: Sequence[str], shape: str
) -> WrapPast | None:
    """Return a cylinder or a sphere with its side, a site's number or below 0 for none; None where
    that is on another body."""
    body, pose = (
        int(model.geom_bodyid[geom]),
        pose_matrix(model.geom_pos[geom], model.geom_quat[geom]),
    )
    place = None
    if side >= 0:
        if int(model.site_bodyid[side]) != body:
            return None
        place = pose[:3, :3].T @ (model.site_pos[side] - pose[:3, 3])
    radius = float(model.geom_size[geom][0])
    return WrapPast(
        link=_link(links, body),
        radius=radius,
        pose=pose,
        shape=shape,
        side=place,
        behind=place is not None and major_version() >= 4,
    )


def _link(links: Sequence[str], body: int) -> str:
    return links[body] if body else GROUND
