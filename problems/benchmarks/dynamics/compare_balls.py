"""Random trees with balls and followers: formulations agree, derivatives too; and free bodies
beside closed forms and Euler's equations."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ocp import Link, Load, Point, Tree, ball, free, polynomial, prismatic, revolute, simulate
from ocp.cli import exit_status
from ocp.dynamics import FORMULATIONS, INERTIA, forward_dynamics, inverse_dynamics
from ocp.mechanics import (
    Matrix,
    acceleration,
    kinetic_energy,
    load_power,
    motions,
    potential_energy,
    quaternion,
    quaternion_conjugate,
    quaternion_product,
)
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.dynamics.compare_elements import (
    apart,
    off_forward,
    off_slopes,
    random_tree,
)

TIGHT = 1e-13  # of the integrators
CLAIMS = {  # of random trees: what is measured, relative, and the most that it may be
    "inverse dynamics by all formulations": 1e-10,
    "and by Lagrange's equations": 1e-10,
    "forward and hybrid dynamics": 1e-9,
    "Jacobian and Hessian of the program": 1e-9,
    "free body on three slides and three turns": 1e-12,
}
BODIES = {  # of free bodies
    "symmetric top, 4 s: quaternion": 1e-8,
    "middle axis, 8 s: angular velocity": 1e-6,
    "two somersaults, 2 s: quaternion": 1e-8,
    "length of the quaternion in them": 1e-8,
}


def random_mapped_tree(rng: np.random.Generator) -> Tree:
    """Return a random tree of which some joints are balls, and some follow a coordinate."""
    tree = random_tree(rng)
    joints = [tree.joints[0]]
    for k, joint in enumerate(tree.joints[1:]):
        kind = rng.integers(3) if k else 0  # there is a ball in every tree
        if kind == 0:
            joint = ball(joint.name, joint.parent, home=rng.standard_normal(3) / 3)
        elif kind == 1:
            share = polynomial(joints[0].name, *rng.uniform(-0.5, 0.5, 4))
            joint = replace(joint, follows=share)
        joints.append(joint)
    return replace(tree, joints=tuple(joints))


def measured(seed: int) -> tuple[float, ...]:
    """Return the distance of a random tree from each of the CLAIMS."""
    rng = np.random.default_rng(seed)
    tree = random_mapped_tree(rng)
    load = Load(point="point0", force=rng.uniform(-9, 9, 3), moment=rng.uniform(-5, 5, 3))
    motion = [ca.DM(part) for part in rng.uniform(-2, 2, (3, tree.dof))]
    torques = {
        name: inverse_dynamics(tree, *motion, (load,), name).full().ravel() for name in FORMULATIONS
    }
    first = next(iter(torques.values()))
    chosen = sorted(FORMULATIONS)[seed % len(FORMULATIONS)]
    return (
        max(apart(each, first) for each in torques.values()),
        apart(first, lagrange(tree, motion, load)),
        off_forward(rng, tree, motion, torques[chosen], load, chosen),
        off_slopes(rng, tree, load),
        off_turns(rng),
    )


def lagrange(tree: Tree, motion: Sequence[Matrix], load: Load) -> np.ndarray:
    """Return the torques (n,) of Lagrange's equations, of which lengths of quaternions have a
    kinetic energy too."""
    q, qd = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    energy = kinetic_energy(tree, q, qd)
    for rows in map(list, tree.balls):
        energy += INERTIA / 2 * ca.jtimes(ca.norm_2(q[rows]), q, qd) ** 2
    momentum = ca.gradient(energy, qd)
    torques = ca.jtimes(momentum, q, qd) + ca.jtimes(momentum, qd, motion[2])
    torques += ca.gradient(potential_energy(tree, q) - energy, q)
    torques -= ca.gradient(load_power(tree, q, qd, (load,)), qd)
    given = ca.Function("torques", [q, qd], [torques])(*motion[:2])
    return np.array(given).ravel()


def off_turns(rng: np.random.Generator) -> float:
    """Return the distance of a free body's point acceleration from that of the same body on three
    slides and three turns."""
    cloud = rng.standard_normal((5, 3))
    spread = np.cov(cloud.T, bias=True)
    link = Link(
        mass=2.0, com=rng.uniform(-0.2, 0.2, 3), inertia=np.trace(spread) * np.eye(3) - spread
    )
    turns = Tree(
        links=(*(Link() for _ in range(5)), link),
        joints=(
            prismatic("x", axis=(1, 0, 0)),
            prismatic("y", "x", axis=(0, 1, 0)),
            prismatic("z", "y"),
            revolute("a", "z"),
            revolute("b", "a", axis=(0, 1, 0)),
            revolute("body", "b", axis=(1, 0, 0)),
        ),
        points=(Point(name="tip", link="body", position=(0.3, 0.1, -0.2)),),
        gravity=(0.0, 0.0, -9.81),
    )
    tree = replace(turns, links=(Link(), Link(), Link(), link), joints=free("body"))
    q, qd = rng.uniform(-1, 1, (2, 6))
    load = (Load(point="tip", force=rng.uniform(-5, 5, 3), moment=rng.uniform(-1, 1, 3)),)
    move = motions(turns, ca.DM(q), ca.DM(qd))[-1]
    unit = quaternion(move.rotation)
    rate = quaternion_product(unit, ca.vertcat(0, move.rotation.T @ move.angular)) / 2
    starts = (turns, ca.DM(q), ca.DM(qd)), (tree, ca.vertcat(q[:3], unit), ca.vertcat(qd[:3], rate))
    accelerations = []
    for each, place, rates in starts:
        qdd = forward_dynamics(each, place, rates, ca.DM.zeros(each.dof), load)
        accelerations.append(np.array(acceleration(each, place, rates, qdd, "tip")).ravel())
    return apart(*accelerations)


def free_bodies() -> tuple[float, ...]:
    """Return the distances of free bodies from each of the figures of BODIES."""
    figures = top(), middle(), somersaults()
    return (*(off for off, _ in figures), max(length for _, length in figures))


def tumbled(moments: Sequence[float], spin: Sequence[float], start: np.ndarray, duration: float):
    """Return the simulated motion of a free body from an attitude and an angular velocity (rad/s)
    in its axes, and by how much its quaternion's length changes."""
    tree = Tree(links=(Link(mass=1.0, inertia=np.diag(moments)),), joints=(ball("body"),))
    rate = np.array(quaternion_product(start, [0.0, *spin])).ravel() / 2
    motion = simulate(tree, np.zeros(4), (start, rate), duration, count=81, tolerance=TIGHT)
    return motion, float(np.abs(np.linalg.norm(motion.q, axis=0) - 1).max())


def turn(axis: Sequence[float], angle: float) -> np.ndarray:
    """Return the unit quaternion of a turn by an angle (rad) about a unit axis."""
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis))])


def top() -> tuple[float, float]:
    """A symmetric top: its axis goes about the angular momentum L at |L| / A, and it turns about
    itself at w3 (1 - C / A) beside that (Goldstein, Poole & Safko 2002, section 5.6)."""
    moments, spin, start = (
        np.array([2.0, 2.0, 0.7]),
        np.array([0.8, 0.0, 3.0]),
        turn((0.6, 0, 0.8), 1.1),
    )
    motion, length = tumbled(moments, spin, start, 4.0)
    momentum = quaternion_product(
        quaternion_product(start, [0, *(moments * spin)]), quaternion_conjugate(start)
    )[1:]
    size = float(ca.norm_2(momentum))
    own = spin[2] * (1 - moments[2] / moments[0])
    off = 0.0
    for t, q in zip(motion.t, motion.q.T):
        before = quaternion_product(
            turn(np.array(momentum).ravel() / size, size / moments[0] * t), start
        )
        right = np.array(quaternion_product(before, turn((0, 0, 1), own * t))).ravel()
        off = max(off, float(np.abs(q - right).max()))
    return off, length


def middle() -> tuple[float, float]:
    """A body spun about its middle axis turns over again and again (Dzhanibekov): beside CVODES of
    Euler's equations."""
    moments, spin = np.array([1.0, 2.0, 3.0]), np.array([0.02, 4.0, 0.01])
    motion, length = tumbled(moments, spin, np.array([1.0, 0, 0, 0]), 8.0)
    w = ca.SX.sym("w", 3)
    rates = -ca.cross(w, ca.DM(moments) * w) / ca.DM(moments)
    tight = {"abstol": TIGHT, "reltol": TIGHT, "max_num_steps": 100000}
    euler = ca.integrator("euler", "cvodes", {"x": w, "ode": rates}, 0.0, motion.t[1:], tight)
    right = np.hstack([spin[:, None], np.array(euler(x0=spin)["xf"])])
    pairs = zip(motion.q.T, motion.qd.T)
    got = [
        np.array(2 * quaternion_product(quaternion_conjugate(p), rate)[1:] / ca.sumsqr(p)).ravel()
        for p, rate in pairs
    ]
    return float(np.abs(np.array(got).T - right).max()), length


def somersaults() -> tuple[float, float]:
    """Two somersaults about one axis, past every attitude at which three angles lose a turn."""
    motion, length = tumbled((1.0, 2.0, 3.0), (0.0, 2 * np.pi, 0.0), np.array([1.0, 0, 0, 0]), 2.0)
    right = np.array([turn((0, 1, 0), 2 * np.pi * t) for t in motion.t]).T
    return float(np.abs(motion.q - right).max()), length


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is the largest difference of all trees, of each kind, and those of free bodies."""
    parser = program_parser("compare_balls", __doc__)
    parser.add_argument("--trees", type=int, default=200, help="how many (default: 200)")
    chosen = parser.parse_args(arguments)
    trees = np.max([measured(seed) for seed in range(chosen.trees)], axis=0)
    return 0 if all((_printed(CLAIMS, trees), _printed(BODIES, free_bodies()))) else 1


def _printed(claims: dict[str, float], figures: Iterable[float]) -> bool:
    """Print each figure beside what it may be; tell whether all are within that."""
    within = True
    for (what, most), figure in zip(claims.items(), figures):
        print(f"{what:<44} {figure:.1e}  (at most {most:g})")
        within = within and bool(figure <= most)
    return within


if __name__ == "__main__":
    sys.exit(exit_status(main))
