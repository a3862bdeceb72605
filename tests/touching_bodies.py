"""Bodies that meet the ground when their motion says so, quickly solved."""

from dataclasses import replace

import numpy as np

from ocp import (
    BSpline,
    Complementarity,
    Compliant,
    Link,
    Point,
    Problem,
    Tree,
    at_end,
    at_start,
    contact_outputs,
    contacts,
    effort,
    prismatic,
    revolute,
)

UP = (0.0, 1.0, 0.0)
SOLE = Compliant(radius=0.03, stiffness=1e5)


def leg() -> Tree:
    """A foot of 0.5 kg that slides and turns in a plane, and 2 kg on a slide over it."""
    return Tree(
        links=(Link(mass=0.0),) * 2 + (Link(mass=0.5, inertia=0.01 * np.eye(3)), Link(mass=2.0)),
        joints=(
            prismatic("x", axis=(1.0, 0.0, 0.0), actuated=False),
            prismatic("y", "x", axis=UP, actuated=False),
            revolute("pitch", "y", axis=(0.0, 0.0, 1.0), actuated=False),
            prismatic("leg", "pitch", axis=UP),
        ),
        points=(Point(name="sole", link="pitch"),),
        gravity=(0.0, -9.81, 0.0),
    )


def falling() -> Problem:
    """It falls onto ground that gives way."""
    return _falling(SOLE)


def skidding(points: int = 32) -> Problem:
    """It falls onto ground that gives way, and skids to a stop there, on a spline."""
    material = replace(SOLE, transition=0.2)
    fall = _falling(material, along=1.0)
    return replace(fall, motion=BSpline(points=points, degree=5))


def rigid_fall() -> Problem:
    """It falls onto rigid ground."""
    return _falling(Complementarity(friction=0.8, leak=1e-3))


def _falling(model: Compliant | Complementarity, along: float = 0.0) -> Problem:
    tree = leg()
    touching = contacts(tree, "sole", model=model, normal=UP)
    start = {"x": 0.0, "y": 0.1, "pitch": 0.0, "leg": 0.4}
    rates = dict.fromkeys(start, 0.0) | {"x": along}
    return Problem(
        tree=tree,
        motion=BSpline(points=12),
        duration=0.4,
        objective=effort(),
        loads=touching,
        outputs=contact_outputs(touching),
        constraints=(at_start(tree, q=start, qd=rates), at_end(tree, q={"leg": 0.3})),
    )
