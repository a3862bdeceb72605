"""Work of every formulation of inverse dynamics and of its derivatives, beside the tables of Hollerbach (1980)."""
import argparse
import sys
import time
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from math import pi

import casadi as ca
import numpy as np

from models.human_like import human_like, random_body
from models.pr import pr
from models.two_link import two_link
from ocp.charts import Curve, check_suffix, lines
from ocp.compiled import NoCompiler, compile_function
from ocp.dynamics import (FORMULATIONS, composite, configuration_space, hollerbach_3x3, hollerbach_4x4, newton_euler, uicker_kahn, waters)
from ocp.solution import check_writable, write
from ocp.tree import GROUND, Link, Tree, dh, revolute

DONE, BAD_ARGUMENTS = 0, 2
TABLE_I = {                                        # Hollerbach (1980): polynomials in n, highest power first, of multiplications and additions
    "uicker_kahn": ((32.5, 86 + 5 / 12, 171.25, 53 + 1 / 3, -128), (25, 66 + 1 / 3, 129.5, 42 + 1 / 3, -96)),
    "waters": ((106 + 2 / 3, 620.5, -512), (82, 514, -384)), "hollerbach_4x4": ((830, -592), (675, -464)),
    "hollerbach_3x3": ((412, -277), (320, -201)), "newton_euler": ((150, -48), (131, -48)),
    "configuration_space": ((2, 1, 0, 0), (1, 1, 2, 0)),
}
TABLE_II = {"uicker_kahn": (66271, 51548), "waters": (7051, 5652), "hollerbach_4x4": (4388, 3586), "hollerbach_3x3": (2195, 1719),
            "newton_euler": (852, 738), "configuration_space": (468, 264)}                        # multiplications, additions at n = 6
NOTES = """\
dense   every matrix entry a symbol, link matrices given and none of their entries known to be 0 or 1: the paper's rule. Configuration space
        is counted there with its tables looked up, as the paper counts it; folded, it has to find its coefficients first.
folded  numbers in the graph, its zeros, ones and repetitions gone; sines and cosines are not counted. General chains: seeded, revolute.
Misprints of Hollerbach (1980), all in our scan of it. Table I, Uicker/Kahn: read 171 1/4 n^2 + 53 1/3 n in the multiplications and
        66 1/3 n^3 + 42 1/3 n in the additions; the first makes 67143 at n = 6 where table II prints 66271, the second its 51548.
        Table I, Waters: read 106 2/3 n^2, which makes the 7051 of table II. Ours lie below the tables because they keep and reuse what
        they have, not because of a new algorithm.
Times   are minima over repeats, on this machine, in this run: compare them with each other only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the file: counts of torques by a `rule`, or of a derivative (a `quantity`), with microseconds where they were taken."""

    model: str
    joints: int
    quantity: str
    method: str
    rule: str
    multiplications: int | None = None
    additions: int | None = None
    instructions: int | None = None
    microseconds: float | None = None
    compiled_microseconds: float | None = None


# What is counted ------------------------------------------------------------------------------------------------------------

def chain(n, seed=0):
    """Return a general serial chain of n revolute joints: axes, offsets and bodies at random; gravity along no axis."""
    rng, joints = np.random.default_rng(seed), []
    for k in range(n):
        home, (turn, _) = np.eye(4), np.linalg.qr(rng.standard_normal((3, 3)))
        home[:3, :3], home[:3, 3] = turn * np.sign(np.linalg.det(turn)), 0.3 * rng.standard_normal(3)
        axis = rng.standard_normal(3)
        joints.append(revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND, axis=axis / np.linalg.norm(axis), home=home))
    return Tree(links=[random_body(rng) for _ in joints], joints=joints, gravity=rng.uniform(-10, 10, 3))


def ur5_like():
    """Return an arm with the DH rows of a UR5 (Universal Robots, CB3 user manual, robot parameters, table "UR5 serie 3").

    Masses and centres are those that its maker publishes (as in Corke's Robotics Toolbox, mdl_ur5); the moments of inertia are rough.
    """
    rows = ((0.089159, 0, pi / 2), (0, -0.425, 0), (0, -0.39225, 0), (0.10915, 0, pi / 2), (0.09465, 0, -pi / 2), (0.0823, 0, 0))
    masses = (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879)
    coms = ((0, -0.02561, 0.00193), (0.2125, 0, 0.11336), (0.15, 0, 0.0265), (0, -0.0018, 0.01634), (0, 0.0018, 0.01634), (0, 0, -0.001159))
    moments = ((0.0067, 0.0064, 0.0067), (0.0149, 0.3564, 0.3553), (0.0025, 0.0551, 0.0546), (0.0012, 0.0012, 0.0009),
               (0.0012, 0.0012, 0.0009), (0.0001, 0.0001, 0.0001))
    return Tree(
        links=[Link(mass=mass, com=com, inertia=np.diag(moment)) for mass, com, moment in zip(masses, coms, moments)],
        joints=[dh(f"joint{k}", f"joint{k - 1}" if k else GROUND, d=d, a=a, alpha=alpha) for k, (d, a, alpha) in enumerate(rows)],
        gravity=(0, 0, -9.81))


METHODS = FORMULATIONS | {"configuration_space": configuration_space.CONFIGURATION_SPACE}
MODELS = {"two_link": lambda: two_link(gravity=9.8062), "pr": pr, "ur5_like": ur5_like}


class _Rotations:
    """Stands in for the three plane turns by which newton_euler rotates: a full matrix of symbols per link."""

    def __init__(self, matrices, offsets):
        self.matrices, self.offset = matrices, offsets.__getitem__

    def to_child(self, k, v):
        return ca.vertsplit(self.matrices[k].T @ ca.vertcat(*v))

    def to_parent(self, k, v):
        return ca.vertsplit(self.matrices[k] @ ca.vertcat(*v))


class _Entries:
    """A vector or matrix of symbols that lists its entries as a numpy array does."""

    def __init__(self, expression):
        self.expression = expression

    def tolist(self):
        rows = [ca.horzsplit(row) for row in ca.vertsplit(self.expression)]
        return [row[0] for row in rows] if self.expression.shape[1] == 1 else rows


def dense_newton_euler(n):
    """Return the inputs and torques of newton_euler as `dense` of the Lagrangian methods gives them; gravity is a number.

    Rotations, offsets, masses, first moments and pseudo-inertias are symbols; the recursion itself is newton_euler's own.
    """
    tree = Tree(links=[Link()] * n, joints=[revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND) for k in range(n)], gravity=(1.1, 1.2, 1.3))
    turns, offsets = [ca.SX.sym("R", 3, 3) for _ in range(n)], [ca.SX.sym("p", 3) for _ in range(n)]
    bodies, motion = [ca.SX.sym("body", 13) for _ in range(n)], [ca.SX.sym(name, n) for name in ("qd", "qdd")]
    inertias = [(body[0], _Entries(body[1:4]), _Entries(ca.reshape(body[4:], 3, 3))) for body in bodies]
    wrenches = newton_euler._joint_wrenches(tree, _Rotations(turns, [ca.vertsplit(p) for p in offsets]), *motion, (), inertias)
    return [*turns, *offsets, *bodies, *motion], ca.vertcat(*(moment[2] for _, moment in wrenches))


DENSE = {module.__name__.split(".")[-1]: module.dense for module in (uicker_kahn, waters, hollerbach_4x4, hollerbach_3x3, configuration_space)}
DENSE["newton_euler"] = dense_newton_euler


def operations(function):
    """Return the multiplications and additions of a scalar graph."""
    codes = [function.instruction_id(k) for k in range(function.n_instructions())]
    return tuple(sum(code in kind for code in codes) for kind in ((ca.OP_MUL, ca.OP_SQ), (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE)))


@lru_cache(maxsize=None)
def dense(method, n):
    """Return multiplications and additions by the paper's rule."""
    inputs, tau = DENSE[method](n)
    return operations(ca.Function("tau", inputs, [tau]))


@lru_cache(maxsize=None)
def folded(method, tree):
    """Return multiplications and additions of the torques of a tree of numbers."""
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    return operations(ca.Function("tau", motion, ca.cse([METHODS[method].inverse(tree, *motion)])))


def printed(method, n):
    """Return what table I, its misprints corrected, gives for n joints."""
    return tuple(round(float(np.polyval(coefficients, n))) for coefficients in TABLE_I[method])


def exponent(count, largest):
    """Return the slope of log(count(n)) over log(n), fitted to n from half of `largest`; count(n) = (multiplications, additions)."""
    joints = list(range(max(2, largest // 2), largest + 1))
    return float(np.polyfit(np.log(joints), np.log([sum(count(n)) for n in joints]), 1)[0]) if len(joints) > 1 else float("nan")
