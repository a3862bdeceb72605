"""Texts of small models in OpenSim's format, of versions 4 and 3."""

STILL = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
ONES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
SPLINE = "<SimmSpline><x>-2 -1 0 0.7 1.5</x><y>0.3 0.1 0 -0.05 0.2</y></SimmSpline>"
OTHER = "<SimmSpline><x>-1.5 -0.5 0.5 1.5</x><y>-0.02 0.01 0.03 -0.01</y></SimmSpline>"
LINES = "<PiecewiseLinearFunction><x>-1 0 0.4 1</x><y>0.1 0 0.2 0.1</y></PiecewiseLinearFunction>"


def words(values):
    """Numbers as the content of a property."""
    return " ".join(repr(float(each)) for each in values)


def line(slope, offset=0.0):
    """A straight line."""
    return f"<LinearFunction><coefficients>{slope} {offset}</coefficients></LinearFunction>"


def constant(value):
    """A function with one value."""
    return f"<Constant><value>{value}</value></Constant>"


def scaled(scale, inner):
    """A function times a scale."""
    return (
        f"<MultiplierFunction><function>{inner}</function><scale>{scale}</scale>"
        "</MultiplierFunction>"
    )


def polynomial(*coefficients):
    """A polynomial, the highest power first."""
    listed = words(coefficients)
    return f"<PolynomialFunction><coefficients>{listed}</coefficients></PolynomialFunction>"


def body(name, mass=1.0, com=(0.1, -0.2, 0.05), inertia=(0.02, 0.03, 0.04, 0.001, -0.002, 0.003)):
    """A body of version 4."""
    return (
        f'<Body name="{name}"><mass>{mass}</mass><mass_center>{words(com)}</mass_center>'
        f"<inertia>{words(inertia)}</inertia></Body>"
    )


def coordinate(name, more="", reach=(-1.0, 1.0)):
    """A coordinate with its range."""
    return f'<Coordinate name="{name}"><range>{words(reach)}</range>{more}</Coordinate>'


def frame(name, parent, pose):
    """A frame off another."""
    place, turn = pose
    return (
        f'<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>'
        f"<translation>{words(place)}</translation><orientation>{words(turn)}</orientation>"
        "</PhysicalOffsetFrame>"
    )


def joint(kind, name, ends, coordinates=(), poses=(STILL, STILL), more=""):
    """A joint of version 4 between two bodies, with coordinates by name or as texts."""
    parent, child = (end if end == "/ground" else f"/bodyset/{end}" for end in ends)
    listed = "".join(each if "<" in each else coordinate(each) for each in coordinates)
    return (
        f'<{kind} name="{name}"><socket_parent_frame>{name}_parent</socket_parent_frame>'
        f"<socket_child_frame>{name}_child</socket_child_frame>"
        f"<coordinates>{listed}</coordinates>"
        f"<frames>{frame(f'{name}_parent', parent, poses[0])}"
        f"{frame(f'{name}_child', child, poses[1])}</frames>{more}</{kind}>\n"
    )


def transform(*axes):
    """The six axes of a CustomJoint: (coordinates, axis, function), rotations first; None for an
    axis on which nothing moves."""
    parts = []
    for name, default, each in zip(AXES, (*ONES, *ONES), axes):
        coordinates, axis, function = each or ("", default, constant(0.0))
        parts.append(
            f'<TransformAxis name="{name}"><coordinates>{coordinates}</coordinates>'
            f"<axis>{words(axis)}</axis>{function}</TransformAxis>"
        )
    return f"<SpatialTransform>{''.join(parts)}</SpatialTransform>"


def coupler(name, leader, follower, function, more=""):
    """A coordinate that follows another."""
    return (
        f'<CoordinateCouplerConstraint name="{name}">'
        f"<coupled_coordinates_function>{function}</coupled_coordinates_function>"
        f"<independent_coordinate_names>{leader}</independent_coordinate_names>"
        f"<dependent_coordinate_name>{follower}</dependent_coordinate_name>{more}"
        "</CoordinateCouplerConstraint>"
    )


def listed(tag, *objects):
    """A set of objects."""
    return f'<{tag} name="{tag.lower()}"><objects>\n{chr(10).join(objects)}\n</objects></{tag}>\n'


def document(bodies, joints, *sets, version=40000, gravity=(0, -9.80665, 0)):
    """A whole file."""
    return (
        f'<?xml version="1.0" encoding="UTF-8" ?>\n<OpenSimDocument Version="{version}">\n'
        f'<Model name="small">\n<Ground name="ground"/>\n<gravity>{words(gravity)}</gravity>\n'
        f"{listed('BodySet', *bodies)}{listed('JointSet', *joints)}{''.join(sets)}"
        "</Model>\n</OpenSimDocument>\n"
    )


PLACES = ((0.1, -0.3, 0.02), (0.2, -0.4, 0.3)), ((-0.05, 0.1, 0.03), (0.3, 0.1, -0.2))
KNEE = transform(
    ("knee", (0, 0, 1), line(1.0)),
    ("", (0, 1, 0), constant(0.0)),
    ("", (1, 0, 0), constant(0.1)),
    ("knee", (0.6, 0.8, 0), SPLINE),
    ("knee", (0, 0.5, 0), scaled(1.3, OTHER)),
    ("", (0, 0, 1), constant(0.015)),
)
HIP = transform(
    ("hip_1", (1, 0.2, 0), line(1.0)),
    ("hip_2", (0, 0.9, 0.1), line(-1.0, 0.2)),
    ("hip_3", (0.1, 0.3, 1), line(0.5, -0.1)),
    ("", (1, 0, 0), constant(-0.04)),
    ("slip", (0, 2.0, 1.0), polynomial(0.01, -0.05, 0.2, 0.03)),
    None,
)
CHAIN = document(
    [body(name, mass=1.0 + 0.3 * k) for k, name in enumerate("abcdefghi")],
    [
        joint("PinJoint", "wrist", ("e", "f"), ["wrist"], PLACES),
        joint("PlanarJoint", "root", ("/ground", "a"), ["tilt", "tx", "ty"], PLACES),
        joint("CustomJoint", "knee", ("b", "c"), ["knee"], PLACES, KNEE),
        joint("CustomJoint", "hip", ("a", "b"), ["hip_1", "hip_2", "hip_3", "slip"], PLACES, HIP),
        joint("UniversalJoint", "ankle", ("c", "d"), ["ankle_1", "ankle_2"], PLACES),
        joint("GimbalJoint", "neck", ("a", "e"), ["neck_1", "neck_2", "neck_3"], PLACES),
        joint("SliderJoint", "slide", ("f", "g"), ["slide"], PLACES),
        joint("WeldJoint", "weld", ("g", "h"), [], PLACES),
        joint(
            "CustomJoint",
            "patella",
            ("b", "i"),
            ["beta", coordinate("held", "<default_value>0.3</default_value><locked>true</locked>")],
            PLACES,
            transform(
                ("beta", (0, 0, 1), line(1.0)),
                ("held", (0, 1, 0), line(2.0)),
                ("", (1, 0, 0), constant(0.0)),
                ("beta", (1, 0, 0), SPLINE),
                ("beta", (0, 1, 0), line(0.1)),
                None,
            ),
        ),
    ],
    listed(
        "ConstraintSet",
        coupler("patella_follows", "knee", "beta", OTHER, "<scale_factor>0.8</scale_factor>"),
        coupler("wrist_follows", "beta", "wrist", line(-0.5, 0.1)),
        coupler("idle", "slide", "knee", line(1.0), "<isEnforced>false</isEnforced>"),
    ),
    listed(
        "MarkerSet",
        '<Marker name="toe"><socket_parent_frame>/bodyset/d</socket_parent_frame>'
        "<location>0.1 0.2 0.3</location></Marker>",
    ),
)
FREE = document(
    [body("trunk"), body("arm", mass=0.7)],
    [
        joint("FreeJoint", "root", ("/ground", "trunk"), ["r1", "r2", "r3", "x", "y", "z"], PLACES),
        joint("BallJoint", "shoulder", ("trunk", "arm"), ["s1", "s2", "s3"], PLACES),
    ],
)
OLD = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="30000">
<Model name="old">
<gravity>0 -9.80665 0</gravity>
<BodySet name=""><objects>
<Body name="ground"><mass>0</mass></Body>
<Body name="thigh">
 <mass>8</mass><mass_center>0 -0.17 0</mass_center>
 <inertia_xx>0.13</inertia_xx><inertia_yy>0.035</inertia_yy><inertia_zz>0.14</inertia_zz>
 <inertia_xy>0</inertia_xy><inertia_xz>0</inertia_xz><inertia_yz>0.01</inertia_yz>
 <Joint><PinJoint name="hip">
  <parent_body>ground</parent_body>
  <location_in_parent>0.1 0.9 0</location_in_parent>
  <orientation_in_parent>0 0.25 0</orientation_in_parent>
  <location>0 0.1 0</location><orientation>0 0 0.5</orientation>
  <CoordinateSet name=""><objects>
   <Coordinate name="hip_angle"><motion_type>rotational</motion_type>
    <range>-1 2</range><clamped>true</clamped><locked>false</locked></Coordinate>
  </objects></CoordinateSet>
  <reverse>false</reverse>
 </PinJoint></Joint>
</Body>
<Body name="shank">
 <mass>3.5</mass><mass_center>0 -0.2 0</mass_center>
 <inertia_xx>0.05</inertia_xx><inertia_yy>0.005</inertia_yy><inertia_zz>0.05</inertia_zz>
 <Joint><CustomJoint name="">
  <parent_body>thigh</parent_body>
  <location_in_parent>0 -0.3 0</location_in_parent>
  <CoordinateSet name=""><objects>
   <Coordinate name="knee_angle"><range>-2 0.1</range></Coordinate>
  </objects></CoordinateSet>
  <SpatialTransform name="">
   <TransformAxis name="rotation1"><coordinates>knee_angle</coordinates><axis>0 0 1</axis>
    <function><LinearFunction name=""><coefficients>1 0</coefficients></LinearFunction></function>
   </TransformAxis>
   <TransformAxis name="rotation2"><axis>0 1 0</axis></TransformAxis>
   <TransformAxis name="rotation3"><axis>1 0 0</axis></TransformAxis>
   <TransformAxis name="translation1"><axis>1 0 0</axis></TransformAxis>
   <TransformAxis name="translation2"><coordinates>knee_angle</coordinates><axis>0 1 0</axis>
    <function><MultiplierFunction><function>
     <NaturalCubicSpline name=""><x>-2 -1 0 0.5</x><y>-0.42 -0.4 -0.396 -0.4</y>
     </NaturalCubicSpline></function><scale>1.05</scale></MultiplierFunction></function>
   </TransformAxis>
   <TransformAxis name="translation3"><axis>0 0 1</axis></TransformAxis>
  </SpatialTransform>
 </CustomJoint></Joint>
</Body>
</objects></BodySet>
<MarkerSet name=""><objects><Marker name="toe"><body>shank</body><location>0 -0.4 0.1</location>
</Marker></objects></MarkerSet>
</Model>
</OpenSimDocument>
"""


def written(text, folder, name="small.osim"):
    """The path of a text in a folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Muscles ------------------------------------------------------------------------------------------


def point(name, link, place, kind="PathPoint", more=""):
    """A point of a path."""
    return (
        f'<{kind} name="{name}"><socket_parent_frame>/bodyset/{link}</socket_parent_frame>'
        f"<location>{words(place)}</location>{more}</{kind}>"
    )


def conditional(name, link, place, coordinate_name, within):
    """A point that is there over a range of a coordinate."""
    more = (
        f"<socket_coordinate>/jointset/{coordinate_name}_joint/{coordinate_name}"
        "</socket_coordinate>"
        f"<range>{words(within)}</range>"
    )
    return point(name, link, place, "ConditionalPathPoint", more)


def moving(name, link, coordinate_name, functions):
    """A point that moves with a coordinate, by three functions."""
    more = "".join(
        f"<socket_{axis}_coordinate>/jointset/{coordinate_name}_joint/{coordinate_name}"
        f"</socket_{axis}_coordinate>"
        f"<{axis}_location>{function}</{axis}_location>"
        for axis, function in zip("xyz", functions)
    )
    return point(name, link, (0, 0, 0), "MovingPathPoint", more)


def muscle(kind, name, points, wraps=(), more=""):
    """A muscle along points, over surfaces by name."""
    over = "".join(
        f'<PathWrap name="{each}"><wrap_object>{each}</wrap_object><range>-1 -1</range></PathWrap>'
        for each in wraps
    )
    return (
        f'<{kind} name="{name}"><GeometryPath name="path">'
        f"<PathPointSet><objects>{''.join(points)}</objects></PathPointSet>"
        f"<PathWrapSet><objects>{over}</objects></PathWrapSet></GeometryPath>"
        f"<max_isometric_force>800</max_isometric_force>"
        f"<optimal_fiber_length>0.2</optimal_fiber_length>"
        f"<tendon_slack_length>0.25</tendon_slack_length>"
        f"<pennation_angle_at_optimal>0.2</pennation_angle_at_optimal>{more}</{kind}>"
    )


def wrapped_body(name, *surfaces):
    """A body that carries surfaces."""
    held = f'<WrapObjectSet name="w"><objects>{"".join(surfaces)}</objects></WrapObjectSet>'
    return body(name, 3.0).replace("<mass>", f"{held}<mass>")


def surface(kind, name, place, turn, more):
    """A surface that paths wrap over."""
    return (
        f'<{kind} name="{name}"><active>true</active>'
        f"<xyz_body_rotation>{words(turn)}</xyz_body_rotation>"
        f"<translation>{words(place)}</translation>{more}</{kind}>"
    )


ROUND = "<quadrant>all</quadrant><radius>0.05</radius><length>0.3</length>"
SIDE = ROUND.replace("all", "-x")
STRAIGHT = [point("a1", "thigh", (0.05, 0.3, 0.0)), point("a2", "shank", (0.03, -0.1, 0.01))]
BEHIND = [point("b1", "thigh", (-0.04, 0.3, 0.0)), point("b2", "shank", (-0.04, -0.2, 0.0))]
MUSCLES = (
    muscle(
        "DeGrooteFregly2016Muscle",
        "moving",
        [
            STRAIGHT[0],
            conditional("c", "thigh", (0.06, -0.05, 0.02), "knee", (-2.0, -0.5)),
            moving("m", "shank", "knee", (SPLINE, line(0.02, -0.1), constant(0.01))),
        ],
        more="<ignore_tendon_compliance>true</ignore_tendon_compliance>"
        "<fiber_damping>0.02</fiber_damping>"
        "<active_force_width_scale>1.2</active_force_width_scale>",
    ),
    muscle(
        "Millard2012EquilibriumMuscle",
        "slow",
        STRAIGHT,
        more="<FiberForceLengthCurve><strain_at_one_norm_force>0.65</strain_at_one_norm_force>"
        "</FiberForceLengthCurve>",
    ),
    muscle("Thelen2003Muscle", "quick", STRAIGHT, more="<FmaxTendonStrain>0.05</FmaxTendonStrain>"),
    muscle("DeGrooteFregly2016Muscle", "rear", BEHIND, ("knob",)),
)
ACTING = (
    '<CoordinateLimitForce name="stop"><coordinate>knee</coordinate>'
    "<upper_limit>10</upper_limit><lower_limit>-40</lower_limit>"
    "<upper_stiffness>2</upper_stiffness><lower_stiffness>3</lower_stiffness>"
    "<damping>0.05</damping><transition>20</transition></CoordinateLimitForce>",
    '<SpringGeneralizedForce name="spring"><coordinate>hip</coordinate>'
    "<stiffness>20</stiffness><rest_length>0.2</rest_length><viscosity>1.5</viscosity>"
    "</SpringGeneralizedForce>",
    '<CoordinateActuator name="motor"><coordinate>hip</coordinate>'
    "<optimal_force>30</optimal_force><min_control>-1</min_control><max_control>2</max_control>"
    "</CoordinateActuator>",
)

OFFSETS = (
    "<socket_frame1>start_frame</socket_frame1><socket_frame2>end_frame</socket_frame2><frames>"
    '<PhysicalOffsetFrame name="start_frame"><socket_parent>/bodyset/thigh</socket_parent>'
    "<translation>0.02 -0.3 0.01</translation><orientation>0.1 0.2 -0.3</orientation>"
    '</PhysicalOffsetFrame><PhysicalOffsetFrame name="end_frame"><socket_parent>/bodyset/shank'
    "</socket_parent><translation>-0.01 0.2 0.03</translation><orientation>0.2 -0.1 0.1"
    "</orientation></PhysicalOffsetFrame></frames>"
)
DAMPED = (
    "<rotational_damping>0.3 0.2 0.1</rotational_damping>"
    "<translational_damping>3 4 5</translational_damping>"
)
LINE = "<LinearFunction><coefficients>{} 0.2</coefficients></LinearFunction>"
LAWS = "".join(
    f"<{name}_function>{LINE.format(slope)}</{name}_function>"
    for name, slope in zip(
        ("m_x_theta_x", "m_y_theta_y", "m_z_theta_z", "f_x_delta_x", "f_y_delta_y", "f_z_delta_z"),
        (5, 6, 7, 80, 90, 70),
    )
)
PATH = f'<GeometryPath name="path">{listed("PathPointSet", *BEHIND)}</GeometryPath>'
POINTS = (
    "<socket_body1>/ground</socket_body1><socket_body2>/bodyset/shank</socket_body2>"
    "<point1>0.2 0.1 -0.1</point1><point2>0.01 -0.1 0.02</point2>"
)
CURVE = (
    '<SimmSpline name="force_length_curve"><x>0 0.5 1 1.1 1.3 2 3</x><y>0 0 0 0.1 0.5 1.5 2</y>'
    "</SimmSpline>"
)
PASSIVE = {
    "BushingForce": f"{OFFSETS}<rotational_stiffness>10 20 30</rotational_stiffness>"
    f"<translational_stiffness>400 500 600</translational_stiffness>{DAMPED}",
    "FunctionBasedBushingForce": OFFSETS + LAWS + DAMPED,
    "ExpressionBasedBushingForce": f"{OFFSETS}<Mx_expression>8*theta_x^2 - sin(theta_y)"
    "</Mx_expression><Mz_expression>2*theta_z + theta_x</Mz_expression>"
    f"<Fy_expression>-30*delta_y + max(delta_x, 0.1)</Fy_expression>{DAMPED}",
    "PathSpring": f"{PATH}<resting_length>0.2</resting_length><stiffness>500</stiffness>"
    "<dissipation>0.2</dissipation>",
    "Ligament": f"{PATH}<resting_length>0.4</resting_length><pcsa_force>300</pcsa_force>{CURVE}",
    "Blankevoort1991Ligament": f"{PATH}<linear_stiffness>900</linear_stiffness>"
    "<slack_length>0.45</slack_length><damping_coefficient>0.6</damping_coefficient>",
    "ExpressionBasedPathForce": f"{PATH}<resting_length>0.42</resting_length>"
    "<expression>300*s^2 + 2*ldot*step(s)</expression>",
    "PointToPointSpring": f"{POINTS}<stiffness>300</stiffness><rest_length>0.2</rest_length>",
    "ExpressionBasedPointToPointForce": POINTS.replace("socket_", "")
    + "<expression>-2^d*exp(ddot/9) - 4*d^2^0.5</expression>",
    "ExpressionBasedCoordinateForce": "<coordinate>knee</coordinate><expression>"
    "-5*q^3 + cube(q) - 0.3*abs(qdot)*qdot</expression>",
}


def leg(*forces):
    """A thigh and a shank on which forces act; a knob at the knee that paths wrap over."""
    knob = surface("WrapCylinder", "knob", (0.0, 0.01, 0.0), (0.1, 0.2, 0.0), SIDE)
    return document(
        [body("thigh", 8.0), wrapped_body("shank", knob)],
        [
            joint("PinJoint", "hip_joint", ("/ground", "thigh"), ["hip"]),
            joint(
                "PinJoint",
                "knee_joint",
                ("thigh", "shank"),
                [coordinate("knee", reach=(-2.0, 0.5))],
            ),
        ],
        listed("ForceSet", *forces),
    )


# Functions of coordinates ---------------------------------------------------------------------

WAYS = "/jointset/hip_joint/hip /jointset/knee_joint/knee"
COEFFICIENTS = "0.5 0.02 -0.01 0.03 0.004 0.005"  # 1, y, y^2, x, x y, x^2
TERMS = (
    f"<MultivariatePolynomialFunction><coefficients>{COEFFICIENTS}</coefficients>"
    "<dimension>2</dimension><order>2</order></MultivariatePolynomialFunction>"
)


def formula(text, names):
    """A function by its formula."""
    return (
        f"<ExpressionBasedFunction><expression>{text}</expression><variables>{names}</variables>"
        "</ExpressionBasedFunction>"
    )


def leg_along(length, ways=WAYS, more=""):
    """A leg with a muscle whose length is a function."""
    return leg(
        '<DeGrooteFregly2016Muscle name="m"><FunctionBasedPath name="path">'
        f"<coordinate_paths>{ways}</coordinate_paths><length_function>{length}</length_function>"
        f"{more}</FunctionBasedPath><max_isometric_force>800</max_isometric_force>"
        "<optimal_fiber_length>0.2</optimal_fiber_length><tendon_slack_length>0.25"
        "</tendon_slack_length></DeGrooteFregly2016Muscle>"
    )


def turning(function, names):
    """A body that turns by a function of two coordinates, and slides by each."""
    slides = ("a", (1, 0, 0), line(1.0)), ("b", (0, 1, 0), line(1.0)), None
    axes = transform((names, (0.1, 0, 1), function), None, ("b", (1, 0, 0), line(0.5)), *slides)
    ends = "/ground", "stone"
    moved = joint("CustomJoint", "carry", ends, [coordinate("a"), coordinate("b")], more=axes)
    return document([body("stone", 2.0)], [moved])


FALL = joint(
    "SliderJoint",
    "fall",
    ("/ground", "stone"),
    [coordinate("height", reach=(-5, 5))],
    [((0.0, 0.0, 0.0), (0.0, 0.0, 1.5707963267948966))] * 2,
)
EXPONENTIAL = document(
    [body("stone", 2.0)],
    [FALL],
    listed(
        "ForceSet",
        '<ExponentialContactForce name="hit"><contact_plane_transform>-1.5707963267948966 0 0 0.3 '
        "0.1 0</contact_plane_transform><normal_viscosity>0.6</normal_viscosity>"
        '<Station name="station">'
        "<socket_parent_frame>/bodyset/stone</socket_parent_frame><location>0.02 -0.05 0.01"
        "</location></Station></ExponentialContactForce>",
    ),
)


# Looks ------------------------------------------------------------------------------------------

MESH = (
    '<Mesh name="bone"><scale_factors>1 2 -1</scale_factors><Appearance><opacity>0.5</opacity>'
    "<color>1 0.5 0</color></Appearance><mesh_file>bone.obj</mesh_file></Mesh>"
)
SHAPES = (
    '<Sphere name="s"><radius>0.1</radius></Sphere>'
    '<Brick name="b"><half_lengths>0.1 0.2 0.3</half_lengths></Brick>'
    '<Ellipsoid name="e"><radii>0.1 0.2 0.3</radii></Ellipsoid>'
    '<Cylinder name="c"><radius>0.1</radius><half_height>0.4</half_height></Cylinder>'
    '<Sphere name="h"><Appearance><visible>false</visible></Appearance></Sphere>'
)


def looking(shapes, more=""):
    """A body that is shown by shapes, and a frame on it by others."""
    shown = body("stone").replace(
        "<mass>", f"<attached_geometry>{shapes}</attached_geometry>{more}<mass>", 1
    )
    return document([shown], [joint("PinJoint", "pin", ("/ground", "stone"), ["turn"])])


# Version 1 ---------------------------------------------------------------------------------------

AXIS = (
    '<TransformAxis name="{}"><function/><coordinate>{}</coordinate><is_rotation>{}</is_rotation>'
    "<axis>{}</axis></TransformAxis>"
)
HIP_AXES = (
    AXIS.format("r1", "hip_angle", "true", "0 0 1"),
    AXIS.format("tx", "hip_x", "false", "1 0 0"),
)


def oldest(*axes, version=10901):
    """The old leg with the hip's axes, and a muscle, as version 1 had them."""
    listed_axes = f"<TransformAxisSet><objects>{''.join(axes)}</objects></TransformAxisSet>"
    force = (
        "<ActuatorSet><objects>"
        + MUSCLES[2]
        .replace('<GeometryPath name="path">', "")
        .replace("</GeometryPath>", "")
        .replace("PathPoint", "MusclePoint")
        .replace("PathWrapSet", "MuscleWrapSet")
        .replace("pennation_angle_at_optimal", "pennation_angle")
        + "</objects></ActuatorSet>"
    )
    return (
        OLD.replace("30000", str(version))
        .replace("PinJoint", "CustomJoint")
        .replace(
            '<Coordinate name="hip_angle">',
            '<Coordinate name="hip_x"/><Coordinate name="hip_angle">',
        )
        .replace("  <reverse>false</reverse>\n", listed_axes)
        .replace("<BodySet", f"{force}<BodySet", 1)
    )
