"""Dynamics by tables (Hollerbach 1980): what they weigh, what they miss, and what a solve makes of
them; and the motion at speed without its Coriolis terms.

The tables are Albus' of tau(q, qd, qdd), Raibert's of J(q) and K(q, qd), and those of the
configuration space method of Horn and Raibert, of J(q), C(q) and G(q).
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from ocp import Link, Transcription, Tree, revolute, solve, verify
from ocp.cli import DONE, exit_status, refuse
from ocp.dynamics import (
    FORMULATIONS,
    NUMBER_BYTES,
    TABLE_FORMS,
    TABLE_MEMORY,
    WITHOUT_CORIOLIS,
    Tabulated,
    bytes_in_words,
    table,
    table_plan,
    tabulate,
)
from ocp.models.arms.general_chain import general_chain
from ocp.models.arms.two_link import two_link
from ocp.plots import Curve, Panel, check_suffix, panels
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.problems.arms.two_link_time import problem as two_link_time
from ocp.problems.benchmarks import program_parser
from ocp.storage import check_writable
from ocp.studies import markdown

RATE, ACCELERATION = 20.0, 300.0  # rad/s, rad/s2: of the tables with such axes
DEGREES = (1, 3, 5)
GRIDS = (9, 17, 33)  # points along an argument
LARGER = ("raibert", "albus")  # forms that drive a solve beside the configuration's
MOTIONS = 500  # at random, over which errors are taken
LARGEST = 2**24  # bytes: of the tables whose error is taken
JOINTS = (1, 2, 3, 4, 6)  # of the chains whose tables are weighed
SPEEDS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)  # times that of the optimal motion
KINDS = ("optimum", "error", "memory", "coriolis")
SLOW = "without Coriolis terms"
exact = FORMULATIONS["newton_euler"].inverse


def settings(form: str, joints: int, points: int, degree: int) -> Tabulated:
    """Return the settings of a form's tables.

    Straight pieces have equally many points along every argument; for splines of higher degree the
    fewest do along rates and accelerations, of which torques are polynomials of degree 2 and 1.
    """
    wide = {"rates": RATE, "accelerations": ACCELERATION}
    names = ("rates", "accelerations")[: len(TABLE_FORMS[form]) - 1]
    ranges = {name: ((-wide[name], wide[name]),) * joints for name in names}
    few = points if degree == 1 else degree + 2
    counts = (points,) * joints + (few,) * joints * len(names)
    return Tabulated(points=counts, degree=degree, form=form, **ranges)


def pendulum() -> Tree:
    """Return one link that hangs, of the two-link arm's data."""
    link = Link(mass=0.5, com=(0.2, 0, 0), inertia=np.diag([0.0, 0.1, 0.1]))
    return Tree(links=(link,), joints=(revolute("hinge"),), gravity=(0, -9.81, 0))


ARMS = {"pendulum": pendulum, "two links": lambda: two_link(gravity=9.81)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A table's `size` in numbers, its largest `error` relative to the largest torque, and the
    `microseconds` of a look-up, or of computing where there is no `form`."""

    arm: str
    form: str
    degree: int
    points: int
    size: int
    error: float
    microseconds: float


def errors() -> Iterator[Record]:
    """Yield the Records of all tables that are not too large, coarse ones first."""
    for arm, model in ARMS.items():
        tree = model()
        n, right = tree.dof, _torques(tree, exact)
        yield Record(arm=arm, form="", degree=0, points=0, size=0, error=0.0, microseconds=right[1])
        for form in TABLE_FORMS:
            for degree in DEGREES:
                for points in GRIDS:
                    chosen = settings(form, n, points, degree)
                    if NUMBER_BYTES * table_plan(tree, chosen).size() > LARGEST:
                        break
                    tau, cost = _torques(tree, chosen)
                    yield Record(
                        arm=arm,
                        form=form,
                        degree=degree,
                        points=points,
                        size=tabulate(tree, chosen).size,
                        error=float(np.abs(tau - right[0]).max() / np.abs(right[0]).max()),
                        microseconds=cost,
                    )


def _torques(tree, inverse):
    """Return the torques (n, MOTIONS) at random motions, and the microseconds that one takes."""
    n, rng = tree.dof, np.random.default_rng(0)
    ends = (np.pi, RATE, ACCELERATION)
    motions = [rng.uniform(-end, end, (n, MOTIONS)) for end in ends]
    symbols = [ca.SX.sym(name, n) for name in ("q", "qd", "qdd")]
    graph = ca.cse(inverse(tree, *symbols))
    function = ca.Function("tau", symbols, [graph]).map(MOTIONS)
    tau, best = np.array(function(*motions)), np.inf
    for _ in range(5):
        start = time.perf_counter()
        function(*motions)
        best = min(best, time.perf_counter() - start)
    return tau, 1e6 * best / MOTIONS


def _grouped(records):
    """Return {(arm, form, degree): Records} of tables and of what is computed."""
    groups = {}
    for one in records:
        groups.setdefault((one.arm, one.form, one.degree), []).append(one)
    return groups


def orders(records: Sequence[Record]) -> list[float | None]:
    """Return by which power of the points errors fall between a table and the one before it."""
    falls: list[float | None] = []
    for group in _grouped(records).values():
        steps = (np.log(b.points / a.points) for a, b in pairwise(group))
        gains = (np.log(a.error / b.error) for a, b in pairwise(group))
        falls += [None, *(gain / step for gain, step in zip(gains, steps))]
    return falls


def error_table(records: Sequence[Record]) -> str:
    """Return the Records as text, with the order by which errors fall between two grids."""
    rows = []
    for one, fall in zip(records, orders(records)):
        known = ["computed", "", "", "", "", "", ""]
        if one.form:
            size = (one.size, bytes_in_words(NUMBER_BYTES * one.size))
            order = "" if fall is None else f"{fall:.1f}"
            known = [one.form, one.degree, one.points, *size, f"{one.error:.1e}", order]
        rows.append((one.arm, *known, f"{one.microseconds:.2f}"))
    header = ("arm", "tables", "degree", "points", "numbers", "memory", "error", "order", "us")
    return markdown(
        "Error of tables against their size, relative to the largest torque", header, rows
    )


def memory_table() -> str:
    """Return as text the memory that tables of general chains in gravity would need."""
    rows = []
    for n in JOINTS:
        tree = general_chain(n)
        for form in TABLE_FORMS:
            sizes = table_plan(tree, settings(form, n, GRIDS[0], 1))
            amounts = [NUMBER_BYTES * sizes.size(points) for points in GRIDS]
            rows.append((n, form, *(_weighed(amount) for amount in amounts)))
    header = ("joints", "tables", *(f"{points} points" for points in GRIDS))
    title = "Memory of tables of general chains"
    note = (
        f"* more than {bytes_in_words(TABLE_MEMORY)}, at which tables are refused; "
        f"a number has {NUMBER_BYTES} bytes."
    )
    return f"{markdown(title, header, rows)}\n{note}"


def _weighed(amount: int) -> str:
    return bytes_in_words(amount) if amount < 1e15 else f"{amount:.0e} bytes"


def optimum_table() -> str:
    """Return as text what a solve makes of tables: the minimum time of the two-link arm."""
    problem = two_link_time()
    best = solve(problem).require()
    rows = [
        ("newton_euler", "", "", "", f"{best.duration:.9f}", "", "", best.statistics["iterations"])
    ]
    usual = [("configuration", degree, points) for degree in DEGREES for points in GRIDS]
    for form, degree, points in [*usual, *((form, 3, GRIDS[0]) for form in LARGER)]:
        chosen = settings(form, problem.tree.dof, points, degree)
        method = Transcription(dynamics=table(**asdict(chosen)))
        solution = solve(problem, method).require(coarse=True)
        known = verify(solution).approximation
        rows.append(
            (
                *(form, degree, points),
                bytes_in_words(tabulate(problem.tree, chosen).splines.bytes),
                f"{solution.duration:.9f}",
                f"{solution.duration - best.duration:+.1e}",
                f"{-known.objective:+.1e} of {known.objective_bound:.1e}, {known.relative:.1e}",
                solution.statistics["iterations"],
            )
        )
    title = "Two-link arm in minimum time, driven by tables"
    header = (
        "dynamics",
        "degree",
        "points",
        "memory",
        "T (s)",
        "T less exact",
        "stated",
        "iterations",
    )
    note = (
        "stated: the certificate's change of T, the sum of its parts' sizes, and the torques' error"
    )
    return f"{markdown(title, header, rows)}\n{note}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """A `motion` at `factor` times its speed: its largest `rate` (rad/s) and `torque` (N m), and
    what the terms in two rates have in that, `dropped` (N m)."""

    motion: str
    factor: float
    rate: float
    torque: float
    dropped: float


def speeds() -> list[Speed]:
    """Return the optimal motions of the two-link arm in gravity, slower and faster along their
    way."""
    return [
        line
        for name, stated in (("lift", two_link_lift()), ("minimum time", two_link_time()))
        for line in _replayed(name, solve(stated).require())
    ]


def _replayed(name, solution):
    """Yield the Speeds of a motion of the two-link arm, which has gravity then."""
    t, tree = solution.times(401), two_link(gravity=9.81)
    q, qd, qdd = solution.q(t), solution.qd(t), solution.qdd(t)
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    inverses = (exact, WITHOUT_CORIOLIS.inverse)
    both = ca.Function("both", symbols, [inverse(tree, *symbols) for inverse in inverses])
    for factor in SPEEDS:
        right, slow = (np.array(tau) for tau in both.map(len(t))(q, factor * qd, factor**2 * qdd))
        yield Speed(
            motion=name,
            factor=factor,
            rate=float(np.abs(factor * qd).max()),
            torque=float(np.abs(right).max()),
            dropped=float(np.abs(right - slow).max()),
        )


def coriolis_table(lines: Sequence[Speed]) -> str:
    """Return as text what dropping the Coriolis terms costs, with a solve that does so."""
    rows = [
        (one.motion, f"{one.factor:g}", f"{one.rate:.3g}", f"{one.torque:.3g}")
        + (f"{one.dropped:.2g}", f"{one.dropped / one.torque:.1%}")
        for one in lines
    ]
    header = ("motion", "speed", "rad/s", "largest torque", "dropped", "of it")
    title = "Two links in gravity at other speeds, terms in two rates dropped (N m)"
    solution = solve(two_link_time(), Transcription(dynamics=WITHOUT_CORIOLIS)).require(coarse=True)
    known = verify(solution)
    note = (
        f"Planned without them, two links in minimum time take T = {solution.duration:.6f} s.\n"
        f"Their torques are {known.approximation}.\n"
        f"Simulated, the arm ends {known.goal_drift:.2g} rad off its goal."
    )
    return f"{markdown(title, header, rows)}\n{note}"


def curves(records: Sequence[Record], lines: Sequence[Speed]) -> list[Panel]:
    """Return the picture's panels: errors of two joints' tables against memory, and of speed."""
    dashes = dict(zip(DEGREES, ("dotted", "dashed", "solid")))
    errors_of = []
    for (arm, form, degree), group in _grouped(records).items():
        if arm == "two links" and len(group) > 1:
            x, y = (
                [NUMBER_BYTES * one.size for one in group],
                [np.log10(one.error) for one in group],
            )
            label, colour = f"{form}, degree {degree}", list(TABLE_FORMS).index(form)
            errors_of.append(Curve(label=label, x=x, y=y, colour=colour, dash=dashes[degree]))
    slow = []
    for colour, motion in enumerate(dict.fromkeys(one.motion for one in lines), len(TABLE_FORMS)):
        alike = [one for one in lines if one.motion == motion]
        x, y = [one.rate for one in alike], [100 * one.dropped / one.torque for one in alike]
        slow.append(Curve(label=f"{SLOW}, {motion}", x=x, y=y, colour=colour))
    y_label = "error of the torques, log10 of the largest"
    return [
        Panel(curves=errors_of, x="memory (bytes), two links", y=y_label, log=True),
        Panel(curves=slow, x="largest rate (rad/s)", y="error, % of the largest torque", log=True),
    ]


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    flags = _parser().parse_args(arguments)
    try:
        for what in flags.what:
            if what not in KINDS:
                raise ValueError(f"expected some of {', '.join(KINDS)}, got {what!r}")
        if flags.plot is not None:
            check_suffix(flags.plot)
            check_writable(flags.plot)
    except (ValueError, OSError) as error:
        return refuse("compare_tables", error)
    wanted = flags.what or KINDS
    records = list(errors()) if "error" in wanted or flags.plot else []
    lines = speeds() if "coriolis" in wanted or flags.plot else []
    texts = {
        "optimum": optimum_table,
        "error": lambda: error_table(records),
        "memory": memory_table,
        "coriolis": lambda: coriolis_table(lines),
    }
    print("\n\n".join(texts[kind]() for kind in KINDS if kind in wanted))
    if flags.plot is not None:
        panels(flags.plot, curves(records, lines))
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_tables", __doc__)
    words = f"tables to print, of {', '.join(KINDS)} (default: all)"
    parser.add_argument("what", nargs="*", metavar="WHAT", help=words)
    parser.add_argument("--plot", metavar="FILE.png", help="draw errors against memory and speed")
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
