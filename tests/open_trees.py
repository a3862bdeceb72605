"""Random mechanisms all of whose numbers are open, beside the same with others given."""

from dataclasses import replace

import casadi as ca
import numpy as np

from ocp import Parameter
from ocp.mechanics import rotate_x, rotate_z
from ocp.mechanics.values.parameters import array, evaluate


class Opening:
    """Parameters in place of numbers, and in `values` what is given for each: near its own value,
    yet not it."""

    def __init__(self, rng):
        self.rng, self.values = rng, {}

    def number(self, value, spread=0.1):
        """Return a Parameter whose own value is a number."""
        parameter = Parameter(f"p{len(self.values)}", value)
        self.values[parameter] = value + spread * self.rng.uniform(-1, 1)
        return parameter

    def vector(self, numbers):
        """Return a Parameter for each of some numbers."""
        return array([self.number(value) for value in numbers])

    def body(self, link):
        """Return a link of open mass, centre and inertia, all of which stay physical."""
        if not link.mass:
            return link
        mass, shape = self.number(link.mass), self.number(1.0)
        inertia = array(link.inertia) * shape
        return replace(link, mass=mass, com=self.vector(link.com), inertia=inertia)

    def joint(self, joint):
        """Return a joint on an open pose that turns or slides along an open screw."""
        home = array(joint.home)
        turn = rotate_z(self.number(0.0)) @ rotate_x(self.number(0.0))
        pose = np.eye(4).astype(object)
        pose[:3, :3], pose[:3, 3] = home[:3, :3] @ turn[:3, :3], self.vector(home[:3, 3])
        if joint.screw is None:
            return replace(joint, home=pose)
        lean = (rotate_x(self.number(0.0)) @ rotate_z(self.number(0.0)))[:3, :3]
        w, v = lean @ array(joint.screw[:3]), lean @ array(joint.screw[3:])
        if joint.kind != "prismatic":
            pitch = self.number(joint.pitch) if joint.kind == "screw" else 0.0
            v = np.cross(self.vector(joint.anchor), w) + pitch * w
        return replace(joint, home=pose, screw=(*w, *v))

    def place(self, point):
        """Return a point at an open place."""
        return replace(point, position=self.vector(point.position))


def opened_tree(rng, tree, parts=("bodies", "joints", "points")):
    """Return a tree with open numbers in place of its own, and the values (Parameter: number) given
    for them."""
    opening = Opening(rng)
    made = {
        "bodies": lambda: {
            "links": tuple(map(opening.body, tree.links)),
            "gravity": opening.vector(tree.gravity),
        },
        "joints": lambda: {"joints": tuple(map(opening.joint, tree.joints))},
        "points": lambda: {"points": tuple(map(opening.place, tree.points))},
    }
    changed = {key: value for part in parts for key, value in made[part]().items()}
    return replace(tree, **changed), opening.values


def numbers_of(matrix, values):
    """Return an expression of parameters as an array of numbers."""
    return np.array(ca.evalf(ca.densify(evaluate(ca.SX(matrix), values))))
