"""Work of every formulation of inverse dynamics and of its derivatives, beside the tables of Hollerbach (1980)."""

import argparse
import sys
import time
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from math import factorial, pi

import casadi as ca
import numpy as np
from ocp.models.human_like import human_like
from ocp.models.pr import pr
from ocp.models.two_link import two_link

from ocp.dynamics import (
    FORMULATIONS,
    composite,
    configuration_space,
    hollerbach_3x3,
    hollerbach_4x4,
    newton_euler,
    uicker_kahn,
    waters,
)
from ocp.mechanics.joints import GROUND, dh, revolute
from ocp.mechanics.tree import Link, Tree
from ocp.plots import Curve, check_suffix, lines
from ocp.solution.files import check_writable, write
from ocp.studies.tables import markdown
from ocp.transcription.compiled import NoCompiler, compile_function

DONE, BAD_ARGUMENTS = 0, 2
TABLE_I = {  # multiplications and additions: polynomials in n, highest power first (Hollerbach 1980)
    "uicker_kahn": (
        (32.5, 86 + 5 / 12, 171.25, 53 + 1 / 3, -128),
        (25, 66 + 1 / 3, 129.5, 42 + 1 / 3, -96),
    ),
    "waters": ((106 + 2 / 3, 620.5, -512), (82, 514, -384)),
    "hollerbach_4x4": ((830, -592), (675, -464)),
    "hollerbach_3x3": ((412, -277), (320, -201)),
    "newton_euler": ((150, -48), (131, -48)),
    "configuration_space": ((2, 1, 0, 0), (1, 1, 2, 0)),
}
TABLE_II = {
    "uicker_kahn": (66271, 51548),
    "waters": (7051, 5652),
    "hollerbach_4x4": (4388, 3586),
    "hollerbach_3x3": (2195, 1719),
    "newton_euler": (852, 738),
    "configuration_space": (468, 264),
}  # multiplications, additions at n = 6
NOTES = """\
dense   every matrix entry a symbol, link matrices given and none of their entries known to be 0 or 1: the paper's rule. Configuration space
        is counted there with its tables looked up, as the paper counts it; folded, it has to find its coefficients first.
folded  numbers in the graph, its zeros, ones and repetitions gone; sines and cosines are not counted. General chains: seeded, revolute.
Misprints of Hollerbach (1980). Table I is used with 171 1/4 n^2 + 53 1/3 n in the multiplications of Uicker/Kahn, 66 1/3 n^3 + 42 1/3 n in
        their additions, and 106 2/3 n^2 in the multiplications of Waters, where the scan reads halves: so the latter two make the 51548
        and 7051 of table II, but the first 67143 at n = 6, where table II prints 66271. Ours lie below the tables because they keep and
        reuse what they have, not because of a new algorithm.
Derivatives by AD are those of newton_euler. In loops an operation on a whole matrix is one instruction, so their instructions are not work.
Times   are medians over rounds by turns, on this machine, in this run: compare them with each other only."""


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


def random_body(rng):
    """Return a link with the inertia of a random cloud of five equal masses about a random centre, so that it is physical."""
    cloud, mass = 0.2 * rng.standard_normal((5, 3)), rng.uniform(0.2, 3.0)
    spread = np.cov(cloud.T, bias=True)
    return Link(
        mass=mass,
        com=0.2 * rng.standard_normal(3),
        inertia=mass * (np.trace(spread) * np.eye(3) - spread),
    )


def chain(n, seed=0):
    """Return a general serial chain of n revolute joints: axes, offsets and bodies at random; gravity along no axis."""
    rng, joints = np.random.default_rng(seed), []
    for k in range(n):
        home, (turn, _) = np.eye(4), np.linalg.qr(rng.standard_normal((3, 3)))
        home[:3, :3], home[:3, 3] = (
            turn * np.sign(np.linalg.det(turn)),
            0.3 * rng.standard_normal(3),
        )
        axis = rng.standard_normal(3)
        joints.append(
            revolute(
                f"joint{k}",
                f"joint{k - 1}" if k else GROUND,
                axis=axis / np.linalg.norm(axis),
                home=home,
            )
        )
    return Tree(
        links=[random_body(rng) for _ in joints], joints=joints, gravity=rng.uniform(-10, 10, 3)
    )


def ur5_like():
    """Return an arm with the DH rows of a UR5 (Universal Robots, CB3 user manual, robot parameters, table "UR5 serie 3").

    Masses and centres are those that its maker publishes (as in Corke's Robotics Toolbox, mdl_ur5); the moments of inertia are rough.
    """
    rows = (
        (0.089159, 0, pi / 2),
        (0, -0.425, 0),
        (0, -0.39225, 0),
        (0.10915, 0, pi / 2),
        (0.09465, 0, -pi / 2),
        (0.0823, 0, 0),
    )
    masses = (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879)
    coms = (
        (0, -0.02561, 0.00193),
        (0.2125, 0, 0.11336),
        (0.15, 0, 0.0265),
        (0, -0.0018, 0.01634),
        (0, 0.0018, 0.01634),
        (0, 0, -0.001159),
    )
    moments = (
        (0.0067, 0.0064, 0.0067),
        (0.0149, 0.3564, 0.3553),
        (0.0025, 0.0551, 0.0546),
        (0.0012, 0.0012, 0.0009),
        (0.0012, 0.0012, 0.0009),
        (0.0001, 0.0001, 0.0001),
    )
    return Tree(
        links=[
            Link(mass=mass, com=com, inertia=np.diag(moment))
            for mass, com, moment in zip(masses, coms, moments)
        ],
        joints=[
            dh(f"joint{k}", f"joint{k - 1}" if k else GROUND, d=d, a=a, alpha=alpha)
            for k, (d, a, alpha) in enumerate(rows)
        ],
        gravity=(0, 0, -9.81),
    )


METHODS = FORMULATIONS
MODELS = {"two_link": lambda: two_link(gravity=9.8062), "pr": pr, "ur5_like": ur5_like}


DENSE = {
    "uicker_kahn": uicker_kahn.dense,
    "waters": waters.dense,
    "hollerbach_4x4": hollerbach_4x4.dense,
    "hollerbach_3x3": hollerbach_3x3.dense,
    "newton_euler": newton_euler.dense,
    "configuration_space": configuration_space.dense,
}


def operations(function):
    """Return the multiplications and additions of a scalar graph."""
    codes = [function.instruction_id(k) for k in range(function.n_instructions())]
    return tuple(
        sum(code in kind for code in codes)
        for kind in ((ca.OP_MUL, ca.OP_SQ), (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE))
    )


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
    return (
        float(np.polyfit(np.log(joints), np.log([sum(count(n)) for n in joints]), 1)[0])
        if len(joints) > 1
        else float("nan")
    )


def leading(count, largest):
    """Return degree and leading coefficients (2,) of the polynomials that counts from n = 2 to `largest` are; None if they are none."""
    counts = np.array([count(n) for n in range(2, largest + 1)])
    for degree in range(1, len(counts) - 1):  # at least two differences have to agree
        steps = np.diff(counts, degree, axis=0)
        if (steps == steps[0]).all():
            return degree, tuple(float(step) / factorial(degree) for step in steps[0])
    return None


# Derivatives ----------------------------------------------------------------------------------------------------------------


def derivatives(tree):
    """Return {(quantity, method): (casadi.Function, instructions)} of torques and their derivatives, the nonzeros of each in one column.

    The Jacobian is that by (q, qd, qdd), the Hessian the upper triangle of that of multipliers . tau by the same. Loops are a scalar graph
    (composite.slope_parts, curvature_parts) and operations on whole matrices of what it gives; their instructions are those of both.
    """
    n = tree.dof
    q, qd, qdd, weight = symbols = [ca.SX.sym(name, n) for name in ("q", "qd", "qdd", "weight")]
    motion, tau = (q, qd, qdd), newton_euler.inverse(tree, q, qd, qdd)
    hessian = ca.hessian(ca.dot(weight, tau), ca.vertcat(*motion))[0]
    slopes, curvatures = (
        composite.slope_parts(tree, *motion),
        ca.cse(list(composite.curvature_parts(tree, weight, *motion)[:4])),
    )
    return {
        ("tau", "newton_euler"): _scalar(motion, [tau]),
        ("jacobian", "AD"): _scalar(motion, [ca.jacobian(tau, ca.vertcat(*motion))]),
        ("jacobian", "composite"): _scalar(motion, composite.sensitivity(tree, *motion)[:3]),
        ("jacobian", "composite loops"): _looped(
            motion, slopes, lambda parts: composite.join_slopes(tree, parts)[:3]
        ),
        ("hessian", "AD"): _scalar(symbols, [ca.triu(hessian)]),
        ("hessian", "composite"): _scalar(symbols, composite.curvature(tree, weight, *motion)[:4]),
        ("hessian", "composite loops"): _looped(
            symbols, curvatures, lambda parts: composite.join_curvature(tree, (*parts, None))[:4]
        ),
    }


def _scalar(inputs, matrices):
    function = ca.Function("kernel", inputs, [ca.cse(_column(map(ca.sparsify, matrices)))])
    return function, function.n_instructions()


def _looped(inputs, parts, join):
    stage = ca.Function("stage", inputs, [ca.SX(part) for part in parts])  # as kernels do
    arguments = [ca.MX.sym(f"i{k}", *part.shape) for k, part in enumerate(inputs)]
    function = ca.Function("kernel", arguments, [_column(join(stage.call(arguments)))])
    return function, stage.n_instructions() + function.n_instructions()


def _column(matrices):
    return ca.vertcat(*(matrix.nz[:] for matrix in matrices))


def microseconds(functions, rounds=25, least=0.002):
    """Return the median time of one call of each function (us), over rounds taken by turns, since a processor's speed drifts."""
    calls = [_call(function) for function in functions]
    counts = [max(1, round(least / max(_seconds(call, 3), 1e-7))) for call in calls]
    return [
        1e6 * float(np.median(times))
        for times in zip(*([_seconds(*pair) for pair in zip(calls, counts)] for _ in range(rounds)))
    ]


def _seconds(call, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def _call(function):
    """Return what evaluates the function at random numbers in its own buffers."""
    buffer, call = function.buffer()
    arrays = [
        np.random.default_rng(k).uniform(-1, 1, function.nnz_in(k)) for k in range(function.n_in())
    ]
    results = [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
    for place, group in ((buffer.set_arg, arrays), (buffer.set_res, results)):
        for k, array in enumerate(group):
            place(k, memoryview(array))
    return lambda keep=(buffer, arrays, results): call()


def costs(name, tree, compiled=False):
    """Yield a Record for torques and each of their derivatives; raises NoCompiler if `compiled` cannot be had."""
    found = derivatives(tree)
    functions = [function for function, _ in found.values()]
    quick = (
        microseconds([compile_function(function) for function in functions])
        if compiled
        else [None] * len(functions)
    )
    for (quantity, method), (function, instructions), slow, fast in zip(
        found, found.values(), microseconds(functions), quick
    ):
        work = (None, None) if "loops" in method else operations(function)
        yield Record(
            model=name,
            joints=tree.dof,
            quantity=quantity,
            method=method,
            rule="folded",
            multiplications=work[0],
            additions=work[1],
            instructions=instructions,
            microseconds=slow,
            compiled_microseconds=fast,
        )


def trees(joints):
    """Yield (name, tree) of what derivatives are taken of: chains of up to twice that many joints, and from 12 on the human-like tree."""
    yield from ((f"chain{n}", chain(n)) for n in (2, 6, 12, 24) if n <= 2 * joints)
    if joints >= 12:
        yield "human_like", human_like()


# Tables ---------------------------------------------------------------------------------------------------------------------


def counted(joints):
    """Return the Records of the torques' counts: table I, dense and folded chains up to that many joints, and the project's models."""
    found, add = [], lambda *values: found.append(Record(**dict(zip(FIELDS, values))))
    for n in range(1, joints + 1):
        for method in METHODS:
            if method in TABLE_I:
                add(f"chain{n}", n, "tau", method, "table I", *printed(method, n))
            if method in DENSE:
                add(f"chain{n}", n, "tau", method, "dense", *dense(method, n))
            add(f"chain{n}", n, "tau", method, "folded", *folded(method, chain(n)))
    for name, model in MODELS.items():
        for method in METHODS:
            add(name, model().dof, "tau", method, "folded", *folded(method, model()))
    return found


def table(joints=12):
    """Return the counts of torques as text: six joints beside the paper, growth, all chains, the project's models."""
    six = [
        (
            method,
            _pair(dense(method, 6)),
            _pair(printed(method, 6)),
            _pair(TABLE_II[method]),
            _ratio(sum(TABLE_II[method]), sum(dense(method, 6))),
            _pair(folded(method, chain(6))),
        )
        for method in TABLE_I
    ]
    growth = [(method, *_growth(method, joints)) for method in METHODS]
    chains = {
        rule: [(n, *(_pair(count(method, n)) for method in methods)) for n in range(1, joints + 1)]
        for rule, methods, count in (
            ("dense", DENSE, dense),
            ("folded", METHODS, lambda method, n: folded(method, chain(n))),
        )
    }
    models = [
        (name, *(_pair(folded(method, model())) for method in METHODS))
        for name, model in MODELS.items()
    ]
    return "\n".join(
        [
            markdown(
                "Six joints: multiplications/additions",
                ("method", "dense", "table I", "table II", "II/dense", "folded chain"),
                six,
            ),
            markdown(
                "Growth: leading terms, and exponents fitted to the upper half of n",
                ("method", "dense, leading", "dense", "table I", "folded"),
                growth,
            )
            if joints > 2
            else "",
            markdown("Chains, dense", ("n", *DENSE), chains["dense"]),
            markdown("Chains, folded", ("n", *METHODS), chains["folded"]),
            markdown("Models, folded", ("model", *METHODS), models),
            NOTES,
        ]
    )


def _growth(method, joints):
    ends = leading(lambda n: dense(method, n), joints) if method in DENSE else None
    first = (
        ""
        if ends is None
        else "/".join(f"{value:g}" for value in ends[1])
        + (f" n^{ends[0]}" if ends[0] > 1 else " n")
    )
    fitted = (
        (DENSE, lambda n: dense(method, n)),
        (TABLE_I, lambda n: printed(method, n)),
        (METHODS, lambda n: folded(method, chain(n))),
    )
    return first, *(
        f"{exponent(count, joints):.2f}" if method in known else "" for known, count in fitted
    )


def derivative_table(records):
    """Return the costs of derivatives as text, with what each is of the torques' own, and of its own by AD, in the same model and run."""
    rows, header = (
        [],
        (
            "model",
            "n",
            "quantity",
            "by",
            "instructions",
            "x tau",
            "us",
            "x tau",
            "compiled us",
            "x tau",
            "us / AD's",
        ),
    )
    for record in records:
        alike = [other for other in records if other.model == record.model]
        base = next(other for other in alike if other.quantity == "tau")
        rival = next(
            (other for other in alike if (other.quantity, other.method) == (record.quantity, "AD")),
            None,
        )
        pairs = [
            (record.instructions, base.instructions, "d"),
            (record.microseconds, base.microseconds, ".2f"),
            (record.compiled_microseconds, base.compiled_microseconds, ".2f"),
        ]
        cells = [
            ("", "") if value is None else (format(value, form), _ratio(value, unit))
            for value, unit, form in pairs
        ]
        share = "" if rival is None else _ratio(record.microseconds, rival.microseconds)
        rows.append(
            (record.model, record.joints, record.quantity, record.method, *sum(cells, ()), share)
        )
    return markdown("Derivatives", header, rows)


def interpolation(grids=(5, 9, 17, 33)):
    """Return as text the error of tabulated configuration-space coefficients against the size of the tables."""
    tree, rows = chain(2), []
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 2, 200))
    exact = np.hstack(
        [np.array(newton_euler.inverse(tree, *motion)) for motion in zip(q.T, qd.T, qdd.T)]
    )
    for grid in grids:
        looked_up = configuration_space.tabulate(tree, grid, ((-1, 1),) * 2)
        rows.append(
            (
                f"{grid} x {grid}",
                looked_up.size,
                f"{np.abs(looked_up.torque(q, qd, qdd) - exact).max() / np.abs(exact).max():.1e}",
            )
        )
    return markdown(
        "Configuration space, tables of two joints over 2 rad each",
        ("grid", "numbers", "error / largest torque"),
        rows,
    )


def _pair(count):
    return f"{count[0]}/{count[1]}"


def _ratio(value, unit):
    return f"{value / unit:.2f}"


FIELDS = tuple(field.name for field in fields(Record))


def comma_separated(records):
    """Return the Records as the text of a CSV file."""
    lines = [
        ",".join(
            "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
            for value in astuple(record)
        )
        for record in records
    ]
    return "\n".join([",".join(FIELDS), *lines, ""])


def curves(joints):
    """Return the chart's Curves: multiplications and additions of chains over n, dense, folded and by table I."""
    n, found = tuple(range(1, joints + 1)), []
    for colour, method in enumerate(METHODS):
        for rule, dash, known, count in (
            ("dense", "solid", DENSE, dense),
            ("table I", "dashed", TABLE_I, printed),
            ("folded", "dotted", METHODS, lambda method, k: folded(method, chain(k))),
        ):
            if method in known:
                found.append(
                    Curve(
                        label=f"{method}, {rule}",
                        x=n,
                        y=tuple(sum(count(method, k)) for k in n),
                        colour=colour,
                        dash=dash,
                    )
                )
    return found


def run(arguments=None):
    """Do what the command line asks for and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.compare_formulations", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--joints", type=int, default=12, metavar="N", help="largest chain to count (default: 12)"
    )
    parser.add_argument(
        "--compile", action="store_true", help="time derivatives as machine code too; takes minutes"
    )
    parser.add_argument("--csv", metavar="FILE", help="write all numbers, one per line")
    parser.add_argument(
        "--plot", metavar="FILE.png", help="draw the counts over the number of joints"
    )
    parser.add_argument("--quiet", action="store_true", help="print no tables")
    flags = parser.parse_args(arguments)
    try:
        if flags.joints < 1:
            raise ValueError(f"--joints: expected at least 1, got {flags.joints}")
        for path in filter(None, (flags.csv, flags.plot)):
            check_writable(path)
        if flags.plot is not None:
            check_suffix(flags.plot)
        records = [
            record
            for name, tree in trees(flags.joints)
            for record in costs(name, tree, flags.compile)
        ]
    except (ValueError, OSError, NoCompiler) as error:
        print(f"compare_formulations: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    if not flags.quiet:
        print(table(flags.joints), interpolation(), derivative_table(records), sep="\n\n")
    if flags.csv is not None:
        write(flags.csv, comma_separated(counted(flags.joints) + records))
    if flags.plot is not None:
        lines(
            flags.plot,
            curves(flags.joints),
            x="joints",
            y="multiplications and additions",
            log=True,
        )
    return DONE


if __name__ == "__main__":
    sys.exit(run())
