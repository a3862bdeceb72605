"""Trees and muscles written as files of OpenSim, version 4.

Every link is a body, every joint that moves a CustomJoint about the point of its axis that is
nearest to its link's frame; a joint that follows another has a coordinate of its own and a coupler.
"""

from collections.abc import Iterator, Sequence
from math import inf, isfinite
from xml.sax.saxutils import escape

import numpy as np

from ocp.interchange.opensim.functions import Curve
from ocp.interchange.reader_notes import Remarks
from ocp.mechanics.elements import Damper, Spring
from ocp.mechanics.elements import Element as Acting
from ocp.mechanics.kinematics.spatial import rotate_x, rotate_y, translate
from ocp.mechanics.model.joints import GROUND, Joint
from ocp.mechanics.model.quaternions_and_couplings import Follows, PiecewiseLine, Polynomial
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.muscles.muscle import Muscle
from ocp.mechanics.muscles.muscle_paths import PathPoint, PointPath
from ocp.mechanics.muscles.simm_splines import SimmSpline
from ocp.mechanics.muscles.wrapping import (
    Surface,
    WrapCylinder,
    WrapEllipsoid,
    WrapPast,
    WrapSphere,
)
from ocp.mechanics.values.parameters import Number, array, nominal
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_numeric

VERSION = 40000
WIDE = 99999.9  # rad or m: an end of a range that is open
KNOWN = {("xyz", ""): "PointConstraint", ("xyz", "xyz"): "WeldConstraint"}
ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of an inertia, in the format's order
SEPARATORS = str.maketrans(dict.fromkeys("\\/*+ \t\n", "_"))  # which names must not have


def opensim_text(tree: Tree, name: str) -> tuple[str, Remarks]:
    """Return a tree as the text of an .osim file, and by kind what the text leaves out.

    Args:
        tree: the mechanism; what acts by itself is written where it is a muscle along points, a
            spring or a damper.
        name: of the model.

    Raises:
        ValueError: the tree has links that bend, balls, stays, loops that are neither of points
            nor of frames, joints that follow by functions of one's own, or open numbers.
    """
    check_numeric("save_model", tree)
    _check_mechanism(tree)
    surfaces = _surfaces(tree)
    written, lost = [], []
    for each in tree.elements:
        try:
            written += list(_force(tree, each, surfaces))
        except _Unsaid as reason:
            lost.append(f"{each.name} ({reason})")
    for joint in tree.moving:
        if joint.actuated and joint.unit is None:
            written += list(_actuator(joint))
    lines = [
        '<?xml version="1.0" encoding="UTF-8" ?>',
        f'<OpenSimDocument Version="{VERSION}">',
        f'<Model name="{_name(name)}">',
        f"<Ground name={_attribute(GROUND)}>{_wrap_set(surfaces, GROUND)}</Ground>",
        f"<gravity>{_words(tree.gravity)}</gravity>",
        *_set("BodySet", _bodies(tree, surfaces)),
        *_set("JointSet", _joints(tree)),
        *_set("ConstraintSet", _constraints(tree)),
        *_set("ForceSet", iter(written)),
        *_set("MarkerSet", _markers(tree)),
        "</Model>",
        "</OpenSimDocument>",
        "",
    ]
    names = [*tree.link_names, *tree.names, *(each.name for each in (*tree.points, *tree.elements))]
    changed = [each for each in names if _name(each) != each]
    shown = [link for link, body in zip(tree.link_names, tree.links) if body.visuals]
    return "\n".join(lines), {
        "elements are left out": lost,
        "names have _ in place of blanks and slashes": changed,
        "looks of links are left out": shown,
    }


class _Unsaid(Exception):
    """The format has no word for something; the message says what."""


def _check_mechanism(tree: Tree) -> None:
    """Raise ValueError naming what the motion depends on and the format has no word for."""
    if tree.flexible:
        raise ValueError(f"save_model: link {tree.flexible[0]!r}: OpenSim knows no links that bend")
    for joint in tree.joints:
        if joint.ball:
            raise ValueError(
                f"save_model: joint {joint.name!r}: a quaternion is no coordinate of OpenSim's; "
                "take three turns in its place"
            )
    if tree.stays:
        names = ", ".join(stay.name for stay in tree.stays)
        raise ValueError(f"save_model: OpenSim knows no stays, and the tree has {names}")
    for loop in tree.loops:
        if (loop.position, loop.orientation) not in KNOWN:
            raise ValueError(
                f"save_model: loop {loop.name!r}: OpenSim holds three directions of position, or "
                f"these and three turns, got {loop.position!r} and {loop.orientation!r}"
            )
    called = {
        "link": tree.link_names,
        "joint": tree.names,
        "point": tuple(point.name for point in tree.points),
        "element": tuple(each.name for each in tree.elements),
    }
    for kind, every in called.items():
        changed = [_name(each) for each in every]
        if len(set(changed)) < len(changed):
            twice = next(each for each in changed if changed.count(each) > 1)
            raise ValueError(f"save_model: two {kind}s would be called {twice!r} in the file")


# Words --------------------------------------------------------------------------------------------


def _name(name: str) -> str:
    """Return a name as the format allows it."""
    return escape(name.translate(SEPARATORS), {'"': "&quot;"})


def _attribute(name: str) -> str:
    return f'"{_name(name)}"'


def _words(values: Numbers) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(array(values)))


def _set(tag: str, objects: Iterator[str]) -> list[str]:
    return [f"<{tag} name={_attribute(tag.lower())}><objects>", *objects, f"</objects></{tag}>"]


def _property(tag: str, value: Number) -> str:
    return f"<{tag}>{float(nominal(value))!r}</{tag}>"


def _angles(turn: np.ndarray) -> tuple[float, float, float]:
    """Return the turns (rad) about x, y, z, one after the other, of a rotation (3x3)."""
    second = float(np.arctan2(turn[0, 2], np.hypot(turn[0, 0], turn[0, 1])))
    first = float(np.arctan2(-turn[1, 2], turn[2, 2]))
    before = (rotate_x(first) @ rotate_y(second))[:3, :3]
    rest = before.T @ turn  # so the product is right at any angle
    return first, second, float(np.arctan2(rest[1, 0], rest[1, 1]))


def _pose(pose: np.ndarray, turn: str = "orientation") -> str:
    return (
        f"<translation>{_words(pose[:3, 3])}</translation>"
        f"<{turn}>{_words(_angles(pose[:3, :3]))}</{turn}>"
    )


def _body_path(link: str) -> str:
    return "/ground" if link == GROUND else f"/bodyset/{_name(link)}"


def _curve(curve: Curve) -> str:
    """Return a function of one coordinate."""
    if isinstance(curve, Polynomial):
        row = _words(curve.coefficients[::-1])
        return f"<PolynomialFunction><coefficients>{row}</coefficients></PolynomialFunction>"
    for kind, tag in ((SimmSpline, "SimmSpline"), (PiecewiseLine, "PiecewiseLinearFunction")):
        if isinstance(curve, kind):
            return f"<{tag}><x>{_words(curve.places)}</x><y>{_words(curve.values)}</y></{tag}>"
    raise _Unsaid("a function of one's own")


# Bodies and joints --------------------------------------------------------------------------------


def _bodies(tree: Tree, surfaces: dict[str, tuple[str, Surface]]) -> Iterator[str]:
    for name, link in zip(tree.link_names, tree.links):
        yield (
            f"<Body name={_attribute(name)}>{_wrap_set(surfaces, name)}"
            f"{_property('mass', link.mass)}<mass_center>{_words(link.com)}</mass_center>"
            f"<inertia>{_words(_moments(link))}</inertia></Body>"
        )


def _moments(link: Link) -> Numbers:
    inertia = array(link.inertia)
    return tuple(inertia[row, column] for row, column in ENTRIES)


def _joints(tree: Tree) -> Iterator[str]:
    for joint, link in zip(tree.joints, tree.link_names):
        anchor = translate(*joint.anchor)
        parent = GROUND if joint.parent == GROUND else joint.parent
        poses = array(joint.home) @ anchor, anchor
        name, ends = _name(joint.name), ("parent", "child")
        frames = "".join(
            f"<PhysicalOffsetFrame name={_attribute(f'{joint.name}_{end}')}>"
            f"<socket_parent>{_body_path(body)}</socket_parent>{_pose(pose)}</PhysicalOffsetFrame>"
            for end, body, pose in zip(ends, (parent, link), poses)
        )
        sockets = "".join(f"<socket_{end}_frame>{name}_{end}</socket_{end}_frame>" for end in ends)
        kind = "WeldJoint" if joint.screw is None else "CustomJoint"
        moves = "" if joint.screw is None else _coordinate(joint) + _transform(joint)
        yield f'<{kind} name="{name}">{sockets}<frames>{frames}</frames>{moves}</{kind}>'


def _coordinate(joint: Joint) -> str:
    lower, upper = (
        bound if isfinite(bound) else np.copysign(WIDE, bound) for bound in joint.position
    )
    return (
        f"<coordinates><Coordinate name={_attribute(joint.name)}>"
        f"<range>{_words((lower, upper))}</range></Coordinate></coordinates>"
    )


def _transform(joint: Joint) -> str:
    """Return the six axes of a joint: its turn or its slide first, others across."""
    turn, slide = np.array(joint.screw[:3]), np.array(joint.screw[3:])
    turns = bool(turn.any())
    axis = turn if turns else slide
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    across /= np.linalg.norm(across)
    axes = (axis, across, np.cross(axis, across))
    own = joint.follows is not None and joint.follows.coordinate == joint.name
    law = joint.follows.function if own and joint.follows else Polynomial((0.0, 1.0))
    rates = {"rotation": 1.0 if turns else 0.0, "translation": joint.pitch if turns else 1.0}
    parts = []
    for what, rate in rates.items():
        for k, direction in enumerate(axes):
            moves = k == 0 and abs(rate) > 1e-14
            function = "<Constant><value>0</value></Constant>"
            if moves:
                function = (
                    f"<MultiplierFunction><function>{_function_of(joint, law)}</function>"
                    f"{_property('scale', rate)}</MultiplierFunction>"
                )
            coordinate = _name(joint.name) if moves else ""
            parts.append(
                f'<TransformAxis name="{what}{k + 1}"><coordinates>{coordinate}</coordinates>'
                f"<axis>{_words(direction)}</axis>{function}</TransformAxis>"
            )
    return f"<SpatialTransform>{''.join(parts)}</SpatialTransform>"


def _function_of(joint: Joint, curve: Curve) -> str:
    try:
        return _curve(curve)
    except _Unsaid as reason:
        raise ValueError(f"save_model: joint {joint.name!r} follows by {reason}") from None


def _constraints(tree: Tree) -> Iterator[str]:
    for joint in tree.joints:
        if joint.follows is not None and joint.follows.coordinate != joint.name:
            leader = joint.follows.coordinate
            yield (
                f"<CoordinateCouplerConstraint name={_attribute(f'{joint.name}_follows')}>"
                f"<coupled_coordinates_function>{_function_of(joint, joint.follows.function)}"
                f"</coupled_coordinates_function>"
                f"<independent_coordinate_names>{_name(leader)}</independent_coordinate_names>"
                f"<dependent_coordinate_name>{_name(joint.name)}</dependent_coordinate_name>"
                "</CoordinateCouplerConstraint>"
            )
    for loop in tree.loops:
        kind = KNOWN[loop.position, loop.orientation]
        points = [tree.point(end) for end in (loop.start, loop.end)]
        if kind == "PointConstraint":
            sockets = "".join(
                f"<socket_body_{k}>{_body_path(point.link)}</socket_body_{k}>"
                f"<location_body_{k}>{_words(point.position)}</location_body_{k}>"
                for k, point in enumerate(points, 1)
            )
        else:
            first, second = np.eye(4), np.eye(4)
            first[:3, :3] = array(loop.turn)
            for pose, point in zip((first, second), points):
                pose[:3, 3] = point.position
            frames = "".join(
                f"<PhysicalOffsetFrame name={_attribute(f'{loop.name}_{end}')}>"
                f"<socket_parent>{_body_path(point.link)}</socket_parent>{_pose(pose)}"
                "</PhysicalOffsetFrame>"
                for end, point, pose in zip(("start", "end"), points, (first, second))
            )
            sockets = (
                f"<socket_frame1>{_name(loop.name)}_start</socket_frame1>"
                f"<socket_frame2>{_name(loop.name)}_end</socket_frame2><frames>{frames}</frames>"
            )
        yield f"<{kind} name={_attribute(loop.name)}>{sockets}</{kind}>"


def _markers(tree: Tree) -> Iterator[str]:
    for point in tree.points:
        yield (
            f"<Marker name={_attribute(point.name)}>"
            f"<socket_parent_frame>{_body_path(point.link)}</socket_parent_frame>"
            f"<location>{_words(point.position)}</location></Marker>"
        )


# Forces -------------------------------------------------------------------------------------------


def _actuator(joint: Joint) -> Iterator[str]:
    lower, upper = (("-Inf", "Inf")[b > 0] if abs(b) == inf else repr(b) for b in joint.torque)
    yield (
        f"<CoordinateActuator name={_attribute(f'{joint.name}_drive')}>"
        f"<min_control>{lower}</min_control><max_control>{upper}</max_control>"
        f"<coordinate>{_name(joint.name)}</coordinate><optimal_force>1</optimal_force>"
        "</CoordinateActuator>"
    )


def _force(tree: Tree, element: Acting, surfaces: dict[str, tuple[str, Surface]]) -> Iterator[str]:
    """Yield an element that acts by itself."""
    if isinstance(element, Spring | Damper):
        numbers = (
            {"stiffness": element.stiffness, "rest_length": element.rest}
            if isinstance(element, Spring)
            else {"stiffness": 0.0, "rest_length": 0.0, "viscosity": element.damping}
        )
        stated = "".join(_property(tag, value) for tag, value in numbers.items())
        yield (
            f"<SpringGeneralizedForce name={_attribute(element.name)}>"
            f"<coordinate>{_name(element.joint)}</coordinate>{stated}</SpringGeneralizedForce>"
        )
    elif isinstance(element, Muscle):
        yield _muscle(tree, element, surfaces)
    else:
        raise _Unsaid(type(element).__name__)


def _muscle(tree: Tree, muscle: Muscle, surfaces: dict[str, tuple[str, Surface]]) -> str:
    if not isinstance(muscle.path, PointPath):
        raise _Unsaid(f"a muscle along a {type(muscle.path).__name__}")
    if any(isinstance(each, WrapPast) for each in muscle.path.points):
        raise _Unsaid("a muscle past a surface as MuJoCo has it")
    points: list[str] = []
    wraps: list[str] = []
    for each in muscle.path.points:
        if isinstance(each, Surface):
            name = next(word for word, (_, known) in surfaces.items() if known is each)
            ends = f"{len(points)} {len(points) + 1}"
            wraps.append(
                f"<PathWrap name={_attribute(name)}><wrap_object>{_name(name)}</wrap_object>"
                f"<method>hybrid</method><range>{ends}</range></PathWrap>"
            )
        else:
            points.append(_point(tree, f"{muscle.name}-P{len(points) + 1}", each))
    excited, active = muscle.excitation, muscle.activation or muscle.excitation
    numbers = {
        "min_control": excited[0],
        "max_control": excited[1],
        "max_isometric_force": muscle.force,
        "optimal_fiber_length": muscle.fibre,
        "tendon_slack_length": muscle.slack,
        "pennation_angle_at_optimal": muscle.pennation,
        "max_contraction_velocity": muscle.fastest,
        "minimum_activation": active[0],
        "activation_time_constant": muscle.rise,
        "deactivation_time_constant": muscle.fall,
        "activation_dynamics_smoothing": muscle.smoothing,
        "active_force_width_scale": muscle.width,
        "fiber_damping": muscle.damping,
        "passive_fiber_strain_at_one_norm_force": muscle.fibre_strain,
        "tendon_strain_at_one_norm_force": muscle.tendon_strain,
    }
    rigid = "false" if muscle.compliant else "true"
    return (
        f"<DeGrooteFregly2016Muscle name={_attribute(muscle.name)}>"
        f'<GeometryPath name="path"><PathPointSet><objects>{"".join(points)}</objects>'
        f"</PathPointSet><PathWrapSet><objects>{''.join(wraps)}</objects></PathWrapSet>"
        f"</GeometryPath>{''.join(_property(tag, value) for tag, value in numbers.items())}"
        f"<ignore_tendon_compliance>{rigid}</ignore_tendon_compliance>"
        "</DeGrooteFregly2016Muscle>"
    )


def _point(tree: Tree, name: str, point: PathPoint | str | Sequence[float]) -> str:
    """Return a point of a path."""
    if isinstance(point, str):
        known = tree.point(point)
        point = PathPoint(link=known.link, position=known.position)
    elif not isinstance(point, PathPoint):
        point = PathPoint(link=GROUND, position=point)
    frame = f"<socket_parent_frame>{_body_path(point.link)}</socket_parent_frame>"
    leaders = {each.coordinate for each in point.position if isinstance(each, Follows)}
    if leaders and (len(leaders) > 1 or point.within is not None):
        raise _Unsaid("a point that moves with several coordinates, or is there over a range only")
    if leaders:
        leader = leaders.pop()
        row = "".join(_moving(axis, each, leader) for axis, each in zip("xyz", point.position))
        return f"<MovingPathPoint name={_attribute(name)}>{frame}{row}</MovingPathPoint>"
    place = f"<location>{_words(point.position)}</location>"
    if point.within is None:
        return f"<PathPoint name={_attribute(name)}>{frame}{place}</PathPoint>"
    return (
        f"<ConditionalPathPoint name={_attribute(name)}>{frame}{place}"
        f"<socket_coordinate>{_coordinate_path(point.coordinate)}</socket_coordinate>"
        f"<range>{_words(point.within)}</range></ConditionalPathPoint>"
    )


def _moving(axis: str, entry: float | Follows, coordinate: str) -> str:
    """Return one entry of the position of a point that moves with a coordinate."""
    curve = entry.function if isinstance(entry, Follows) else Polynomial((float(entry),))
    return (
        f"<socket_{axis}_coordinate>{_coordinate_path(coordinate)}</socket_{axis}_coordinate>"
        f"<{axis}_location>{_curve(curve)}</{axis}_location>"
    )


def _coordinate_path(name: str) -> str:
    return f"/jointset/{_name(name)}/{_name(name)}"


def _surfaces(tree: Tree) -> dict[str, tuple[str, Surface]]:
    """Return {name: (link, surface)} of the surfaces of all muscles' paths."""
    known: dict[str, tuple[str, Surface]] = {}
    for each in tree.elements:
        if isinstance(each, Muscle) and isinstance(each.path, PointPath):
            for surface in each.path.points:
                if isinstance(surface, Surface) and not isinstance(surface, WrapPast):
                    known[f"{each.name}_wrap_{len(known) + 1}"] = surface.link, surface
    return known


def _wrap_set(surfaces: dict[str, tuple[str, Surface]], link: str) -> str:
    rows = "".join(
        _surface(name, surface) for name, (body, surface) in surfaces.items() if body == link
    )
    return f'<WrapObjectSet name="wraps"><objects>{rows}</objects></WrapObjectSet>' if rows else ""


def _surface(name: str, surface: Surface) -> str:
    if isinstance(surface, WrapCylinder):
        tag, side = "WrapCylinder", surface.quadrant.removeprefix("+") or "all"
        shape = _property("radius", surface.radius) + _property("length", 1.0)
    elif isinstance(surface, WrapSphere):
        tag, side, shape = "WrapSphere", "all", _property("radius", surface.radius)
    else:
        assert isinstance(surface, WrapEllipsoid)
        tag, side = "WrapEllipsoid", "all"
        shape = f"<dimensions>{_words(surface.radii)}</dimensions>"
    pose = _pose(array(surface.pose), "xyz_body_rotation")
    return f"<{tag} name={_attribute(name)}>{pose}<quadrant>{side}</quadrant>{shape}</{tag}>"
