"""Random trees with random force elements: formulations agree, derivatives and powers too."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ocp import BSpline, Joint, Link, Load, Point, Problem, Transcription, Tree, effort, path
from ocp.cli import exit_status
from ocp.dynamics import FORMULATIONS, forward_dynamics, hybrid_dynamics, inverse_dynamics
from ocp.mechanics import (
    GROUND,
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    Matrix,
    PassiveMoment,
    Spring,
    Strut,
    Tendon,
    element_loss,
    kinetic_energy,
    load_power,
    potential_energy,
)
from ocp.mechanics.muscles import GivenPath, Muscle
from ocp.problems.benchmarks import program_parser
from ocp.transcription import transcribe

JOINTS = (2, 6)  # from so many to fewer than so many
WITHIN = 0.1, 0.9  # states of muscles
CLAIMS = {  # what is measured, relative, and the most that it may be
    "inverse dynamics by all formulations": 1e-10,
    "forward and hybrid dynamics": 1e-10,
    "Jacobian and Hessian of the program": 1e-9,
    "power and rate of energy": 1e-8,
}


def tissue(x: Matrix, rate: Matrix) -> Matrix:
    """Return the torques between joints beside an energy: damping, and a part that depends on
    all."""
    around = ca.vertcat(*(x[k - 1] * rate[k - 1] for k in range(x.shape[0])))
    return -0.3 * rate * (1 + x**2) - 0.1 * ca.sin(around)


def stretched(x: Matrix) -> Matrix:
    """Return an energy of several joints."""
    return ca.exp(0.3 * ca.sum1(x)) + ca.sumsqr(x) / 4


def reach(x: Matrix) -> Matrix:
    """Return the length (m) of a muscle over one or two joints."""
    return 0.3 + 0.02 * ca.sin(x[0]) - 0.01 * ca.cos(x[x.shape[0] - 1] - x[0])


def random_tree(rng: np.random.Generator) -> Tree:
    """Return a tree of a few joints, branched, with a point on every link."""
    names = [f"joint{k}" for k in range(rng.integers(*JOINTS))]
    joints, links, points = [], [], []
    for k, name in enumerate(names):
        before = names[rng.integers(0, k)] if k and rng.random() < 0.3 else names[k - 1]
        axis, slides = np.linalg.qr(rng.standard_normal((3, 3)))[0][0], rng.random() < 0.3
        screw = (*np.zeros(3), *axis) if slides else (*axis, *np.zeros(3))
        home = rng.standard_normal(3) / 3
        joints.append(Joint(name=name, parent=before if k else GROUND, home=home, screw=screw))
        cloud, mass = 0.2 * rng.standard_normal((5, 3)), rng.uniform(0.2, 3.0)
        spread = np.cov(cloud.T, bias=True)
        inertia = mass * (np.trace(spread) * np.eye(3) - spread)
        links.append(Link(mass=mass, com=0.2 * rng.standard_normal(3), inertia=inertia))
        points.append(Point(name=f"point{k}", link=name, position=rng.standard_normal(3) / 3))
    gravity = rng.uniform(-10, 10, 3)
    return Tree(links=links, joints=joints, points=points, gravity=gravity)


def with_random_elements(rng: np.random.Generator, tree: Tree) -> Tree:
    """Return a tree with an element of every kind."""
    names = [joint.name for joint in tree.moving]
    points = [point.name for point in tree.points]
    ends = tuple(str(name) for name in rng.choice(points, size=2))
    above, beside = tuple(5 + rng.uniform(0, 1, 3)), (-5.0, 4.0, 6.0)
    way = (above, ends[0]) if ends[0] == ends[1] else (above, *ends, beside)
    joint = iter([str(name) for name in rng.choice(names, size=7)])
    few = tuple(str(name) for name in rng.permutation(names)[:2])
    sizes = iter(rng.uniform(0.2, 2.0, 14))
    places, forces = np.sort(rng.uniform(-2, 2, 5)), rng.standard_normal(5)
    elements = (
        Damper(joint=next(joint), damping=next(sizes)),
        Friction(joint=next(joint), dynamic=next(sizes), static=2.5, transition=0.4),
        Armature(joint=next(joint), inertia=0.1 * next(sizes), gear=3.0),
        Spring(joint=next(joint), stiffness=5 * next(sizes), rest=0.3),
        CurvedSpring(joint=next(joint), places=places, forces=forces),
        Bumper(
            joint=next(joint),
            lower=-1.0,
            upper=0.8,
            stiffness=20.0,
            damping=next(sizes),
            rounding=0.1,
        ),
        PassiveMoment(name="tissue", joints=few, moment=tissue, energy=stretched),
        Strut(
            name="strut",
            start=ends[0],
            end=above,
            stiffness=9 * next(sizes),
            rest=1.0,
            damping=next(sizes),
        ),
        Tendon(
            name="tendon",
            path=way,
            stiffness=9 * next(sizes),
            slack=9.0 if len(way) == 2 else 15.0,
            damping=next(sizes),
            rounding=0.1,
            winch=next(joint),
            radius=0.3,
        ),
        *(
            Muscle(
                name=tendon,
                path=GivenPath(joints=few, function=reach),
                force=100.0 * next(sizes),
                fibre=0.1,
                slack=0.2,
                pennation=0.3,
                tendon=tendon,
            )
            for tendon in ("rigid", "compliant")
        ),
    )
    return replace(tree, elements=elements)


def measured(seed: int) -> tuple[float, ...]:
    """Return the distance of a random tree with elements from each of the CLAIMS."""
    rng = np.random.default_rng(seed)
    tree = with_random_elements(rng, random_tree(rng))
    load = Load(point="point0", force=rng.uniform(-9, 9, 3), moment=rng.uniform(-5, 5, 3))
    moves = rng.uniform(-2, 2, (3, tree.dof))
    moves[0, list(tree.states)] = rng.uniform(*WITHIN, len(tree.states))
    moves[2, list(tree.states)] = 0.0  # nothing of second order is known of states
    motion = [ca.DM(part) for part in moves]
    torques = {
        name: inverse_dynamics(tree, *motion, (load,), name).full().ravel() for name in FORMULATIONS
    }
    first = next(iter(torques.values()))
    return (
        max(apart(each, first) for each in torques.values()),
        max(off_forward(rng, tree, motion, torques[name], load, name) for name in FORMULATIONS),
        off_slopes(rng, tree, load),
        _power(tree, motion, first, load),
    )


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference, relative to the largest entry."""
    return float(np.abs(one - other).max() / max(1.0, np.abs(other).max()))


def off_forward(
    rng: np.random.Generator,
    tree: Tree,
    motion: Sequence[Matrix],
    torques: np.ndarray,
    load: Load,
    name: str,
) -> float:
    """Return the distance of forward and hybrid dynamics from the motion that has these torques."""
    q, qd, qdd = motion
    free = forward_dynamics(tree, q, qd, ca.DM(torques), (load,), name)
    active = [bool(flag) for flag in rng.integers(0, 2, tree.dof)]
    known = [float(qdd[row]) if flag else torques[row] for row, flag in enumerate(active)]
    rates, given = hybrid_dynamics(tree, q, qd, ca.DM(known), active, (load,), name)
    right = qdd.full().ravel()
    return max(
        apart(free.full().ravel(), right),
        apart(rates.full().ravel(), right),
        apart(given.full().ravel(), torques),
    )


def off_slopes(rng: np.random.Generator, tree: Tree, load: Load) -> float:
    """Return the distance of the derivatives that a program assembles from those of its
    functions."""
    problem = Problem(
        tree=tree,
        motion=BSpline(points=6),
        duration=(0.5, 2.0),
        objective=effort(),
        constraints=(path("torques", lambda at: at.tau, lower=-9.0, upper=9.0),),
        loads=(load,),
    )
    nlp = transcribe(problem, Transcription(derivatives="recursive")).nlp
    points = rng.uniform(-1, 1, (problem.motion.points, tree.dof))
    points[:, list(tree.states)] = rng.uniform(*WITHIN, (len(points), len(tree.states)))
    x = np.append(1.0, points)
    pull = rng.uniform(-1, 1, len(nlp.g_lower))
    symbol, nothing = ca.MX.sym("x", len(x)), ca.DM(0, 1)
    rows = nlp.constraints(symbol)
    lagrangian = nlp.objective(symbol) + ca.dot(pull, rows)
    bend, slope = ca.hessian(lagrangian, symbol)
    right = ca.Function("right", [symbol], [ca.jacobian(rows, symbol), ca.triu(bend), slope])(x)
    assert nlp.jacobian is not None and nlp.hessian is not None and nlp.gradient is not None
    jacobian = nlp.jacobian(x, nothing)[1]
    given = (
        jacobian,
        nlp.hessian("exact")(x, nothing, 1.0, pull),
        nlp.gradient(x, nothing)[1] + jacobian.T @ pull,
    )
    return max(apart(np.array(one), np.array(other)) for one, other in zip(given, right))


def _power(tree: Tree, motion: Sequence[Matrix], torques: np.ndarray, load: Load) -> float:
    """Return the difference of the power of drives and load, less the elements' losses, from the
    rate of the energy of links, rotors and elements."""
    q, qd, qdd = motion
    place, rate = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    energy = kinetic_energy(tree, place, rate) + potential_energy(tree, place)
    gained = ca.jtimes(energy, place, rate) + ca.jtimes(energy, rate, qdd)
    moving = tree.dof - len(tree.states)
    given = ca.dot(torques[:moving], rate[:moving]) + load_power(tree, place, rate, (load,))
    given -= element_loss(tree, place, rate)
    one, other = ca.Function("power", [place, rate], [given, gained])(q, qd)
    return apart(np.array(one), np.array(other))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is the largest difference of all trees, of each kind."""
    parser = program_parser("compare_elements", __doc__)
    parser.add_argument("--trees", type=int, default=200, help="how many (default: 200)")
    chosen = parser.parse_args(arguments)
    return 0 if print_worst(measured(seed) for seed in range(chosen.trees)) else 1


def print_worst(every: Iterable[tuple[float, ...]]) -> bool:
    """Print the largest of each figure beside what it may be; tell whether all are within that."""
    worst = np.max(list(every), axis=0)
    for (what, most), figure in zip(CLAIMS.items(), worst):
        print(f"{what:<40} {figure:.1e}  (at most {most:g})")
    return bool((worst <= list(CLAIMS.values())).all())


if __name__ == "__main__":
    sys.exit(exit_status(main))
