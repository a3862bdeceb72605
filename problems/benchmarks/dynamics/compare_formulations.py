"""Work of every formulation of inverse dynamics, and of derivatives, beside Hollerbach (1980)."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields

import numpy as np

from ocp import Tree
from ocp.cli import DONE, exit_status, refuse
from ocp.dynamics import Tabulated, tabulate
from ocp.dynamics.formulations import newton_euler
from ocp.models.arms.general_chain import general_chain
from ocp.plots import Curve, check_suffix, lines
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.derivative_costs import Record, costs, trees
from ocp.problems.benchmarks.operations import (
    DENSE,
    METHODS,
    MODELS,
    TABLE_I,
    TABLE_II,
    Pair,
    dense,
    exponent,
    folded,
    leading,
    printed,
)
from ocp.solvers import NoCompiler
from ocp.storage import check_writable, write
from ocp.studies import markdown

FIELDS = tuple(field.name for field in fields(Record))
GRIDS = (5, 9, 17, 33)  # of tabulated coefficients, numbers along a joint
NOTES = """\
dense   every matrix entry a symbol, link matrices given and none of their entries known to be 0
        or 1: the paper's rule. Configuration space is counted there with its tables looked up, as
        the paper counts it; folded, it has to find its coefficients first.
folded  numbers in the graph, its zeros, ones and repetitions gone; sines and cosines are not
        counted. General chains: seeded, revolute.
Misprints of Hollerbach (1980). Table I is used with 171 1/4 n^2 + 53 1/3 n in the multiplications
        of Uicker/Kahn, 66 1/3 n^3 + 42 1/3 n in their additions, and 106 2/3 n^2 in the
        multiplications of Waters, where the scan reads halves: so the latter two make the 51548
        and 7051 of table II, but the first 67143 at n = 6, where table II prints 66271. Ours lie
        below the tables because they keep and reuse what they have, not because of a new algorithm.
Derivatives by AD are those of newton_euler. In loops an operation on a whole matrix is one
        instruction, so their instructions are not work.
Times   are medians over rounds by turns, on this machine, in this run: compare them with each other
        only."""


def counted(joints: int) -> list[Record]:
    """Return the Records of the torques' counts.

    Table I, dense and folded chains of up to that many joints, and the project's models.
    """
    return [
        Record(
            model=model,
            joints=n,
            quantity="tau",
            method=method,
            rule=rule,
            multiplications=count[0],
            additions=count[1],
        )
        for model, n, method, rule, count in _counts(joints)
    ]


def _counts(joints: int) -> Iterator[tuple[str, int, str, str, Pair]]:
    """Yield (model, joints, method, rule, count)."""
    for n in range(1, joints + 1):
        for method in METHODS:
            if method in TABLE_I:
                yield f"chain{n}", n, method, "table I", printed(method, n)
            if method in DENSE:
                yield f"chain{n}", n, method, "dense", dense(method, n)
            yield f"chain{n}", n, method, "folded", folded(method, general_chain(n))
    for name, model in MODELS.items():
        for method in METHODS:
            yield name, model().dof, method, "folded", folded(method, model())


def table(joints: int = 12) -> str:
    """Return the counts of torques as text.

    Six joints beside the paper, growth, chains of up to that many joints, the project's models.
    """
    numbers = range(1, joints + 1)
    parts = [_six_joints()]
    parts.append(_growth_table(joints) if joints > 2 else "")
    dense_rows = [(n, *(_pair(dense(method, n)) for method in DENSE)) for n in numbers]
    parts.append(markdown("Chains, dense", ("n", *DENSE), dense_rows))
    folded_rows = [(n, *_folded(general_chain(n))) for n in numbers]
    parts.append(markdown("Chains, folded", ("n", *METHODS), folded_rows))
    models = [(name, *_folded(model())) for name, model in MODELS.items()]
    parts.append(markdown("Models, folded", ("model", *METHODS), models))
    return "\n".join([*parts, NOTES])


def _six_joints() -> str:
    header = ("method", "dense", "table I", "table II", "II/dense", "folded chain")
    rows = [
        (
            method,
            _pair(dense(method, 6)),
            _pair(printed(method, 6)),
            _pair(TABLE_II[method]),
            _ratio(sum(TABLE_II[method]), sum(dense(method, 6))),
            _pair(folded(method, general_chain(6))),
        )
        for method in TABLE_I
    ]
    return markdown("Six joints: multiplications/additions", header, rows)


def _growth_table(joints: int) -> str:
    return markdown(
        "Growth: leading terms, and exponents fitted to the upper half of n",
        ("method", "dense, leading", "dense", "table I", "folded"),
        [(method, _leading(method, joints), *_exponents(method, joints)) for method in METHODS],
    )


def _leading(method: str, joints: int) -> str:
    term = leading(lambda n: dense(method, n), joints) if method in DENSE else None
    if term is None:
        return ""
    degree, coefficients = term
    values = "/".join(f"{value:g}" for value in coefficients)
    return f"{values} n^{degree}" if degree > 1 else f"{values} n"


def _exponents(method: str, joints: int) -> Iterator[str]:
    for known, count in (
        (DENSE, lambda n: dense(method, n)),
        (TABLE_I, lambda n: printed(method, n)),
        (METHODS, lambda n: folded(method, general_chain(n))),
    ):
        yield f"{exponent(count, joints):.2f}" if method in known else ""


def derivative_table(records: Sequence[Record]) -> str:
    """Return the costs of derivatives as text.

    With what each is of that of the torques, and of that by AD, in the same model and run.
    """
    header = (
        *("model", "n", "quantity", "by", "instructions", "x tau"),
        *("us", "x tau", "compiled us", "x tau", "us / AD's"),
    )
    known = {(record.model, record.quantity, record.method): record for record in records}
    rows = []
    for record in records:
        base = known[record.model, "tau", "newton_euler"]
        rival = known.get((record.model, record.quantity, "AD"))
        rows.append(
            (
                *(record.model, record.joints, record.quantity, record.method),
                *_beside(record.instructions, base.instructions, "d"),
                *_beside(record.microseconds, base.microseconds, ".2f"),
                *_beside(record.compiled_microseconds, base.compiled_microseconds, ".2f"),
                _beside(record.microseconds, rival.microseconds, "")[1] if rival else "",
            )
        )
    return markdown("Derivatives", header, rows)


def interpolation(grids: Sequence[int] = GRIDS) -> str:
    """Return as text the error of tabulated coefficients against the size of the tables."""
    tree, rows = general_chain(2), []
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 2, 200))
    motions = zip(q.T, qd.T, qdd.T)
    exact = np.hstack([np.array(newton_euler.inverse(tree, *motion)) for motion in motions])
    for grid in grids:
        settings = Tabulated(points=grid, degree=1, ranges=((-1, 1),) * 2)
        tau = np.hstack([np.array(settings(tree, *motion)) for motion in zip(q.T, qd.T, qdd.T)])
        error = np.abs(tau - exact).max() / np.abs(exact).max()
        rows.append((f"{grid} x {grid}", tabulate(tree, settings).size, f"{error:.1e}"))
    return markdown(
        "Configuration space, tables of two joints over 2 rad each",
        ("grid", "numbers", "error / largest torque"),
        rows,
    )


def _folded(tree: Tree) -> Iterator[str]:
    return (_pair(folded(method, tree)) for method in METHODS)


def _pair(count: Pair) -> str:
    return f"{count[0]}/{count[1]}"


def _ratio(value: float, unit: float) -> str:
    return f"{value / unit:.2f}"


def _beside(value: float | None, unit: float | None, form: str) -> tuple[str, str]:
    if value is None or unit is None:
        return "", ""
    return format(value, form), _ratio(value, unit)


def comma_separated(records: Sequence[Record]) -> str:
    """Return the Records as the text of a CSV file."""
    lines = [",".join(map(_cell, astuple(record))) for record in records]
    return "\n".join([",".join(FIELDS), *lines, ""])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def curves(joints: int) -> list[Curve]:
    """Return the chart's Curves: operations of chains over n, dense, folded and by table I."""
    n = tuple(range(1, joints + 1))
    return [
        Curve(
            label=f"{method}, {rule}",
            x=n,
            y=tuple(sum(count(method, k)) for k in n),
            colour=colour,
            dash=dash,
        )
        for colour, method in enumerate(METHODS)
        for rule, dash, known, count in (
            ("dense", "solid", DENSE, dense),
            ("table I", "dashed", TABLE_I, printed),
            ("folded", "dotted", METHODS, lambda method, k: folded(method, general_chain(k))),
        )
        if method in known
    ]


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    flags = _parser().parse_args(arguments)
    try:
        if flags.joints < 1:
            raise ValueError(f"--joints: expected at least 1, got {flags.joints}")
        for path in filter(None, (flags.csv, flags.plot)):
            check_writable(path)
        if flags.plot is not None:
            check_suffix(flags.plot)
        records = []
        for name, tree in trees(flags.joints):
            for record in costs(name, tree, flags.compile):
                records.append(record)
                what = f"{name}, {record.quantity}, {record.method}"
                print(f"{what}: {record.instructions} instructions", file=sys.stderr, flush=True)
    except (ValueError, OSError, NoCompiler) as error:
        return refuse("compare_formulations", error)
    if not flags.quiet:
        print(table(flags.joints), interpolation(), derivative_table(records), sep="\n\n")
    if flags.csv is not None:
        write(flags.csv, comma_separated(counted(flags.joints) + records))
    if flags.plot is not None:
        axes = {"x": "joints", "y": "multiplications and additions"}
        lines(flags.plot, curves(flags.joints), **axes, log=True)
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_formulations", __doc__)
    parser.add_argument(
        "--joints", type=int, default=12, metavar="N", help="largest chain to count (default: 12)"
    )
    parser.add_argument(
        "--compile", action="store_true", help="time derivatives as machine code too; takes minutes"
    )
    parser.add_argument("--csv", metavar="FILE", help="write all numbers, one per line")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the counts over joint numbers")
    parser.add_argument("--quiet", action="store_true", help="print no tables")
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
