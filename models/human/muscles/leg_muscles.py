"""Muscles of the legs of the human skeleton, 43 a side, along polynomial paths.

Places on bones are those of Delp, Loan, Hoy, Zajac, Topp & Rosen (1990), as OpenSim's model
gait2392 has them; the folder data says what was taken. Bones are laid on the segments of a person,
axis on axis from joint to joint, each stretched along its length. The knee is the hinge that comes
nearest to the model's, whose shank slides on the thigh as it bends; points on the patella move as
there. Optimal fibre lengths are those that Ward, Eng, Smallwood & Lieber (2009) measured, as Arnold
et al. (2010) and Rajagopal et al. (2016) have them, and grow as a muscle's path does at q = 0; its
tendon is as long as leaves its fibres, there, as far from their optimum as in Rajagopal's model.
Volumes are those of Handsfield et al. (2014), and forces are specific tension times volume over
fibre length.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ocp import Follows, Tree
from ocp.mechanics import array, poses
from ocp.mechanics.muscles import (
    Muscle,
    PathPoint,
    PointPath,
    PolynomialPath,
    SimmSpline,
    fit_polynomial,
    sample_path,
)
from ocp.models.human.volumes import LEG, LEG_LEAST, LEG_OVER_SIZE

DATA = Path(__file__).parents[1] / "data"
# N/m2: of the quadriceps of 27 young men 3e5 +- 5e4 (Erskine, Jones, Maganaris & Degens 2009);
# Rajagopal et al. (2016) have 6e5, by which legs are 2.3 times as strong as joints, not 1.15
TENSION = 3e5
LITRE = 1e-6  # m3 of a cm3
LINKS = {  # of the bones
    "pelvis": "glob_rx",
    "femur": "hip_rot",
    "tibia": "knee_flex",
    "calcn": "ankle_inv",
    "toes": "toe_ext",
}
# Places of gait2392 at q = 0 (m, forward, up, to the right), in the frame of its pelvis
HIP, KNEE, ANKLE = (
    (-0.0707, -0.0661, 0.0835),
    (-0.0752, -0.4619, 0.0835),
    (-0.0752, -0.8919, 0.0835),
)
# Where the shank slides on the thigh (Yamaguchi & Zajac 1989, in the model), as its knee bends by 0
# to 70 deg, this point moves least: a hinge there moves the shank as the model does, within 0.3 mm
# (root mean square). One in the shank's own origin leaves vasti arms of 34 mm at 30 deg, not 43
AXIS = (KNEE[0] - 0.0039, KNEE[1] - 0.0120, KNEE[2])
HEEL, TOES = (-0.12397, -0.93387, 0.09142), (0.05483, -0.93587, 0.0925)
FRAMES = {"pelvis": (0.0, 0.0, 0.0), "femur": HIP, "tibia": KNEE, "calcn": HEEL, "toes": TOES}
ANCHORS = {"pelvis": HIP, "femur": HIP, "tibia": AXIS, "calcn": ANKLE, "toes": ANKLE}
LEANS = {  # forward, over height, of bones' axes from joint to joint: ours are straight down
    "femur": (HIP[0] - AXIS[0]) / (HIP[1] - AXIS[1]),
    "tibia": (AXIS[0] - ANKLE[0]) / (AXIS[1] - ANKLE[1]),
}
JOINTS = {"pelvis": "hip", "femur": "hip", "tibia": "knee", "calcn": "ankle", "toes": "ankle"}
STATURE = 1.8  # m, of the model, about
COORDINATES = {"knee_angle": ("knee_flex", -1.0), "hip_flexion": ("hip_flex", 1.0)}
RANGES = {  # rad, over which paths are fitted: those of walking, and more
    "hip_flex": (-0.6, 1.0),
    "hip_abd": (-0.35, 0.35),
    "hip_rot": (-0.4, 0.4),
    "knee_flex": (-0.1, 1.4),
    "ankle_df": (-0.6, 0.5),
    "ankle_inv": (-0.3, 0.4),
    "toe_ext": (-0.3, 0.95),
}
ORDER, SAMPLES, WITHIN = 4, 300, 3e-3  # m: where points come and go, lengths jump
# Strain of passive fibres at the largest force: that of Rajagopal et al. (2016), and none to speak
# of where tissue of the leg's joints (Riener & Edrich 1999), measured with muscles at rest, has it
FIBRE_STRAIN, NO_FORCE, TISSUE = 0.7, 1e6, "tissue of leg"
RIGID: Mapping[str, float] = MappingProxyType({})  # all of them
TENDON_STRAIN = 0.049  # at the largest force (kT = 35)
# Of Achilles tendons: 2.0 kN, .37 of that force, strain them by 4.0 % (Kharazi et al. 2021); twice
# as strong ones have 9.8 % (D'Hondt, De Groote & Afschrift 2024), which is 6.9 % at these forces
ACHILLES = MappingProxyType(dict.fromkeys(("soleus", "med_gas", "lat_gas"), 0.068))
# Shares of slow fibres by the beginnings of names (Uchida, Hicks, Dembia & Delp 2016); else 0.5
SLOW: Mapping[str, float] = MappingProxyType(
    {
        "glut": 0.55,
        "semimem": 0.4925,
        "semiten": 0.425,
        "bifemlh": 0.5425,
        "bifemsh": 0.529,
        "add_mag": 0.552,
        "rect_fem": 0.3865,
        "vas_med": 0.503,
        "vas_int": 0.543,
        "vas_lat": 0.455,
        "med_gas": 0.566,
        "lat_gas": 0.507,
        "soleus": 0.803,
        "tib_post": 0.6,
        "tib_ant": 0.7,
        "flex_": 0.6,
        "per_brev": 0.6,
        "per_long": 0.6,
        "per_tert": 0.75,
        "ext_": 0.75,
    }
)
# Strain of the Achilles tendon as walking loads it most, at 1.4 m/s (Kharazi, Bohm, Theodorakis,
# Mersmann & Arampatzis 2021): a rigid one stands there, as fibres at its slack length would be by a
# third too long where they push off
STRAINED = 0.040
GROUPS = {  # of Handsfield: the model's muscles, by the beginnings of their names
    "gluteus_maximus": ("glut_max",),
    "gluteus_medius": ("glut_med",),
    "gluteus_minimus": ("glut_min",),
    "adductor_magnus": ("add_mag",),
    "adductor_longus": ("add_long",),
    "adductor_brevis": ("add_brev",),
    "psoas": ("psoas",),
    "iliacus": ("iliacus",),
    "sartorius": ("sar",),
    "gracilis": ("grac",),
    "pectineus": ("pect",),
    "tensor_fasciae_latae": ("tfl",),
    "piriformis": ("peri",),
    "quadratus_femoris": ("quad_fem",),
    "small_rotators": ("gem",),
    "vastus_lateralis": ("vas_lat",),
    "vastus_medialis": ("vas_med",),
    "vastus_intermedius": ("vas_int",),
    "rectus_femoris": ("rect_fem",),
    "semimembranosus": ("semimem",),
    "semitendinosus": ("semiten",),
    "biceps_femoris_long": ("bifemlh",),
    "biceps_femoris_short": ("bifemsh",),
    "soleus": ("soleus",),
    "gastrocnemius_medial": ("med_gas",),
    "gastrocnemius_lateral": ("lat_gas",),
    "tibialis_anterior": ("tib_ant",),
    "tibialis_posterior": ("tib_post",),
    "peroneals": ("per_",),
    "toe_extensors": ("ext_",),
    "flexor_hallucis": ("flex_hal",),
    "flexor_digitorum": ("flex_dig",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A point of a path: its bone, where it is there (m), for each angle of the knee if it moves,
    and the coordinate of the model over whose range it is there alone."""

    bone: str
    position: np.ndarray  # (3,) or (knee angles, 3)
    coordinate: str
    within: tuple[float, float] | None


def leg_muscles(
    tree: Tree,
    stature: float,
    mass: float,
    *,
    only: Sequence[str] = (),
    order: int = ORDER,
    compliant: Mapping[str, float] = RIGID,
) -> tuple[Muscle, ...]:
    """Return the muscles of both legs of a person, those of the left the images of the right ones.

    Args:
        tree: the human skeleton.
        stature, mass: of the person (m, kg), on whom volumes depend.
        only: names of muscles, without their side; none for all.
        order: of the polynomials.
        compliant: {muscle: strain of its tendon at its largest isometric force} of those whose
            tendons stretch; those of others are rigid.

    Raises:
        ValueError: naming a muscle that is none of the model's.
    """
    unknown = [name for name in (*only, *compliant) if name not in leg_places()]
    if unknown:
        raise ValueError(
            f"leg_muscles: expected some of {', '.join(leg_places())}, got {', '.join(unknown)}"
        )
    bodies = {side: Body.of(tree, side, stature) for side in "rl"}
    volumes = muscle_volumes(stature, mass)
    counted = any(getattr(each, "name", "").startswith(TISSUE) for each in tree.elements)
    made: list[Muscle] = []
    for name, places in leg_places().items():
        if only and name not in only:
            continue
        lines = {side: body.path(places) for side, body in bodies.items()}
        ranges = {joint: RANGES[joint[:-2]] for joint in lines["r"].joints(tree)}
        samples = sample_path(tree, lines["r"], ranges, count=SAMPLES)
        fitted = fit_polynomial(samples, order, within=WITHIN)
        numbers = leg_numbers()[name]
        fibre, slack = _fibre_and_slack(bodies["r"], places, numbers)
        if name in ACHILLES and name not in compliant:
            slack *= 1.0 + STRAINED
        for side, line in lines.items():
            made.append(
                Muscle(
                    name=f"{name}_{side}",
                    path=on_side(fitted, side),
                    force=TENSION * volumes[name] * LITRE / fibre,
                    fibre=fibre,
                    slack=slack,
                    pennation=numbers["pennation_rad"],
                    stress=TENSION,
                    slow_twitch=slow_share(name),
                    tendon="compliant" if name in compliant else "rigid",
                    tendon_strain=compliant.get(name, TENDON_STRAIN),
                    fibre_strain=NO_FORCE if counted else FIBRE_STRAIN,
                    course=line,
                )
            )
    return tuple(made)


def _fibre_and_slack(
    body: "Body", places: Sequence[Place], numbers: Mapping[str, float]
) -> tuple[float, float]:
    """Return the optimal length of the fibres and the slack length of the tendon (m) on a person:
    what fibres reach along the tendon at q = 0 over their optimum is the model's."""
    grown = body.stretch(places)
    fibre = numbers["fibre_m"] * grown
    if "reach" not in numbers:
        return fibre, numbers["slack_m"] * grown
    return fibre, grown * _path_length(places) - numbers["reach"] * fibre


def on_side(path: PolynomialPath, side: str) -> PolynomialPath:
    """Return a path of the right leg on a side: coordinates of both count alike."""
    return replace(path, joints=tuple(f"{joint[:-1]}{side}" for joint in path.joints))


def muscle_volumes(stature: float, mass: float) -> dict[str, float]:
    """Return the volumes (cm3) of the muscles of a leg: those of groups are shared as the model
    shares force times fibre length."""
    leg = LEG_OVER_SIZE * mass * stature + LEG_LEAST
    sizes = {name: row["force_N"] * row["fibre_m"] for name, row in leg_numbers().items()}
    volumes: dict[str, float] = {}
    for group, starts in GROUPS.items():
        share, least = LEG[group]
        members = [name for name in sizes if name.startswith(starts)]
        total = sum(sizes[name] for name in members)
        for name in members:
            volumes[name] = (share * leg + least) * sizes[name] / total
    return volumes


def slow_share(name: str) -> float:
    """Return the share of a muscle's fibres that are slow."""
    return next((share for start, share in SLOW.items() if name.startswith(start)), 0.5)


@cache
def leg_numbers() -> Mapping[str, Mapping[str, float]]:
    """Return {muscle: {force_N, fibre_m, slack_m, pennation_rad, reach}} of the model; those of
    fibres are Rajagopal's, if he has the muscle, `reach` along the tendon at q = 0 over fibre_m."""
    known: dict[str, dict[str, float]] = {}
    for row in (*_rows("delp_muscles"), *_rows("rajagopal_fibres")):
        numbers = known.setdefault(row.pop("muscle"), {})
        numbers.update({key: float(value) for key, value in row.items()})
    return known


@cache
def leg_places() -> Mapping[str, Sequence[Place]]:
    """Return {muscle: points of its path} of the model's right leg."""
    knees = {
        column: np.array([float(row[column]) for row in _rows("delp_patella")])
        for column in _rows("delp_patella")[0]
    }
    places: dict[str, list[Place]] = {}
    for row in _rows("delp_points"):
        name = row["muscle"]
        parts = [
            np.array(float(row[f"{axis}_m"])) if row[f"{axis}_m"] else knees[f"{name}_{axis}_m"]
            for axis in "xyz"
        ]
        span = (float(row["from_rad"]), float(row["to_rad"])) if row["coordinate"] else None
        position = np.stack(np.broadcast_arrays(*parts), axis=-1)
        place = Place(
            bone=row["bone"], position=position, coordinate=row["coordinate"], within=span
        )
        places.setdefault(name, []).append(place)
    return places


def _rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the folder data by the names of its columns."""
    return list(csv.DictReader((DATA / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Segments of a side of a person at q = 0: poses of the links, places of the joints (m, to the
    left, up, forward), and sizes of bones over the model's (forward, up, to the right)."""

    side: str
    links: Mapping[str, np.ndarray]
    joints: Mapping[str, np.ndarray]
    scales: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, tree: Tree, side: str, stature: float) -> "Body":
        """Return the segments of a tree."""
        still = poses(tree, np.zeros(tree.dof))
        names = {bone: f"{link}_{side}" for bone, link in LINKS.items()}
        names["pelvis"] = LINKS["pelvis"]
        links = {
            bone: np.array(array(still[tree.link_index(link)]), dtype=float)
            for bone, link in names.items()
        }
        ends = {"hip": "hip_flex", "knee": "hip_rot", "ankle": "knee_flex", "ball": "ankle_inv"}
        joints = {
            joint: np.array(array(still[tree.link_index(f"{link}_{side}")]), dtype=float)[:3, 3]
            for joint, link in ends.items()
        }
        size, (hip, knee, ankle, ball) = stature / STATURE, joints.values()
        sole, fore = ANKLE[1] - TOES[1], TOES[0] - ANKLE[0]
        lengths = {
            "femur": (hip - knee)[1] / (HIP[1] - AXIS[1]),
            "tibia": (knee - ankle)[1] / (AXIS[1] - ANKLE[1]),
        }
        scales = {bone: np.array([size, along, size]) for bone, along in lengths.items()}
        scales["pelvis"] = np.array([size, size, abs(hip[0]) / HIP[2]])
        foot = np.array([(ball - ankle)[2] / fore, (ankle - ball)[1] / sole, size])
        return cls(
            side=side, links=links, joints=joints, scales=scales | {"calcn": foot, "toes": foot}
        )

    def world(self, place: Place) -> np.ndarray:
        """Return the place of a point at q = 0 (.., 3), for each angle of the knee if it moves."""
        away = place.position + FRAMES[place.bone] - np.array(ANCHORS[place.bone])
        lean = np.array([LEANS.get(place.bone, 0.0), 0.0, 0.0])
        away = (away - lean * away[..., 1:2]) * self.scales[place.bone]
        lateral = -1.0 if self.side == "r" else 1.0
        turned = np.stack([lateral * away[..., 2], away[..., 1], away[..., 0]], axis=-1)
        return self.joints[JOINTS[place.bone]] + turned

    def path(self, places: Sequence[Place]) -> PointPath:
        """Return the path over places on the links."""
        return PointPath(points=tuple(self._point(place) for place in places))

    def _point(self, place: Place) -> PathPoint:
        pose = self.links[place.bone]
        link = LINKS[place.bone] + ("" if place.bone == "pelvis" else f"_{self.side}")
        position = (self.world(place) - pose[:3, 3]) @ pose[:3, :3]
        name, sign = COORDINATES.get(place.coordinate, ("", 1.0))
        ends = None if place.within is None else tuple(sorted(sign * end for end in place.within))
        return PathPoint(
            link=link,
            position=tuple(self._moving(row) for row in position.T),
            coordinate=f"{name}_{self.side}" if name else "",
            within=ends,
        )

    def _moving(self, values: np.ndarray) -> float | Follows:
        """Return a coordinate of a place, which follows the knee where it has many values."""
        if np.ndim(values) == 0 or np.ptp(values) < 1e-12:
            return float(np.ravel(values)[0])
        angles = [-float(row["knee_angle_rad"]) for row in reversed(_rows("delp_patella"))]
        spline = SimmSpline(places=angles, values=values[::-1].tolist())
        return Follows(coordinate=f"knee_flex_{self.side}", function=spline)

    def stretch(self, places: Sequence[Place]) -> float:
        """Return the length of a path over the model's, at q = 0."""
        there = [place for place in places if _holds(place)]
        ours = [_straight(place, self.world(place)) for place in there]
        return _length(ours) / _path_length(places)


def _path_length(places: Sequence[Place]) -> float:
    """Return the length (m) of a path of the model at q = 0."""
    there = [place for place in places if _holds(place)]
    return _length([_straight(each, each.position + FRAMES[each.bone]) for each in there])


def _holds(place: Place) -> bool:
    """Tell whether a point is there at q = 0."""
    return place.within is None or place.within[0] <= 0.0 <= place.within[1]


def _straight(place: Place, positions: np.ndarray) -> np.ndarray:
    """Return the one of positions (.., 3) that a point has with the knee straight."""
    if positions.ndim == 1:
        return positions
    angles = [abs(float(row["knee_angle_rad"])) for row in _rows("delp_patella")]
    return positions[int(np.argmin(angles))]


def _length(points: Sequence[np.ndarray]) -> float:
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(points)))
