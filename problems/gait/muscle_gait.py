"""A step of walking in space, legs driven by 86 muscles, predicted from the upright posture.

Body, tissue, contact, and what is asked and spared are those of the walk by torques, `ocp run
gait`, whose trunk and arms torques move as there. Joints of the legs have muscles in the place of
their strength and, beside them, reserve torques of a few N m. Achilles tendons stretch, their
forces on curves of their own: on that of the joints their law strays between the nodes, which
throws the light toes of a foot in swing about. What `leg_effort` says is spared of these muscles by
the weights of joints, and of reserves their squares. The walk by torques is solved first; its
motion alone is where this begins.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import casadi as ca
import numpy as np

from ocp import (
    Attempt,
    Problem,
    Solution,
    Solver,
    Strength,
    Task,
    Transcription,
    path,
    solve,
    squares,
)
from ocp.cli import main
from ocp.mechanics import State, any_nonzero, nominal
from ocp.mechanics.muscles import (
    Muscle,
    active_force,
    force_velocity,
    muscles_of,
    tendon_length,
)
from ocp.models.human import Person, somebody
from ocp.models.human.muscles.leg_muscles import ACHILLES, RIGID, leg_muscles
from ocp.motion import coarsest_curve
from ocp.problem import mirror_symmetry, muscle_outputs
from ocp.problems.gait import TASK as WALK
from ocp.problems.gait.by_muscles.falisse_objective import (
    FALISSE,
    OF_MUSCLES,
    falisse_objective,
)
from ocp.problems.gait.by_muscles.leg_effort import ENERGY, EXCITATIONS, WORK, leg_effort
from ocp.problems.gait.solve_step import closely, counted, left_of, onward, quickest, walk
from ocp.problems.gait.statement.step import problem as step_problem
from ocp.problems.gait.statement.walking_task import Accuracy, Carried, Gait, Terrain
from ocp.problems.lab.muscles.muscle_forces import muscle_forces
from ocp.solvers import fronts
from ocp.solving import with_stage
from ocp.spelling import suggest_fields
from ocp.transcription import Spline, with_dependent_curves

LEGS = ("hip_", "knee_", "ankle_", "toe_")  # joints that muscles move
RESERVE, MOST = 10.0, 5.0  # N m: that counts one, and at most [assumed]
OWN = {EXCITATIONS, WORK, ENERGY, "reserves", *OF_MUSCLES}  # terms beside the walk's
STEPS = 5  # to a segment: on 3, excitations leave their bounds by 0.014 between nodes
WAYPOINTS = 41  # of the walk by torques, from which this begins
NEAR = 1e-6  # of the largest force: so exactly tensions are found where a walk begins
LOADED = 0.3  # of its largest force: how a tendon that stretches is drawn out there [assumed]
# With a tolerance of 1e-4 the objective stays 1.9 % above that of 1e-5, by bounds of excitations
OPTIONS = {"tol": 1e-5, "max_iter": 300, "mu_init": 1e-2, "mu_strategy": "adaptive"}


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What muscles spare, and which tendons stretch.

    `spare`: beside excitations the work of fibres, or metabolic energy by a law, or nothing
    (excitation), or what Falisse et al. (2022) do in the place of all that people spare;
    `tendons`: that stretch, of achilles those of soleus and gastrocnemii, or none
    (rigid).
    """

    spare: Literal[
        "excitation",
        "work",
        "bhargava_2004",
        "bhargava_by_force",
        "umberger_2003",
        "umberger_2010",
        "uchida_2016",
        "falisse_2022",
    ] = "work"
    tendons: Literal["achilles", "rigid"] = "achilles"


def problem(
    gait: Gait = Gait(),
    person: Person = Person(),
    terrain: Terrain = Terrain(),
    carried: Carried = Carried(),
    effort: Effort = Effort(),
    accuracy: Accuracy = Accuracy(),
) -> Problem:
    """Return one step of a walk by muscles.

    Args:
        gait: speed, length and timing of steps, in one phase.
        person: whose body.
        terrain: slope of the ground.
        carried: burdens, alike on both sides.
        effort: what muscles spare, and which of their tendons stretch.
        accuracy: fineness of the motion, and tolerances.

    Raises:
        ValueError: for walks in phases, and stairs.
    """
    if gait.stride != "half" or gait.free_timing or gait.free:
        raise ValueError(
            "muscle_gait: expected stride half, its timing and lengths given: a step in one phase"
        )
    if any_nonzero((terrain.rise,)):
        raise ValueError("muscle_gait: rise: no stairs by muscles")
    stated = step_problem(gait, person, terrain=terrain, carried=carried, accuracy=accuracy)
    body, who, symmetry = stated.tree, somebody(person), stated.symmetry
    assert symmetry is not None
    stretching = ACHILLES if effort.tendons == "achilles" else RIGID
    muscles = leg_muscles(
        body, nominal(who["stature"]), nominal(who["muscles"]), compliant=stretching
    )
    others = tuple(each for each in body.elements if not _is_of_leg(each))
    tree = replace(body, elements=(*others, *muscles))
    names = [joint.name for joint in tree.moving]
    images = [*symmetry.index, *(names.index(_twin(name)) for name in names[body.dof :])]
    shift = dict(zip(names, symmetry.shift))
    rows = [row for row, name in enumerate(names[: body.dof]) if name.startswith(LEGS)]
    states = list(tree.states)
    share = 10.0 / stated.duration[0]
    if effort.spare == FALISSE:
        objective = falisse_objective(tree, body, who, shift["glob_tz"])
    else:
        objective = (
            stated.objective
            + share * leg_effort(tree, body, who, effort.spare)
            + share * squares("reserves", lambda at: at.tau[rows] / RESERVE)
        )
    whole = replace(
        stated,
        tree=tree,
        symmetry=mirror_symmetry(
            tree,
            images,
            [*symmetry.sign, *[1.0] * len(states)],
            shift={name: value for name, value in shift.items() if nominal(value)},
            qdd=symmetry.accelerations,
        ),
        objective=objective,
        constraints=(
            *stated.constraints,
            path("reserves", lambda at: at.tau[rows], lower=-MOST, upper=MOST),
        ),
        outputs=muscle_outputs(tree),
    )
    return with_dependent_curves(whole, accuracy.pieces) if stretching else whole


def _is_of_leg(element: object) -> bool:
    """Tell whether an element is the strength of a leg's joint."""
    return isinstance(element, Strength) and element.joint.startswith(LEGS)


def _twin(name: str) -> str:
    """Return the name of the state on the other side."""
    head, tail = name.split(".")
    return f"{head[:-1]}{'l' if head.endswith('r') else 'r'}.{tail}"


def by_torques(problem: Problem) -> Problem:
    """Return a step without its muscles, legs driven by torques."""
    known = {each.name for each in muscles_of(problem.tree)}
    tree, symmetry = problem.tree, problem.symmetry
    assert symmetry is not None
    kept = tuple(each for each in tree.elements if each.name not in known)
    bare = replace(tree, elements=kept)
    terms = tuple(each for each in problem.objective.terms if each[1].name not in OWN)
    return replace(
        problem,
        tree=bare,
        motion=coarsest_curve(problem.motion),
        symmetry=mirror_symmetry(
            bare,
            symmetry.index[: bare.dof],
            symmetry.sign[: bare.dof],
            shift={
                joint.name: value
                for joint, value in zip(bare.moving, symmetry.shift)
                if nominal(value)
            },
            qdd=symmetry.accelerations,
        ),
        objective=replace(problem.objective, terms=terms),
        constraints=tuple(each for each in problem.constraints if each.name != "reserves"),
        outputs={},
    )


def walk_by_muscles(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
) -> Solution:
    """Solve the walk by muscles from that by torques, which begins at the upright posture, or from
    a guess. Statistics are of both; a walk by torques that fails is returned."""
    method = transcription.method
    if isinstance(method, Spline) and method.nodes == Spline().nodes:
        transcription = replace(transcription, method=replace(method, nodes=STEPS))
    transcription = closely(problem, transcription)
    if solver.plugin == "auto" and fronts.available():  # which takes half IPOPT's time
        solver = replace(solver, plugin="structured")
    attempts = (Attempt(options=OPTIONS),)
    if guess is not None:
        return solve(problem, transcription, solver, guess=guess, attempts=attempts, watch=watch)
    seen = with_stage(watch, "by torques")
    first = walk(by_torques(problem), WALK.transcription, solver, watch=seen)
    if not first.success:
        return first
    last = solve(
        problem,
        transcription,
        quickest(left_of(first, solver), transcription),
        guess=_shared(problem, first),
        attempts=attempts,
        watch=onward(first, watch),
    )
    return counted("by_torques", first, last)


def _shared(problem: Problem, first: Solution) -> Solution:
    """Return a walk by torques with its moments shared by muscles at every instant, with the least
    squared activations: a start of the walk by muscles."""
    tree, s = problem.tree, np.linspace(0.0, 1.0, WAYPOINTS)
    known, t = muscles_of(tree), s * first.duration
    names = [joint.name for joint in first.problem.tree.moving]
    crossed = {joint for each in known for joint in each.joints(tree)}
    loaded = [replace(each, slack=each.slack * _under_load(each)) for each in known]
    share = muscle_forces(
        replace(tree, elements=tuple(loaded)),
        t,
        first.q(t),
        first.qd(t),
        first.tau(t),
        joints=[name for name in names if name in crossed],
    )
    states = np.zeros((tree.dof, WAYPOINTS))

    def course(at: np.ndarray, order: int = 0) -> np.ndarray:
        values = np.array([np.interp(at, s, line) for line in states])
        return values if order == 0 else np.zeros_like(values)

    for each, activation, force in zip(known, share.activations, share.forces):
        row = tree.coordinate(f"{each.name}.activation")
        states[row] = activation
        if each.compliant:
            start = force[0] / float(nominal(each.force))
            states[row + 1] = _tensions(each, first, t, activation, start)
    motion = first.problem.motion
    points = motion.through(course, rough=True)  # at rest at both ends
    points[: len(names)] = first.points
    drives = [joint.name for joint in first.problem.tree.moving if joint.actuated]
    excitations = [np.interp(first.nodes, s, line) for line in share.activations]
    torques, wrenches = np.split(first.lifted, [len(drives)])
    torques = np.where([[name in crossed] for name in drives], 0.0, torques)
    lifted = np.vstack([torques, excitations, wrenches])
    stated = replace(problem, motion=motion)
    return replace(first, problem=stated, points=points, lifted=lifted, multipliers={})


def _tensions(
    muscle: Muscle, first: Solution, t: np.ndarray, activation: np.ndarray, start: float
) -> np.ndarray:
    """Return the tension (N,) over the largest force, from a `start` on, of a tendon that stretches
    as fibres of an activation (N,) pull it along a motion at times (N,): implicit Euler."""
    tree, q = first.problem.tree, first.q(t)
    paths = [float(muscle.path.length(State(tree=tree, q=ca.DM(x)))) for x in q.T]
    fibre, slack = float(nominal(muscle.fibre)), float(nominal(muscle.slack))

    def along(k: int, tension: float) -> float:
        return paths[k] - slack * float(tendon_length(tension, muscle.tendon_strain))

    def lacks(k: int, tension: float, before: float) -> bool:
        reach = along(k, tension)
        length = np.hypot(reach, fibre * np.sin(muscle.pennation))
        speed = (reach - before) / (t[k] - t[k - 1]) * reach / length / (muscle.fastest * fibre)
        able = active_force(length / fibre, muscle.width) * force_velocity(speed)
        return bool(tension < (activation[k] * able + muscle.damping * speed) * reach / length)

    tensions = [start]
    for k in range(1, len(t)):
        before, (lower, upper) = along(k - 1, tensions[-1]), muscle.tension
        while upper - lower > NEAR:
            middle = (lower + upper) / 2
            lower, upper = (middle, upper) if lacks(k, middle, before) else (lower, middle)
        tensions.append(lower)
    return np.array(tensions)


def _under_load(muscle: Muscle) -> float:
    """Return the length of a tendon over its slack length, of a compliant one under LOADED."""
    return float(tendon_length(LOADED, muscle.tendon_strain)) if muscle.compliant else 1.0


TASK = Task(
    problem,
    method=walk_by_muscles,
    views=WALK.views,
)

if __name__ == "__main__":
    main(TASK)
