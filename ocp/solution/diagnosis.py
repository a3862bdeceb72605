"""Failure that explains itself.

What is not a number before a solve, what is violated after it, in the statement's own names.
"""

import numpy as np

from ocp.dynamics.closed_loops import handedness
from ocp.mechanics.structure import structure
from ocp.solvers.nlp import violation
from ocp.transcription.kernels import evaluate
from ocp.transcription.variables import split

MEANING = {
    "Infeasible_Problem_Detected": "converged to a point where the violation cannot be reduced locally: the requirements may contradict "
    "each other, or the start is far off",
    "Restoration_Failed": "the feasibility restoration failed: often badly scaled or redundant constraints",
    "Maximum_Iterations_Exceeded": "ran out of iterations: raise max_iter or start from a better guess",
    "Maximum_CpuTime_Exceeded": "ran out of CPU time",
    "Maximum_WallTime_Exceeded": "ran out of time",
    "Diverging_Iterates": "the iterates grow without bound: bound the duration or the joints",
    "Search_Direction_Becomes_Too_Small": "no further progress is possible, with tolerances not reached",
    "Invalid_Number_Detected": "a function or derivative became NaN or infinite on the way",
    "Invalid_Option": "the solver refused an option at its start; a linear solver that this installation lacks is the usual cause",
    "Not_Enough_Degrees_Of_Freedom": "more equalities than free variables: add control points or drop requirements",
    "User_Requested_Stop": "interrupted; this is the best iterate seen",
}
WORST = 5


def preflight(transcribed, x, hessian):
    """Evaluate every function and derivative that the solve will use at the guess x of its
    unknowns.

    Raises ValueError naming the constraint or objective, joint and time of the first NaN or
    infinity.
    """
    nlp, problem = transcribed.nlp, transcribed.problem
    values = [nlp.objective(x), nlp.constraints(x)]
    if nlp.jacobian is not None:
        values += [nlp.gradient(x, [])[1], nlp.jacobian(x, [])[1]]
    if nlp.hessian is not None and hessian != "lbfgs":
        values.append(nlp.hessian(hessian)(x, [], 1.0, np.ones(len(nlp.g_lower))))
    if all(np.isfinite(value.nonzeros()).all() for value in values):
        return
    named = [
        (group.kernel, group.s, group.matrix, [_row_name(*owner) for owner in group.owners])
        for group in transcribed.groups
    ]
    named += [
        (goal.kernel, goal.s, goal.matrix, [f"objective {term.name!r}"] * goal.kernel.size)
        for goal, (_, term) in zip(transcribed.goals, problem.objective.terms)
    ]
    x = transcribed.expand(x)
    _, duration, _ = split(transcribed.layout, x)
    for kernel, s, matrix, names in named:
        y = np.reshape(np.array(matrix @ x).ravel(), (kernel.width, len(s)), order="F")
        function, above, _ = kernel.hessian("exact")
        ones = np.ones((kernel.size, len(s)))
        for what, table, rows in (
            ("", evaluate(kernel.values, y, s), range(kernel.size)),
            ("the derivative of ", evaluate(kernel.jacobian, y, s), kernel.rows),
            ("a second derivative of ", evaluate(function, y, s, ones), [0] * len(above)),
        ):
            bad = np.argwhere(~np.isfinite(table.T))
            if len(bad):
                k, number = bad[0]
                name = (
                    names[rows[number]]
                    if what != "a second derivative of " or kernel.size == 1
                    else " or ".join(dict.fromkeys(names))
                )
                raise ValueError(
                    f"at the initial guess {what}{name} is {table[number, k]} at t = {s[k] * duration:.4g} s"
                )
    if transcribed.reduction is not None:
        raise ValueError(
            "at the initial guess the integration of passive joints runs away; try another guess or more nodes"
        )


def explain(transcribed, outcome):
    """Return lines that say why a solve failed.

    The status in plain words, the worst rows, what leans on its bounds.
    """
    lines = (
        [f"{outcome.status}: {MEANING[outcome.status]}"]
        if outcome.status in MEANING
        else [outcome.status]
    )
    points, duration, _ = split(transcribed.layout, outcome.x)
    found, leaning = [], {}
    for group in transcribed.groups:
        values = evaluate(group.kernel.values, group.inputs(outcome.x), group.s)
        for number, (constraint, row) in enumerate(group.owners):
            lower, upper, asked = (
                constraint.lower_of(row),
                constraint.upper_of(row),
                group.asked[number],
            )
            amounts = violation(values[number][asked], lower, upper)
            amounts[np.isnan(values[number][asked])] = np.inf
            found += [
                (
                    amount,
                    f"{_row_name(constraint, row)}: violated by {amount:.4g} {constraint.unit(row)} at t = {s * duration:.4g} s",
                )
                for amount, s in zip(amounts, group.s[asked])
                if amount > 1e-8
            ]
            if lower < upper:
                for side, bound in (("lower", lower), ("upper", upper)):
                    close = np.abs(values[number][asked] - bound) <= 1e-6 * max(1.0, abs(bound))
                    if np.isfinite(bound) and close.any():
                        where = f"{_row_name(constraint, row)} at its {side} bound {bound:g} {constraint.unit(row)}"
                        leaning[where] = int(close.sum()), len(close)
    lines += [text for _, text in sorted(found, key=lambda pair: -pair[0])[:WORST]]
    for side, bound in zip(("lower", "upper"), transcribed.problem.duration):
        if (
            transcribed.problem.duration[0] < transcribed.problem.duration[1]
            and abs(duration - bound) <= 1e-4 * bound
        ):
            lines.append(f"duration stuck at its {side} bound {bound:g} s")
    if len(set(_assemblies(transcribed.problem, points))) > 1:
        lines.append(
            "start and end lie in different assemblies of the loops: between them is a configuration in which the drives do not hold "
            "the mechanism; ocp.loops.close follows one assembly"
        )
    most = sorted(leaning.items(), key=lambda item: -item[1][0])[:WORST]
    lines += [f"{text}: {count} of {total} instants" for text, (count, total) in most]
    return tuple(lines)


def _assemblies(problem, points):
    """Return the sides of singular configurations on which a motion starts and ends.

    None of an open tree.
    """
    if not problem.tree.loops:
        return ()
    return tuple(
        handedness(problem.tree, q, structure(problem.tree).passive)
        for q in problem.motion.values([0.0, 1.0]) @ points.T
    )


def _row_name(constraint, row):
    return f"{constraint.name} ({constraint.label(row)})"
