"""Arms of one or two flexible links in the x-y plane, like those of Book (1983), who prints no numbers; the parameters here are ours.

Each link is an aluminium strip 1 m long, 50 mm high and 5 mm thick that bends easily about z, in the plane of motion, 100 times less so
about y, and twists. E = 70 GPa, G = 26 GPa, 2700 kg/m3: 0.675 kg, E I = 36.5 and 3646 N m2, G I_x = 54 N m2. Alone and clamped it vibrates at
4.1, 25.8 and 72.2 Hz. The joint motors are light hubs, the elbow's 0.5 kg; the payload is 0.25 kg.

The arm that slews is a light one for a table: strips of that metal 0.5 m long and 40 mm high, 3 mm and 2 mm thick (0.162 and 0.108 kg, E I = 6.3
and 1.87 N m2), standing upright on an air table, so that gravity does no work; a hub of 2 g m2 at the shoulder, a motor of 0.3 kg at the
elbow, 0.1 kg of payload; 1 N m at the shoulder, 0.3 N m at the elbow, 1 % of critical damping.
"""

from dataclasses import replace

import numpy as np

from ocp.mechanics.beams import Beam, Body, assumed_modes
from ocp.mechanics.joints import GROUND, fixed, revolute
from ocp.mechanics.tree import Link, Point, Tree

LENGTH, HEIGHT, THICKNESS = 1.0, 0.05, 0.005  # m
YOUNG, SHEAR, DENSITY = 70e9, 26e9, 2700.0  # Pa, Pa, kg/m3
MOTOR, PAYLOAD = 0.5, 0.25  # kg
SIZE = 0.04  # m, radius of gyration of motor and payload
NAMES = ("shoulder", "elbow")
SHORT, LOW, THICK = 0.5, 0.04, (0.003, 0.002)  # m, of the arm that slews
HUB, LOADS, HUB_SIZE, LIGHT = (
    0.8,
    (0.3, 0.1),
    0.05,
    0.02,
)  # kg: hub, elbow motor and payload; m: their radii of gyration
DRIVES, RATIO = (1.0, 0.3), 0.01  # N m; of critical damping


def strip(load=0.0, length=LENGTH, height=HEIGHT, thickness=THICKNESS, size=SIZE):
    """Return the Beam of one link with a body of that mass (kg) and radius of gyration (m) at its tip."""
    tip = Body(mass=load, inertia=load * size**2 * np.eye(3)) if load else None
    return Beam(
        length=length,
        mass=DENSITY * height * thickness * length,
        tip=tip,
        gyration=(height / np.sqrt(12), thickness / np.sqrt(12)),
        bending=(YOUNG * thickness * height**3 / 12, YOUNG * height * thickness**3 / 12),
        torsion=SHEAR * height * thickness**3 / 3,
    )


def flexible_arm(links=2, *, bend=2, torque=20.0, gravity=0.0, **modes):
    """Return an arm of one or two links, angles relative, the first from x, each link with `bend` shapes in the plane.

    `torque`: limit at the joints (N m); `gravity`: strength along -y (m/s2); `modes`: further options of `assumed_modes`, such as
    `damping=0.01`, `stiffening=True`, `torsion=1`; `bend=0` without further shapes makes rigid links. The tip is the point "tip".
    """
    if links not in (1, 2):
        raise ValueError(f"flexible_arm: links: expected 1 or 2, got {links!r}")
    names, bodies, joints = NAMES[:links], [], []
    for name, parent, load in zip(names, (GROUND, *names), [MOTOR, PAYLOAD][-links:]):
        flexible = bend or any(modes.get(what) for what in ("bend_y", "torsion"))
        integrals = assumed_modes(strip(load), bend_z=bend or 0 if flexible else 1, **modes)
        whole = Link(modes=integrals)
        bodies.append(whole if flexible else replace(whole, modes=None))
        joints.append(
            revolute(
                name, parent, home=(LENGTH if parent != GROUND else 0.0, 0.0, 0.0), torque=torque
            )
        )
    return Tree(
        links=bodies,
        joints=joints,
        points=(Point(name="tip", link=names[-1], position=(LENGTH, 0, 0)),),
        gravity=(0, -gravity, 0),
    )


def slewing_arm(*, bend=2, torque=1.0, rigid=False, **modes):
    """Return the arm that slews in the horizontal plane, angles relative, the first from x, each link with `bend` shapes, or `rigid`.

    `torque` multiplies the limits of both joints; `modes`: further options of `assumed_modes`. The tip is the point "tip".
    """
    links, joints = (
        [Link(mass=HUB, inertia=HUB * HUB_SIZE**2 * np.eye(3))],
        [fixed("hub", NAMES[0])],
    )
    for name, parent, load, thickness, drive in reversed(
        tuple(zip(NAMES, (GROUND, NAMES[0]), LOADS, THICK, DRIVES))
    ):
        link = Link(
            modes=assumed_modes(
                strip(load, SHORT, LOW, thickness, LIGHT), bend_z=bend, **{"damping": RATIO} | modes
            )
        )
        links.insert(0, replace(link, modes=None) if rigid else link)
        joints.insert(
            0,
            revolute(
                name,
                parent,
                home=(SHORT if parent != GROUND else 0.0, 0.0, 0.0),
                torque=torque * drive,
            ),
        )
    return Tree(
        links=links,
        joints=joints,
        points=(Point(name="tip", link=NAMES[1], position=(SHORT, 0, 0)),),
    )


def cantilever(*, bend=3, load=0.0, gravity=0.0, **modes):
    """Return one such strip clamped to the ground, along x, with a body of mass `load` (kg) at its tip and gravity along -y."""
    link = Link(modes=assumed_modes(strip(load), bend_z=bend, **modes))
    return Tree(
        links=(link,),
        joints=(fixed("beam"),),
        points=(Point(name="tip", link="beam", position=(LENGTH, 0, 0)),),
        gravity=(0, -gravity, 0),
    )
