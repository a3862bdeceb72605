"""A step of walking in a plane by 18 muscles, from a cold start (Falisse et al. 2019).

Feet are spheres that sink into the ground, so that the solve finds when they touch. What is least
are squared excitations of muscles, the squared share of the lumbar torque, squared rates of
activations and squared accelerations of joints, without which a mesh lets bodies tremble between
its nodes. Nothing measured is followed. The step begins where the thighs pass each other, since
nothing else says when it does. It is found on soft ground first, on a coarse mesh: on stiff ground
a crude start has poor optima near it. Then comes a mesh of equal intervals, refined until the
certificate holds.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import (
    Attempt,
    BSpline,
    Constraint,
    Guess,
    Problem,
    Radau,
    Solution,
    Solver,
    Task,
    Transcription,
    at_start,
    joint_limits,
    path,
    solve,
    squares,
    torque_limits,
)
from ocp import refine as refined
from ocp.cli import main
from ocp.mechanics import nominal, positive
from ocp.models.human.muscles.planar_walker import GROUND, STRONGEST, planar_walker, soles
from ocp.problem import mirror_symmetry, muscle_effort, muscle_outputs
from ocp.solving import budget, total_statistics, with_stage

RATES, ACCELERATIONS = 1e-2, 1e-3  # s2, and s4/rad2, beside excitations of at most 1
BETWEEN = {"y": (0.7, 1.1), "tilt": (-0.4, 0.4)}  # m, rad
STANCE, SWING = (0.12, -0.1, 0.0), (0.12, -0.9, 0.1)  # rad: hip, knee and ankle as thighs pass
BEHIND, AHEAD = (-0.25, -0.2, 0.1), (0.4, -0.1, -0.05)  # and with both feet down
STOOPED = -0.05  # rad, of pelvis and trunk
HEIGHTS = 0.943, 0.9175  # m of the pelvis there
SOFT, COARSE, ROUGH = 0.1, 8, 1e-2  # times the ground's stiffness, intervals, and IPOPT's tolerance
INTERVALS = 32  # of the first mesh on the ground itself
TOLERANCE = 1e-2  # of the certificate
CLOSE = {"mu_strategy": "adaptive", "max_iter": 300}  # options of IPOPT
OPTIONS = CLOSE | {"tol": 1e-4}  # where some activations cost next to nothing


def problem(speed: float = 1.2, step: float = 0.65) -> Problem:
    """`speed`: of walking (m/s); `step`: length of a step (m)."""
    positive("speed", speed)
    positive("step", step)
    tree = planar_walker()
    names = [joint.name for joint in tree.moving]
    swap = {"r": "l", "l": "r"}
    images = []
    for name in names:
        head, *tail = name.split(".")
        twin = ".".join([f"{head[:-1]}{swap[head[-1]]}", *tail]) if head[-2:-1] == "_" else name
        images.append(names.index(twin))
    right, left = tree.coordinate("hip_r"), tree.coordinate("hip_l")
    joints, states = range(right - 1, tree.dof - len(tree.states)), list(tree.states)
    held = [tree.coordinate(name) for name in BETWEEN]
    lower, upper = np.transpose([*BETWEEN.values()])
    objective = muscle_effort(tree)
    objective += squares("lumbar", lambda at: at.tau[right - 1] / STRONGEST)
    objective += RATES * squares("rates of activations", lambda at: at.qd[states])
    objective += ACCELERATIONS * squares("accelerations", lambda at: at.qdd[list(joints)])
    return Problem(
        tree=tree,
        motion=BSpline(points=20),
        duration=step / speed,
        objective=objective,
        loads=soles(tree),
        symmetry=mirror_symmetry(
            tree, index=images, sign=(1,) * tree.dof, shift={"x": step}, qdd=False
        ),
        constraints=(
            *at_start(tree, q={"x": 0.0}),
            Constraint(
                name="thighs pass",
                function=lambda at: at.q[right] - at.q[left],
                lower=0.0,
                upper=0.0,
                when="start",
            ),
            path("pelvis", lambda at: at.q[held], lower=lower, upper=upper),
            joint_limits(tree),
            torque_limits(tree),
        ),
        outputs=muscle_outputs(tree),
    )


def cold_guess(problem: Problem) -> Guess:
    """Return three postures: the thighs pass, both feet down, and the first one's image."""
    assert problem.symmetry is not None
    step = max(float(nominal(value)) for value in problem.symmetry.shift)
    high, low = HEIGHTS
    begin = [0.0, high, STOOPED, STOOPED, *STANCE, *SWING]
    middle = [step / 2, low, STOOPED, STOOPED, *BEHIND, *AHEAD]
    end = [step, high, STOOPED, STOOPED, *SWING, *STANCE]
    return Guess(q=np.column_stack([begin, middle, end]))


def soft_step(problem: Problem, solver: Solver = Solver(), **settings: Any) -> Solution:
    """Solve the walk on soft ground and a coarse mesh, roughly, from three postures."""
    return solve(
        replace(problem, loads=soles(problem.tree, SOFT * GROUND["stiffness"])),
        Transcription(method=Radau(intervals=COARSE)),
        solver,
        guess=cold_guess(problem),
        attempts=(Attempt(options=CLOSE | {"tol": ROUGH}),),
        **settings,
    )


def walk(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    refine: float | None = None,
    watch: Callable[..., Any] | None = None,
    **settings: Any,
) -> Solution:
    """Solve the walk from a step on soft ground, or from a guess, on a mesh that is refined where
    the certificate does not hold: at the strike above all.

    The first mesh whose certificate holds to TOLERANCE ends it, unless another tolerance to
    `refine` to is given, to which the objective is to settle too. Statistics are of all solves; a
    step on soft ground that fails is returned.
    """
    spent: list[dict[str, Any]] = []
    if guess is None:
        told = with_stage(watch, "soft ground")
        guess = soft_step(problem, solver, watch=told, values=settings.get("values"))
        if not guess.success:
            return guess
        spent = [dict(guess.statistics)]
        seconds = guess.statistics["solve_seconds"]
        left = budget(solver).after(guess.statistics["iterations"], seconds, seconds)
        solver = left.limit(solver)
    solution = refined(
        problem,
        refine or TOLERANCE,
        transcription,
        solver,
        guess=guess,
        attempts=(Attempt(options=OPTIONS),),
        settle=refine is not None,
        watch=watch,
        **settings,
    )
    last = dict(solution.statistics)
    return replace(solution, statistics=last | total_statistics([*spent, last]))


TASK = Task(problem, transcription=Transcription(method=Radau(intervals=INTERVALS)), method=walk)

if __name__ == "__main__":
    main(TASK)
