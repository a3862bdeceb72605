"""A shank and a thigh with one gastrocnemius over two cylinders, numbers of Moco's squat to stand
(Rajagopal et al. 2016; Dembia et al. 2020, Apache-2.0)."""

import numpy as np

from ocp import Follows, Link, Tree, fixed, prismatic, revolute
from ocp.mechanics import rotate_x, rotate_y, rotate_z, translate
from ocp.mechanics.muscles.muscle_paths import PathPoint, PointPath
from ocp.mechanics.muscles.simm_splines import SimmSpline
from ocp.mechanics.muscles.wrapping import WrapCylinder

BENT = np.arange(13) * 0.174533
FORWARD = (
    *(0, 0.000479, 0.000835, 0.001086, 0.001251, 0.001346, 0.001391, 0.001403),
    *(0.0014, 0.0014, 0.001421, 0.001481, 0.001599),
)
UPWARD = (
    *(0, 0.000988, 0.001899, 0.002734, 0.003492, 0.004173, 0.004777, 0.005305),
    *(0.005756, 0.00613, 0.006427, 0.006648, 0.006792),
)


def frame(place, turns=(0, 0, 0)):
    """A pose (4x4) by a translation and body-fixed turns about x, y and z."""
    x, y, z = turns
    parts = translate(*place), rotate_x(x), rotate_y(y), rotate_z(z)
    return np.linalg.multi_dot([np.array(each) for each in parts])


def slide(name, parent, axis, heights, **options):
    """A joint that slides by a function of the knee's angle."""
    follows = Follows(coordinate="knee", function=SimmSpline(places=BENT, values=heights))
    return prismatic(name, parent, axis=axis, follows=follows, **options)


ANKLE = frame((-0.01, -0.4, 0), (0, -0.105208, 0.0186622))
KNEE = frame((-0.00808954, -0.0035347999999999998, -0.00148474), (-1.5708, 1.5708, 1.5708))
FEMUR = frame((-0.00809, -0.40796, -0.00275), (-1.5708, 1.5708, 1.5708))
LEG = Tree(
    links=(Link(),) * 6,
    joints=(
        revolute("ankle", home=frame((0, 0, 0), (0, -0.105208, 0.0186622))),
        fixed("tibia", "ankle", home=np.linalg.inv(ANKLE)),
        slide("forward", "tibia", (0, 1, 0), FORWARD, home=KNEE),
        slide("upward", "forward", (0, 0, 1), UPWARD),
        revolute("knee", "upward", axis=(1, 0, 0)),
        fixed("femur", "knee", home=np.linalg.inv(FEMUR)),
    ),
)
CONDYLES = WrapCylinder(link="femur", radius=0.025, pose=frame((0.005, -0.41, 0)))
SHANK = WrapCylinder(
    link="tibia",
    radius=0.055,
    pose=frame((-0.0074, -0.074, -0.0033), (2.96723, 0.0279725, -1.47812)),
    quadrant="-y",
)
ORIGIN = PathPoint(link="femur", position=(0.008, -0.3788, -0.0208))
HEEL = np.array((0.0044, 0.031, -0.0053)) + (-0.04877, -0.04195, 0.00792)  # the talus is ground
GASTROCNEMIUS = PointPath(points=(ORIGIN, CONDYLES, SHANK, tuple(HEEL)))
