"""Bodies that meet the ground when their motion says so, quickly solved."""

from dataclasses import replace

import numpy as np

import ocp

UP = (0.0, 1.0, 0.0)
SOLE = ocp.Compliant(radius=0.03, stiffness=1e5)


def leg() -> ocp.Tree:
    """A foot of 0.5 kg that slides and turns in a plane, and 2 kg on a slide over it."""
    return ocp.Tree(
        links=(ocp.Link(mass=0.0),) * 2
        + (ocp.Link(mass=0.5, inertia=0.01 * np.eye(3)), ocp.Link(mass=2.0)),
        joints=(
            ocp.prismatic("x", axis=(1.0, 0.0, 0.0), actuated=False),
            ocp.prismatic("y", "x", axis=UP, actuated=False),
            ocp.revolute("pitch", "y", axis=(0.0, 0.0, 1.0), actuated=False),
            ocp.prismatic("leg", "pitch", axis=UP),
        ),
        points=(ocp.Point(name="sole", link="pitch"),),
        gravity=(0.0, -9.81, 0.0),
    )


def falling() -> ocp.Problem:
    """It falls onto ground that gives way."""
    return _falling(SOLE)


def skidding(points: int = 32) -> ocp.Problem:
    """It falls onto ground that gives way, and skids to a stop there, on a spline."""
    material = replace(SOLE, transition=0.2)
    fall = _falling(material, along=1.0)
    return replace(fall, motion=ocp.BSpline(points=points, degree=5))


def rigid_fall() -> ocp.Problem:
    """It falls onto rigid ground."""
    return _falling(ocp.Complementarity(friction=0.8, leak=1e-3))


def _falling(model: ocp.Compliant | ocp.Complementarity, along: float = 0.0) -> ocp.Problem:
    tree = leg()
    touching = ocp.contacts(tree, "sole", model=model, normal=UP)
    start = {"x": 0.0, "y": 0.1, "pitch": 0.0, "leg": 0.4}
    rates = dict.fromkeys(start, 0.0) | {"x": along}
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=12),
        duration=0.4,
        objective=ocp.effort(),
        loads=touching,
        outputs=ocp.contact_outputs(touching),
        constraints=(ocp.at_start(tree, q=start, qd=rates), ocp.at_end(tree, q={"leg": 0.3})),
    )
