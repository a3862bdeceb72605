"""Models of public files beside the engines of their field: torques, mass matrices, accelerations
and momentum at random states.

URDF files are those of the package `example-robot-data`, against Pinocchio (extra `oracles`). A
file whose inertias are no body's is repaired first, and then written back for Pinocchio to read.
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ocp import Tree, forward_dynamics, inverse_dynamics, mass_matrix
from ocp.cli import ended
from ocp.interchange import ModelWarning, load_model, save_model
from ocp.mechanics import center_of_mass, momentum, motions
from ocp.mechanics.checks import ZERO
from ocp.studies import markdown

DONE, BAD_ARGUMENTS = 0, 2
STATES = 20
SEED = 1
RATE, ACCELERATION = 2.0, 5.0  # of random motions: rad/s or m/s, rad/s2 or m/s2
REPAIRS = ("balance", "weld")
ROBOTS = "cmeel.prefix/share/example-robot-data/robots"
MEASURES = (
    "torques",
    "mass matrix",
    "accelerations",
    "Pinocchio's own",
    "free torques",
    "momentum rates",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A model's greatest differences from the other engine's, or why it was refused.

    Those of MEASURES: of torques over the largest of the same joint, of all else over the largest
    entry of all; accelerations follow from Pinocchio's torques, and are also told of its own.
    """

    name: str
    coordinates: int = 0
    repaired: bool = False
    differences: tuple[float, ...] = ()
    refusal: str = ""


def urdf_files() -> list[Path]:
    """Return the URDF files of example-robot-data; raise ModuleNotFoundError if it is missing."""
    try:
        home = metadata.distribution("example-robot-data").locate_file(ROBOTS)
    except metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            "the public URDF files are in the package example-robot-data: "
            "pip install example-robot-data"
        ) from None
    return sorted(Path(str(home)).rglob("*.urdf"))


def loaded(path: Path, **options: Any) -> tuple[Tree, bool]:
    """Return a file's tree and whether it needed repair; raise ValueError if none helps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            return load_model(path, **options), False
        except ValueError:
            return load_model(path, repair=REPAIRS, **options), True


def compared_urdf(path: Path, states: int = STATES) -> Compared:
    """Return how a URDF file's dynamics, on a fixed and on a free base, differ from Pinocchio's."""
    name = f"{path.parent.parent.name}/{path.stem}"
    try:
        fixed, repaired = loaded(path)
    except ValueError as error:
        return Compared(name=name, refusal=str(error))
    free, _ = loaded(path, base="free")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.urdf" if repaired else path
        if repaired:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)
                save_model(fixed, file)
        differences = (*_standing(fixed, file, states), *_floating(free, file, states))
    return Compared(name=name, coordinates=fixed.dof, repaired=repaired, differences=differences)


def motions_of(tree: Tree, states: int) -> np.ndarray:
    """Return random states (states, 3, n): places, rates and accelerations, the same each time."""
    draws = np.random.default_rng(SEED).uniform(-1.0, 1.0, (states, 3, tree.dof))
    return draws * np.array([np.pi, RATE, ACCELERATION])[None, :, None]


def _standing(tree: Tree, path: Path, states: int) -> tuple[float, ...]:
    """Return the differences of torques, mass matrix and accelerations of a fixed base."""
    import pinocchio as pin

    if not tree.dof:
        return (0.0,) * 4
    model = pin.buildModelFromUrdf(str(path))
    data, order = model.createData(), _rows(tree, model)
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    own = ca.Function(
        "own", symbols, [inverse_dynamics(tree, *symbols), mass_matrix(tree, symbols[0])]
    )
    pairs: list[list[tuple[Any, Any]]] = []
    for q, qd, qdd in motions_of(tree, states):
        place, rate, push = _place(tree, model, q), order.T @ qd, order.T @ qdd
        torques, mass = (np.array(value) for value in own(q, qd, qdd))
        theirs = order @ pin.rnea(model, data, place, rate, push)
        upper = np.triu(pin.crba(model, data, place))
        full = order @ (upper + np.triu(upper, 1).T) @ order.T
        moved = np.array(forward_dynamics(tree, ca.DM(q), ca.DM(qd), ca.DM(theirs))).ravel()
        again = order @ pin.aba(model, data, place, rate, order.T @ theirs)
        pairs.append([(torques.ravel(), theirs), (mass, full), (moved, qdd), (again, qdd)])
    torques, *others = zip(*pairs)
    return _worst_row(torques), *(_worst(column) for column in others)


def _floating(tree: Tree, path: Path, states: int) -> tuple[float, float]:
    """Return the differences of the joints' torques and of momentum rates of a free base."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    joints = _rows(tree, model)[6:]
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    own = ca.Function(
        "own", symbols, [inverse_dynamics(tree, *symbols), *_momentum_rates(tree, *symbols)]
    )
    base = ca.Function("base", symbols, _base_motion(tree, *symbols))
    pairs = []
    for q, qd, qdd in motions_of(tree, states):
        rotation, origin, *vectors = (np.array(each) for each in base(q, qd, qdd))
        place = np.array(_place(tree, model, q))
        place[:7] = np.concatenate([origin.ravel(), pin.Quaternion(rotation).coeffs()])
        rate, push = joints.T @ qd[6:], joints.T @ qdd[6:]
        slide, spin, pull, turning = ((rotation.T @ v).ravel() for v in vectors)
        rate[:6] = np.concatenate([slide, spin])
        push[:6] = np.concatenate([pull - np.cross(spin, slide), turning])
        torques, linear, angular = (np.array(value).ravel() for value in own(q, qd, qdd))
        theirs = joints @ pin.rnea(model, data, place, rate, push)
        change = pin.computeCentroidalMomentumTimeVariation(model, data, place, rate, push)
        pairs.append([(torques[6:], theirs), (np.concatenate([linear, angular]), np.array(change))])
    torques, rates = zip(*pairs)
    return _worst_row(torques), _worst(rates)


def _momentum_rates(tree: Tree, q: Any, qd: Any, qdd: Any) -> tuple[Any, Any]:
    """Return the rates of linear momentum and of that about the centre of mass (3 each)."""
    angular, linear = momentum(tree, q, qd)
    about = angular - ca.cross(center_of_mass(tree, q), linear)
    state, change = ca.vertcat(q, qd), ca.vertcat(qd, qdd)
    return ca.jtimes(linear, state, change), ca.jtimes(about, state, change)


def _base_motion(tree: Tree, q: Any, qd: Any, qdd: Any) -> list[Any]:
    """Return rotation, origin, and linear and angular velocity and accelerations of the root link
    in global axes."""
    move = motions(tree, q, qd, qdd)[5]
    rates = [move.linear, move.angular, move.linear_acceleration, move.angular_acceleration]
    return [move.rotation, move.origin, *rates]


def _rows(tree: Tree, model: Any) -> np.ndarray:
    """Return the matrix (n, nv) with 1 where a coordinate is a rate of Pinocchio's."""
    order = np.zeros((tree.dof, model.nv))
    for row, joint in enumerate(tree.moving):
        if model.existJointName(joint.name):
            order[row, model.idx_vs[model.getJointId(joint.name)]] = 1.0
    return order


def _place(tree: Tree, model: Any, q: np.ndarray) -> np.ndarray:
    """Return Pinocchio's coordinates of q: of joints that turn without end, cosine and sine."""
    import pinocchio as pin

    place = pin.neutral(model)
    for row, joint in enumerate(tree.moving):
        if model.existJointName(joint.name):
            k = model.getJointId(joint.name)
            start, angle = model.idx_qs[k], q[row]
            wide = model.nqs[k] == 2
            place[start : start + model.nqs[k]] = (np.cos(angle), np.sin(angle)) if wide else angle
    return place


def _worst(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the greatest difference of pairs of arrays, over the largest entry of all."""
    size = max((np.abs(theirs).max(initial=0.0) for _, theirs in pairs), default=0.0)
    off = max((np.abs(own - theirs).max(initial=0.0) for own, theirs in pairs), default=0.0)
    return float(off / max(size, ZERO))


def _worst_row(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the greatest difference of pairs of vectors, over the largest of the same entry."""
    own, theirs = (np.array(side) for side in zip(*pairs))
    off, size = np.abs(own - theirs).max(axis=0), np.abs(theirs).max(axis=0)
    return float((off / np.maximum(size, ZERO)).max(initial=0.0))


def rows(records: Sequence[Compared]) -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each model that was compared."""
    for each in records:
        if not each.refusal:
            numbers = [f"{difference:.1e}" for difference in each.differences]
            yield each.name, str(each.coordinates), "yes" if each.repaired else "", *numbers


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the table of what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.compare_models", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="files whose path has this text")
    parser.add_argument("--states", type=int, default=STATES, help="random states of each model")
    flags = parser.parse_args(arguments)
    try:
        files = [path for path in urdf_files() if flags.only in str(path)]
    except ModuleNotFoundError as error:
        print(f"compare_models: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    records = [compared_urdf(path, flags.states) for path in files]
    heads = ("model", "coordinates", "repaired", *MEASURES)
    print(markdown(f"URDF files beside Pinocchio, {flags.states} states", heads, rows(records)))
    worst = np.max([each.differences for each in records if not each.refusal], axis=0)
    print(", ".join(f"{what} {value:.1e}" for what, value in zip(MEASURES, worst)))
    for each in records:
        if each.refusal:
            print(f"refused: {each.refusal}")
    return DONE


if __name__ == "__main__":
    sys.exit(ended(run))
