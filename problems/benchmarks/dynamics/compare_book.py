"""Work of Book's flexible dynamics in simulation form beside Book (1983), section 6."""

import sys
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from ocp import Link, Tree, revolute
from ocp.cli import exit_status
from ocp.dynamics.formulations import book, lie_group
from ocp.mechanics import GROUND, Modes, Place
from ocp.plots import check_suffix
from ocp.problems.benchmarks import lumped, program_parser
from ocp.problems.benchmarks.operations import Pair, operations
from ocp.studies import markdown

# Powers of n, n_f and m, and their coefficients
POWERS = (
    *((0, 2, 2), (0, 1, 2), (0, 2, 1), (1, 1, 1), (0, 1, 1)),
    *((2, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0)),
)
MULTIPLICATIONS = (6, 17.5, 118, 74, 137.5, 84, 86, 279, 126, -57)
ADDITIONS = (6.5, 19, 115.5, 68, 123, 85, 80, 329, 111, -91)
STATED = 12009  # multiplications of the text for 6 joints, 2 flexible links, 3 modes each
CASES = ((2, 1, 1), (4, 1, 2), (6, 1, 3), (6, 2, 1), (6, 2, 2), (6, 2, 3), (6, 5, 3))
PRODUCTS = lumped.PRODUCTS
PARTICLES = 20  # of the random bodies
SHAPES = GENERAL, ORTHOGONAL, APART = "general", "orthogonal", "apart"
HEADER = ("n", "n_f", "m", "ours x", "Book x", "ours +", "Book +")
MANY = ((2, 1, 2), (6, 2, 2), (6, 2, 3), (6, 5, 3), (6, 2, 6))
SAVED = ("n", "n_f", "m", "general", ORTHOGONAL, APART, "saved", "saved, apart")
ON_SHAPES = """\
Shapes: general ones have full integrals; orthogonal ones are so as a whole, tr C_kl = 0, as
        vibrations are; of those that are so in each direction, here because they move apart,
        C_kl = 0 for k and l unlike (Book 1983, section 6). His polynomial grows by 17.5 n_f m^2
        multiplications with C, 315 of 11,361 at n = 6, n_f = 2, m = 3."""
NOTES = """\
Counted: J and R of J z'' = R as printed (eqs. 66-90) for general chains, in numbers, repetitions
        kept once, sines and cosines not counted, J not inverted; the first links are flexible, the
        last is rigid, integrals of shapes are full matrices without zeros.
Book    counts products of whole matrices, less what is known to be constant; so his numbers stand
        above ours. His count is an average over joint kinds that this graph does not know.
Misprint of Book (1983): at n = 6, n_f = 2, m = 3 the polynomial of the multiplications gives
        11,361, the text says about 12,009. One coefficient may be wrong: the difference, 648, is
        18 n^2 (84 read as 102) as well as 18 n n_f m (74 read as 92)."""


def polynomial(coefficients: Sequence[float], n: int, flexible: int, modes: int) -> float:
    """Return the value of one of the paper's polynomials.

    For n joints, that many flexible links, and modes on each.
    """
    return sum(c * n**a * flexible**b * modes**d for c, (a, b, d) in zip(coefficients, POWERS))


def chain(n: int, flexible: int, modes: int, seed: int = 0, shapes: str = GENERAL) -> Tree:
    """Return a general chain of n revolute joints whose first links are flexible.

    They have full random integrals of that many shapes, of one of the kinds in SHAPES.
    """
    rng, links, joints = np.random.default_rng(seed), [], []
    for k in range(n):
        home = np.eye(4)
        home[:3, :3] = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        home[:3, :3] *= np.linalg.det(home[:3, :3])
        home[:3, 3] = rng.uniform(0.2, 1.0, 3)
        joints.append(revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND, home=home))
        cloud = rng.uniform(-0.2, 0.2, (3, 3))
        body = {
            "mass": 1.0 + rng.random(),
            "com": rng.uniform(0.1, 0.3, 3),
            "inertia": np.trace(cloud @ cloud.T) * np.eye(3) - cloud @ cloud.T,
        }
        links.append(Link(**body))
        if 0 < k <= flexible:
            links[k - 1] = Link(**body, modes=_general(rng, modes, home[:3, 3], body, shapes))
    return Tree(links=links, joints=joints, gravity=rng.uniform(1, 9, 3))


def _general(
    rng: np.random.Generator, m: int, place: np.ndarray, body: dict[str, Any], shapes: str
) -> Modes:
    """Return Modes of m random shapes over a cloud of particles.

    GENERAL ones have no zero in any integral; ORTHOGONAL ones are so as a whole, tr C_kl = 0; APART
    ones in each direction, C_kl = 0, since no particle moves in two of them.
    """
    shape = rng.uniform(-1, 1, (m, PARTICLES, 3))
    if shapes == ORTHOGONAL:
        flat = np.linalg.qr(shape.reshape(m, -1).T)[0].T
        shape = flat.reshape(m, PARTICLES, 3) * np.sqrt(PARTICLES)
    elif shapes == APART:
        shape *= (np.arange(PARTICLES) % m == np.arange(m)[:, None])[:, :, None]
    dm, r = np.full(PARTICLES, body["mass"] / PARTICLES), rng.uniform(-0.3, 0.3, (PARTICLES, 3))
    root = rng.uniform(0.1, 1, (m, m))
    shift, turn = rng.uniform(-1, 1, (m, 3)), rng.uniform(-1, 1, (m, 3))
    return Modes(
        names=[f"mode{k + 1}" for k in range(m)],
        **body,
        stiffness=100 * (root @ root.T + np.eye(m)),
        first=np.einsum("p,kpi->ki", dm, shape),
        moment=np.einsum("p,pi,kpj->kij", dm, r, shape),
        coupling=np.einsum("p,kpi,lpj->klij", dm, shape, shape),
        places=(Place(position=place, shift=shift, turn=turn),),
    )


def counted(n: int, flexible: int, modes: int, shapes: str = GENERAL) -> Pair:
    """Return multiplications and additions in the graph of J and R as printed.

    `shapes` are one of the kinds in SHAPES.
    """
    tree = chain(n, flexible, modes, shapes=shapes)
    q, qd, tau = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "tau"))
    inertia = ca.triu(book.inertia(tree, q, printed=True))
    remainder = book.remainder(tree, q, qd, tau, printed=True)
    graph = ca.Function("graph", [q, qd, tau], ca.cse([inertia, remainder]))
    return operations(graph, PRODUCTS)


def table(cases: Sequence[tuple[int, int, int]] = CASES) -> str:
    """Return the comparison as text, a line per case (joints, flexible links, modes on each)."""
    rows = []
    for case in cases:
        times, plus = counted(*case)
        printed = [polynomial(powers, *case) for powers in (MULTIPLICATIONS, ADDITIONS)]
        numbers = (times, printed[0], plus, printed[1])
        rows.append((*case, *(f"{number:,.0f}" for number in numbers)))
    title = "Multiplications and additions of Book's J and R"
    return f"{markdown(title, HEADER, rows)}\n{NOTES}"


def savings(cases: Sequence[tuple[int, int, int]] = MANY) -> str:
    """Return as text what orthogonal shapes save, a line per case."""
    rows = []
    for case in cases:
        whole, *others = (sum(counted(*case, shapes)) for shapes in SHAPES)
        saved = [f"{100 * (1 - other / whole):.1f} %" for other in others]
        rows.append((*case, f"{whole:,}", *(f"{other:,}" for other in others), *saved))
    return f"{markdown('What orthogonal shapes save of both', SAVED, rows)}\n{ON_SHAPES}"


def simulation(n: int, flexible: int = 0, modes: int = 1) -> int:
    """Return multiplications and additions of the accelerations of a general chain.

    Of rigid links by articulated inertias, else by J z'' = R as printed and a Cholesky factor.
    """
    tree = chain(n, flexible, modes)
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "tau")]
    if flexible:
        inertia = book.inertia(tree, motion[0], printed=True)
        rest = book.remainder(tree, *motion, printed=True)
        accelerations = ca.ldl_solve(rest, *ca.ldl(inertia))
    else:
        accelerations = lie_group.forward(tree, *motion)
    graph = ca.Function("accelerations", motion, [ca.cse(accelerations)])
    return sum(operations(graph, PRODUCTS))


def rigid_for(n: int, flexible: int, modes: int) -> int:
    """Return the number of rigid joints that cost the work of a chain with flexible links.

    That of rigid ones grows by the same with every joint.
    """
    first, second = simulation(n), simulation(n + 1)
    return n + (simulation(n, flexible, modes) - first) // (second - first)


def imaginary(n: int = 6, flexible: int = 2, modes: int = 3) -> str:
    """Return in a line how many imaginary joints the work of those modes would pay for."""
    paid = rigid_for(n, flexible, modes)
    return (
        f"{n} joints, {flexible} flexible links, {modes} modes each: "
        f"{simulation(n, flexible, modes):,} operations of the\n        accelerations, as much as "
        f"of {paid} rigid joints, {paid - n} of them imaginary\n        (Book: 15, by Walker's "
        "method)."
    )


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return the exit status."""
    parser = program_parser("compare_book", __doc__)
    words = "measure the accuracy of shapes and of rigid segments (a minute or less), and draw it"
    parser.add_argument("--plot", metavar="FILE", help=words)
    given = parser.parse_args(arguments)
    if given.plot:
        check_suffix(given.plot)
    print(f"{table()}\n\n{savings()}\n\nEqual:  {imaginary()}")
    if given.plot:
        measured = lumped.comparison()
        print(f"\n{lumped.table(measured)}")
        lumped.plot(measured, given.plot)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(run))
