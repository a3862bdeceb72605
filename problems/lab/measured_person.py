"""A measured person: the human with segments as long as markers say, and the markers on it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import casadi as ca
import numpy as np

from ocp import BSpline, Point, Series, Tree, inverse_kinematics
from ocp.mechanics import poses
from ocp.models.human import GAIT_FROZEN, STATURE, Person, human
from ocp.models.human.anthropometry import LENGTHS
from ocp.problems.lab.functional_hips import functional_hips
from ocp.problems.lab.joint_centres import Anatomy, joint_centres
from ocp.problems.lab.laboratory_axes import Axes, present, recognise_axes
from ocp.problems.lab.marker_sets import MarkerSet, MarkerTable, recognise

LINKS = {"pelvis": "glob_rx", "trunk": "spine4_rot", "head": "head_rot"}
SIDED = {
    "thigh": "hip_rot",
    "shank": "knee_flex",
    "foot": "ankle_inv",
    "upper_arm": "shou_rot",
    "forearm": "elb_pron",
}
# Joints that stay as they are at q = 0: few markers tell of more than one joint between trunk and
# pelvis, and of toes apart from the foot
STIFF = (*GAIT_FROZEN, "spine2_flex", "spine2_lat", "spine2_rot", "toe_ext_r", "toe_ext_l")
# Joints that are stiff too where their segment has fewer markers than that
TOLD = {
    "head": (3, ("head_flex", "head_rot")),
    "trunk": (3, ("spine1_flex", "spine1_lat", "spine1_rot")),
    "upper_arm": (1, ("shou_flex", "shou_abd", "shou_rot")),
    "forearm": (1, ("elb_flex",)),
}
CLAVICLES = ("clav_elev_r", "clav_prot_r", "clav_elev_l", "clav_prot_l")
SHOULDERS = ("acromion", "shoulder")
HIPS = 0.168  # m, between hips at STATURE
REACH = 0.1  # m: how far from a joint the points stand that turn a segment
STILL = 0.05  # m: somebody who stands moves his pelvis by less
STANDING = 35.0  # deg: of a knee, at most, of one who stands


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredPerson:
    """Somebody as a static trial shows them.

    Attributes:
        tree: the human with the person's segments, the markers its points by their names.
        q: coordinates (n,) of the static trial.
        mass, stature: kg, m.
        table: the MarkerSet.
        axes: the laboratory's.
        lengths: {segment: m}, of limbs by their side, as centres of joints say.
        off: {joint: m}, how far the tree's joints are from the centres.
        hips: {hip: m}, how far those of a functional trial are from where the regression has them;
            empty without such a trial.
        doubts: what was assumed, or could be otherwise.
        names: {coordinate: (the human's name of it, 1 or -1)} where a model has others.
        limited: whether joints stay within their limits in trials.
        muscled: the tree with its muscles, None without any.
        who: the Person of the human's problems that this is, None of somebody's own model.
    """

    tree: Tree
    q: np.ndarray
    mass: float
    stature: float
    table: MarkerSet
    axes: Axes
    lengths: Mapping[str, float]
    off: Mapping[str, float]
    doubts: tuple[str, ...]
    hips: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    limited: bool = False
    muscled: Tree | None = None
    who: Person | None = None

    @property
    def feet(self) -> dict[str, str]:
        """The links {"r" and "l"} that the ground pushes: those of the heels' markers."""
        links = {point.name: point.link for point in self.tree.points}
        return {side: links[str(self.table.landmark(f"heel_{side}"))] for side in "rl"}

    def __str__(self) -> str:
        rows = [f"{name:14s} {1e3 * length:5.0f} mm" for name, length in self.lengths.items()]
        tall = f", {self.stature:.2f} m" if np.isfinite(self.stature) else ""
        head = (
            f"{self.table.name}: {len(self.table.sites)} markers, {self.mass:.1f} kg{tall}; "
            f"{self.axes.up} is up, faces {self.axes.ahead}"
        )
        if self.off:
            worst = max(self.off, key=self.off.__getitem__)
            far = f"{1e3 * self.off[worst]:.0f} mm off their centres ({worst})"
            rows.append(f"joints are up to {far}")
        for name, moved in self.hips.items():
            rows.append(f"{name} is where the thigh turns: {1e3 * moved:.0f} mm off the regression")
        return "\n".join([head, *rows, *(f"doubt: {each}" for each in self.doubts)])


def scale(
    markers: Series,
    *,
    mass: float,
    stature: float | None = None,
    sex: Literal["male", "female"] = "male",
    table: MarkerTable = "",
    up: str = "",
    functional: Series | None = None,
) -> MeasuredPerson:
    """Return the person whom the markers of a static trial show.

    Segments have the lengths between joint centres, both sides alike, masses are shares of the
    whole by their tables; markers stay on their segments where the static posture has them.

    Args:
        markers: of somebody who stands upright, m; other axes than the human's are recognised.
        mass: kg.
        stature: m; by default as legs tell.
        sex: "male" or "female", for the shares of masses.
        table: the name of a marker set or {marker: (segment, landmark)}, by default recognised.
        up: the laboratory's upward axis where the markers do not tell it.
        functional: markers of a trial in the same axes, in which thighs swing to all sides: hips
            are where they turn about, not where the regression has them.

    Raises:
        ValueError: for markers of no known set, in other units, of exchanged sides, of somebody
            who does not stand still, and of thighs that do not swing.
    """
    markers, _ = present(markers)
    found = recognise(markers.values, markers.source, table)
    axes = recognise_axes(markers, found, up)
    turned = markers.only([*found.sites]).rotate(axes.turn)
    check_still(turned, found)
    places = {name: np.nanmean(rows, axis=1) for name, rows in turned.values.items()}
    hips = {}
    if functional is not None:
        swung, _ = present(functional)
        hips = functional_hips(places, swung.rotate(axes.turn), found)
    usual = joint_centres(places, found, stature or STATURE).centres
    guess = joint_centres(places, found, stature or STATURE, hips)
    tall = stature or _stature(guess)
    anatomy = guess if stature else joint_centres(places, found, tall, hips)
    _check_standing(markers.source, anatomy)
    lengths = _lengths(anatomy)
    own = _segments(anatomy, lengths, tall, mass, sex)
    body = human(tall, mass, sex=sex, segments=own, frozen=_stiff(found))
    q, off = _posture(body, anatomy)
    doubts = (*found.doubts, *axes.doubts, *anatomy.doubts, *_unequal(lengths))
    doubts += tuple(
        f"hip_{side}: the thigh does not swing to all sides: the hip is as the regression has it"
        for side in "rl"
        if hips and f"hip_{side}" not in hips
    )
    if stature is None:
        doubts = (*doubts, f"the stature is not given: {tall:.2f} m as the legs tell")
    links = {name: link_of(*found.sites[name]) for name in places}
    return MeasuredPerson(
        tree=put_markers(body, q, places, links),
        q=q,
        mass=mass,
        stature=tall,
        table=found,
        axes=axes,
        lengths=MappingProxyType(lengths),
        off=MappingProxyType(off),
        doubts=doubts,
        hips=MappingProxyType(
            {name: float(np.linalg.norm(place - usual[name])) for name, place in hips.items()}
        ),
        who=Person(stature=tall, mass=mass, sex=sex, segments=own),
    )


def link_of(segment: str, mark: str) -> str:
    """Return the human's link of a segment with its side, of a shoulder's landmark the clavicle."""
    if mark[:-2] in SHOULDERS:
        return f"clav_prot{mark[-2:]}"
    side = segment[-2:] if segment.endswith(("_r", "_l")) else ""
    return SIDED[segment.removesuffix(side)] + side if side else LINKS[segment]


def check_still(markers: Series, table: MarkerSet) -> None:
    """Raise ValueError unless the pelvis stays where it is."""
    rows = np.concatenate([markers.values[name] for name in table.segment("pelvis")])
    far = float(np.nanmax(np.nanmax(rows, axis=1) - np.nanmin(rows, axis=1)))
    if far > STILL:
        raise ValueError(
            f"{markers.source}: no static trial: the pelvis moves by {far:.2f} m; expected "
            f"somebody who stands still within {STILL} m"
        )


def _check_standing(source: str, anatomy: Anatomy) -> None:
    """Raise ValueError for knees that are bent far."""
    for side in "rl":
        hip, knee, ankle = (anatomy.centres[f"{name}_{side}"] for name in ("hip", "knee", "ankle"))
        thigh, shank = knee - hip, ankle - knee
        cosine = thigh @ shank / np.linalg.norm(thigh) / np.linalg.norm(shank)
        bend = float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
        if bend > STANDING:
            raise ValueError(
                f"{source}: no static trial: knee_{side} is bent by {bend:.0f} deg; expected "
                "somebody who stands upright"
            )


def _stature(anatomy: Anatomy) -> float:
    """Return the stature (m) of which thigh and shank are the usual share."""
    lengths = _lengths(anatomy)
    legs = sum(lengths[f"{name}_{side}"] for name in ("thigh", "shank") for side in "rl")
    return STATURE * legs / 2 / (LENGTHS["thigh"] + LENGTHS["shank"])


def _lengths(anatomy: Anatomy) -> dict[str, float]:
    """Return {segment: length (m)} between the centres of joints."""
    ends = {
        "thigh": ("hip", "knee"),
        "shank": ("knee", "ankle"),
        "upper_arm": ("shoulder", "elbow"),
        "forearm": ("elbow", "wrist"),
    }
    return {
        f"{name}_{side}": float(np.linalg.norm(anatomy.centres[first] - anatomy.centres[last]))
        for name, joints in ends.items()
        for side in "rl"
        for first, last in [[f"{joint}_{side}" for joint in joints]]
        if last in anatomy.centres
    } | {"hips": float(np.linalg.norm(anatomy.centres["hip_r"] - anatomy.centres["hip_l"]))}


def _unequal(lengths: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each segment whose sides differ by more than a twentieth."""
    for name in (each[:-2] for each in lengths if each.endswith("_r")):
        right, left = lengths[f"{name}_r"], lengths.get(f"{name}_l", lengths[f"{name}_r"])
        if abs(right - left) > 0.05 * right:
            yield f"{name}: {1e3 * right:.0f} mm right, {1e3 * left:.0f} mm left: the mean is taken"


def _segments(
    anatomy: Anatomy, lengths: Mapping[str, float], stature: float, mass: float, sex: str
) -> dict[str, dict[str, float]]:
    """Return the human's segments with these lengths, whose trunk is as long as the shoulders stand
    high."""
    own: dict[str, dict[str, float]] = {
        name: {"length": float(np.mean([lengths[f"{name}_{side}"] for side in "rl"]))}
        for name in ("thigh", "shank", "upper_arm", "forearm")
        if {f"{name}_r", f"{name}_l"} <= set(lengths)
    }
    own["pelvis"] = {"length": LENGTHS["pelvis"] * lengths["hips"] / HIPS}
    if "shoulder_r" not in anatomy.centres or "shoulder_l" not in anatomy.centres:
        return own
    tree = human(stature, mass, sex=sex, segments=own)
    here = places_of(tree, np.zeros(tree.dof))
    rest = here["shoulder_r"][1] - here["L5S1"][1]
    high = float(np.linalg.norm(_mean(anatomy, "shoulder") - _mean(anatomy, "hip")))
    more = (high - (here["L5S1"][1] - here["hip_r"][1])) / rest
    usual = stature / STATURE
    trunk = ("middle_trunk", "upper_trunk")
    return own | {name: {"length": more * usual * LENGTHS[name]} for name in trunk}


def _stiff(table: MarkerSet) -> tuple[str, ...]:
    """Return the joints of which markers do not tell."""
    marks = [mark[:-2] for _, mark in table.sites.values()]
    shoulders = sum(mark in SHOULDERS for mark in marks)
    others = len(table.segment("trunk")) - shoulders + len(table.segment("head"))
    moving = CLAVICLES if shoulders == 2 and others >= 3 else ()
    joints = [name for name in STIFF if name not in moving]
    for segment, (fewest, names) in TOLD.items():
        if segment in LINKS:
            joints += names if len(table.segment(segment)) < fewest else ()
            continue
        for side in ("_r", "_l"):
            few = len(table.segment(segment + side)) < fewest
            joints += [name + side for name in names] if few else []
    for side in ("_r", "_l"):
        # Of a straight elbow, turns of upper arm and forearm are one for markers of the wrist
        if min(len(table.segment(name + side)) for name in ("forearm", "upper_arm")) < 2:
            joints.append("elb_pron" + side)
    return tuple(joints)


def places_of(tree: Tree, q: np.ndarray) -> dict[str, np.ndarray]:
    """Return {point: place (3,)} of all points of a tree."""
    frames = _frames(tree, q)
    return {
        point.name: (frames[tree.link_index(point.link)] @ (*point.position, 1.0))[:3]
        for point in tree.points
    }


def _mean(anatomy: Anatomy, joint: str) -> np.ndarray:
    return (anatomy.centres[f"{joint}_r"] + anatomy.centres[f"{joint}_l"]) / 2


def _posture(body: Tree, anatomy: Anatomy) -> tuple[np.ndarray, dict[str, float]]:
    """Return the coordinates (n,) in which the body has the joint centres and the axes of pelvis,
    knees and feet, and {joint: how far it is from its centre (m)}."""
    here, frames = places_of(body, np.zeros(body.dof)), _frames(body, np.zeros(body.dof))
    points: list[Point] = []
    targets: dict[str, np.ndarray] = {}

    def turn(name: str, at: str, link: str, way: np.ndarray, target: np.ndarray) -> None:
        points.append(_point(body, frames, name, link, here[at] + REACH * way))
        targets[name] = target

    origin = _mean(anatomy, "hip")
    targets["pelvis_origin"] = origin
    for k, name in enumerate(("left", "up", "ahead")):
        way = np.eye(3)[k]
        turn(
            f"pelvis_{name}",
            "pelvis_origin",
            LINKS["pelvis"],
            way,
            origin + REACH * anatomy.pelvis[:, k],
        )
    for side, out in (("r", -1.0), ("l", 1.0)):
        for joint in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist"):
            if f"{joint}_{side}" in anatomy.centres:
                targets[f"{joint}_{side}"] = anatomy.centres[f"{joint}_{side}"]
        knee, ankle = anatomy.centres[f"knee_{side}"], anatomy.centres[f"ankle_{side}"]
        lateral = np.array((out, 0.0, 0.0))
        turn(
            f"out_{side}",
            f"knee_{side}",
            f"hip_rot_{side}",
            lateral,
            knee + REACH * anatomy.knees[side],
        )
        for name, way, target in (
            ("ahead", np.array((0, 0, 1.0)), anatomy.feet[side]),
            ("above", np.array((0, 1.0, 0)), np.array((0, 1.0, 0))),
        ):
            turn(
                f"{name}_{side}", f"ankle_{side}", f"ankle_inv_{side}", way, ankle + REACH * target
            )
    marked = replace(body, points=(*body.points, *points))
    names = {point.name for point in marked.points}
    t = np.arange(6.0)
    seen = {
        name: np.repeat(np.array(place)[:, None], len(t), axis=1)
        for name, place in targets.items()
        if name in names
    }
    fit = inverse_kinematics(
        marked,
        Series(t=t, values=seen, source="joint centres"),
        motion=BSpline(points=3, degree=2),
        deviation=1e-3,
    )
    return fit.q[:, 0], {name: size for name, size in fit.rms.items() if name in anatomy.centres}


def _frames(tree: Tree, q: np.ndarray) -> list[np.ndarray]:
    return [np.array(ca.evalf(ca.SX(pose))) for pose in poses(tree, q)]


def _point(tree: Tree, frames: list[np.ndarray], name: str, link: str, place: np.ndarray) -> Point:
    """Return a point of a link that stands at a place (3,) in a posture of these frames."""
    frame = frames[tree.link_index(link)]
    return Point(name=name, link=link, position=tuple(frame[:3, :3].T @ (place - frame[:3, 3])))


def put_markers(
    body: Tree, q: np.ndarray, places: Mapping[str, np.ndarray], links: Mapping[str, str]
) -> Tree:
    """Return the body with its points and markers.

    Args:
        body: of somebody who stands still.
        q: the posture (n,).
        places: {marker: where it is then (3,)} m.
        links: {marker: the link on which it stays}.
    """
    frames = _frames(body, q)
    points = [_point(body, frames, name, links[name], place) for name, place in places.items()]
    others = (each for each in body.points if each.name not in places)
    return replace(body, points=(*others, *points))
