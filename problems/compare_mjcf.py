"""MJCF files of the packages gymnasium and dm_control beside MuJoCo (extras `mjcf`, `robots`)."""

import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from ocp.problems.compared import ACCELERATION, RATE, SEED, Compared, worst_row

from ocp import Friction, Tree, inverse_dynamics
from ocp.interchange import load_model, quiet
from ocp.mechanics import spin

FOLDERS = {
    "gymnasium": ("envs/mujoco/assets",),
    "dm_control": ("suite", "third_party/ant", "third_party/kinova", "locomotion/walkers/assets"),
}
MEASURES = ("torques",)
FREE, BALL = 0, 1  # MuJoCo's kinds of joints


def mjcf_files() -> list[Path]:
    """Return the MJCF files of the packages here; raise ModuleNotFoundError if none is."""
    files = []
    for package, folders in FOLDERS.items():
        found = importlib.util.find_spec(package)
        for place in (found.submodule_search_locations or ()) if found else ():
            for folder in folders:
                files += sorted((Path(place) / folder).glob("*.xml"))
    if not files:
        raise ModuleNotFoundError(
            "public MJCF files are in the package gymnasium: pip install gymnasium"
        )
    return files


def compared_mjcf(path: Path, states: int) -> Compared:
    """Return how a file's torques, over the largest of the same coordinate, differ from those of
    mj_inverse, without contacts, limits, dry friction, fluids and forces of tendons."""
    name = f"{path.parent.parent.name}/{path.stem}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = load_model(path)
        except ValueError as error:
            return Compared(name=name, refusal=str(error))
        model = _plain_model(path)
    if any(joint.follows is not None for joint in tree.joints):
        return Compared(name=name, refusal=f"{path.name}: joints that follow others: not compared")
    elements = [each for each in tree.elements if not isinstance(each, Friction)]
    tree = replace(tree, elements=elements, loops=())
    pairs = list(_pairs(tree, model, states))
    return Compared(name=name, coordinates=tree.dof, differences=(worst_row(pairs),))


def _plain_model(path: Path) -> Any:
    """Return MuJoCo's model of a file without what is soft there, and what is not read here."""
    import mujoco

    with quiet(mujoco):
        model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.density = model.opt.viscosity = 0.0
    for what in ("stiffness", "damping", "armature", "frictionloss"):
        getattr(model, f"tendon_{what}")[:] = 0.0
    model.body_gravcomp[:] = 0.0
    return model


def _pairs(tree: Tree, model: Any, states: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield torques of random motions, of the tree and of MuJoCo, in MuJoCo's order."""
    import mujoco

    data, rng = mujoco.MjData(model), np.random.default_rng(SEED)
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    own = ca.Function("own", symbols, [inverse_dynamics(tree, *symbols)])
    rows = _rows(tree, model)
    for _ in range(states):
        motion = rng.uniform(-1.0, 1.0, (3, tree.dof))
        q, qd, qdd = motion * np.array([[np.pi], [RATE], [ACCELERATION]])
        maps = _rate_map(q, qd, rows, model.nv)
        data.qpos[:], data.qvel[:], data.qacc[:] = _places(q, rows, model), maps @ qd, maps @ qdd
        mujoco.mj_inverse(model, data)
        torques = np.array(own(q, qd, qdd)).ravel()
        yield np.linalg.pinv(maps).T @ torques, data.qfrc_inverse.copy()


def _rows(tree: Tree, model: Any) -> list[tuple[int, int, list[int]]]:
    """Return kind, number and rows of q of every joint of MuJoCo's model."""
    import mujoco

    rows = []
    coordinates = [joint.name for joint in tree.moving]
    for k in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k)
        body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[k])
        name, kind = name or f"{body} joint {k + 1}", int(model.jnt_type[k])
        parts = [f"{name}.{part}" for part in "wxyz"] if kind in (FREE, BALL) else [name]
        parts = [*(f"{name}_{axis}" for axis in "xyz"), *parts] if kind == FREE else parts
        rows.append((kind, k, [coordinates.index(part) for part in parts]))
    return rows


def _rate_map(q: np.ndarray, qd: np.ndarray, rows: Any, size: int) -> np.ndarray:
    """Return the matrix (nv, n) of MuJoCo's rates by ours, of quaternions made unit ones that stay
    so, in place."""
    maps, adr = np.zeros((size, len(q))), 0
    for kind, _, own in rows:
        slides = 3 if kind == FREE else 0 if kind == BALL else 1
        for row in own[:slides]:
            maps[adr, row], adr = 1.0, adr + 1
        ball = own[slides:]
        if ball:
            q[ball] /= np.linalg.norm(q[ball])
            qd[ball] -= q[ball] * (q[ball] @ qd[ball])
            maps[adr : adr + 3, ball], adr = np.array(spin(ca.DM(q[ball]))), adr + 3
    return maps


def _places(q: np.ndarray, rows: Any, model: Any) -> np.ndarray:
    """Return MuJoCo's coordinates of ours."""
    places = np.zeros(model.nq)
    for _, k, own in rows:
        start = model.jnt_qposadr[k]
        places[start : start + len(own)] = q[own]
    return places
