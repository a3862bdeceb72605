"""Closed loops and followers of MJCF files beside MuJoCo: gaps, and accelerations under hard
constraints.

MuJoCo's own constraints are soft. Its mass matrix M, forces and Jacobian J of the equalities,
whose rate is that of sixth-order central differences, make up the hard ones,

    [M  J'] [  a ]   [tau + passive - bias]
    [J  0 ] [ -f ] = [     -dJ/dt v       ]

of which redundant rows are left to least squares.
"""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp import Friction, Tree, forward_dynamics
from ocp.interchange import load_model
from ocp.mechanics import close_coordinates, close_rates
from ocp.problems.benchmarks.dynamics.compare_mjcf import mjcf_files, plain_model
from ocp.problems.benchmarks.dynamics.engine_comparison import RATE, SEED, Compared, worst
from ocp.problems.benchmarks.dynamics.mujoco_coordinates import Coordinates, coordinates_of

MEASURES = ("gaps", "rates of gaps", "accelerations")
NEAR, TORQUE = 0.2, 10.0  # rad or m about the file's own place; N m or N of random drives
TRIALS = 20  # places tried for each that closes
EQUALITIES = ("<connect", "<weld", "joint2=")
INCLUDED = re.compile(r'<include\s+file="([^"]+)"')
STEP = 1e-3  # s, of central differences
STENCIL = ((1, 45.0), (2, -9.0), (3, 1.0))  # times 1 / 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A tree with loops beside MuJoCo's model of its file, with that's data, and how the
    coordinates of one are those of the other."""

    tree: Tree
    model: Any
    data: Any
    coordinates: Coordinates


def files_with_loops() -> list[Path]:
    """Return the MJCF files here that connect or weld bodies, or in which joints follow others;
    raise ModuleNotFoundError if none of their packages is here."""
    return [path for path in mjcf_files() if has_loops(path)]


def has_loops(path: Path) -> bool:
    """Tell whether a file, or one that it includes, speaks of bodies that are connected or welded,
    or of joints that follow others."""
    text = path.read_text(errors="replace")
    included = (path.parent / name for name in INCLUDED.findall(text))
    return any(word in text for word in EQUALITIES) or any(
        has_loops(each) for each in included if each.is_file() and each != path
    )


def compared_loops(path: Path, states: int) -> Compared:
    """Return the gaps (m or rad) that MuJoCo sees in loops closed here, their rates, and the
    difference of accelerations, over the largest entry."""
    name = f"{path.parent.parent.name}/{path.stem}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            machine = _machine(path)
            seen = [_seen(machine, *state) for state in _states(machine, states)]
        except ValueError as error:
            return Compared(name=name, refusal=f"{path.name}: {error}")
    open_by = (float(np.max([np.abs(each[k]).max() for each in seen])) for k in (0, 1))
    differences = (*open_by, worst([each[2] for each in seen]))
    return Compared(name=name, coordinates=machine.tree.dof, differences=differences)


def _machine(path: Path) -> Machine:
    """Return a file's machine; raise ValueError if it has neither loops nor followers."""
    import mujoco

    tree = load_model(path)
    if not tree.loops and all(joint.follows is None for joint in tree.joints):
        raise ValueError("it has neither loops nor followers")
    model = plain_model(path, tree)
    flags = mujoco.mjtDisableBit
    soft = flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
    model.opt.disableflags = model.opt.disableflags & ~int(flags.mjDSBL_CONSTRAINT) | int(soft)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    joint = int(mujoco.mjtEq.mjEQ_JOINT)
    kinds, alone = model.eq_type, model.eq_obj2id < 0
    model.eq_active0[(kinds > joint) | ((kinds == joint) & alone)] = 0  # are left out of the tree
    elements = [each for each in tree.elements if not isinstance(each, Friction)]
    tree = replace(tree, elements=elements)
    coordinates = coordinates_of(tree, model)
    return Machine(tree=tree, model=model, data=mujoco.MjData(model), coordinates=coordinates)


def _states(machine: Machine, states: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield closed places (n,) near the file's own, rates (n,), and drives (MuJoCo's rates,)."""
    tree, rng = machine.tree, np.random.default_rng(SEED)
    home = machine.coordinates.back(machine.model.qpos0)
    for _ in range(states):
        drawn = rng.uniform(-RATE, RATE, tree.dof)
        q, drawn = machine.coordinates.on_balls(_closed(tree, home, rng), drawn)
        qd = close_rates(tree, q, drawn) if tree.loops else drawn
        q, qd = machine.coordinates.on_balls(q, qd)
        yield q, qd, rng.uniform(-TORQUE, TORQUE, machine.model.nv)


def _closed(tree: Tree, home: np.ndarray, rng: Any) -> np.ndarray:
    """Return a place near `home` at which the loops close; raise ValueError if none is found."""
    for _ in range(TRIALS - 1):
        place = home + rng.uniform(-NEAR, NEAR, tree.dof)
        if not tree.loops:
            return place
        try:
            return close_coordinates(tree, place)
        except ValueError:
            continue
    return close_coordinates(tree, home)


def _seen(
    machine: Machine, q: np.ndarray, qd: np.ndarray, drives: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return MuJoCo's gaps (m,), their rates (m,), and accelerations of both (MuJoCo's rates,)."""
    place, slope, bend = machine.coordinates.at(q, qd)
    rate = slope @ qd
    gaps, jacobian, theirs = _hard(machine, place, rate, drives)
    qdd = forward_dynamics(machine.tree, q, qd, slope.T @ drives)
    return gaps, jacobian @ rate, (slope @ np.array(qdd).ravel() + bend, theirs)


def _hard(
    machine: Machine, place: np.ndarray, rate: np.ndarray, drives: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return MuJoCo's gaps (m,), their slope (m, nv), and its accelerations (nv,)."""
    import mujoco

    bend = sum(
        weight / (60 * STEP) * sign * (_equalities(machine, place, rate, sign * step * STEP)[1])
        for step, weight in STENCIL
        for sign in (1, -1)
    )
    gaps, jacobian = _equalities(machine, place, rate)
    data, count = machine.data, machine.model.nv
    mass, unit = np.zeros((count, count)), np.eye(count)
    for k in range(count):
        mujoco.mj_mulM(machine.model, data, mass[k], unit[k])
    system = np.block([[mass, jacobian.T], [jacobian, np.zeros((len(gaps), len(gaps)))]])
    right = np.concatenate([drives + data.qfrc_passive - data.qfrc_bias, -bend @ rate])
    return gaps, jacobian, np.linalg.lstsq(system, right, rcond=1e-13)[0][:count]


def _equalities(
    machine: Machine, place: np.ndarray, rate: np.ndarray, later: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return MuJoCo's gaps (m,) and their slope (m, nv) where the rates lead to in a time (s)."""
    import mujoco

    model, data = machine.model, machine.data
    data.qpos[:], data.qvel[:] = place, rate
    mujoco.mj_integratePos(model, data.qpos, rate, later)
    mujoco.mj_forward(model, data)
    return data.efc_pos.copy(), data.efc_J.reshape(-1, model.nv).copy()
