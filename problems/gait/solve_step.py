"""Solution of a step from standing, by attempts each more careful than the last; of a stride by way
of one step."""

import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ocp import (
    Attempt,
    BSpline,
    Guess,
    Plan,
    Problem,
    Solution,
    Solver,
    Spline,
    Strength,
    Transcription,
    prepare,
    solve,
)
from ocp.mechanics import nominal, parameters_of, with_values
from ocp.motion import Part
from ocp.problem import STRENGTH
from ocp.problems.gait.statement.constraint_families import EDGES, family_of
from ocp.problems.gait.statement.contact_schedule import knots_at_changes
from ocp.problems.gait.statement.mirrored_stride import one_step, repeated
from ocp.problems.gait.statement.motion_only_start import FEW as FEW_POINTS
from ocp.problems.gait.statement.motion_only_start import SELDOM, motion_alone
from ocp.problems.gait.statement.objective_terms import is_elastic
from ocp.solvers import INTERRUPTED, fronts
from ocp.solving import budget, total_statistics, with_stage

TUNED = {
    "tol": 1e-6,
    "max_iter": 200,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 0,
    "min_refinement_steps": 0,
    "mu_init": 3e-2,
    "mumps_mem_percent": 100,
}
CAREFUL = {"tol": 1e-6, "max_iter": 400, "mumps_pivtol": 1e-4}
NEAR = {  # from what is nearly the solution, whose bounds are those of the start
    "mu_strategy": "monotone",
    "mu_init": 1e-8,
    "bound_push": 1e-8,
    "bound_frac": 1e-8,
    "slack_bound_push": 1e-8,
    "slack_bound_frac": 1e-8,
}
QUICK = TUNED | {"mumps_scaling": 0}  # for people with strength
ROUGH = QUICK | {  # to begin from
    "tol": 1e-3,
    "max_iter": 120,
    "perturb_always_cd": "yes",
    "jacobian_regularization_value": 1e-6,
    "mumps_pivtol": 1e-10,
}
ALONE = ROUGH | {"tol": 1e-1, "mu_init": 1e-2}  # of motions without forces
PLACED = ROUGH | {"mu_init": 5e-3}  # from such a motion, whose feet are where they shall be
AFTER = QUICK | {"mu_strategy": "adaptive", "mu_min": 1e-8}  # multipliers known
SHARED, CLOSER = 10, 12  # steps of the grid to a segment where both feet bear: walking, and else
FEW_OF_PARTS = 22  # points, to which phases come from standing as quickly as from fewer
FEW = 3, 3  # of elastic people: steps to a segment, and where both feet bear
Stated = TypeVar("Stated")


def walk(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    feasible: bool | None = None,
    values: Mapping[str, float] | None = None,
    options: Mapping[str, Any] = TUNED,
) -> Solution:
    """Solve a gait from the standing posture, q = 0, or from a guess.

    A failed attempt is followed by a more careful one. IPOPT is tuned to these problems: a quick
    ordering without permutation and scaling, since the NLP is scaled already. Pivoting stays on:
    without it the inertia of the KKT system is misjudged near the solution. What the user sets
    comes last. The second attempt pivots more, the third starts from a feasible motion; `feasible`:
    the first does so too; by default where the start is somebody's waypoints, whose accelerations
    may be anything. `values` are those of the problem's parameters, `options` those of IPOPT in the
    first attempt. From standing both steps of a stride follow one, see `doubly`, steps that are no
    plain walk one on few control points, `from_few`, a step past edges one through them,
    `over_edges`, and people with strength over angle as `by_strength` says; the last of these
    solves is on the plan of all values.
    """
    solver, transcription = quickest(solver, transcription), closely(problem, transcription)
    given = dict(values or {})
    if guess is None and feasible is not True:
        for begun in (doubly, from_few, over_edges, by_strength):
            solved = begun(problem, transcription, solver, values=given, watch=watch)
            if solved is not None:
                return solved
    start = standing(problem) if guess is None else guess
    early = isinstance(guess, Guess) if feasible is None else feasible
    attempts = more_and_more_careful(options, early)
    begin: dict[str, Any] = {"guess": start, "attempts": attempts, "values": given}
    return solve(problem, transcription, solver, watch=watch, **begin)


def walk_from(
    another: Solution,
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    watch: Callable[..., Any] | None = None,
    values: Mapping[str, float] | None = None,
) -> Solution:
    """Solve a walk from another that is alike, its multipliers too, and from standing where that
    fails; `values` are those of the problem's parameters."""
    near: dict[str, Any] = {"guess": another, "attempts": (Attempt(options=AFTER),)}
    settled, given = closely(problem, transcription), dict(values or {})
    found = solve(problem, settled, solver, watch=watch, values=given, **near)
    if over(found, solver):
        return found
    return walk(problem, transcription, left_of(found, solver), watch=watch, values=given)


def standing(problem: Problem) -> Guess:
    """Return the standing posture, q = 0, as a guess."""
    return Guess(q=np.zeros((problem.tree.dof, 2)))


def more_and_more_careful(options: Mapping[str, Any], feasible: bool = False) -> list[Attempt]:
    """Return the attempts at a step, those of `walk`: the first one with these options of IPOPT,
    all of them `feasible` first, or only the last."""
    ladder = [options, CAREFUL] if options == TUNED else [options, TUNED, CAREFUL]
    attempts = [Attempt(options=each, feasible_first=feasible) for each in ladder]
    return [*attempts, Attempt(options=CAREFUL, feasible_first=True)]


def quickest(solver: Solver, transcription: Transcription) -> Solver:
    """Return a solver with the factorisation of ours where kernels are compiled too, unless it has
    been told another."""
    if transcription.kernels != "compiled" or solver.plugin != "ipopt" or not fronts.available():
        return solver
    return replace(solver, options={"linear_solver": fronts.NAME, **solver.options})


def closely(problem: Problem, transcription: Transcription) -> Transcription:
    """Return a transcription that looks closely at people with strength where both feet bear,
    unless it has been told how.

    What muscles spend there hangs on how quickly torques change. Where these run straight from node
    to node, rates are constant in between, of which the squares, integrated, lack what rates differ
    within a step. Ten steps hold that to half a percent of a walk's objective; up and down it takes
    more. Torques of elastic people are polynomials there, and their segments short: FEW steps hold
    it to two tenths of a percent.
    """
    method = transcription.method
    if not (isinstance(method, Spline) and method.shared is None and strong(problem)):
        return transcription
    if is_elastic(problem.objective):
        nodes, shared = FEW if method.nodes == Spline().nodes else (method.nodes, None)
        return replace(transcription, method=replace(method, nodes=nodes, shared=shared))
    if problem.phases:
        return transcription
    shared = max(SHARED if freely(problem) else CLOSER, method.nodes)
    return replace(transcription, method=replace(method, shared=shared))


def with_numbers(stated: Stated, values: Mapping[str, float]) -> Stated:
    """Return a problem, or a number of it, with numbers {name: value} in place of its parameters:
    that from which the way to the whole one begins, with others at every value."""
    known = {each: values[each.name] for each in parameters_of(stated) if each.name in values}
    return with_values(stated, known) if known else stated


def strong(problem: Problem) -> bool:
    """Tell whether people have their strength over angle."""
    return any(isinstance(each, Strength) for each in problem.tree.elements)


def doubly(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    values: Mapping[str, float],
    watch: Callable[..., Any] | None = None,
) -> Solution | None:
    """Solve a stride, or several, from one step and its image, after that step from standing.

    Its statistics are of both solves, and tell those of the step as `one_step`. None where a walk
    is no such stride, as `one_step` tells, and where either solve fails.
    """
    stride = with_numbers(problem, values)
    step = one_step(stride)
    if step is None:
        return None
    first = walk(step, transcription, solver, watch=with_stage(watch, "one step first"))
    if not over(first, solver):
        return None
    near: dict[str, Any] = {"guess": repeated(first, stride), "values": values}
    near["attempts"] = (Attempt(options=TUNED | NEAR),)
    return after(first, "one_step", problem, transcription, solver, watch=watch, **near)


def from_few(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    values: Mapping[str, float],
    watch: Callable[..., Any] | None = None,
) -> Solution | None:
    """Solve a step of elastic people up or down, with busy arms or in many phases, from one on few
    points: on all of them the way from standing is long, and where it ends is left to chance.

    Statistics are as those of `doubly`, `few_points`. None of other steps, where there are no more
    points, and where either solve fails.
    """
    coarse = coarser(with_numbers(problem, values))
    way = coarse, "few_points", "few points first"
    return by_way_of(*way, problem, transcription, solver, values=values, watch=watch)


def by_way_of(
    easier: Problem | None,
    name: str,
    words: str,
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    values: Mapping[str, float],
    watch: Callable[..., Any] | None,
) -> Solution | None:
    """Return the Solution of a problem from the motion of an easier one, as `after`, whose stage is
    told in some words; None where there is none, and where either solve fails."""
    if easier is None:
        return None
    first = walk(easier, transcription, solver, watch=with_stage(watch, words))
    if not over(first, solver):
        return None
    near: dict[str, Any] = {"guess": replace(first, multipliers={}), "values": values}
    near["attempts"] = (Attempt(options=TUNED),)
    return after(first, name, problem, transcription, solver, watch=watch, **near)


def coarser(problem: Problem) -> Problem | None:
    """Return a step of elastic people that is no plain walk on FEW_POINTS, or whose phases are
    parts of one spline on FEW_OF_PARTS, with knots where contacts change; None of others, and of
    one that has no more."""
    if freely(problem) or not is_elastic(problem.objective):
        return None
    parts = [phase.motion for phase in problem.phases]
    wholes = {part.whole if isinstance(part, Part) else None for part in parts}
    motion = problem.motion if not parts else wholes.pop() if len(wholes) == 1 else None
    points = FEW_OF_PARTS if parts else FEW_POINTS
    if not isinstance(motion, BSpline) or motion.inner is None or motion.points <= points:
        return None
    changes = [knot for knot, count in Counter(motion.inner).items() if count > 1]
    inner = knots_at_changes(changes, points - motion.degree - 1)
    few = BSpline(points=points, degree=motion.degree, inner=inner)
    phases = tuple(
        replace(phase, motion=replace(part, whole=few))
        for phase, part in zip(problem.phases, parts)
    )
    return replace(problem, phases=phases) if phases else replace(problem, motion=few)


def over_edges(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    values: Mapping[str, float],
    watch: Callable[..., Any] | None = None,
) -> Solution | None:
    """Solve a step on stairs from one whose foot in swing may go through their edges, after that
    from standing: from there the straight way leads through them.

    Statistics are as those of `doubly`, `without_edges`. None where there are no edges, and where
    either solve fails.
    """
    stairs = with_numbers(problem, values)
    free = tuple(each for each in stairs.constraints if each.name != EDGES)
    if len(free) == len(stairs.constraints):
        return None
    through = replace(stairs, constraints=free)
    way = through, "without_edges", "through edges first"
    return by_way_of(*way, problem, transcription, solver, values=values, watch=watch)


def by_strength(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    values: Mapping[str, float],
    watch: Callable[..., Any] | None = None,
) -> Solution | None:
    """Solve a walk of people who have their strength over angle from one that has constant torque
    limits alone: what strength allows bends where motions far from walking are, and of walking it
    limits little.

    It begins where feet are placed, see `placed`. The first solve ends roughly, and the other goes
    on from its multipliers. MUMPS scales nothing, since the program is scaled already, and in the
    first solve all rows are regularized a little: those that mirror the ends leave zeros on the
    diagonal, and pivots put off for these add a third to the work of factorising. Statistics are as
    those of `doubly`, `constant_limits` and in it `motion_alone`. None where people have no such
    strength, and where either solve fails.
    """
    if not strong(problem):
        return None
    alone = placed(with_numbers(problem, values), solver, watch)
    plan = prepare(problem, transcription, solver if alone is None else left_of(alone, solver))
    attempts = more_and_more_careful(ROUGH)
    if alone is not None:
        attempts.insert(0, Attempt(options=PLACED, guess=replace(alone, multipliers={})))
    seen = onward(alone, with_stage(watch, "constant limits"))
    rough = plan.without(STRENGTH).solve(
        standing(problem), attempts=attempts, watch=seen, check_mesh=False, **values
    )
    rough = replace(rough, statistics=prepared(plan, rough.statistics))
    first = rough if alone is None else joined("motion_alone", alone, rough, solver)
    if first is None or not over(first, solver):
        return None
    bare = replace(first, multipliers={})
    attempts = Attempt(options=AFTER), Attempt(options=TUNED | NEAR, guess=bare)
    left = replace(plan, solver=left_of(first, with_plugin_of(first, solver)))
    last = left.solve(first, attempts=attempts, watch=onward(first, watch), **values)
    return joined("constant_limits", first, last, solver)


def placed(problem: Problem, solver: Solver, watch: Callable[..., Any] | None) -> Solution | None:
    """Return the motion of a step without its forces, from standing: with its feet where they shall
    be forces are found in half the iterations. None where it fails, and where `freely` says no."""
    if not freely(problem):
        return None
    plan = prepare(motion_alone(problem), SELDOM, solver, attempts=(Attempt(options=ALONE),))
    seen = with_stage(watch, "motion alone")
    first = plan.solve(standing(problem), watch=seen, check_mesh=False)
    first = replace(first, statistics=prepared(plan, first.statistics))
    return first if over(first, solver) else None


def freely(problem: Problem) -> bool:
    """Tell whether a step, in one phase, is a plain walk: arms swing, and the way is level.

    Without forces, arms that are not told how to swing and legs that go up or down take ways from
    which no better walks were found than from standing.
    """
    if problem.phases or problem.symmetry is None:
        return False
    told = any(family_of(each.name) == "coupling" for each in problem.constraints)
    climb = problem.symmetry.shift[problem.tree.coordinate("glob_ty")]
    return told and not nominal(climb)


def prepared(plan: Plan, statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statistics of a solve with what preparing its plan took."""
    both = {name: statistics[name] + plan.seconds for name in ("build_seconds", "total_seconds")}
    return {**statistics, **both}


def limited(problem: Problem) -> Problem:
    """Return a problem whose drives have their constant limits alone."""
    elements = tuple(each for each in problem.tree.elements if not isinstance(each, Strength))
    bare = replace(problem.tree, elements=elements)
    phases = tuple(replace(phase, tree=phase.tree and bare) for phase in problem.phases)
    return replace(problem, tree=bare, phases=phases)


def after(
    first: Solution,
    name: str,
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any,
    attempts: Sequence[Attempt],
    watch: Callable[..., Any] | None,
    values: Mapping[str, float] | None = None,
) -> Solution | None:
    """Return the Solution of a problem that begins at a `guess` to which a `first` one has led,
    within what that has left of the solver's limits; None where it fails.

    Its statistics are of both, and tell those of the first by `name`. `attempts` and `watch` are
    those of `solve`.
    """
    given: dict[str, Any] = {"guess": guess, "attempts": attempts, "values": values}
    left, seen = left_of(first, solver), onward(first, watch)
    last = solve(problem, transcription, left, watch=seen, **given)
    return joined(name, first, last, solver)


def over(solved: Solution, solver: Solver) -> bool:
    """Tell whether nothing is to be tried after a solve: it succeeded, was interrupted, or has used
    up a limit of the solver's."""
    left = budget_left(solved, solver)
    return solved.success or solved.status == INTERRUPTED or left.is_empty


def onward(first: Solution | None, watch: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Return the watcher of a solve that goes on from a first one: where that was interrupted, so
    is this, at once, and its best iterate is the end of the first."""
    if first is None or first.status != INTERRUPTED:
        return watch
    return lambda iteration: signal.raise_signal(signal.SIGINT)


def left_of(first: Solution, solver: Solver) -> Solver:
    """Return a solver within what a solve has left of its limits."""
    return budget_left(first, solver).limit(solver)


def with_plugin_of(first: Solution, solver: Solver) -> Solver:
    """Return a solver that goes on as a solve was made, where "auto" chooses: its multipliers lead
    that one on in fewer iterations, whatever an estimate for the stage by itself says."""
    return solver if solver.plugin != "auto" else replace(solver, plugin=first.statistics["plugin"])


def budget_left(first: Solution, solver: Solver) -> Any:
    """Return the budget that a solve has left of a solver's limits."""
    spent = first.statistics
    seconds = spent["solve_seconds"]
    return budget(solver).after(spent["iterations"], seconds, seconds)


def joined(name: str, first: Solution, last: Solution, solver: Solver) -> Solution | None:
    """Return the last of two solves as `counted`; None where it fails, and there is something left
    to try."""
    both = counted(name, first, last)
    return both if over(both, solver) else None


def counted(name: str, first: Solution, last: Solution) -> Solution:
    """Return the last of two solves with the statistics of both, and those of the first by
    `name`."""
    spent = first.statistics
    return replace(last, statistics=together(spent, last.statistics) | {name: dict(spent)})


def together(first: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statistics of the last of two solves with what both took."""
    return {
        **last,
        **total_statistics([first, last]),
        "stages": [*first["stages"], *last["stages"]],
    }
