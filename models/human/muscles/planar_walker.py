"""A body that walks in a plane by 18 muscles, on four spheres.

Ten coordinates. Numbers are those of OpenSim Moco's 2D_gait.osim (Dembia et al. 2020), whose left
leg is the image of its right one. Paths run over its points, which lie on bones, move with the knee
or are there over a range only, fitted by polynomials of order 5. All tendons are rigid, as there.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from ocp import Follows, Joint, Link, Point, Tree, contacts, fixed, prismatic, revolute
from ocp.mechanics.muscles import (
    Muscle,
    PathPoint,
    PointPath,
    PolynomialPath,
    SimmSpline,
    fit_polynomial,
    sample_path,
)
from ocp.problem import Acting, Compliant

Pair = tuple[float, float]
HIP, KNEE, ANKLE = (-0.0682778, -0.0638354), (-0.00451221, -0.39690725), (0.0, -0.41569483)
LUMBAR, HEEL, TOES = (-0.09725, 0.0787078), (-0.04457209, -0.03833913), (0.16340968, -0.00182785)
BESIDE, ASIDE = 0.08233069, 0.00723828  # m, the hip beside the pelvis, the heel bone the ankle
PELVIS = (9.7143336, (-0.0682778, 0.0), 0.0445428)  # kg, m, kg m2
TORSO = (28.240278, (-0.0289722, 0.309037), 1.1404357)
THIGH = (7.6723192, (0.0, -0.170467), 0.11711)
SHANK = (3.058155, (0.0, -0.180489), 0.0393923)
FOOT = (  # talus, heel bone and toes, by their frames in that of the ankle
    ((0.0824856, (0.0, 0.0), 0.000688968), (0.0, 0.0)),
    ((1.0310705, (0.0913924, 0.0274177), 0.0028247676), HEEL),
    ((0.1786639, (0.0316218, 0.0054836), 0.0000688968), (HEEL[0] + TOES[0], HEEL[1] + TOES[1])),
)
SPHERES = {"heel": ((0.0313075, 0.0104358), 0.035), "front": ((0.1774093, -0.0156538), 0.015)}
GROUND = {"stiffness": 3067776.0, "dissipation": 2.0}  # N/m2, s/m
TRANSITION = 0.8  # m/s: mu tanh(4 v / 0.8) begins as Moco's mu v / 0.2 does
STRONGEST = 150.0  # N m, at the lumbar joint
LIMITS = {"hip": (-0.7, 1.0), "knee": (-1.35, 0.02), "ankle": (-0.6, 0.5)}  # rad
RANGES = {"hip": (-0.75, 1.05), "knee": (-1.4, 0.1), "ankle": (-0.65, 0.55)}  # of fits
MUSCLES = {  # F_0 (N), l_0, slack length (m), pennation (rad)
    "hamstrings": (2700.0, 0.1090593, 0.3261773, 0.0),
    "bifemsh": (804.0, 0.1718723, 0.0884199, 0.40142573),
    "glut_max": (1944.0, 0.1547784, 0.0723088, 0.0),
    "iliopsoas": (2342.0, 0.0974996, 0.1559993, 0.13962634),
    "rect_fem": (1169.0, 0.1141544, 0.3104198, 0.08726646),
    "vasti": (5000.0, 0.1077088, 0.1167684, 0.05235988),
    "gastroc": (2500.0, 0.0869261, 0.3477043, 0.29670597),
    "soleus": (5137.0, 0.0481706, 0.2408528, 0.43633231),
    "tib_ant": (3000.0, 0.0937899, 0.2134199, 0.08726646),
}
CROSSED = {
    "hamstrings": ("hip", "knee"),
    "bifemsh": ("knee",),
    "glut_max": ("hip",),
    "iliopsoas": ("hip",),
    "rect_fem": ("hip", "knee"),
    "vasti": ("knee",),
    "gastroc": ("knee", "ankle"),
    "soleus": ("ankle",),
    "tib_ant": ("ankle",),
}
BENT = (
    *(-2.0944, -1.99997, -1.5708, -1.45752, -1.39626, -1.0472, -0.698132, -0.526391, -0.349066),
    *(-0.174533, 0.0, 0.00017453, 0.00034907, 0.0279253, 0.0872665, 0.174533, 2.0944),
)
SCALE = 0.966732152  # of the places of points that move
RECTUS = (  # forward and upward (m) over the knee's angle
    (
        *(0.0155805, 0.0179938, 0.0275081, 0.0296564, 0.0307615, 0.0365695, 0.0422074, 0.0450902),
        *(0.048391, 0.0534299, 0.0617576, 0.0617669, 0.0617762, 0.0633083, 0.066994, 0.0733035),
        0.0573481,
    ),
    (
        *(0.0234116, 0.0237613, 0.0251141, 0.0252795, 0.0253146, 0.0249184, 0.0242373, 0.0238447),
        *(0.0234197, 0.0227644, 0.020984, 0.0209814, 0.0209788, 0.0205225, 0.0191754, 0.0159554),
        -0.0673774,
    ),
)
VASTUS = (
    (
        *(0.0082733, 0.0106866, 0.0202042, 0.022353, 0.0234583, 0.0292715, 0.0349465, 0.037871),
        *(0.0412569, 0.0465287, 0.0554632, 0.0554735, 0.0554837, 0.0571717, 0.061272, 0.0684368),
        0.0648818,
    ),
    (
        *(0.025599, 0.0259487, 0.0273124, 0.0274796, 0.0275151, 0.0271363, 0.0265737, 0.0263073),
        *(0.0261187, 0.0260129, 0.0252923, 0.0252911, 0.0252898, 0.0250526, 0.0242191, 0.0218288),
        -0.0685706,
    ),
)


def at(link: str, *place: float, of: str = "", within: Pair | None = None) -> PathPoint:
    """Return a place on a bone, there within a range of the coordinate `of` only if it has one."""
    return PathPoint(link=link, position=place, coordinate=of, within=within)


def moving(ways: tuple[tuple[float, ...], ...], aside: float) -> PathPoint:
    """Return a point on the shank that moves with the knee."""
    splines = [
        SimmSpline(places=BENT, values=tuple(SCALE * each for each in values)) for values in ways
    ]
    follows = [Follows(coordinate="knee", function=spline) for spline in splines]
    return PathPoint(link="knee", position=(*follows, SCALE * aside))


CALF = at("heel", 0.0, 0.0283317, -0.0048438)
BICEPS = (
    at("knee", -0.0290986, -0.0348024, 0.0284509),
    at("knee", -0.0226215, -0.054427, 0.0331589),
)
PATHS: dict[str, tuple[PathPoint, ...]] = {
    "hamstrings": (at("pelvis", -0.121645, -0.0990559, 0.0684676), *BICEPS),
    "bifemsh": (at("hip", 0.00501373, -0.211679, 0.0234642), *BICEPS),
    "glut_max": (
        at("pelvis", -0.127188, 0.00840194, 0.045553),
        at("pelvis", -0.129795, -0.0588136, 0.0801615),
        at("hip", -0.0451235, -0.0585603, 0.0252692),
        at("hip", -0.0156428, -0.101879, 0.042015),
    ),
    "iliopsoas": (
        at("pelvis", -0.0624834, 0.0856611, 0.0284953),
        at("pelvis", -0.0229846, -0.0550472, 0.0748371),
        at("pelvis", -0.0278133, -0.077742, 0.0804573, of="hip", within=(-1.5708, 0.785398)),
        at("hip", 0.00160439, -0.0508392, 0.00381043),
        at("hip", -0.0188516, -0.0598639, 0.0104285),
    ),
    "rect_fem": (
        at("pelvis", -0.0284893, -0.0300345, 0.0954444),
        at("hip", 0.0334917, -0.404106, 0.00190522, of="knee", within=(-2.61799, -1.45997)),
        moving(RECTUS, 0.0014),
    ),
    "vasti": (
        at("hip", 0.0290796, -0.192928, 0.0310851),
        at("hip", 0.033592, -0.208972, 0.0285782),
        at("hip", 0.0343942, -0.404106, 0.0055151, of="knee", within=(-2.61799, -1.42)),
        moving(VASTUS, 0.0018),
    ),
    "gastroc": (
        at("hip", -0.0190522, -0.393979, -0.0235645),
        at("hip", -0.0300824, -0.403304, -0.0258708, of="knee", within=(-0.785398, 0.174533)),
        CALF,
    ),
    "soleus": (at("knee", -0.00232016, -0.1482, 0.0068638), CALF),
    "tib_ant": (
        at("knee", 0.0173045, -0.156997, 0.0111174),
        at("knee", 0.0318055, -0.381956, -0.0171112),
        at("heel", 0.106564, 0.0162679, -0.0278747),
    ),
}


def bones() -> Tree:
    """Return the tree of the right leg's bones, on whose links paths run."""
    joints = (
        fixed("pelvis"),
        revolute("hip", "pelvis", home=(*HIP, BESIDE)),
        revolute("knee", "hip", home=(*KNEE, 0.0)),
        revolute("ankle", "knee", home=(*ANKLE, 0.0)),
        fixed("heel", "ankle", home=(*HEEL, ASIDE)),
    )
    return Tree(links=(Link(),) * len(joints), joints=joints)


@cache
def leg_paths() -> dict[str, PolynomialPath]:
    """Return {muscle: PolynomialPath} of a leg, over its hip, knee and ankle."""
    tree, fitted = bones(), {}
    for name, points in PATHS.items():
        within = {joint: RANGES[joint] for joint in CROSSED[name]}
        samples = sample_path(tree, PointPath(points=points), within, count=60 * len(within))
        fitted[name] = fit_polynomial(samples, 5, within=1e-4)
    return fitted


def course(points: tuple[PathPoint, ...], side: str) -> PointPath:
    """Return the points of a muscle on the links of the body, of which the left side's are
    images."""
    frames = {  # link, and the bone's frame in it
        "pelvis": ("tilt", (0.0, 0.0, 0.0)),
        "hip": (f"hip_{side}", (0.0, 0.0, BESIDE)),
        "knee": (f"knee_{side}", (0.0, 0.0, BESIDE)),
        "heel": (f"ankle_{side}", (*HEEL, BESIDE + ASIDE)),
    }
    made = []
    for point in points:
        link, origin = frames[point.link]
        forward, up = (
            Follows(coordinate=f"{entry.coordinate}_{side}", function=entry.function)
            if isinstance(entry, Follows)
            else entry + shift
            for entry, shift in zip(point.position[:2], origin)
        )
        aside = (1 if side == "r" else -1) * (point.position[2] + origin[2])
        coordinate = point.coordinate and f"{point.coordinate}_{side}"
        made.append(replace(point, link=link, position=(forward, up, aside), coordinate=coordinate))
    return PointPath(points=made)


def foot() -> Link:
    """Return one link of the three bodies of a foot."""
    mass = sum(body[0] for body, _ in FOOT)
    spots = [np.add(body[1], frame) for body, frame in FOOT]
    centre = np.sum([body[0] * spot for (body, _), spot in zip(FOOT, spots)], axis=0) / mass
    inertia = sum(
        body[2] + body[0] * np.sum((spot - centre) ** 2) for (body, _), spot in zip(FOOT, spots)
    )
    return rigid((mass, tuple(centre), float(inertia)))


def rigid(body: tuple[float, Pair, float]) -> Link:
    """Return a link by its mass, centre and moment of inertia about the plane's normal."""
    mass, (x, y), inertia = body
    return Link(mass=mass, com=(x, y, 0.0), inertia=np.diag([inertia] * 3))


def planar_walker() -> Tree:
    """Build the body.

    Returns:
        The Tree: way and height of the pelvis, its tilt, the trunk's angle on it, hips, knees and
        ankles; zero is upright and straight, a bent knee negative; then activations.
    """
    joints: list[Joint] = [
        prismatic("x", axis=(1, 0, 0), actuated=False),
        prismatic("y", "x", axis=(0, 1, 0), actuated=False),
        revolute("tilt", "y", actuated=False),
        revolute("lumbar", "tilt", home=(*LUMBAR, 0.0), torque=STRONGEST, position=(-0.4, 0.4)),
    ]
    links = [Link(), Link(), rigid(PELVIS), rigid(TORSO)]
    points, muscles = [], []
    for side in ("r", "l"):
        chain = (("hip", "tilt", HIP), ("knee", f"hip_{side}", KNEE))
        for name, parent, (x, y) in (*chain, ("ankle", f"knee_{side}", ANKLE)):
            home, limits = (x, y, 0.0), LIMITS[name]
            joints.append(
                revolute(f"{name}_{side}", parent, home=home, actuated=False, position=limits)
            )
        links += [rigid(THIGH), rigid(SHANK), foot()]
        for name, (place, _) in SPHERES.items():
            spot = (*np.add(HEEL, place), 0.0)
            points.append(Point(name=f"{name}_{side}", link=f"ankle_{side}", position=spot))
        for name, (force, fibre, slack, pennation) in MUSCLES.items():
            path = leg_paths()[name]
            crossed = tuple(f"{joint}_{side}" for joint in path.joints)
            muscles.append(
                Muscle(
                    name=f"{name}_{side}",
                    path=replace(path, joints=crossed),
                    force=force,
                    fibre=fibre,
                    slack=slack,
                    pennation=pennation,
                    tendon="rigid",
                    course=course(PATHS[name], side),
                )
            )
    return Tree(
        links=tuple(links),
        joints=tuple(joints),
        points=tuple(points),
        elements=tuple(muscles),
        gravity=(0, -9.80665, 0),
    )


def soles(tree: Tree, stiffness: float = GROUND["stiffness"]) -> tuple[Acting, ...]:
    """Return the contacts of the four spheres with the ground, of a stiffness (N/m2)."""
    law = GROUND | {"stiffness": stiffness}
    made: tuple[Acting, ...] = ()
    for name, (_, radius) in SPHERES.items():
        model = Compliant(radius=radius, transition=TRANSITION, **law)
        made += contacts(tree, (f"{name}_r", f"{name}_l"), model=model, normal=(0, 1, 0))
    return made
