"""Small bodies that fall on the ground, a ball that rolls and a block that slides, and the force
of compliant ground as it is printed."""

import numpy as np

from ocp import Link, Point, Tree, prismatic, revolute

X, Y, Z = np.eye(3)
MASS, RADIUS, GRAVITY = 2.0, 0.05, 9.81


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
