"""One leg and the trunk of Moco's squat to stand, on a foot that stays on the ground.

Three coordinates in a plane and nine muscles, or torques. Numbers are those of OpenSim Moco's
squatToStand_3dof9musc.osim (Rajagopal et al. 2016; Dembia et al. 2020). Paths are exact wraps,
fitted by polynomials of order 6.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ocp import Follows, Joint, Link, Tree, fixed, prismatic, revolute
from ocp.mechanics import Polynomial, rotate_x, rotate_y, rotate_z, translate
from ocp.mechanics.muscles import (
    Muscle,
    PathPoint,
    PointPath,
    PolynomialPath,
    SimmSpline,
    WrapCylinder,
    fit_polynomial,
    sample_path,
)

Triple = tuple[float, float, float]
Body = tuple[float, Triple, Triple, np.ndarray]  # mass, centre, moments of inertia, pose

BENT = tuple(k * 0.174533 for k in range(13))
RANGES = {"ankle": (-0.55, 0.75), "knee": (-2.1, 0.05), "hip": (-2.1, 0.55)}
PATELLA = (  # forward (m), upward (m) and turn (rad) over the bent knee
    (
        *(0.0524, 0.0488, 0.0437, 0.0371, 0.0296, 0.0216, 0.0136, 0.0057),
        *(-0.0019, -0.0088, -0.0148, -0.0196, -0.0227),
    ),
    (
        *(-0.0108, -0.019, -0.0263, -0.0322, -0.0367, -0.0395, -0.0408, -0.0404),
        *(-0.0384, -0.0349, -0.0301, -0.0245, -0.0187),
    ),
    (
        *(0.00113686, -0.00629212, -0.105582, -0.253683, -0.414245, -0.579047, -0.747244),
        *(-0.91799, -1.09044, -1.26379, -1.43763, -1.61186, -1.78634),
    ),
)
MUSCLES = {  # F_0 (N), l_0, slack length (m), pennation (rad), whether the tendon stretches
    "bifemsh": (557.1148, 0.1103, 0.1058172, 0.2642232, False),
    "med_gas": (4690.5738, 0.051, 0.3987163, 0.1656816, True),
    "glut_max2": (3337.5836, 0.157, 0.0678872, 0.3673821, False),
    "psoas": (2697.3443, 0.1169, 0.0961207, 0.2799139, False),
    "rect_fem": (2191.741, 0.0759, 0.4484935, 0.2170149, True),
    "semimem": (4105.4656, 0.096, 0.3067, 0.2239, True),
    "soleus": (7924.9967, 0.044, 0.2767559, 0.3814289, True),
    "tib_ant": (2116.8182, 0.0683, 0.240461, 0.1951828, True),
    "vas_int": (9593.9508, 0.1293, 0.1722107, 0.0630997, True),
}
HIP = ("knee", "hip")


def frame(place: Triple, turns: Triple = (0, 0, 0)) -> np.ndarray:
    """Return a pose (4x4) by a translation and body-fixed turns about x, y and z."""
    x, y, z = turns
    parts = translate(*place), rotate_x(x), rotate_y(y), rotate_z(z)
    return np.linalg.multi_dot([np.array(each) for each in parts])


TURNED = (-1.5708, 1.5708, 1.5708)
FOOT = frame((-0.11504646, 0.0051348, 0.08391474))
SUBTALAR = (-1.76819, 0.906223, 1.8196)
TALUS = FOOT @ frame((0, 0, 0), SUBTALAR)
TALUS = TALUS @ np.linalg.inv(frame((-0.04877, -0.04195, 0.00792), SUBTALAR))
TILT = (0, -0.105208, 0.0186622)
SHANK = np.linalg.inv(frame((-0.01, -0.4, 0), TILT))
KNEE = frame((-0.00808954, -0.0035348, -0.00148474), TURNED)
THIGH = np.linalg.inv(frame((-0.00809, -0.40796, -0.00275), TURNED))
PELVIS = frame((0.056276, 0.07849, -0.07726))
TORSO = PELVIS @ frame((-0.1007, 0.0815, 0))


def body(bodies: Sequence[Body]) -> Link:
    """Return one link of bodies."""
    parts = [
        (m, at[:3, :3] @ c + at[:3, 3], at[:3, :3] @ np.diag(i) @ at[:3, :3].T)
        for m, c, i, at in bodies
    ]
    mass = sum(m for m, _, _ in parts)
    centre = np.sum([m * c for m, c, _ in parts], axis=0) / mass
    inertia = np.zeros((3, 3))
    for m, c, i in parts:
        arm = c - centre
        inertia += i + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Link(mass=mass, com=tuple(centre), inertia=inertia)


LINKS = (
    body([(3.7075, (0, -0.1867, 0), (0.0504, 0.0051, 0.0511), SHANK)]),
    Link(),
    Link(),
    body(  # with the patella where it is in the middle of its way
        [
            (9.3014, (0, -0.17, 0), (0.1339, 0.0351, 0.1412), THIGH),
            (0.0862, (0.01371, -0.41156, 0), (2.87e-6, 1.311e-5, 1.311e-5), THIGH),
        ]
    ),
    body(
        [
            (11.777, (-0.0707, 0, 0), (0.1028, 0.0871, 0.0579), PELVIS),
            (26.8266, (-0.03, 0.32, 0), (1.4745, 0.7555, 1.4314), TORSO),
        ]
    ),
)


def follower(
    name: str,
    parent: str,
    axis: Triple,
    function: SimmSpline | Polynomial,
    home: np.ndarray | Triple = (0, 0, 0),
) -> Joint:
    """Return a joint that slides by a function of the knee's angle."""
    follows = Follows(coordinate="knee", function=function)
    return prismatic(name, parent, axis=axis, home=home, follows=follows)


def over_bent(values: Sequence[float]) -> SimmSpline:
    """Return a spline over the knee's angle (rad), which is negative, of values over how far the
    knee is bent."""
    return SimmSpline(places=tuple(-bent for bent in BENT[::-1]), values=tuple(values[::-1]))


def leg_joints(
    torques: Sequence[float], femur: str = "knee", tibia: str = "ankle"
) -> tuple[Joint, ...]:
    """Return joints from the foot to the hip, their limits on those that move."""
    driven = partial(revolute, actuated=bool(torques))
    ankle, knee, hip = torques or (0.0, 0.0, 0.0)
    slopes = [SimmSpline(places=BENT, values=each) for each in KNEE_SLIDES]
    ways = [Polynomial((0.0, float(each(0.0) - each(-1.0)))) for each in slopes]  # straight below 0
    at_tibia = SHANK if tibia == "ankle" else np.eye(4)
    at_femur = THIGH if femur == "knee" else np.eye(4)
    return (
        driven("ankle", torque=ankle, home=TALUS @ frame((0, 0, 0), TILT), position=(-0.5, 0.7)),
        follower("forward", tibia, (0, 1, 0), ways[0], home=at_tibia @ KNEE),
        follower("upward", "forward", (0, 0, 1), ways[1]),
        driven("knee", "upward", torque=knee, axis=(1, 0, 0), position=(-2.0, 0.0)),
        driven("hip", femur, torque=hip, home=at_femur, position=(-2.0, 0.5)),
    )


KNEE_SLIDES = (
    (
        *(0, 0.000479, 0.000835, 0.001086, 0.001251, 0.001346, 0.001391, 0.001403),
        *(0.0014, 0.0014, 0.001421, 0.001481, 0.001599),
    ),
    (
        *(0, 0.000988, 0.001899, 0.002734, 0.003492, 0.004173, 0.004777, 0.005305),
        *(0.005756, 0.00613, 0.006427, 0.006648, 0.006792),
    ),
)


def bones() -> Tree:
    """Return the tree on whose links paths run: bones have frames of their own."""
    ankle, forward, upward, knee, hip = leg_joints((10.0, 10.0, 10.0), "femur", "tibia")
    ahead, above, turn = (over_bent(each) for each in PATELLA)
    joints = (
        fixed("calcn", home=FOOT),
        ankle,
        fixed("tibia", "ankle", home=SHANK),
        forward,
        upward,
        knee,
        fixed("femur", "knee", home=THIGH),
        follower("ahead", "femur", (1, 0, 0), ahead, home=(-0.00809, -0.40796, 0)),
        follower("above", "ahead", (0, 1, 0), above),
        revolute("patella", "above", follows=Follows(coordinate="knee", function=turn)),
        hip,
        fixed("pelvis", "hip", home=PELVIS),
    )
    return Tree(links=(Link(),) * len(joints), joints=joints)


def at(link: str, *place: float) -> PathPoint:
    """Return a place on a bone."""
    return PathPoint(link=link, position=place)


def cylinder(
    link: str, radius: float, turns: Triple, place: Triple, quadrant: str = ""
) -> WrapCylinder:
    """Return a cylinder on a bone, by the pose of its axis."""
    return WrapCylinder(link=link, radius=radius, pose=frame(place, turns), quadrant=quadrant)


EXTENSOR = cylinder("femur", 0.025, (-0.0623366, 0.0507601, 0), (0.00358828, -0.402732, 0.00209111))
HEEL = at("calcn", 0.0044, 0.031, -0.0053)
CROSSED = {
    "bifemsh": ("knee",),
    "med_gas": ("ankle", "knee"),
    "glut_max2": ("hip",),
    "psoas": ("hip",),
    "rect_fem": HIP,
    "semimem": HIP,
    "soleus": ("ankle",),
    "tib_ant": ("ankle",),
    "vas_int": ("knee",),
}
PATHS: dict[str, tuple[PathPoint | WrapCylinder, ...]] = {
    "bifemsh": (
        at("femur", 0.005, -0.2111, 0.0234),
        cylinder("tibia", 0.03, (0, 0, 0), (-0.058, -0.06, 0), "+y"),
        at("tibia", -0.0301, -0.0419, 0.0318),
    ),
    "med_gas": (
        at("femur", 0.008, -0.3788, -0.0208),
        cylinder("femur", 0.025, (0, 0, 0), (0.005, -0.41, 0)),
        cylinder("tibia", 0.055, (2.96723, 0.0279725, -1.47812), (-0.0074, -0.074, -0.0033), "-y"),
        HEEL,
    ),
    "glut_max2": (
        at("pelvis", -0.1317, 0.0087, 0.0462),
        at("pelvis", -0.1344, -0.0609, 0.0813),
        cylinder("pelvis", 0.04, (-0.75, 0.39, 0), (-0.08, -0.083, 0.068)),
        at("femur", -0.045, -0.0584, 0.0252),
        at("femur", -0.0156, -0.1016, 0.0419),
    ),
    "psoas": (
        at("pelvis", -0.0605, 0.0309, 0.0843),
        at("pelvis", -0.0135, -0.0557, 0.0756),
        cylinder("pelvis", 0.0549, (-0.32, -0.24, 0.9), (-0.071, -0.065, 0.0756), "-y"),
        at("femur", -0.0023, -0.0565, 0.0139),
        at("femur", -0.0122, -0.0637, 0.0196),
    ),
    "rect_fem": (
        at("pelvis", -0.024, -0.0388, 0.0933),
        EXTENSOR,
        at("patella", 0.01, 0.049, 0.0007),
        at("patella", 0.0121, 0.0437, -0.001),
        at("patella", 0.005, 0.00247, 0.00003),
        at("tibia", 0.0326, -0.06312, -0.00047),
    ),
    "semimem": (
        at("pelvis", -0.0987, -0.114, 0.0614),
        cylinder("tibia", 0.0352, (0, -0.1, 0), (-0.001, -0.02, 0)),
        at("tibia", -0.029, -0.0417, -0.0196),
    ),
    "soleus": (at("tibia", -0.0076, -0.0916, 0.0098), HEEL),
    "tib_ant": (
        at("tibia", 0.0154, -0.1312, 0.0162),
        at("tibia", 0.0251, -0.1906, 0.0128),
        at("tibia", 0.0233, -0.3659, -0.0132),
        at("calcn", 0.1166, 0.0178, -0.0305),
    ),
    "vas_int": (
        at("femur", 0.029, -0.1924, 0.031),
        at("femur", 0.0335, -0.2084, 0.0285),
        EXTENSOR,
        at("patella", 0.0058, 0.048, -0.0006),
        at("patella", 0.005, 0.00247, -0.00039),
        at("tibia", 0.03257, -0.0632, 0.00043),
    ),
}


@cache
def leg_paths() -> dict[str, PolynomialPath]:
    """Return {muscle: PolynomialPath} fitted to exact wraps."""
    tree, fitted = bones(), {}
    for name, points in PATHS.items():
        within = {joint: RANGES[joint] for joint in CROSSED[name]}
        count = 40 if len(within) == 1 else 120
        samples = sample_path(tree, PointPath(points=points), within, count=count)
        fitted[name] = fit_polynomial(samples, 6, within=1e-4)
    return fitted


CARRIERS = {  # of bones: their links, and where they are on these
    "calcn": ("ground", FOOT),
    "tibia": ("ankle", SHANK),
    "femur": ("knee", THIGH),
    "pelvis": ("hip", PELVIS),
}


def on_link(part: PathPoint | WrapCylinder) -> PathPoint | WrapCylinder:
    """Return a place or a cylinder of a bone on the link that carries the bone."""
    if isinstance(part, WrapCylinder):
        link, pose = CARRIERS[part.link]
        return replace(part, link=link, pose=pose @ np.array(part.pose))
    if part.link == "patella":  # slides and turns on the femur as the knee bends
        ways = [
            THIGH @ frame((x - 0.00809, y - 0.40796, 0), (0, 0, turn)) @ [*part.position, 1]
            for x, y, turn in zip(*PATELLA)
        ]
        splines = [over_bent([way[axis] for way in ways]) for axis in range(3)]
        follow = [Follows(coordinate="knee", function=each) for each in splines]
        return PathPoint(link="knee", position=follow)
    link, pose = CARRIERS[part.link]
    return PathPoint(link=link, position=(pose @ [*part.position, 1])[:3])


def squat_leg(torques: Sequence[float] = (), width: float = 1.0, fibre_strain: float = 0.6) -> Tree:
    """Build the leg and the trunk.

    Args:
        torques: limits of the torques (N m) that move ankle, knee and hip; none for muscles in
            their place.
        width: of the active curves over fibre length.
        fibre_strain: of passive fibres at the largest isometric force.

    Returns:
        The Tree: ankle, knee and hip; 0 is upright, a bent knee and hip are negative.
    """
    gravity = (0, -9.80665, 0)
    if torques:
        return Tree(links=LINKS, joints=leg_joints(torques), gravity=gravity)
    muscles = tuple(
        Muscle(
            name=name,
            path=leg_paths()[name],
            course=PointPath(points=[on_link(part) for part in PATHS[name]]),
            force=force,
            fibre=fibre,
            slack=slack,
            pennation=pennation,
            tendon="compliant" if stretches else "rigid",
            rise=0.01,
            fall=0.04,
            width=width,
            fibre_strain=fibre_strain,
        )
        for name, (force, fibre, slack, pennation, stretches) in MUSCLES.items()
    )
    return Tree(links=LINKS, joints=leg_joints(()), gravity=gravity, elements=muscles)
