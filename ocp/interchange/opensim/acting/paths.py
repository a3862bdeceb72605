"""Paths of OpenSim's muscles: points, moving and conditional ones, and wraps over surfaces; or
functions of coordinates.

OpenSim lets a surface act between any two neighbours of a range of points, wherever it changes the
length least; here it acts between those two between which it does most often in postures over the
ranges of all coordinates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import inf

import casadi as ca
import numpy as np

from ocp.interchange.opensim.bodies import STILL, frame_on_link
from ocp.interchange.opensim.constraints import place_of
from ocp.interchange.opensim.coordinates import Way
from ocp.interchange.opensim.functions import (
    Curve,
    Several,
    Terms,
    function_in,
    function_of_several,
)
from ocp.interchange.opensim.properties import (
    Objects,
    flag_of,
    members_of,
    name_of,
    number_of,
    numbers_of,
    pose_of,
    socket_of,
    words_of,
)
from ocp.interchange.xml_elements import Element
from ocp.mechanics.kinematics.kinematics import poses
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.quaternions_and_couplings import Follows, Polynomial
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.muscles.muscle_paths import (
    EDGE,
    GivenPath,
    Path,
    PathPoint,
    PointPath,
    PolynomialPath,
)
from ocp.mechanics.muscles.wrapping import (
    Surface,
    WrapCylinder,
    WrapEllipsoid,
    WrapSphere,
    over_cylinder,
    over_sphere,
)
from ocp.mechanics.values.parameters import array
from ocp.mechanics.values.types import Matrix
from ocp.transcription.kernels.kernels import function

TRIED, SLOPE = 16, 1e-6  # places (rad or m) where slopes of lengths are compared, within so much
POSTURES = 128  # in which it is looked up where surfaces act
QUADRANTS = {"all": "", "x": "+x", "+x": "+x", "-x": "-x", "y": "+y", "+y": "+y", "-y": "-y"}
REACH = {"prismatic": 1.0, "revolute": np.pi}  # m or rad: of coordinates without a range


class LeftOut(Exception):
    """A part of a file is left out of the tree; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What paths of a file run over: its objects, their tree, and the ways of its coordinates; and
    `moved`, `shorter` and `longer`, what there is to say of surfaces that act otherwise than in
    OpenSim, and the muscles that are `slow`er than there."""

    objects: Objects
    tree: Tree
    ways: Mapping[str, Way]
    moved: list[str] = field(default_factory=list)
    shorter: list[str] = field(default_factory=list)
    longer: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)

    @cached_property
    def surfaces(self) -> dict[str, tuple[Element, Element]]:
        """{name: (surface, the body that carries it)} of the surfaces that act."""
        return {
            name_of(each): (each, owner)
            for _, owner in self.objects.paths
            if owner.tag in ("Body", "Ground", "PhysicalOffsetFrame")
            for each in members_of(owner, "WrapObjectSet")
            if flag_of(each, "active", True)
        }

    @cached_property
    def frames(self) -> dict[str, np.ndarray]:
        """{link: poses (postures, 4, 4)} in postures over the ranges of all coordinates."""
        tree, rng = self.tree, np.random.default_rng(0)
        ends = np.array([each.position for each in tree.moving], dtype=float).reshape(-1, 2)
        reach = np.array([REACH.get(each.kind, 1.0) for each in tree.moving])
        low = np.where(np.isfinite(ends[:, 0]), ends[:, 0], -reach)
        high = np.where(np.isfinite(ends[:, 1]), ends[:, 1], reach)
        postures = rng.uniform(low, high, (POSTURES, tree.dof))
        q = ca.SX.sym("q", tree.dof)
        whole = ca.horzcat(*poses(tree, q))
        stacked = function("frames", [q], [whole], ["q"], ["poses"])
        columns = np.array(stacked.map(POSTURES)(postures.T)).reshape(4, POSTURES, -1, 4)
        by_link = columns.transpose(2, 1, 0, 3)
        return dict(zip(tree.link_names, by_link)) | {
            GROUND: np.broadcast_to(np.eye(4), (POSTURES, 4, 4))
        }


def free_coordinate(around: Surroundings, element: Element) -> str:
    """Return the coordinate of a force, which is one that is free."""
    word = " ".join(words_of(element, "coordinate", "socket_coordinate"))
    name = word.rstrip("/").rpartition("/")[2]
    if name not in around.ways:
        raise element.wrong(f"<coordinate>: there is no coordinate {word!r}")
    if around.ways[name].leader != name:
        raise LeftOut(f"coordinate {name!r} stands or follows another")
    return name


def path_of(around: Surroundings, owner: Element) -> Path:
    """Return the path of a muscle, or of another force along points.

    Args:
        around: what it runs over.
        owner: that has the path.

    Raises:
        LeftOut: naming what of the path is not read.
        ValueError: the file states it wrong.
    """
    geometry = next((each for each in owner.children if each.tag.endswith("Path")), None)
    holder = owner.one("path") if geometry is None else None
    if holder is not None:
        geometry = next(iter(holder.children), None)
    if geometry is not None and geometry.tag == "FunctionBasedPath":
        return _function_path(around, geometry)
    if geometry is None or geometry.tag != "GeometryPath":
        what = "no path" if geometry is None else f"a path of class {geometry.tag}"
        raise LeftOut(f"it has {what}; put a GeometryPath in its place")
    stated = members_of(geometry, "PathPointSet")
    if len(stated) < 2:
        raise geometry.wrong(f"<PathPointSet>: expected two points or more, got {len(stated)}")
    points: list[PathPoint | None] = []
    for each in stated:
        with each.located_errors():
            points.append(_point(around, each))
    wraps = [each for each in members_of(geometry, "PathWrapSet") if each.tag == "PathWrap"]
    surfaces = _surface_seats(around, wraps, points, owner) if wraps else {}
    row: list[PathPoint | Surface] = []
    for k, point in enumerate(points):
        row += surfaces.get(k, [])
        row += [] if point is None else [point]
    conditional = [each for each in row if isinstance(each, PathPoint) and each.within is not None]
    if conditional and (row[0] in conditional or row[-1] in conditional):
        raise LeftOut("an end of its path is conditional; end it at a PathPoint")
    with geometry.located_errors():
        path = PointPath(points=row)
    if not path.joints(around.tree):
        raise LeftOut("its path crosses no joint that moves")
    return path


def _point(around: Surroundings, element: Element) -> PathPoint | None:
    """Return a point of a path, None for a conditional one that is never there."""
    link, place = place_of(around.objects, element, "parent_frame", "body")
    if element.tag == "PathPoint":
        return PathPoint(link=link, position=place)
    if element.tag == "ConditionalPathPoint":
        lower, upper = numbers_of(element, "range", 2)
        way = _way(around, element, "coordinate")
        if way.leader is None:
            here = lower - EDGE <= way.value <= upper + EDGE
            return PathPoint(link=link, position=place) if here else None
        if not isinstance(way.curve, Polynomial) or len(way.curve.coefficients) != 2:
            raise LeftOut("a point is there by a coordinate that follows another by a curve")
        offset, slope = way.curve.coefficients
        within = sorted(((lower - offset) / slope, (upper - offset) / slope))
        return PathPoint(link=link, position=place, coordinate=way.leader, within=within)
    if element.tag != "MovingPathPoint":
        raise LeftOut(f"points of class {element.tag} are not read; put a PathPoint in its place")
    frame, pose = frame_on_link(around.objects, element, socket_of(element, "parent_frame", "body"))
    entries: list[float | Follows] = []
    for axis in "xyz":
        curve = function_in(element, f"{axis}_location")
        if curve is None:
            raise element.wrong(f"<{axis}_location> is missing")
        way = _way(around, element, f"{axis}_coordinate").of(curve)
        entries.append(
            way.value if way.leader is None else Follows(coordinate=way.leader, function=way.curve)
        )
    if not np.array_equal(pose, np.eye(4)):
        raise LeftOut("a point moves in a frame off its body; put it in the body's frame")
    return PathPoint(link=frame, position=entries)


def _way(around: Surroundings, element: Element, socket: str) -> Way:
    """Return the Way of the coordinate behind a socket of a point."""
    word = socket_of(element, socket)
    name = word.rstrip("/").rpartition("/")[2]
    if name not in around.ways:
        raise element.wrong(f"<{socket}>: there is no coordinate {word!r}")
    return around.ways[name]


# Functions ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthOfWays:
    """The `length` of a path by coordinates whose `curves` are of one of its joints, by `rows`, or
    of none that moves, by None."""

    length: Several
    curves: tuple[Curve, ...]
    rows: tuple[int | None, ...]

    def __call__(self, x: Matrix) -> Matrix:
        """Return the length (m) at the joints' coordinates x (k,)."""
        places = (0.0 if row is None else x[row] for row in self.rows)
        return self.length(ca.vertcat(*(curve(at) for curve, at in zip(self.curves, places))))


def _function_path(around: Surroundings, geometry: Element) -> Path:
    """Return the path of a FunctionBasedPath, whose moment arms are the slopes of its length."""
    names = [word.rstrip("/").rpartition("/")[2] for word in words_of(geometry, "coordinate_paths")]
    for name in names:
        if name not in around.ways:
            raise geometry.wrong(f"<coordinate_paths>: there is no coordinate {name!r}")
    if not names:
        raise geometry.wrong("<coordinate_paths>: expected one coordinate or more, got none")
    stated = members_of(geometry, "length_function")
    if not stated:
        raise geometry.wrong("<length_function> is missing")
    length = function_of_several(stated[0], len(names))
    _check_slopes(geometry, length, len(names))
    ways = [around.ways[name] for name in names]
    leaders = list(dict.fromkeys(way.leader for way in ways if way.leader is not None))
    if not leaders:
        raise LeftOut("its path crosses no joint that moves")
    with geometry.located_errors():
        if isinstance(length, Terms) and leaders == names:
            if not any(map(any, length.exponents)):
                raise LeftOut("its length is one number")
            return PolynomialPath(
                joints=names, exponents=length.exponents, coefficients=length.coefficients
            )
        rows = tuple(None if way.leader is None else leaders.index(way.leader) for way in ways)
        curves = tuple(way.curve for way in ways)
        return GivenPath(
            joints=leaders, function=LengthOfWays(length=length, curves=curves, rows=rows)
        )


def _check_slopes(geometry: Element, length: Several, count: int) -> None:
    """Leave out a path whose stated moment arms, or speed, are not those of its length."""
    arms = members_of(geometry, "moment_arm_functions")
    speeds = members_of(geometry, "lengthening_speed_function")
    if arms and len(arms) != count:
        raise geometry.wrong(f"<moment_arm_functions>: expected {count}, got {len(arms)}")
    x, rate = ca.SX.sym("x", count), ca.SX.sym("rate", count)
    slope = ca.jacobian(length(x), x)
    stated = [-function_of_several(each, count)(x) for each in arms]
    moving = [function_of_several(each, 2 * count)(ca.vertcat(x, rate)) for each in speeds[:1]]
    off = [each - slope[k] for k, each in enumerate(stated)] + [
        each - slope @ rate for each in moving
    ]
    if not off:
        return
    largest = ca.norm_inf(ca.vertcat(*off))
    apart = function("apart", [x, rate], [largest], ["x", "rate"], ["apart"])
    places = np.random.default_rng(0).uniform(-1, 1, (2, count, TRIED))
    worst = float(np.array(apart.map(TRIED)(*places)).max())
    if not worst < SLOPE:
        raise LeftOut(f"its moment arms or its speed are not its length's slopes, by {worst:.1e} m")


# Surfaces -----------------------------------------------------------------------------------------


def _surface_seats(
    around: Surroundings,
    wraps: Sequence[Element],
    points: Sequence[PathPoint | None],
    owner: Element,
) -> dict[int, list[Surface]]:
    """Return {number of a point: the surfaces between it and the point before} on the path of an
    owner."""
    seated: dict[int, list[Surface]] = {}
    for each in wraps:
        surface = _surface(around, each)
        if surface is None:
            continue
        first, last = (int(end) for end in numbers_of(each, "range", 2, (-1.0, -1.0)))
        first, last = (1 if first < 1 else first), (len(points) if last < 1 else last)
        half = _half_length(around, each)
        touching = {
            k: _touches(around, surface, points[k - 1 : k + 1], half)
            for k in range(first, min(last, len(points)))
            if points[k - 1] is not None and points[k] is not None
        }
        often = {k: int((times & ~beyond).sum()) for k, (times, beyond) in touching.items()}
        if not often or not max(often.values()):
            continue  # it acts in no posture
        seat = max(often, key=lambda k: often[k])
        if any(point is None or point.within is not None for point in points[seat - 1 : seat + 1]):
            raise LeftOut("a surface acts beside a conditional point")
        seated.setdefault(seat, []).append(surface)
        words = f"{name_of(owner)} over {' '.join(each.child('wrap_object').content.split())}"
        beside = sum(often.values()) - often[seat]
        if beside:
            around.moved.append(f"{words} ({beside} of {POSTURES})")
        others = _on_other_side(around, each, surface, points[seat - 1 : seat + 1])
        if others:
            around.shorter.append(f"{words} ({others} of {POSTURES})")
        past = int((touching[seat][0] & touching[seat][1]).sum())
        if past:
            around.longer.append(f"{words} ({past} of {POSTURES})")
    for seat, row in seated.items():
        if len(row) > 2:
            kinds = ", ".join(type(each).__name__ for each in row)
            raise LeftOut(f"between two of its points act {kinds}: one is read, or two")
        if len(row) == 2 and _second_comes_first(around, row, points[seat - 1 : seat + 1]):
            row.reverse()
    return seated


def _surface(around: Surroundings, wrap: Element) -> Surface | None:
    """Return the surface of a wrap; None for one that is switched off."""
    name = " ".join(wrap.child("wrap_object").content.split())
    if name not in around.surfaces:
        known = [each for each in around.objects.paths if each[1].attributes.get("name") == name]
        if known:
            return None
        raise wrap.wrong(f"<wrap_object>: there is no surface {name!r}")
    element, owner = around.surfaces[name]
    link, pose = frame_on_link(around.objects, owner, name_of(owner))
    pose = pose @ pose_of(
        numbers_of(element, "translation", 3, STILL),
        numbers_of(element, "xyz_body_rotation", 3, STILL),
    )
    side = " ".join(element.child("quadrant").content.split()) if element.one("quadrant") else "all"
    with element.located_errors():
        if element.tag == "WrapCylinder":
            if side not in QUADRANTS:
                raise element.wrong(
                    f"<quadrant>: expected one of {', '.join(QUADRANTS)}, got {side!r}"
                )
            radius = number_of(element, "radius")
            return WrapCylinder(link=link, radius=radius, pose=pose, quadrant=QUADRANTS[side])
        if element.tag == "WrapSphere":
            return WrapSphere(link=link, radius=number_of(element, "radius"), pose=pose)
        if element.tag == "WrapEllipsoid":
            return WrapEllipsoid(link=link, radii=numbers_of(element, "dimensions", 3), pose=pose)
    raise LeftOut(f"it wraps over {name!r} of class {element.tag}, which is not read")


def _on_other_side(
    around: Surroundings, wrap: Element, surface: Surface, points: Sequence[PathPoint | None]
) -> int:
    """Return in how many postures the shortest path over an ellipsoid or a sphere is not on the
    side that the file states."""
    element, _ = around.surfaces[" ".join(wrap.child("wrap_object").content.split())]
    side = " ".join(element.child("quadrant").content.split()) if element.one("quadrant") else "all"
    axis = "xyz".find(side[-1:])
    if isinstance(surface, WrapCylinder) or side == "all" or axis < 0:
        return 0
    touches, _ = _touches(around, surface, points)
    size = array(surface.radii if isinstance(surface, WrapEllipsoid) else 3 * [surface.radius])
    ends = [each / size[:, None] for each in _places(around, surface, points)]
    middle = sum(each / np.linalg.norm(each, axis=0) for each in ends)[axis]
    return int((touches & (middle * (-1 if side[0] == "-" else 1) < 0)).sum())


def _places(
    around: Surroundings, surface: Surface, points: Sequence[PathPoint | None]
) -> list[np.ndarray]:
    """Return the places (3, postures) of points in a surface's frame."""
    own = np.linalg.inv(around.frames[surface.link] @ array(surface.pose))
    places = []
    for point in points:
        assert point is not None
        local = [0.0 if isinstance(each, Follows) else each for each in point.position]
        here = around.frames[point.link] @ [*local, 1.0]
        places.append(np.einsum("nij,nj->in", own, here)[:3])
    return places


def _half_length(around: Surroundings, wrap: Element) -> float:
    """Return half the length (m) of a surface that has one."""
    element, _ = around.surfaces[" ".join(wrap.child("wrap_object").content.split())]
    return number_of(element, "length", inf) / 2 if element.tag == "WrapCylinder" else inf


def _touches(
    around: Surroundings,
    surface: Surface,
    points: Sequence[PathPoint | None],
    half: float = inf,
) -> tuple[np.ndarray, np.ndarray]:
    """Return whether a surface turns the way between two points, and whether it sets in and leaves
    farther than a half length from its middle, where OpenSim passes it, in all postures."""
    size = surface.radii if isinstance(surface, WrapEllipsoid) else 3 * [surface.radius]
    scale = np.reshape(np.array(size, dtype=float), (3, 1))
    scaled = [each / scale for each in _places(around, surface, points)]
    side = surface.quadrant if isinstance(surface, WrapCylinder) else None
    angle, first, last = (np.array(each) for each in _turning(side)(*scaled))
    ends = np.abs(np.vstack([first, last])) * float(scale[2, 0])
    return angle.ravel() > 0, np.array((ends > half).all(axis=0))


@cache
def _turning(quadrant: str | None) -> ca.Function:
    """Return the angle by which paths turn on a cylinder of radius 1, or on a sphere for None, and
    the heights where they set in and leave, in all postures.

    Scaled to a sphere, an ellipsoid is touched where it is, since lines stay lines.
    """
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    touch = over_sphere(a, b, 1.0) if quadrant is None else over_cylinder(a, b, 1.0, quadrant)
    told = [touch.angle, touch.first[2], touch.last[2]]
    return function("turning", [a, b], told, ["start", "end"], ["angle", "first", "last"]).map(
        POSTURES
    )


def _second_comes_first(
    around: Surroundings, surfaces: Sequence[Surface], points: Sequence[PathPoint | None]
) -> bool:
    """Tell whether a path from point to point meets the second of two surfaces before the first."""
    along = []
    for surface in surfaces:
        start, end = _places(around, surface, points)
        way = end - start
        along.append(-(start * way).sum(axis=0) / (way**2).sum(axis=0))
    return bool(np.median(along[1] - along[0]) < 0)
