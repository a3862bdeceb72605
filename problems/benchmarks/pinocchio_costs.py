"""Torques, their Jacobian and forward dynamics of the human of 38 and of 55 joints, timed by turns
with Pinocchio's (Carpentier et al. 2019), called from Python: extra `oracles`.

Times are of processor time of one call, ours without a compiler: of CasADi's virtual machine, and
of machine code made here (`assemble_function`; where there is none, of the virtual machine again).
Both sides are called as is quickest: ours on buffers of its own, Pinocchio's on vectors of its
library's own. Its joints turn about and slide along coordinate axes, which are its quickest.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.cli import exit_status
from ocp.dynamics import forward_dynamics
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.formulations import newton_euler
from ocp.mechanics import translate
from ocp.models.human import human
from ocp.problems.benchmarks import print_table, program_parser
from ocp.problems.benchmarks.derivative_costs import looped, scalar, timed
from ocp.solvers import NoMachineCode
from ocp.transcription import assemble_function

SAME = 1e-8  # relative: how far two answers may lie apart
ROUNDS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one quantity of a tree takes: our instructions, and us of a call, ours, ours assembled,
    and theirs."""

    joints: int
    quantity: str
    instructions: int
    ours: float
    assembled: float
    theirs: float


def rows(trees: Sequence[Tree], rounds: int = ROUNDS) -> Iterator[Row]:
    """Yield the Rows of trees, by medians over `rounds`.

    Raises ValueError if an answer of Pinocchio is another than ours.
    """
    for tree in trees:
        ours, theirs = _ours(tree), _theirs(tree)
        made = {name: (machine_code(function), n) for name, (function, n) in ours.items()}
        for mine in (ours, made):
            _compare(tree, mine, theirs)
        calls = [function for each in (ours, made) for function, _ in each.values()]
        others = list(dict.fromkeys(name.split(",")[0] for name in ours))
        times = timed([*calls, *(theirs[name] for name in others)], rounds)
        peers = dict(zip(others, times[len(calls) :]))
        by_way = [times[k * len(ours) :][: len(ours)] for k in range(2)]
        for (name, (_, count)), plain, quick in zip(ours.items(), *by_way):
            yield Row(
                joints=tree.dof,
                quantity=name,
                instructions=count,
                ours=plain,
                assembled=quick,
                theirs=peers[name.split(",")[0]],
            )


def machine_code(function: ca.Function) -> ca.Function:
    """Return the function assembled, as it is where that cannot be had."""
    try:
        return assemble_function(function)
    except NoMachineCode:
        return function


def _ours(tree: Tree) -> dict[str, tuple[ca.Function, int]]:
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    graphs = {
        "torques": [newton_euler.inverse(tree, *motion)],
        "Jacobian, scalar": composite_bodies.sensitivity(tree, *motion)[:3],
        "forward dynamics": [forward_dynamics(tree, *motion)],
    }
    known = {name: scalar(motion, matrices) for name, matrices in graphs.items()}
    counted = {name: (function, function.n_instructions()) for name, function in known.items()}
    slopes = composite_bodies.slope_parts(tree, *motion)
    counted["Jacobian, looped"] = looped(
        motion, slopes, lambda parts: composite_bodies.join_slopes(tree, parts)[:3]
    )
    return counted


def _theirs(tree: Tree) -> dict[str, Callable[[], Any]]:
    import pinocchio as pin

    model, order = _model(tree)
    data, motion = model.createData(), [values[order] for values in _motion(tree)]
    return {
        "torques": lambda: pin.rnea(model, data, *motion),
        "Jacobian": lambda: pin.computeRNEADerivatives(model, data, *motion),
        "forward dynamics": lambda: pin.aba(model, data, *motion),
    }


def _motion(tree):
    """Return the numbers that `derivative_costs` evaluates functions at."""
    return [np.random.default_rng(k).uniform(-1, 1, tree.dof) for k in range(3)]


def _compare(tree, ours, theirs):
    """Raise ValueError unless torques and accelerations are the same."""
    _, order = _model(tree)
    for name in ("torques", "forward dynamics"):
        mine = np.array(ours[name][0](*_motion(tree))).ravel()[order]
        other = np.array(theirs[name]()).ravel()
        if np.abs(mine - other).max() > SAME * np.abs(other).max():
            raise ValueError(f"{name} of {tree.dof} joints: Pinocchio's are others")


def _model(tree: Tree) -> tuple[Any, np.ndarray]:
    """Return Pinocchio's model of a tree of turns and slides, and which coordinate of the tree each
    of its coordinates is."""
    import pinocchio as pin

    model, joints, offsets, rows = pin.Model(), {-1: 0}, {-1: pin.SE3.Identity()}, {}
    model.gravity = pin.Motion(np.array(tree.gravity), np.zeros(3))
    for k in _depth_first(tree, -1):
        joint, link, parent = tree.joints[k], tree.links[k], tree.parents[k]
        home = offsets[parent] * pin.SE3(np.array(joint.home))
        joints[k], offsets[k] = joints[parent], home
        if joint.screw is not None:
            slides = joint.kind == "prismatic"
            kind = pin.JointModelPZ() if slides else pin.JointModelRZ()
            screw, anchor = np.array(joint.screw), np.array(joint.anchor)
            turned = pin.SE3(_toward(screw[3:] if slides else screw[:3]), np.zeros(3))
            place = turned if slides else pin.SE3(translate(*anchor)) * turned
            joints[k] = model.addJoint(joints[parent], kind, home * place, joint.name)
            offsets[k], rows[joint.name] = place.inverse(), model.joints[joints[k]].idx_q
        inertia = pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia))
        model.appendBodyToJoint(joints[k], inertia, offsets[k])
    order = np.zeros(tree.dof, dtype=int)
    for name, row in rows.items():
        order[row] = tree.coordinate(name)
    return model, order


def _depth_first(tree: Tree, parent: int) -> Iterator[int]:
    """Yield links, every branch finished before the next begins, as Pinocchio numbers them."""
    for k, above in enumerate(tree.parents):
        if above == parent:
            yield k
            yield from _depth_first(tree, k)


def _toward(axis: np.ndarray) -> np.ndarray:
    """Return a rotation (3x3) that takes z to a unit axis."""
    x = np.eye(3)[np.argmin(np.abs(axis))]
    x = x - (x @ axis) * axis
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


HEADER = (
    *("joints", "of", "instructions", "us", "assembled us"),
    *("Pinocchio's us", "ratio", "ratio assembled"),
)  # of what is taken without a compiler


def cells(row: Row) -> tuple[str, ...]:
    """Return a Row as text."""
    return (
        str(row.joints),
        row.quantity,
        str(row.instructions),
        f"{row.ours:.1f}",
        f"{row.assembled:.1f}",
        f"{row.theirs:.1f}",
        f"{row.ours / row.theirs:.2f}",
        f"{row.assembled / row.theirs:.2f}",
    )


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    parser = program_parser("benchmarks.pinocchio_costs", __doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="medians over N")
    flags = parser.parse_args(arguments)
    try:
        import pinocchio  # noqa: F401
    except ImportError:
        print("pinocchio_costs: error: needs the extra `oracles`", file=sys.stderr)
        return 2
    print_table(HEADER, map(cells, rows((human(), human(frozen=())), flags.rounds)))
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(run))
