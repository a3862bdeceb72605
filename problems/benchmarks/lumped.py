"""Assumed shapes beside rigid segments with torsion springs: accuracy against work.

Book (1983), section 6, leaves open which of two models of a flexible arm is nearer for the same
work: modes on each link, or imaginary joints between rigid segments. Here both simulate the arm of
two strips in the plane from rest under smooth torques, the elbow's against the shoulder's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ocp import Formulation, Tree, simulate
from ocp.dynamics.formulations import book, lie_group
from ocp.mechanics import position, structure
from ocp.models.arms.flexible_arm import flexible_arm, segmented_arm
from ocp.plots import COLOURS, SMALL, TEXT, WIDTH, picture, style
from ocp.problems.benchmarks.operations import operations
from ocp.solvers import say
from ocp.studies import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRODUCTS = (ca.OP_MUL, ca.OP_SQ, ca.OP_DIV)  # what counts as a multiplication
TORQUES = (4.0, -1.5)  # N m, of shoulder and elbow: one sine each
DURATION, INSTANTS = 1.0, 101  # s
PRECISION = 1e-8  # of the integrator
SHAPES, FIRST, SEGMENTS = "shapes", "shapes of first order", "segments"
CASES = {SHAPES: (1, 2, 3), FIRST: (1, 2, 3, 4), SEGMENTS: (1, 2, 3, 4, 6, 8)}
FINE = (8, 16)  # segments of the reference of the tip, extrapolated as errors fall: by squares
FINEST = (32, 64)  # those of the frequencies
TICKS = (200, 500, 1000, 2000, 5000)
VIBRATIONS = 2  # the lowest frequencies that are compared: one shape per link has no more
HEADER = (
    *("model", "n", "freedoms", "operations", "frequencies off (%)", "tip off (mm)"),
    "simulated in (s)",
)
NOTES = """\
Models: n shapes on each of two links, to second order (with the shortening of bent axes) or to
        first as Book has them, by J z'' = R and a Cholesky factor; n rigid segments with springs
        E I / h between, by articulated inertias. All have 2 (1 + n) freedoms. What Book drops of J
        besides is kept: without it three shapes 1 cm large make J indefinite.
Work:   multiplications and additions of the accelerations of this planar arm, zeros folded.
Errors: of the two lowest frequencies, joints held; of the tip's place in one second, at most.
        The reference is extrapolated from 8 and 16 (frequencies 32 and 64) segments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model of the arm: its `tree`, `springs` (n,) in N m/rad, and its `mechanics`."""

    tree: Tree
    springs: np.ndarray
    mechanics: Formulation


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A model of a `kind` with `count` shapes or springs on each link, and what it is worth.

    `work` are operations of its accelerations, `frequency` the largest relative error of the lowest
    frequencies, `tip` that of the tip's place (m), `seconds` those of its simulation.
    """

    kind: str
    count: int
    freedoms: int
    work: int
    frequency: float
    tip: float
    seconds: float


def model(kind: str, count: int) -> Model:
    """Return the arm with so many shapes or springs on each link."""
    if kind == SEGMENTS:
        tree, springs = segmented_arm(segments=count)
        known = Formulation(name=kind, inverse=lie_group.inverse, forward=partial(_sprung, springs))
    else:
        tree = flexible_arm(bend=count, stiffening=kind == SHAPES)
        springs = np.zeros(tree.dof)
        known = Formulation(name=kind, inverse=book.inverse, forward=_factored, flexible=True)
    return Model(tree=tree, springs=springs, mechanics=known)


def _sprung(springs, tree, q, qd, tau, loads=()):
    """Return the accelerations (n,) of rigid segments whose springs pull back."""
    return lie_group.forward(tree, q, qd, tau - ca.DM(springs) * q, loads)


def _factored(tree, q, qd, tau, loads=()):
    """Return the accelerations (n,) of J z'' = R."""
    return ca.ldl_solve(book.remainder(tree, q, qd, tau, loads), *ca.ldl(book.inertia(tree, q)))


def work(model: Model) -> int:
    """Return multiplications and additions of a model's accelerations."""
    motion = [ca.SX.sym(name, model.tree.dof) for name in ("q", "qd", "tau")]
    graph = ca.cse(model.mechanics.forward(model.tree, *motion))
    return sum(operations(ca.Function("accelerations", motion, [graph]), PRODUCTS))


def frequencies(model: Model) -> np.ndarray:
    """Return the lowest frequencies (rad/s) of the straight arm, its joints held."""
    tree, rows = model.tree, list(structure(model.tree).passive)
    q = ca.DM.zeros(tree.dof)
    if structure(tree).flexible:
        inertia, stiffness = book.inertia(tree, q), np.zeros((tree.dof, tree.dof))
        for link, own in zip(tree.links, tree.amplitude_rows):
            stiffness[np.ix_(own, own)] = np.array(link.modes.stiffness)
    else:
        inertia, stiffness = lie_group.mass_matrix(tree, q), np.diag(model.springs)
    mass = np.array(ca.DM(inertia))[np.ix_(rows, rows)]
    squares = np.linalg.eigvals(np.linalg.solve(mass, stiffness[np.ix_(rows, rows)])).real
    return np.sqrt(np.sort(squares)[:VIBRATIONS])


@cache
def simulated(kind: str, count: int) -> tuple[np.ndarray, float]:
    """Return the tip's place (2, INSTANTS), m, in a model's motion, and the seconds it took."""
    say(f"simulates {count} {kind} per link")
    arm, begin = model(kind, count), perf_counter()
    tree, drives = arm.tree, structure(arm.tree).drives

    def torques(t: Any, q: Any, qd: Any) -> Any:
        wave = ca.sin(2 * np.pi * t / DURATION)
        given = dict(zip(drives, TORQUES))
        return [given.get(row, 0.0) * wave for row in range(tree.dof)]

    rest, settings = np.zeros(tree.dof), {"count": INSTANTS, "tolerance": PRECISION}
    moved = simulate(tree, torques, (rest, rest), DURATION, formulation=arm.mechanics, **settings)
    seconds = perf_counter() - begin
    at = ca.SX.sym("q", tree.dof)
    tip = ca.Function("tip", [at], [position(tree, at, "tip")[:2]])
    return np.array(tip(moved.q)), seconds


def comparison(cases: dict[str, Sequence[int]] = CASES) -> list[Measured]:
    """Return the errors and costs of every model of the `cases`, {kind: counts}."""
    exact, place = reference_frequencies(), reference_tip()
    rows = []
    for kind, counts in cases.items():
        for count in counts:
            arm = model(kind, count)
            tip, seconds = simulated(kind, count)
            rows.append(
                Measured(
                    kind=kind,
                    count=count,
                    freedoms=arm.tree.dof,
                    work=work(arm),
                    frequency=float(np.abs(frequencies(arm) / exact - 1).max()),
                    tip=float(np.linalg.norm(tip - place, axis=0).max()),
                    seconds=seconds,
                )
            )
    return rows


def reference_frequencies() -> np.ndarray:
    """Return the lowest frequencies (rad/s), extrapolated from many segments."""
    return _extrapolated(*(frequencies(model(SEGMENTS, count)) for count in FINEST))


def reference_tip() -> np.ndarray:
    """Return the tip's place (2, INSTANTS), m, extrapolated from many segments."""
    return _extrapolated(*(simulated(SEGMENTS, count)[0] for count in FINE))


def _extrapolated(coarse, fine):
    """Return the limit of what errs by the square of the segments' length, halved once."""
    return fine + (fine - coarse) / 3


def table(rows: Sequence[Measured]) -> str:
    """Return the comparison as text."""
    lines = [
        (
            *(row.kind, row.count, row.freedoms, f"{row.work:,}"),
            *(f"{100 * row.frequency:.3g}", f"{1000 * row.tip:.3g}", f"{row.seconds:.2f}"),
        )
        for row in rows
    ]
    return f"{markdown('A flexible arm by shapes and by segments', HEADER, lines)}\n{NOTES}"


def plot(rows: Sequence[Measured], file: str | Path | None = None) -> "Figure":
    """Return one page: errors of frequencies and of the tip against operations, n beside."""
    with picture(file, WIDTH, 3.4) as figure:
        panels = figure.subplots(1, 2)
        sizes = (
            ("frequency", 100.0, "two lowest frequencies off (%)"),
            ("tip", 1000.0, "tip off within 1 s (mm)"),
        )
        for axes, (what, scale, label) in zip(panels, sizes):
            for colour, kind in zip(COLOURS, CASES):
                own = [row for row in rows if row.kind == kind]
                x, y = [row.work for row in own], [scale * getattr(row, what) for row in own]
                axes.loglog(x, y, color=colour, marker="o", markersize=3.5, label=kind)
                for row, *place in zip(own, x, y):
                    shift = {"xytext": (3, 3), "textcoords": "offset points"}
                    axes.annotate(row.count, place, fontsize=SMALL, color=colour, **shift)
            axes.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
            axes.minorticks_off()
            style(axes, "operations of the accelerations", label)
        panels[0].legend(fontsize=SMALL, frameon=False)
        figure.suptitle(
            "n shapes or n springs on each of two flexible links, the same freedoms", fontsize=TEXT
        )
    return figure
