"""Arms of one or two flexible links in the x-y plane, like those of Book (1983).

He prints no numbers: the parameters here are ours.

Each link is an aluminium strip 1 m long, 50 mm high and 5 mm thick that bends easily about z, in
the plane of motion, 100 times less so about y, and twists. E = 70 GPa, G = 26 GPa, 2700 kg/m3:
0.675 kg, E I = 36.5 and 3646 N m2, G I_x = 54 N m2. Alone and clamped it vibrates at 4.1, 25.8 and
72.2 Hz. The joint motors are light hubs, the elbow's 0.5 kg; the payload is 0.25 kg.

The arm that slews is a light one for a table: strips of that metal 0.5 m long and 40 mm high, 3 mm
and 2 mm thick (0.162 and 0.108 kg, E I = 6.3 and 1.87 N m2), standing upright on an air table, so
that gravity does no work; a hub of 2 g m2 at the shoulder, a motor of 0.3 kg at the elbow, 0.1 kg
of payload; 1 N m at the shoulder, 0.3 N m at the elbow, 1 % of critical damping.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import Joint, Link, Point, Tree, fixed, revolute
from ocp.mechanics import GROUND, Beam, Body, Modes, assumed_modes

LENGTH, HEIGHT, THICKNESS = 1.0, 0.05, 0.005  # m
YOUNG, SHEAR, DENSITY = 70e9, 26e9, 2700.0  # Pa, Pa, kg/m3
MOTOR, PAYLOAD = 0.5, 0.25  # kg
SIZE = 0.04  # m, radius of gyration of motor and payload
NAMES = ("shoulder", "elbow")

# The arm that slews: strips (m), hub, elbow motor and payload (kg), radii of gyration of the hub
# and of the others (m), limits of the drives (N m), share of critical damping
SHORT, LOW, THICK = 0.5, 0.04, (0.003, 0.002)
HUB, LOADS = 0.8, (0.3, 0.1)
HUB_SIZE, LIGHT = 0.05, 0.02
DRIVES, RATIO = (1.0, 0.3), 0.01


def strip(
    load: float = 0.0,
    length: float = LENGTH,
    height: float = HEIGHT,
    thickness: float = THICKNESS,
    size: float = SIZE,
) -> Beam:
    """Return the Beam of one link, of that length, height and thickness (m).

    At its tip is a body of mass `load` (kg) and radius of gyration `size` (m).
    """
    tip = Body(mass=load, inertia=load * size**2 * np.eye(3)) if load else None
    return Beam(
        length=length,
        mass=DENSITY * height * thickness * length,
        tip=tip,
        gyration=(height / np.sqrt(12), thickness / np.sqrt(12)),
        bending=(YOUNG * thickness * height**3 / 12, YOUNG * height * thickness**3 / 12),
        torsion=SHEAR * height * thickness**3 / 3,
    )


def flexible_arm(
    links: int = 2, *, bend: int = 2, torque: float = 20.0, gravity: float = 0.0, **modes: Any
) -> Tree:
    """Return an arm of one or two links, each with `bend` shapes in the plane.

    Angles are relative, the first from x. `torque`: limit at the joints (N m); `gravity`: strength
    along -y (m/s2); `modes`: further options of `assumed_modes`, such as `damping=0.01`,
    `stiffening=False`, `torsion=1`; `bend=0` without further shapes makes rigid links. The tip is
    the point "tip". Raises ValueError for another number of links.
    """
    if links not in (1, 2):
        raise ValueError(f"flexible_arm: links: expected 1 or 2, got {links!r}")
    names, loads = NAMES[:links], (MOTOR, PAYLOAD)[-links:]
    rigid = not (bend or any(modes.get(shape) for shape in ("bend_y", "torsion")))
    bodies = []
    for load in loads:
        shapes = assumed_modes(strip(load), bend_z=1 if rigid else bend or 0, **modes)
        bodies.append(_link(shapes, rigid))
    return Tree(
        links=bodies,
        joints=_hinges(names, LENGTH, [torque] * links),
        points=(Point(name="tip", link=names[-1], position=(LENGTH, 0, 0)),),
        gravity=(0, -gravity, 0),
    )


def slewing_arm(*, bend: int = 2, torque: float = 1.0, rigid: bool = False, **modes: Any) -> Tree:
    """Return the arm that slews in the horizontal plane, each link with `bend` shapes, or `rigid`.

    Angles are relative, the first from x. `torque` multiplies the limits of both joints; `modes`:
    further options of `assumed_modes`. The tip is the point "tip".
    """
    options = {"damping": RATIO} | modes
    beams = [strip(load, SHORT, LOW, thick, LIGHT) for load, thick in zip(LOADS, THICK)]
    bodies = [_link(assumed_modes(beam, bend_z=bend, **options), rigid) for beam in beams]
    hub = Link(mass=HUB, inertia=HUB * HUB_SIZE**2 * np.eye(3))
    hinges = _hinges(NAMES, SHORT, [torque * drive for drive in DRIVES])
    return Tree(
        links=[*bodies, hub],
        joints=[*hinges, fixed("hub", NAMES[0])],
        points=(Point(name="tip", link=NAMES[1], position=(SHORT, 0, 0)),),
    )


def segmented_arm(
    links: int = 2, *, segments: int = 4, torque: float = 20.0, gravity: float = 0.0
) -> tuple[Tree, np.ndarray]:
    """Return the arm of `flexible_arm` as rigid segments, and the springs (n,) of its joints.

    Each link has so many torsion springs, in N m/rad zero at the driven joints: it is cut into
    equal lengths h, each of which bends in its middle by E I / h. Their joints are not actuated;
    named like "shoulder.2". Raises ValueError for another number of links or no segments.
    """
    if links not in (1, 2) or segments < 1:
        raise ValueError(
            "segmented_arm: expected 1 or 2 links of at least 1 segment, got "
            f"{links!r} of {segments!r}"
        )
    h, half = LENGTH / segments, LENGTH / segments / 2
    bodies, joints, springs, parent, before = [], [], [], GROUND, 0.0
    for name, load in zip(NAMES, (MOTOR, PAYLOAD)[-links:]):
        beam = strip(load)
        for k in range(segments + 1):
            length = h if 0 < k < segments else half
            tip = load if k == segments else 0.0
            bodies.append(_rod(beam.mass * length / LENGTH, length, tip))
            drive: dict[str, Any] = {"torque": torque} if k == 0 else {"actuated": False}
            joint = name if k == 0 else f"{name}.{k}"
            joints.append(revolute(joint, parent, home=(before, 0.0, 0.0), **drive))
            springs.append(beam.bending[1] / h if k else 0.0)
            parent, before = joint, length
    tree = Tree(
        links=bodies,
        joints=joints,
        points=(Point(name="tip", link=parent, position=(half, 0, 0)),),
        gravity=(0, -gravity, 0),
    )
    return tree, np.array(springs)


def _rod(mass: float, length: float, tip: float) -> Link:
    """Return a rod along x, with a body of mass `tip` (kg) at its end."""
    total = mass + tip
    com = (mass * length / 2 + tip * length) / total
    across = mass * (length**2 / 12 + (com - length / 2) ** 2) + tip * (length - com) ** 2
    spread = tip * SIZE**2
    return Link(
        mass=total, com=(com, 0, 0), inertia=np.diag([spread, across + spread, across + spread])
    )


def cantilever(*, bend: int = 3, load: float = 0.0, gravity: float = 0.0, **modes: Any) -> Tree:
    """Return one strip clamped to the ground, along x, with `bend` shapes.

    A body of mass `load` (kg) is at its tip; `gravity`: strength along -y (m/s2); `modes`: further
    options of `assumed_modes`.
    """
    link = Link(modes=assumed_modes(strip(load), bend_z=bend, **modes))
    return Tree(
        links=(link,),
        joints=(fixed("beam"),),
        points=(Point(name="tip", link="beam", position=(LENGTH, 0, 0)),),
        gravity=(0, -gravity, 0),
    )


def _link(shapes: Modes, rigid: bool) -> Link:
    """Return the link that bends in these shapes, or the same one stiff."""
    link = Link(modes=shapes)
    return replace(link, modes=None) if rigid else link


def _hinges(names: Sequence[str], length: float, torques: Sequence[float]) -> list[Joint]:
    """Return the joints of a chain of links of that length (m), with their limits (N m)."""
    joints = []
    for name, parent, torque in zip(names, (GROUND, *names), torques):
        home = (0.0 if parent == GROUND else length, 0.0, 0.0)
        joints.append(revolute(name, parent, home=home, torque=torque))
    return joints
