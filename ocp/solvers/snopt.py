"""SNOPT, the solver of the papers, as Drake's wheel brings it (Gill, Murray & Saunders 2005): our NLP as a MathematicalProgram.

Exact first derivatives are handed over sparsely: rows that depend on the same variables form one constraint over these alone, linear rows
are declared linear, and the objective's gradient comes in slices. Drake shows the whole point before it asks for any of them; there all of
them are evaluated at once. SNOPT estimates curvature from gradients.
"""

import importlib
import time

import casadi as ca
import numpy as np

from ocp.version import needs

STATUSES = {  # of the SNOPT 7 user's guide, section 8.6
    1: "optimality conditions satisfied",
    2: "feasible point found",
    3: "requested accuracy could not be achieved",
    5: "elastic objective minimized",
    6: "elastic infeasibilities minimized",
    11: "infeasible linear constraints",
    12: "infeasible linear equality constraints",
    13: "nonlinear infeasibilities minimized",
    14: "linear infeasibilities minimized",
    15: "infeasible linear constraints in QP subproblem",
    16: "infeasible nonelastic constraints",
    21: "unbounded objective",
    22: "constraint violation limit reached",
    31: "iteration limit reached",
    32: "major iteration limit reached",
    33: "the superbasics limit is too small",
    34: "time limit reached",
    41: "current point cannot be improved",
    42: "singular basis",
    43: "cannot satisfy the general constraints",
    44: "ill-conditioned null-space basis",
    45: "unable to compute acceptable LU factors",
    51: "incorrect objective derivatives",
    52: "incorrect constraint derivatives",
    56: "irregular or badly scaled problem functions",
    61: "undefined function at the first feasible point",
    62: "undefined function at the initial point",
    63: "unable to proceed into undefined region",
    71: "terminated during function evaluation",
    74: "terminated from monitor routine",
}
SUCCESS = (1, 2)
MAJORS = 3000  # iterations allowed, and a thousand times as many minor ones
OVERHEAD = 4000  # numbers whose copying costs as much as one more constraint does
SLICE = 32  # variables of one slice of the objective's gradient


def check(options):
    """Raise ValueError if Drake is missing, or an option is unknown to SNOPT or no number; a keyword ("QPSolver CG") has "" for one."""
    solvers, _ = _drake()
    for value in options.values():
        if isinstance(value, bool) or not isinstance(value, (int, float)) and value != "":
            raise ValueError(f"expected a number, or an empty text after a keyword, got {value!r}")
    program = solvers.MathematicalProgram()
    program.AddBoundingBoxConstraint(0.0, 1.0, program.NewContinuousVariables(1))
    try:
        solvers.SnoptSolver().Solve(program, np.zeros(1), _options(solvers, options))
    except RuntimeError as error:
        raise ValueError(f"SNOPT does not know it ({error})") from None


def prepare(nlp, options, record):
    """Return what solves an NLP from a start, and returns values or None, status, success, the number of points evaluated and calls.

    Drake tells no iteration numbers. `record`.see is shown every point, without multipliers, and stops SNOPT by returning True.
    Raises ValueError if Drake is not installed.
    """
    solvers, differentiation = _drake()
    program, point = solvers.MathematicalProgram(), _Point(nlp, record)
    variables = program.NewContinuousVariables(len(nlp.lower))
    program.AddVisualizationCallback(point.move, variables)
    bounds = program.AddBoundingBoxConstraint(nlp.lower, nlp.upper, variables)
    pieces, constraints, nonlinear = [], [], _nonlinear(nlp)
    for columns in np.split(np.arange(len(nlp.lower)), range(SLICE, len(nlp.lower), SLICE)):
        pieces.append(
            (
                program.AddCost(_objective(point, columns, differentiation), variables[columns]),
                columns,
            )
        )
    for rows, columns in _groups(nlp.jacobian.sparsity_out(1), np.flatnonzero(nonlinear)):
        function = _constraint(point, rows, columns, differentiation)
        constraints.append(
            (
                rows,
                program.AddConstraint(
                    function, nlp.g_lower[rows], nlp.g_upper[rows], variables[columns]
                ),
            )
        )
        pieces.append((constraints[-1][1], columns))
    if not nonlinear.all():
        constraints.append(
            (
                np.flatnonzero(~nonlinear),
                _linear(program, nlp, np.flatnonzero(~nonlinear), variables),
            )
        )

    def run(start):
        given = {
            "Superbasics limit": len(nlp.lower) + 1,
            "Major iterations limit": MAJORS,
            "Iterations limit": 1000 * MAJORS,
            "Time limit": np.inf,
        } | dict(options)
        point.deadline = time.perf_counter() + given.pop(
            "Time limit"
        )  # which Drake's SNOPT takes, but does not heed
        try:
            result = solvers.SnoptSolver().Solve(
                program, np.array(start["x0"], dtype=float).ravel(), _options(solvers, given)
            )
        except RuntimeError as error:  # of an evaluation: our own stop among them
            status = STATUSES[34] if point.late() else str(error).splitlines()[0]
            return None, status, False, point.count, point.calls()
        info, values = result.get_solver_details().info, point.values(result.GetSolution(variables))
        values["lam_x"] = -np.array(result.GetDualSolution(bounds)).ravel()
        for rows, binding in constraints:
            values["lam_g"][rows] = -np.array(result.GetDualSolution(binding)).ravel()
        status = f"{STATUSES.get(info, 'unknown')} (SNOPT {info})"
        return (
            values,
            status,
            info in SUCCESS,
            point.count,
            point.calls() | _bridge(point, pieces, differentiation),
        )

    return run


class _Stop(Exception):
    """Ends SNOPT's run from within an evaluation."""


class _Point:
    """The program's values and derivatives at the point where SNOPT stands, evaluated once; `copying` are the seconds of handing them on."""

    def __init__(self, nlp, record):
        self.nlp, self.record, self.x, self.count, self.seconds, self.copying, self.deadline = (
            nlp,
            record,
            None,
            0,
            0.0,
            0.0,
            np.inf,
        )
        pattern = nlp.jacobian.sparsity_out(1)
        self.shape, self.row = pattern.shape, np.array(pattern.row(), dtype=int)
        self.column = np.repeat(np.arange(pattern.size2()), np.diff(pattern.colind()))
        self.gradient, self.jacobian = _evaluator(nlp.gradient), _evaluator(nlp.jacobian)

    def move(self, x):
        """Stand at x (n,)."""
        if self.x is not None and np.array_equal(x, self.x):
            return
        begin = time.perf_counter()
        self.x, self.count = np.array(x, dtype=float), self.count + 1
        (f, slope), (g, self.nonzeros) = self.gradient(self.x), self.jacobian(self.x)
        self.slope, self.g = _dense(self.nlp.gradient, 1, slope), _dense(self.nlp.jacobian, 0, g)
        self.f = float(f[0]) if len(f) else 0.0
        self.seconds += time.perf_counter() - begin
        if self.record.see(self.f, **self.values(self.x)) or self.late():
            raise _Stop

    def late(self):
        """Tell whether the time is up."""
        return time.perf_counter() > self.deadline

    def values(self, x):
        """Return the values at x, with zero multipliers, as an Outcome has them."""
        g = self.g if np.array_equal(x, self.x) else np.array(self.nlp.constraints(x)).ravel()
        return {
            "x": np.array(x, dtype=float),
            "g": g.copy(),
            "lam_x": np.zeros(len(x)),
            "lam_g": np.zeros(len(g)),
        }

    def calls(self):
        """Return how often, and for how many seconds, f, g and their derivatives were evaluated."""
        return {"nlp_fg": (self.count, self.seconds)}


def _objective(point, columns, differentiation):
    """Return the function of a slice of the variables whose sum over all slices is the objective: the first has its value, each its gradient."""
    first = columns[0] == 0
    function = _handing(
        point,
        columns,
        differentiation,
        lambda: (np.array([point.f if first else 0.0]), point.slope[columns][None, :]),
    )
    return lambda x: function(x)[0]


def _constraint(point, rows, columns, differentiation):
    """Return the function of some variables that gives some rows of g."""
    place = np.full(point.shape, -1)
    place[np.ix_(rows, columns)] = np.arange(len(rows) * len(columns)).reshape(len(rows), -1)
    target = place[point.row, point.column]
    source = np.flatnonzero(target >= 0)
    target = target[source]

    def evaluate():
        slope = np.zeros(len(rows) * len(columns))
        slope[target] = point.nonzeros[source]
        return point.g[rows], slope.reshape(len(rows), -1)

    return _handing(point, columns, differentiation, evaluate)


def _handing(point, columns, differentiation, evaluate):
    """Return what Drake calls with some variables, as numbers or as automatically differentiated ones, for values and derivatives."""

    def function(x):
        begin, dual = time.perf_counter(), x.dtype == object
        if not np.array_equal(
            differentiation.ExtractValue(x).ravel() if dual else x, point.x[columns]
        ):
            raise RuntimeError("Drake asks for values at a point that it has not shown")
        value, slope = evaluate()
        found = differentiation.InitializeAutoDiff(value[:, None], slope).ravel() if dual else value
        point.copying += time.perf_counter() - begin
        return found

    return function


def _bridge(point, pieces, differentiation):
    """Return the calls that were neither SNOPT's work nor the program's: handing numbers over, by the time that one round takes.

    Called from here an array crosses between Python and Drake twice as often as when Drake calls.
    """
    copied, begin = point.copying, time.perf_counter()
    for binding, columns in pieces:
        binding.evaluator().Eval(
            differentiation.InitializeAutoDiff(point.x[columns][:, None]).ravel()
        )
    crossing = (time.perf_counter() - begin - (point.copying - copied)) / 2
    return {"bridge": (point.count, copied + point.count * crossing)}


def _nonlinear(nlp):
    """Tell of each row of g whether it is nonlinear."""
    x = ca.MX.sym("x", len(nlp.lower))
    return np.array(ca.which_depends(nlp.constraints(x), x, 2, True), dtype=bool).ravel()


def _linear(program, nlp, rows, variables):
    """Add the linear rows of g and return their binding."""
    x = np.clip(1.0, nlp.lower, nlp.upper)
    g, jacobian = (np.array(value) for value in nlp.jacobian(x, ca.DM(0, 1)))
    slope = np.where(np.isfinite(jacobian[rows]), jacobian[rows], 0.0)
    columns = np.flatnonzero(slope.any(axis=0))
    constant = g.ravel()[rows] - slope @ x
    return program.AddLinearConstraint(
        slope[:, columns],
        nlp.g_lower[rows] - constant,
        nlp.g_upper[rows] - constant,
        variables[columns],
    )


def _groups(pattern, rows):
    """Return [(rows, columns)]: rows of a Jacobian that share columns, so that few numbers are copied.

    For a group of r rows over c columns Drake copies c numbers per column and r per column.
    """
    columns = dict(
        zip(
            range(pattern.size1()),
            np.split(np.array(pattern.T.row(), dtype=int), pattern.T.colind()[1:-1]),
        )
    )
    alike = {}
    for row in rows:
        alike.setdefault(columns[row].tobytes(), (columns[row], []))[1].append(row)
    groups = []
    for found, members in sorted(alike.values(), key=lambda pair: (*pair[0][:1], *pair[0][-1:])):
        if groups:
            joined = np.union1d(groups[-1][1], found)
            apart = _cost(len(groups[-1][0]), len(groups[-1][1])) + _cost(len(members), len(found))
            if _cost(len(groups[-1][0]) + len(members), len(joined)) <= apart:
                groups[-1] = (groups[-1][0] + members, joined)
                continue
        groups.append((members, found))
    return [(np.array(members), found) for members, found in groups]


def _cost(rows, columns):
    return columns * (columns + rows) + OVERHEAD


def _evaluator(function):
    """Return what evaluates a function of (x, p) at x, and returns the nonzeros of its results in arrays that the next call overwrites."""
    buffer, call = function.buffer()
    x, nothing = np.zeros(function.nnz_in(0)), np.zeros(0)
    results = [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
    for k, array in enumerate((x, nothing)):
        buffer.set_arg(k, memoryview(array))
    for k, array in enumerate(results):
        buffer.set_res(k, memoryview(array))

    def evaluate(point, keep=(buffer, nothing)):
        x[:] = point
        call()
        return results

    return evaluate


def _dense(function, k, nonzeros):
    """Return the vector that is result k of a function, from its nonzeros."""
    pattern = function.sparsity_out(k)
    vector = np.zeros(pattern.size1())
    vector[np.array(pattern.row(), dtype=int)] = nonzeros
    return vector


def _options(solvers, options):
    """Return Drake's record of SNOPT's options."""
    found = solvers.SolverOptions()
    for name, value in options.items():
        found.SetOption(solvers.SnoptSolver.id(), name, value)
    return found


def _drake():
    """Return Drake's modules of solvers and of automatic differentiation."""
    try:
        solvers, differentiation = (
            importlib.import_module(f"pydrake.{name}") for name in ("solvers", "autodiffutils")
        )
    except ModuleNotFoundError:
        raise ValueError(f"plugin 'snopt': needs Drake: {needs('snopt')}") from None
    if not solvers.SnoptSolver().available():
        raise ValueError("plugin 'snopt': this Drake was built without SNOPT")
    return solvers, differentiation
