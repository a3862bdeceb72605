"""Small bodies that fall on the ground, a ball that rolls and a block that slides, and the force
of compliant ground as it is printed."""

import numpy as np

from ocp import BSpline, Link, Point, Problem, Tree, at_end, at_start, effort, prismatic, revolute
from ocp.problem import contact_outputs, contacts

X, Y, Z = np.eye(3)
MASS, RADIUS, GRAVITY = 2.0, 0.05, 9.81
FOOT = 0.5  # kg


def ball(inertia=2 / 5 * MASS * RADIUS**2, *, driven=False):
    """A ball in the plane of x and z: two slides and a turn, along x driven if so asked."""
    return Tree(
        links=(Link(), Link(), Link(mass=MASS, inertia=inertia * np.eye(3))),
        joints=(
            prismatic("along", "ground", axis=X, actuated=driven),
            prismatic("up", "along", axis=Z, actuated=False),
            revolute("turn", "up", axis=Y, actuated=False),
        ),
        points=(Point(name="centre", link="turn"),),
        gravity=(0.0, 0.0, -GRAVITY),
    )


def block():
    """A block that slides along x and y and falls along z, and does not turn."""
    axes = {"along": X, "across": Y, "up": Z}
    parents = ("ground", "along", "across")
    return Tree(
        links=(Link(), Link(), Link(mass=MASS)),
        joints=[
            prismatic(name, parent, axis=axes[name], actuated=False)
            for name, parent in zip(axes, parents)
        ],
        points=(Point(name="sole", link="up"),),
        gravity=(0.0, 0.0, -GRAVITY),
    )


def piston(foot=FOOT, **fields):
    """A mass over a foot, which a driven slide joins, on a rail upright."""
    slides = prismatic("foot", axis=Z, actuated=False), prismatic("leg", "foot", axis=Z)
    fields |= {"links": (Link(mass=foot), Link(mass=MASS)), "gravity": (0.0, 0.0, -GRAVITY)}
    return Tree(joints=slides, points=(Point(name="sole", link="foot"),), **fields)


def raised(tree, model, rest, end, *, duration=0.6, points):
    """The motion of least effort of a piston from rest on a ground, the leg 0.4 m long, to an end
    at rest."""
    loads = contacts(tree, "sole", model=model)
    return Problem(
        tree=tree,
        motion=BSpline(points=points),
        duration=duration,
        objective=effort(),
        loads=loads,
        outputs=contact_outputs(loads),
        constraints=(
            at_start(tree, q=(rest, 0.4), qd=0.0),
            at_end(tree, q=end, qd=0.0),
        ),
    )


def published(material, depth, rate, slip):
    """Normal force and friction (N) of the formulas as they are printed, in plain numpy."""
    m = material
    k = 0.5 * m.stiffness ** (2 / 3)
    hertz = 4 / 3 * k * np.sqrt(m.radius * k) * np.sqrt(depth**2 + m.rounding) ** 1.5
    hertz = hertz * (0.5 + 0.5 * np.tanh(m.closing * depth))
    push = hertz * (1 + 1.5 * m.dissipation * rate)
    push = push * (0.5 + 0.5 * np.tanh(m.parting * (rate + 2 / (3 * m.dissipation))))
    speed = np.sqrt(slip @ slip + m.rounding)
    u = speed / m.transition
    coefficient = m.dynamic * np.tanh(4 * u)
    coefficient += (m.static - m.dynamic) * u / (0.25 * u**2 + 0.75) ** 2
    coefficient += m.viscous * speed
    return push, -coefficient * push * slip / speed


def sunk(material, weight):
    """How deep (m) a sphere at rest lies under its weight (N): bisection of the printed law."""
    low, high = 0.0, material.radius
    for _ in range(80):
        middle = (low + high) / 2
        less = published(material, middle, 0.0, np.zeros(3))[0] < weight
        low, high = (middle, high) if less else (low, middle)
    return low
