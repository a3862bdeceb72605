"""Bodies in a plane and in space that stand on points, lines and areas."""

import numpy as np

from ocp import Link, Point, Tree, line_contact, prismatic, revolute

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
GRAVITY = 9.81


def planar_root(order=("x", "z", "pitch")):
    """Two slides and a turn, none actuated, in any order."""
    joints, parent = [], "ground"
    for name in order:
        turns = name == "pitch"
        kind, axis = (revolute, AXES["y"]) if turns else (prismatic, AXES[name])
        joints.append(kind(name, parent, axis=axis, actuated=False))
        parent = name
    return joints


def monopod(torque=200.0):
    """Torso, thigh and shank in a plane, 26 kg, with a point for a foot."""
    joints = [
        *planar_root(),
        revolute("hip", "pitch", axis=AXES["y"], torque=torque),
        revolute("knee", "hip", axis=AXES["y"], home=(0.0, 0.0, -0.4), torque=torque),
    ]
    torso = Link(mass=20.0, com=(0.0, 0.0, 0.25), inertia=np.diag((1.0, 1.0, 0.5)))
    thigh = Link(mass=4.0, com=(0.0, 0.0, -0.2), inertia=np.diag((0.06, 0.06, 0.01)))
    shank = Link(mass=2.0, com=(0.0, 0.0, -0.2), inertia=np.diag((0.03, 0.03, 0.01)))
    toe = Point(name="toe", link="knee", position=(0.0, 0.0, -0.4))
    links = (Link(), Link(), torso, thigh, shank)
    return Tree(links=links, joints=joints, points=(toe,), gravity=(0.0, 0.0, -GRAVITY))


def block(order=("x", "z", "pitch")):
    """A block of 5 kg on a sole of 0.4 m, with a weight of 1 kg that slides along it."""
    slider = prismatic("slider", order[-1], axis=AXES["x"], home=(0.0, 0.0, 0.2))
    body = Link(mass=5.0, com=(0.0, 0.0, 0.1), inertia=np.diag((0.1, 0.1, 0.1)))
    points = [
        Point(name=name, link=order[-1], position=(way, 0.0, 0.0))
        for name, way in (("back", -0.2), ("front", 0.2))
    ]
    return Tree(
        links=(Link(), Link(), body, Link(mass=1.0)),
        joints=(*planar_root(order), slider),
        points=points,
        gravity=(0.0, 0.0, -GRAVITY),
    )


def slope(tree, angle):
    """The block's sole on a slope (rad), about the origin, with the directions along and up."""
    along = np.array((np.cos(angle), 0.0, np.sin(angle)))
    up = np.array((-np.sin(angle), 0.0, np.cos(angle)))
    sole = line_contact(
        tree, ("back", "front"), name="sole", at=-0.2 * along, along=along, normal=up
    )
    return sole, along, up


def walker():
    """A torso on two legs of two links in a plane, 40 kg, with points for feet."""
    joints = planar_root()
    links = [Link(), Link(), Link(mass=24.0, com=(0.0, 0.0, 0.3), inertia=np.diag((1.5, 1.5, 0.5)))]
    points = []
    for side in ("left", "right"):
        joints += [
            revolute(f"hip_{side}", "pitch", axis=AXES["y"]),
            revolute(
                f"knee_{side}",
                f"hip_{side}",
                axis=AXES["y"],
                home=(0.0, 0.0, -0.4),
                position=(0.1, 2.5),
            ),
        ]
        links += [Link(mass=5.0, com=(0.0, 0.0, -0.2), inertia=np.diag((0.07, 0.07, 0.01)))]
        links += [Link(mass=3.0, com=(0.0, 0.0, -0.2), inertia=np.diag((0.04, 0.04, 0.01)))]
        points.append(Point(name=side, link=f"knee_{side}", position=(0.0, 0.0, -0.4)))
    return Tree(links=links, joints=joints, points=points, gravity=(0.0, 0.0, -GRAVITY))


def carted():
    """An arm of two links on a cart that rolls freely along x, in a plane."""
    joints = [
        prismatic("cart", "ground", axis=AXES["x"], actuated=False),
        revolute("shoulder", "cart", axis=AXES["y"], home=(0.0, 0.0, 0.5)),
        revolute("elbow", "shoulder", axis=AXES["y"], home=(0.4, 0.0, 0.0)),
    ]
    links = [Link(mass=3.0)] + [
        Link(mass=1.0, com=(0.2, 0.0, 0.0), inertia=np.diag((0.01, 0.02, 0.02)))
    ] * 2
    hand = Point(name="hand", link="elbow", position=(0.4, 0.0, 0.0))
    return Tree(links=links, joints=joints, points=(hand,), gravity=(0.0, 0.0, -GRAVITY))
