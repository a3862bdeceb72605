"""A planar arm of two links whose points elements run over."""

import numpy as np

from ocp import Link, Point, Tree, fixed, revolute

ROD = Link(mass=1.0, com=(0.5, 0, 0), inertia=np.diag([0, 0.1, 0.1]))
ARM = Tree(
    links=(ROD, ROD, Link()),
    joints=(revolute("hip"), revolute("knee", "hip", home=(1, 0, 0)), fixed("foot", "knee")),
    points=(
        Point(name="thigh", link="hip", position=(0.6, 0.1, 0)),
        Point(name="heel", link="hip", position=(0.1, 0, 0)),
        Point(name="shank", link="knee", position=(0.4, 0.1, 0)),
        Point(name="toe", link="foot", position=(0.2, 0, 0)),
    ),
)
