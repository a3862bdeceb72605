"""Models of MJCF, compiled by MuJoCo, the parser of its authors (extra `mjcf`).

Coordinates are MuJoCo's: a joint's reference is turned into its home. Of what acts through soft
constraints there (contacts, limits) only the ranges of joints are read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ocp.interchange.inertials import body
from ocp.interchange.joint_elements import (
    AtJoint,
    elements_at,
    elements_at_ball,
    elements_at_curve,
    is_curved,
)
from ocp.interchange.mjcf.actuators import drives, undriven_forces
from ocp.interchange.mjcf.compiled_model import Model, compiled, unread
from ocp.interchange.mjcf.equalities import called, coupled, cuts, left_out
from ocp.interchange.mjcf.geoms import looks
from ocp.interchange.mjcf.tendons import tendons
from ocp.interchange.poses import placed, turned
from ocp.interchange.reader_notes import Remarks
from ocp.interchange.root_joints import Row
from ocp.mechanics.kinematics.spatial import exp_screw, translate
from ocp.mechanics.model.joints import GROUND, Joint, ball, fixed, free
from ocp.mechanics.model.tree import Link, Point, Tree

FREE, BALL, SLIDE = 0, 1, 2  # MuJoCo's kinds of joints; those of 3 turn
KINDS = ("free", "ball", "slide", "hinge")
BASES = (None, "fixed")
OFF = {"stiffness": "SPRING", "damping": "DAMPER"}  # what switches them off


def read_mjcf(
    path: Path,
    *,
    base: str | None = None,
    repair: Sequence[str] = (),
    gravity: Any = None,
    shapes: str = "visual",
) -> tuple[Tree, Remarks]:
    """Return the Tree of an MJCF file, and by kind what of it is not in there.

    With the `base` "fixed", free joints stand still. Raises ValueError naming the file and what
    MuJoCo says of it, ModuleNotFoundError without MuJoCo.
    """
    if base not in BASES:
        raise ValueError(
            f"{path.name}: base: an MJCF file states its free joints itself; expected 'fixed', "
            f"which holds them, or None, got {base!r}"
        )
    model = compiled(path, shapes)
    with model.located(), np.errstate(over="ignore", invalid="ignore"):  # refused by its records
        tree = _tree(model, base, repair, gravity)
    return tree, _left_out(model, tree.joints)


def _tree(model: Model, base: str | None, repair: Sequence[str], gravity: Any) -> Tree:
    """Return the tree of a model."""
    rows = [_body(model, number, base, repair) for number in range(1, model.compiled.nbody)]
    loops, ends = cuts(model.compiled, model.links)
    if any(point.link == model.links[0] for point in ends):
        rows.append(([fixed(model.links[0])], [Link(name=model.links[0])]))
    joints = [joint for row, _ in rows for joint in row]
    cords, knots, _ = _tendons(model)
    return Tree(
        joints=joints,
        links=[link for _, row in rows for link in row],
        points=[*_sites(model), *ends, *knots],
        loops=loops,
        gravity=_gravity(model) if gravity is None else gravity,
        elements=[*_elements(model, joints), *cords],
    )


def _tendons(model: Model) -> tuple[list[Any], list[Point], list[str]]:
    """Return what tendons are here, the points that these need, and those that are left out."""
    off = [what for what in ("stiffness", "damping") if _is_off(model, OFF[what])]
    return tendons(model.compiled, model.links, model.joints, off)


def _gravity(model: Model) -> Any:
    """Return the gravity (3, m/s2) of a model: none where it is switched off."""
    return np.zeros(3) if _is_off(model, "GRAVITY") else model.compiled.opt.gravity


def _is_off(model: Model, what: str) -> bool:
    """Tell whether the file switches off gravity, springs or dampers."""
    import mujoco

    flag = getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}")
    return bool(model.compiled.opt.disableflags & int(flag))


def _body(model: Model, number: int, base: str | None, repair: Sequence[str]) -> Row:
    """Return the joints of a body, and the links that they carry, the last the body."""
    data, name = model.compiled, model.links[number]
    axes = turned(data.body_iquat[number])
    inertia = axes @ np.diag(data.body_inertia[number]) @ axes.T
    link, _ = body(
        float(data.body_mass[number]),
        data.body_ipos[number],
        (inertia + inertia.T) / 2,
        ("balance", *repair),  # MuJoCo has checked them
        name=name,
        visuals=tuple(looks(model.spec, data, model.path, number, model.shapes)),
    )
    above = int(data.body_parentid[number])
    parent = model.links[above] if above else GROUND
    home = placed(data.body_pos[number], data.body_quat[number])
    first = int(data.body_jntadr[number])
    numbers = range(first, first + int(data.body_jntnum[number]))
    kinds = [int(data.jnt_type[k]) for k in numbers]
    if not kinds or (FREE in kinds and base == "fixed"):
        taken = {*model.joints.values()}
        seat = name if name not in taken else f"{name} seat"
        return [fixed(seat, parent, home=home)], [link]
    if FREE in kinds:
        row = free(model.joints[first], parent)
        return list(row), [Link(), Link(), Link(), link]
    return _turns(model, numbers, parent, home, link)


def _turns(model: Model, numbers: Sequence[int], parent: str, home: np.ndarray, link: Link) -> Row:
    """Return balls, slides and hinges of a body one after the other, and what they carry."""
    follows, driven = coupled(model.compiled, model.joints), drives(model.compiled)
    joints, links = [], []
    for k in numbers:
        name, anchor = model.joints[k], model.compiled.jnt_pos[k]
        if int(model.compiled.jnt_type[k]) == BALL:
            joints.append(ball(name, parent, home=home @ translate(*anchor), actuated=k in driven))
            links.append(Link(name=f"{link.name} at {name}"))
            home = translate(*-anchor)
        else:
            joint = _screwed(model, k, parent, home, driven.get(k))
            if k in follows:
                wide = (-inf, inf)
                joint = replace(joint, follows=follows[k], position=wide, torque=wide)
            joints.append(joint)
            links.append(Link(name=f"{link.name} at {name}"))
            home = np.eye(4)
        parent = f"{link.name} at {name}"
    if np.array_equal(home, np.eye(4)):
        return joints, [*links[:-1], link]
    return [*joints, fixed(f"{link.name} seat", parent, home=home)], [*links, link]


def _screwed(
    model: Model, k: int, parent: str, home: np.ndarray, torque: tuple[float, float] | None
) -> Joint:
    """Return a slide or a hinge whose coordinate is MuJoCo's."""
    data = model.compiled
    axis, anchor, none = data.jnt_axis[k], data.jnt_pos[k], np.zeros(3)
    slides = int(data.jnt_type[k]) == SLIDE
    screw = np.array([*none, *axis] if slides else [*axis, *np.cross(anchor, axis)])
    reference = float(data.qpos0[data.jnt_qposadr[k]])
    back = np.array(ca.DM(exp_screw(screw, -reference)))
    limited = bool(data.jnt_limited[k])
    return Joint(
        name=model.joints[k],
        parent=parent,
        home=home @ back if reference else home,
        screw=screw,
        position=tuple(data.jnt_range[k]) if limited else (-inf, inf),
        torque=(-inf, inf) if torque is None else torque,
        actuated=torque is not None,
    )


def _sites(model: Model) -> Iterator[Point]:
    """Yield the named sites of bodies as points."""
    data = model.compiled
    for k in range(data.nsite):
        name, number = called(data, "SITE", k), int(data.site_bodyid[k])
        if name and number:
            yield Point(name=name, link=model.links[number], position=data.site_pos[k])


def _elements(model: Model, joints: Sequence[Joint]) -> Iterator[Any]:
    """Yield what acts at joints: at slides and hinges, at balls the damping alone."""
    known = {joint.name: joint for joint in joints}
    for k, stated in _stated(model):
        with model.located(k):
            yield from _elements_of(model.joints[k], int(model.compiled.jnt_type[k]), known, stated)


def _elements_of(
    name: str, kind: int, known: Mapping[str, Joint], stated: AtJoint
) -> Iterator[Any]:
    """Yield what acts at one joint of MuJoCo's, of that kind."""
    if kind == FREE and f"{name}_x" in known:
        for axis in "xyz":
            yield from elements_at(known[f"{name}_{axis}"], stated)
    if kind in (FREE, BALL) and name in known and known[name].ball:
        yield from elements_at_ball(name, stated)
    elif name in known and kind not in (FREE, BALL):
        at = elements_at_curve if is_curved(known[name]) else elements_at
        yield from at(known[name], stated)


def _stated(model: Model) -> Iterator[tuple[int, AtJoint]]:
    """Yield joints by their numbers, and what acts there."""
    data = model.compiled
    for k in range(data.njnt):
        dof, place = int(data.jnt_dofadr[k]), int(data.jnt_qposadr[k])
        still = int(data.jnt_type[k]) == FREE or _is_off(model, "SPRING")
        yield (
            k,
            AtJoint(
                damping=0.0 if _is_off(model, "DAMPER") else float(data.dof_damping[dof]),
                friction=float(data.dof_frictionloss[dof]),
                armature=float(data.dof_armature[dof]),
                stiffness=0.0 if still else float(data.jnt_stiffness[k]),
                rest=float(data.qpos_spring[place]),
            ),
        )


def _left_out(model: Model, joints: Sequence[Joint]) -> Remarks:
    """Return by kind what acts in MuJoCo and not here."""
    data, known = model.compiled, {joint.name: joint for joint in joints}
    fluid = ["density or viscosity"] if data.opt.density or data.opt.viscosity else []
    acting = {k: stated for k, stated in _stated(model) if stated != AtJoint(rest=stated.rest)}
    unturned = [k for k, stated in acting.items() if stated.friction or stated.armature]
    turning = [
        model.joints[k]
        for k in range(data.njnt)
        if (int(data.jnt_type[k]) in (FREE, BALL) and (k in unturned or data.jnt_stiffness[k]))
        or (k in unturned and model.joints[k] in known and is_curved(known[model.joints[k]]))
    ]
    lifted = [model.links[k] for k in range(1, data.nbody) if data.body_gravcomp[k]]
    return {
        **unread(model),
        "forces of a fluid are left out": fluid,
        "rotors and friction of turns that are no angle of their own are left out": turning,
        "what takes the weight of bodies is left out": lifted,
        "equalities are left out": left_out(data),
        "tendons with forces of their own are left out": _tendons(model)[2],
        **undriven_forces(data, model.joints),
    }
