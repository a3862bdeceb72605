"""Models of MJCF, compiled by MuJoCo, the parser of its authors (extra `mjcf`).

Coordinates are MuJoCo's: a joint's reference is turned into its home. Of what acts through soft
constraints there (contacts, limits) only the ranges of joints are read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.interchange.file_joint_elements import (
    JointForces,
    ball_elements,
    follower_elements,
    follows_curve,
    joint_elements,
)
from ocp.interchange.inertials import link_from_inertia
from ocp.interchange.mjcf.actuators import actuator_limits, undriven_forces
from ocp.interchange.mjcf.compiled_model import Model, compile_model, ignored_parts
from ocp.interchange.mjcf.equalities import (
    cut_joints,
    followers,
    held_joints,
    ignored_equalities,
    object_name,
)
from ocp.interchange.mjcf.geoms import body_visuals
from ocp.interchange.mjcf.muscles import muscles
from ocp.interchange.mjcf.tendons import tendons
from ocp.interchange.poses import pose_matrix, rotation_matrix
from ocp.interchange.reader_notes import Remarks
from ocp.interchange.root_joints import Row
from ocp.mechanics.elements import Element
from ocp.mechanics.kinematics.spatial import exp_screw, translate
from ocp.mechanics.model.joints import GROUND, Joint, ball, fixed, free
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.values.parameters import array

FREE, BALL, SLIDE = 0, 1, 2  # MuJoCo's kinds of joints; those of 3 turn
KINDS = ("free", "ball", "slide", "hinge")
BASES = (None, "fixed")
OFF = {"stiffness": "SPRING", "damping": "DAMPER"}  # what switches them off


def read_mjcf(
    path: Path,
    *,
    base: str | None = None,
    repair: Sequence[str] = (),
    gravity: ArrayLike | None = None,
    shapes: str = "visual",
) -> tuple[Tree, Remarks]:
    """Return the Tree of an MJCF file, and by kind the remarks on it.

    With the `base` "fixed", free joints stand still. The other arguments are those of `load_model`.

    Raises:
        ValueError: the file is wrong; the message names it and has MuJoCo's words.
        ModuleNotFoundError: MuJoCo is not installed.
    """
    if base not in BASES:
        raise ValueError(
            f"{path.name}: base: an MJCF file states its free joints itself; expected 'fixed', "
            f"which holds them, or None, got {base!r}"
        )
    model = compile_model(path, shapes)
    with (
        model.located_errors(),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        tree = _tree(model, base, repair, gravity)
        known, passive, lost = muscles(model.compiled, model.links)
        idle = [each.name for each in known if each.line and not each.line.joints(tree)]
        pulling = [each for each in known if each.name not in idle]
        stretched = [each for each in passive if each.name.rpartition(" ")[0] not in idle]
        tree = replace(tree, elements=[*tree.elements, *pulling, *stretched])
    lost += [f"{name} (its path crosses no joint)" for name in idle]
    return tree, {**_left_out(model, tree.joints), "muscles are left out": lost}


def _tree(model: Model, base: str | None, repair: Sequence[str], gravity: ArrayLike | None) -> Tree:
    """Return the tree of a model without muscles."""
    rows = [_body(model, number, base, repair) for number in range(1, model.compiled.nbody)]
    loops, ends = cut_joints(model.compiled, model.links)
    if any(point.link == model.links[0] for point in ends):
        rows.append(([fixed(model.links[0])], [Link(name=model.links[0])]))
    joints = [joint for row, _ in rows for joint in row]
    cords, knots, _ = _tendons(model)
    if gravity is None:
        gravity = np.zeros(3) if _is_off(model, "GRAVITY") else model.compiled.opt.gravity
    return Tree(
        joints=joints,
        links=[link for _, row in rows for link in row],
        points=[*_sites(model), *ends, *knots],
        loops=loops,
        gravity=gravity,
        elements=[*_elements(model, joints), *cords],
    )


def _tendons(model: Model) -> tuple[list[Element], list[Point], list[str]]:
    """Return the elements of tendons, the points that they need, and the names of others."""
    off = [what for what in ("stiffness", "damping") if _is_off(model, OFF[what])]
    return tendons(model.compiled, model.links, model.joints, off)


def _is_off(model: Model, what: str) -> bool:
    """Tell whether the file switches off gravity, springs or dampers."""
    import mujoco

    flag = getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}")
    return bool(model.compiled.opt.disableflags & int(flag))


def _body(model: Model, number: int, base: str | None, repair: Sequence[str]) -> Row:
    """Return the joints of a body, and the links that they carry, the last the body."""
    data, name = model.compiled, model.links[number]
    axes = rotation_matrix(data.body_iquat[number])
    inertia = axes @ np.diag(data.body_inertia[number]) @ axes.T
    link, _ = link_from_inertia(
        float(data.body_mass[number]),
        data.body_ipos[number],
        (inertia + inertia.T) / 2,
        ("balance", *repair),  # MuJoCo has checked them
        name=name,
        visuals=tuple(body_visuals(model.spec, data, model.path, number, model.shapes)),
    )
    above = int(data.body_parentid[number])
    parent = model.links[above] if above else GROUND
    home = pose_matrix(data.body_pos[number], data.body_quat[number])
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
    """Return balls, slides and hinges of a body one after the other, and the links that they
    carry."""
    follows, held = followers(model.compiled, model.joints), held_joints(model.compiled)
    driven = actuator_limits(model.compiled)
    joints, links = [], []
    for k in numbers:
        name, anchor = model.joints[k], model.compiled.jnt_pos[k]
        if int(model.compiled.jnt_type[k]) == BALL:
            joints.append(ball(name, parent, home=home @ translate(*anchor), actuated=k in driven))
            links.append(Link(name=f"{link.name} at {name}"))
            home = translate(*-anchor)
        elif k in held:
            screw = _screw_joint(model, k, parent, home, None)
            here = array(screw.home) @ np.array(ca.DM(exp_screw(array(screw.screw), held[k])))
            joints.append(fixed(name, parent, home=here))
            links.append(Link(name=f"{link.name} at {name}"))
            home = np.eye(4)
        else:
            joint = _screw_joint(model, k, parent, home, driven.get(k))
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


def _screw_joint(
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


def _small_ranges(model: Model) -> list[str]:
    """Return the ranges of hinges in a file of degrees if all are likely in radians: none reaches
    a turn of them."""
    data = model.compiled
    limited = [
        k
        for k in range(data.njnt)
        if data.jnt_limited[k] and int(data.jnt_type[k]) not in (FREE, SLIDE)
    ]
    ranges = {model.joints[k]: np.degrees(data.jnt_range[k]) for k in limited}
    if not model.spec.compiler.degree or any(
        np.abs(each).max() > 2 * np.pi for each in ranges.values()
    ):
        return []
    return [f"{name}: {low:g} to {high:g} degrees" for name, (low, high) in ranges.items()]


def _sites(model: Model) -> Iterator[Point]:
    """Yield the named sites of bodies as points."""
    data = model.compiled
    for k in range(data.nsite):
        name, number = object_name(data, "SITE", k), int(data.site_bodyid[k])
        if name and number:
            yield Point(name=name, link=model.links[number], position=data.site_pos[k])


def _elements(model: Model, joints: Sequence[Joint]) -> Iterator[Element]:
    """Yield the elements at joints: at slides and hinges, at balls the damping alone."""
    known = {joint.name: joint for joint in joints}
    for k, stated in _joint_statements(model):
        with model.located_errors(k):
            yield from _elements_of(model.joints[k], int(model.compiled.jnt_type[k]), known, stated)


def _elements_of(
    name: str, kind: int, known: Mapping[str, Joint], stated: JointForces
) -> Iterator[Element]:
    """Yield the elements of one of MuJoCo's joints, of that kind."""
    if kind == FREE and f"{name}_x" in known:
        for axis in "xyz":
            yield from joint_elements(known[f"{name}_{axis}"], stated)
    if kind in (FREE, BALL) and name in known and known[name].ball:
        yield from ball_elements(name, stated)
    elif name in known and kind not in (FREE, BALL) and known[name].kind != "fixed":
        at = follower_elements if follows_curve(known[name]) else joint_elements
        yield from at(known[name], stated)


def _joint_statements(model: Model) -> Iterator[tuple[int, JointForces]]:
    """Yield the number of each joint and the forces that the file states of it."""
    data = model.compiled
    for k in range(data.njnt):
        dof, place = int(data.jnt_dofadr[k]), int(data.jnt_qposadr[k])
        still = int(data.jnt_type[k]) == FREE or _is_off(model, "SPRING")
        yield (
            k,
            JointForces(
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
    acting = {
        k: stated
        for k, stated in _joint_statements(model)
        if stated != JointForces(rest=stated.rest)
    }
    unturned = [k for k, stated in acting.items() if stated.friction or stated.armature]
    turning = [
        model.joints[k]
        for k in range(data.njnt)
        if (int(data.jnt_type[k]) in (FREE, BALL) and (k in unturned or data.jnt_stiffness[k]))
        or (k in unturned and model.joints[k] in known and follows_curve(known[model.joints[k]]))
    ]
    lifted = [model.links[k] for k in range(1, data.nbody) if data.body_gravcomp[k]]
    return {
        **ignored_parts(model),
        'ranges are read in degrees, for want of <compiler angle="radian"/>': _small_ranges(model),
        "forces of a fluid are left out": fluid,
        "rotors and friction of turns that are no angle of their own are left out": turning,
        "what takes the weight of bodies is left out": lifted,
        "equalities are left out": ignored_equalities(data),
        "tendons with forces of their own are left out": _tendons(model)[2],
        **undriven_forces(data, model.joints),
    }
