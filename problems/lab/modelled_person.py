"""A person as somebody else's model has them: a scaled body of OpenSim with markers of its own."""

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ocp import BSpline, Series, Tree, inverse_kinematics
from ocp.mechanics.muscles import muscles_of
from ocp.problems.lab.laboratory_axes import present, recognise_axes
from ocp.problems.lab.marker_sets import MarkerSet, MarkerTable, Site, recognise
from ocp.problems.lab.measured_person import (
    MeasuredPerson,
    check_still,
    put_markers,
)

# From OpenSim's axes (X ahead, Y up, Z to the right) to the human's
TURN = ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
BODIES = {  # of OpenSim's gait models, and the segments that they are
    "pelvis": "pelvis",
    "torso": "trunk",
    "head": "head",
    "femur": "thigh",
    "tibia": "shank",
    "talus": "foot",
    "calcn": "foot",
    "toes": "foot",
    "humerus": "upper_arm",
    "ulna": "forearm",
    "radius": "forearm",
    "hand": "forearm",
}
# Coordinates of OpenSim's gait models under the human's names, where they have one
ALIASES = {
    "hip_flexion": ("hip_flex", 1.0),
    "hip_adduction": ("hip_abd", -1.0),
    "hip_rotation": ("hip_rot", 1.0),
    "knee_angle": ("knee_flex", 1.0),
    "ankle_angle": ("ankle_df", 1.0),
}
PELVIS = "pelvis"  # its body in OpenSim's gait models
DEVIATION = 0.01  # m: of markers from a scaled model, usually (OpenSim's guide asks for 1 to 2 cm)


def person_of_model(
    model: Tree,
    markers: Series,
    *,
    source: str = "model",
    table: MarkerTable = "",
    up: str = "",
    static: Series | None = None,
) -> MeasuredPerson:
    """Return the person whom a scaled model with markers is, without a static trial.

    The model's ground is turned into the human's axes. Torques are the whole moments of joints: of
    its elements muscles alone are kept, aside, for those to be shared.

    Args:
        model: as `load_model` reads it from an .osim; markers are its points.
        markers: of a trial, m, in whose first frames the person stands as `q` says.
        source: of the model, for messages.
        table: the name of a marker set or {marker: (segment, landmark)}, by default recognised.
        up: the laboratory's upward axis where the markers do not tell it.
        static: markers of somebody who stands still: those of the model are put where they are
            then, as landmarks have the posture; OpenSim's tool does so when it scales.

    Raises:
        ValueError: the model has none of the markers, or none of a known set; nobody stands still
            in the static trial.
    """
    markers, _ = present(markers)
    bare = replace(model, elements=())
    here = {point.name: point.link for point in bare.points}
    lacking = [name for name in markers.values if name not in here]
    if len(lacking) == len(markers.values):
        names = ", ".join([*here][:8])
        raise ValueError(f"{source}: has no marker of {markers.source}; it has {names} ...")
    known = recognise([*here], source, table)
    sites = {name: _site(name, here[name], known) for name in here}
    found = MarkerSet(name=f"{known.name}, on a model", sites=sites)
    axes = recognise_axes(markers, found.among(markers.values), up)
    said = [f"markers that the model does not have are left out: {', '.join(lacking)}"]
    body, near = _turned(bare), np.array(bare.neutral, dtype=float)
    if static is not None:
        body, near = _marked(body, static, found, up)
    seen = markers.only([name for name in markers.values if name in here])
    return MeasuredPerson(
        tree=body,
        q=_first_posture(body, seen.rotate(axes.turn), near),
        mass=sum(link.mass for link in body.links),
        stature=float("nan"),
        table=found,
        axes=axes,
        lengths=MappingProxyType({}),
        off=MappingProxyType({}),
        doubts=tuple(said if lacking else ()),
        names=MappingProxyType(dict(_names(body))),
        limited=True,
        muscled=replace(body, elements=muscles) if (muscles := muscles_of(model)) else None,
    )


def _site(name: str, link: str, known: MarkerSet) -> Site:
    """Return a marker's segment, by the link on which it sits, and its landmark if the set has
    one."""
    body, side = (link[:-2], link[-2:]) if link.endswith(("_r", "_l")) else (link, "")
    mark = known.sites[name][1] if name in known.sites else ""
    return BODIES.get(body, body) + side, mark


def _marked(body: Tree, static: Series, table: MarkerSet, up: str) -> tuple[Tree, np.ndarray]:
    """Return a body whose markers are where a static trial has them, and the posture (n,), in which
    its landmarks, as knees and heels, are nearest to theirs."""
    standing, _ = present(static)
    mine = table.among(standing.values)
    axes = recognise_axes(standing, mine, up)
    turned = standing.only([*mine.sites]).rotate(axes.turn)
    check_still(turned, mine)
    landmarks = turned.only([name for name, (_, mark) in mine.sites.items() if mark])
    q = _first_posture(body, landmarks, np.array(body.neutral, dtype=float))
    places = {name: np.nanmean(rows, axis=1) for name, rows in turned.values.items()}
    links = {point.name: point.link for point in body.points}
    return put_markers(body, q, places, links), q


def _first_posture(body: Tree, markers: Series, near: np.ndarray) -> np.ndarray:
    """Return the coordinates (n,) within their limits, near others, in which a body has the first
    markers."""
    whole = np.all([np.isfinite(rows[0]) for rows in markers.values.values()], axis=0)
    frame = int(np.argmax(whole))
    values = {name: np.repeat(rows[:, [frame]], 6, axis=1) for name, rows in markers.values.items()}
    first = Series(t=np.arange(6.0), values=values, source=markers.source)
    fit = inverse_kinematics(
        body,
        first,
        motion=BSpline(points=3, degree=2),
        start=near,
        deviation=DEVIATION,
        limits=True,
    )
    return fit.q[:, 0]


def _turned(model: Tree) -> Tree:
    """Return a model whose ground has the human's axes, and whose joints are driven beyond the
    pelvis."""
    turn, at = np.eye(4), model.link_index(PELVIS)
    turn[:3, :3] = TURN
    root = set()
    while at >= 0:
        root.add(at)
        at = model.parents[at]
    joints = [
        replace(joint, home=turn @ np.array(joint.home)) if parent < 0 else joint
        for joint, parent in zip(model.joints, model.parents)
    ]
    joints = [
        replace(joint, actuated=True) if k not in root and joint in model.moving else joint
        for k, joint in enumerate(joints)
    ]
    gravity = np.array(TURN) @ np.array(model.gravity)
    return replace(model, joints=joints, gravity=tuple(gravity.tolist()))


def _names(body: Tree) -> Iterator[tuple[str, tuple[str, float]]]:
    """Yield coordinates with the human's names, and 1, or -1 where the human counts the other way.
    Knees of Gait2392 flex to the negative side, those of Rajagopal's to the positive one."""
    for joint in body.moving:
        name = joint.name.removesuffix("_r").removesuffix("_l")
        if name in ALIASES:
            own, sign = ALIASES[name]
            lower, upper = joint.position
            way = -1.0 if name == "knee_angle" and -lower > upper else 1.0
            yield joint.name, (own + joint.name[len(name) :], sign * way)
