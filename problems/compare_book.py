"""Work of Book's flexible dynamics in simulation form beside the polynomials of Book (1983), section 6."""

import argparse
import sys

import casadi as ca
import numpy as np

from ocp.dynamics import book
from ocp.mechanics.joints import GROUND, revolute
from ocp.mechanics.modes import Modes, Place
from ocp.mechanics.tree import Link, Tree

POWERS = (
    (0, 2, 2),
    (0, 1, 2),
    (0, 2, 1),
    (1, 1, 1),
    (0, 1, 1),
    (2, 0, 0),
    (1, 1, 0),
    (1, 0, 0),
    (0, 1, 0),
    (0, 0, 0),
)  # of n, n_f, m
MULTIPLICATIONS = (6, 17.5, 118, 74, 137.5, 84, 86, 279, 126, -57)
ADDITIONS = (6.5, 19, 115.5, 68, 123, 85, 80, 329, 111, -91)
STATED = 12009  # multiplications of the text for 6 joints, 2 flexible links, 3 modes each
CASES = ((2, 1, 1), (4, 1, 2), (6, 1, 3), (6, 2, 1), (6, 2, 2), (6, 2, 3), (6, 5, 3))
NOTES = """\
Counted: J and R of J z'' = R as printed (eqs. 66-90) for general chains, in numbers, repetitions kept once, sines and cosines not counted,
        J not inverted; the first links are flexible, the last is rigid, integrals of shapes are full matrices without zeros.
Book    counts products of whole matrices, less what is known to be constant; so his numbers stand above ours. His count is an average over
        joint kinds that this graph does not know.
Misprint of Book (1983): at n = 6, n_f = 2, m = 3 the polynomial of the multiplications gives 11,361, the text says about 12,009. One
        coefficient may be wrong: the difference, 648, is 18 n^2 (84 read as 102) as well as 18 n n_f m (74 read as 92)."""


def polynomial(coefficients, n, flexible, modes):
    """Return the value of one of the paper's polynomials for n joints, that many flexible links, and modes on each."""
    return sum(c * n**a * flexible**b * modes**d for c, (a, b, d) in zip(coefficients, POWERS))


def chain(n, flexible, modes, seed=0):
    """Return a general chain of n revolute joints whose first links are flexible, with full random integrals of that many shapes."""
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
        if k > 0 and k <= flexible:
            links[k - 1] = Link(**body, modes=_general(rng, modes, home[:3, 3], body))
    return Tree(links=links, joints=joints, gravity=rng.uniform(1, 9, 3))


def _general(rng, m, place, body):
    """Return Modes with no zero in any integral: those of m random shapes over a cloud of particles."""
    shape, dm, r = (
        rng.uniform(-1, 1, (m, 20, 3)),
        np.full(20, body["mass"] / 20),
        rng.uniform(-0.3, 0.3, (20, 3)),
    )
    root = rng.uniform(0.1, 1, (m, m))
    return Modes(
        names=[f"mode{k + 1}" for k in range(m)],
        **body,
        stiffness=100 * (root @ root.T + np.eye(m)),
        first=np.einsum("p,kpi->ki", dm, shape),
        moment=np.einsum("p,pi,kpj->kij", dm, r, shape),
        coupling=np.einsum("p,kpi,lpj->klij", dm, shape, shape),
        places=(
            Place(
                position=place, shift=rng.uniform(-1, 1, (m, 3)), turn=rng.uniform(-1, 1, (m, 3))
            ),
        ),
    )


def counted(n, flexible, modes):
    """Return multiplications and additions (2,) in the graph of J and R as printed."""
    tree = chain(n, flexible, modes)
    q, qd, tau = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "tau"))
    parts = [
        ca.triu(book.inertia(tree, q, printed=True)),
        book.remainder(tree, q, qd, tau, printed=True),
    ]
    graph = ca.Function("graph", [q, qd, tau], ca.cse(parts))
    codes = [graph.instruction_id(k) for k in range(graph.n_instructions())]
    kinds = (ca.OP_MUL, ca.OP_SQ, ca.OP_DIV), (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE)
    return np.array([sum(code in kind for code in codes) for kind in kinds])


def table(cases=CASES):
    """Return the comparison as text, a line per case (joints, flexible links, modes on each)."""
    lines = [
        f"{'n':>3} {'n_f':>4} {'m':>3} {'ours x':>9} {'Book x':>9} {'ours +':>9} {'Book +':>9}"
    ]
    for case in cases:
        (times, plus), printed = (
            counted(*case),
            [polynomial(c, *case) for c in (MULTIPLICATIONS, ADDITIONS)],
        )
        lines.append(
            f"{case[0]:3} {case[1]:4} {case[2]:3} {times:9,} {printed[0]:9,.0f} {plus:9,} {printed[1]:9,.0f}"
        )
    return "\n".join([*lines, NOTES])


def run(arguments=None):
    """Print the table; return the exit status."""
    argparse.ArgumentParser(prog="python -m problems.compare_book", description=__doc__).parse_args(
        arguments
    )
    print(table())
    return 0


if __name__ == "__main__":
    sys.exit(run())
