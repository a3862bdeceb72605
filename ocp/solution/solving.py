"""The one verb: transcribe, check, minimise, and return what was found."""

import time
from dataclasses import dataclass, replace

import numpy as np

from ocp.mechanics.checks import numbers
from ocp.mechanics.structure import structure
from ocp.motion.mesh import Mesh, transfer
from ocp.motion.spline import BSpline, fit
from ocp.solution.certificate import verify
from ocp.solution.diagnosis import explain, preflight
from ocp.solution.solution import Solution
from ocp.solvers.nlp import Solver, feasibility, minimize
from ocp.transcription.guess import first_lifted, standing
from ocp.transcription.loop_laws import closed_points
from ocp.transcription.rows import gather_multipliers, name_multipliers
from ocp.transcription.transcribe import COARSE, Transcription, transcribe
from ocp.transcription.variables import free_duration, join, split


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A start of one's own: waypoints `q` (n, k) equally spaced in time, and the `duration` (s); None leaves the default. Loops are closed
    by the least change of joints that nothing drives, where that is possible."""

    q: object = None
    duration: float | None = None


def solve(
    problem,
    transcription=Transcription(),
    solver=Solver(),
    *,
    guess=None,
    watch=None,
    certify=False,
    feasible_first=False,
):
    """Return the Solution of a problem; not converging is a status, on which `.require()` insists.

    `guess` is a Guess, or a Solution (of any spline basis) that also lends its multipliers; by default the straight line between the
    prescribed ends. `watch(iteration)` sees every iteration. With `feasible_first` the solver first finds any motion that meets the
    constraints, and minimises from there: a rough start is smoothed before the objective pulls at it. With `certify` the solution carries
    its Verification.
    Raises ValueError before the solve for anything wrong with the statement.
    """
    begin = time.perf_counter()
    transcribed = transcribe(problem, transcription)
    x, warm = _start(transcribed, guess)
    if transcribed.reduction is not None:
        x, warm = transcribed.reduction.shrink(x), {}
    preflight(transcribed, x, solver.hessian)
    ready = time.perf_counter()
    stages = []
    if feasible_first:
        stages.append(minimize(feasibility(transcribed.nlp), solver, x, watch=watch))
        x, warm = stages[0].x, {}
    outcome = minimize(transcribed.nlp, solver, x, watch=watch, **warm)
    stages.append(outcome)
    if transcribed.reduction is not None:
        found, x_multipliers, g_multipliers = transcribed.reduction.spread(outcome)
        outcome = replace(
            outcome, x=found, x_multipliers=x_multipliers, g_multipliers=g_multipliers
        )
    points, duration, lifted = split(transcribed.layout, outcome.x)
    values = np.array(transcribed.terms(outcome.x)).ravel()
    nlp = transcribed.nlp
    statistics = {
        "plugin": solver.plugin,
        "hessian": solver.hessian,
        "options": dict(solver.options),
        "variables": len(x),
        "constraints": len(nlp.g_lower),
        "jacobian_nonzeros": _jacobian_nonzeros(nlp),
        "hessian_nonzeros": _hessian_nonzeros(nlp, solver),
        "iterations": sum(stage.iterations for stage in stages),
        "stages": [stage.status for stage in stages],
        "build_seconds": ready - begin + sum(stage.build_seconds for stage in stages),
        "solve_seconds": sum(stage.solve_seconds for stage in stages),
        "total_seconds": time.perf_counter() - begin,
        "warm_start": bool(warm),
        "kernels": transcribed.kernels(),
        "calls": {name: list(call) for name, call in outcome.calls.items()},
    }
    solution = Solution(
        problem=transcribed.problem,
        transcription=transcribed.transcription,
        points=points,
        duration=duration,
        nodes=transcribed.layout.nodes,
        lifted=lifted,
        objective=outcome.f,
        status=outcome.status,
        terms=tuple(
            (term.name, weight, float(value))
            for (weight, term), value in zip(problem.objective.terms, values)
        ),
        success=outcome.success,
        statistics=statistics,
        history=outcome.history,
        multipliers=name_multipliers(
            transcribed.rows, transcribed.asked, outcome.x_multipliers, outcome.g_multipliers
        ),
        explanation=() if outcome.success else explain(transcribed, outcome),
    )
    return replace(solution, verification=verify(solution)) if certify else solution


def _start(transcribed, guess):
    """Return the first x, and the keyword arguments of a warm start."""
    problem, layout = transcribed.problem, transcribed.layout
    if guess is None:
        return transcribed.guess, {}
    if isinstance(guess, Guess):
        points, duration = None, np.sqrt(np.prod(problem.duration))
        if guess.q is None:
            points, *_ = split(layout, transcribed.guess)
        wanted = (
            duration
            if guess.duration is None
            else float(numbers("guess: duration", guess.duration, ()))
        )
        points = _waypoints(problem, guess.q) if points is None else points
        duration = np.clip(wanted, *problem.duration)
        return join(layout, points, duration, first_lifted(layout, points, duration)), {}
    if not isinstance(guess, Solution):
        raise ValueError(f"guess: expected a Solution, a Guess or None, got {type(guess).__name__}")
    mine, his = (
        tuple(joint.name for joint in tree.moving) for tree in (problem.tree, guess.problem.tree)
    )
    if mine != his:
        raise ValueError(
            f"guess: belongs to another model: its joints are {', '.join(his)}; expected {', '.join(mine)}"
        )
    same = guess.problem.motion == problem.motion
    points = guess.points if same else transfer(guess.problem.motion, guess.points, problem.motion)
    x = join(layout, points, np.clip(guess.duration, *problem.duration), _resampled(layout, guess))
    if not guess.multipliers or not same and isinstance(problem.motion, Mesh):
        return x, {}
    x_multipliers, g_multipliers = gather_multipliers(
        transcribed.rows,
        guess.multipliers,
        len(x),
        len(transcribed.nlp.g_lower),
        free=free_duration(problem),
    )
    return x, {"x_multipliers": x_multipliers, "g_multipliers": g_multipliers}


def _resampled(layout, guess):
    """Return what a solution has lifted at the nodes of the layout; zero torques, and feet that share the weight, where it has nothing."""
    tree, t = layout.problem.tree, layout.nodes * guess.duration
    if (
        isinstance(layout.problem.motion, Mesh)
        or tree.loops
        and layout.problem.ground is None
        and len(layout.nodes)
    ):
        return np.vstack(
            [
                guess.tau(t)[list(structure(tree).drives)],
                guess.loop_forces(t)[list(structure(tree).cuts)]
                if tree.loops
                else np.empty((0, len(t))),
            ]
        )
    if guess.lifted.shape[0] != layout.place.shape[0]:
        return standing(layout)
    if not len(guess.nodes) or np.array_equal(guess.nodes, layout.nodes):
        return guess.lifted
    return np.array([np.interp(layout.nodes, guess.nodes, line) for line in guess.lifted])


def _waypoints(problem, q):
    q = np.asarray(q, dtype=float)
    if q.ndim != 2 or len(q) != problem.tree.dof or q.shape[1] < 2 or not np.isfinite(q).all():
        raise ValueError(
            f"guess: q: expected finite waypoints of shape ({problem.tree.dof}, 2 or more), got {q.shape}"
        )
    motion = BSpline(points=COARSE) if isinstance(problem.motion, Mesh) else problem.motion
    s = np.linspace(0.0, 1.0, 10 * motion.points)
    dense = np.array([np.interp(s, np.linspace(0.0, 1.0, q.shape[1]), line) for line in q])
    points = closed_points(replace(problem, motion=motion), fit(motion, dense, s))
    return transfer(motion, points, problem.motion) if motion != problem.motion else points


def _jacobian_nonzeros(nlp):
    return (
        nlp.jacobian.nnz_out(1)
        if nlp.jacobian is not None
        else nlp.constraints.jac_sparsity(0, 0).nnz()
    )


def _hessian_nonzeros(nlp, solver):
    return (
        nlp.hessian(solver.hessian).nnz_out(0)
        if nlp.hessian is not None and solver.hessian != "lbfgs"
        else None
    )
