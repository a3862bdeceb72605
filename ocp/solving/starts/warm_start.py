"""Start of a solve: a guess of waypoints, a former solution, or the default."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.degrees import warn_of_degrees
from ocp.mechanics.values.validation import describe_value, positive, set_fields
from ocp.motion.basis import Basis, transfer
from ocp.motion.free_knots import Moving, with_widths
from ocp.motion.spline import BSpline
from ocp.pickling import portable
from ocp.problem.contact.complementarity import Touch, touches
from ocp.problem.contact.contact_implicit_loads import force_of
from ocp.problem.contact.ground import Ground, of_contacts, slots
from ocp.problem.contact.state_dependent_forces import Acting, ForceLaw
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.budget import Start
from ocp.solving.starts.split_start import phase_edges, phase_solution, phase_waypoints
from ocp.spelling import suggest_fields
from ocp.transcription.initial_guess import (
    lifted_guess,
    normalise_quaternions,
    rest_states,
    static_forces,
)
from ocp.transcription.laws.loop_laws import close_loops
from ocp.transcription.phases.link_program import ProgramLayout
from ocp.transcription.transcribe import Transcribed, join_multipliers
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.interpolation import wrench_interpolation
from ocp.transcription.variables.layout import Layout, join_variables, split_variables
from ocp.transcription.variables.named_multipliers import (
    gather_multipliers,
    rescale_law_multipliers,
)


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A start of one's own: waypoints `q` (n, k) (rad or m), and the `duration` (s).

    Waypoints are equally spaced in time; None leaves the default. Those of elements' states may be
    left out, which then begin at rest in every posture. Loops are closed by the least
    change of joints that nothing drives, where that is possible. Raises ValueError naming the
    field.
    """

    q: ArrayLike | None = None
    duration: float | None = None

    def __post_init__(self) -> None:
        if self.duration is not None:
            set_fields(self, duration=positive("guess: duration", self.duration))
        if self.q is None:
            return
        try:
            np.asarray(self.q, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(
                "guess: q: expected numbers (n, k), a row for each joint in their order and a "
                f"column for each waypoint, got {describe_value(self.q)}"
            ) from None


Guesses = Guess | Solution | Mapping[str, "Guess | Solution"] | None


def start(transcribed: Transcribed, guess: Guesses) -> Start:
    """Return the Start of a solve.

    Args:
        transcribed: the program.
        guess: a Guess or Solution of the motion, of which each phase takes its share, or one of
            each phase by name; None for the straightest motion.

    Raises:
        ValueError: for what is no guess, or one of another model or of other phases.
    """
    if guess is None:
        return Start(x=transcribed.shrink(transcribed.guess))
    guesses = _guesses_of_phases(transcribed, guess)
    parts = zip(transcribed.names, transcribed.parts)
    begins = [start_phase(part, guesses.get(name)) for name, part in parts]
    if transcribed.only_part:
        (begin,) = begins
        return begin if transcribed.reduction is None else Start(x=transcribed.shrink(begin.x))
    x, layout = transcribed.join_phases([begin.x for begin in begins]), transcribed.layout
    if not isinstance(guess, Solution) or guess.single_phase:
        return Start(x=x)
    for asking in transcribed.links:
        if asking.strikes and asking.name in guess.impulses:
            x[layout.impulses[asking.name]] = asking.variables_at(guess.impulses[asking.name])
    x[layout.parameters] = _start_parameters(layout, guess)
    if not all(begin.multipliers for begin in begins):
        return Start(x=x)
    known = [
        (begin.multipliers["x_multipliers"], begin.multipliers["g_multipliers"]) for begin in begins
    ]
    x_multipliers, g_multipliers = join_multipliers(transcribed, guess.multipliers, known)
    multipliers = {"x_multipliers": x_multipliers, "g_multipliers": g_multipliers}
    return Start(x=x, multipliers=multipliers)


def start_phase(part: TranscribedPhase, guess: Guess | Solution | None) -> Start:
    """Return the Start of a phase as if it were alone; raise ValueError as `start`."""
    if guess is None:
        return Start(x=part.guess)
    if isinstance(guess, Guess):
        return Start(x=_guess_variables(part, guess))
    if isinstance(guess, Solution):
        return _warm_start(part, guess)
    kind = type(guess).__name__
    raise ValueError(f"guess: expected a Solution, a Guess or None, got {kind}")


def _guesses_of_phases(transcribed: Transcribed, guess: Guesses) -> Mapping[str, Any]:
    """Return {phase: guess}; of one of the whole motion its share."""
    names, parts = transcribed.names, transcribed.parts
    if isinstance(guess, Solution) and set(guess.parts) <= set(names):
        return guess.parts
    if names == ("",):
        return {"": guess}
    if isinstance(guess, Guess) or (isinstance(guess, Solution) and guess.single_phase):
        edges = phase_edges(parts)
        return {name: _share(part, guess, *own) for name, part, own in zip(names, parts, edges)}
    if isinstance(guess, Mapping) and guess and set(guess) <= set(names):
        return guess
    raise ValueError(
        f"guess: expected a Solution of the phases {', '.join(names)}, or a guess of each by name"
    )


def _share(part: TranscribedPhase, guess: Guess | Solution, a: float, b: float) -> Guess | Solution:
    """Return the guess of a phase that one of the whole motion makes, from s = a to s = b."""
    if isinstance(guess, Solution):
        return phase_solution(part.problem, part.layout.nodes, guess, a, b)
    q = None if guess.q is None else np.asarray(guess.q, dtype=float)
    return Guess(
        q=q if q is None or q.ndim != 2 else phase_waypoints(q, a, b),
        duration=None if guess.duration is None else (b - a) * guess.duration,
    )


def _guess_variables(transcribed: TranscribedPhase, guess: Guess) -> np.ndarray:
    """Return the x of a start of one's own."""
    problem, layout = transcribed.problem, transcribed.layout
    duration = np.sqrt(np.prod(problem.duration))
    if guess.duration is not None:
        duration = guess.duration
    duration = np.clip(duration, *problem.duration)
    if guess.q is None:
        points, *_ = split_variables(layout, transcribed.guess)
    else:
        guide = transcribed.transcription.method.guide(problem.motion)
        points = waypoints(problem, guide, guess.q)
        ends = ((joint, line[np.abs(line).argmax()]) for joint, line in _lines(problem, guess.q))
        warn_of_degrees("guess: q", ends)
    return join_variables(layout, points, duration, lifted_guess(layout, points, duration))


def _warm_start(transcribed: TranscribedPhase, guess: Solution) -> Start:
    """Return the Start from a former solution, with its multipliers where rows are the same."""
    refuse_phases("guess: its solution", guess.problem)
    problem, layout = transcribed.problem, transcribed.layout
    expected = [joint.name for joint in problem.tree.moving]
    names = [joint.name for joint in guess.problem.tree.moving]
    if expected != names:
        raise ValueError(
            f"guess: belongs to another model: its joints are {', '.join(names)}; "
            f"expected {', '.join(expected)}"
        )
    motion = _start_basis(layout, guess.problem.motion)
    same = guess.problem.motion == motion
    points = guess.points if same else transfer(guess.problem.motion, guess.points, motion)
    duration = np.clip(guess.duration, *problem.duration)
    x = join_variables(layout, points, duration, _resample_lifted(layout, guess), motion)
    x[layout.parameters] = _start_parameters(layout, guess)
    if not guess.multipliers or (not same and problem.motion.collocated):
        return Start(x=x)
    weights = body_weight(guess.problem.tree), layout.weight
    x_multipliers, g_multipliers = gather_multipliers(
        transcribed.rows,
        rescale_law_multipliers(guess.multipliers, transcribed.transcription.method, *weights),
        layout,
        len(transcribed.nlp.g_lower),
    )
    multipliers = {"x_multipliers": x_multipliers, "g_multipliers": g_multipliers}
    return Start(x=x, multipliers=multipliers)


def _start_parameters(layout: Layout | ProgramLayout, guess: Solution) -> list[float]:
    """Return the parameters of a start: what is sought is where a solution has it."""
    sought = layout.sought
    return [
        guess.parameters.get(each.name, number) if each in sought else number
        for each, number in layout.values.items()
    ]


def _start_basis(layout: Layout, former: Basis) -> Basis:
    """Return the basis on which a motion begins that was one on a `former` basis: free knots where
    those are, if there are as many."""
    motion = layout.problem.motion
    if not layout.moving or not isinstance(former, type(motion)):
        return motion
    alike = (former.points, former.degree) == (motion.points, motion.degree)
    fits = alike and len(former.breaks) == len(motion.breaks)
    return with_widths(cast(Moving, motion), np.diff(former.breaks)) if fits else motion


def _resample_lifted(layout: Layout, guess: Solution) -> np.ndarray:
    """Return a solution's lifted variables at the nodes of the layout; where it has none, torques
    are zero and feet share the weight.
    """
    problem, t = layout.problem, layout.nodes * guess.duration
    drawn = structure(problem.tree)
    cut = drawn.closed and problem.ground is None and len(layout.nodes)
    if problem.motion.collocated or cut:
        torques = guess.tau(t)[list(drawn.drives)]
        cuts = [guess.loop_forces(t)[list(drawn.cuts)]] if drawn.closed else []
        found = [_stay_forces(problem, guess, t), _touch_forces(problem, guess, t)]
        return np.vstack([torques, *cuts, *found, _contact_wrenches(layout, guess)])
    if touches(problem.loads) and touches(guess.problem.loads) != touches(problem.loads):
        torques = guess.tau(t)[list(drawn.drives)]
        return np.vstack(
            [torques, _stay_forces(problem, guess, t), _touch_forces(problem, guess, t)]
        )
    if guess.lifted.shape[0] != layout.place.shape[0]:
        return static_forces(layout)
    if not len(guess.nodes) or np.array_equal(guess.nodes, layout.nodes):
        return guess.lifted
    return np.array([np.interp(layout.nodes, guess.nodes, line) for line in guess.lifted])


def _contact_wrenches(layout: Layout, guess: Solution) -> np.ndarray:
    """Return wrenches of contacts (6 contacts, N) of a solution; the shared weight where its
    contacts differ.
    """
    problem, former = layout.problem, guess.problem
    if problem.ground is None:
        return np.empty((0, len(layout.nodes)))
    count = len(slots(problem.ground))
    if not guess.stands or slots(cast(Ground, former.ground)) != slots(problem.ground):
        return of_contacts(static_forces(layout), count)
    return (
        of_contacts(guess.lifted, count) @ wrench_interpolation(former, guess.nodes, layout.nodes).T
    )


def _stay_forces(problem: Problem, guess: Solution, t: np.ndarray) -> np.ndarray:
    """Return the forces of the problem's stays (sides, N) as a solution had them, zero where it had
    others."""
    labels = structure(problem.tree).stay_labels
    if structure(guess.problem.tree).stay_labels != labels:
        return np.zeros((len(labels), len(t)))
    return guess.stay_forces(t)


def _touch_forces(problem: Problem, guess: Solution, t: np.ndarray) -> np.ndarray:
    """Return the forces of the problem's contacts in components (rows, N), as the contacts of a
    solution at the same points had them, zero where it had none."""
    lines = [np.empty((0, len(t)))]
    former: dict[str, Acting] = {each.point: each for each in guess.problem.loads}
    for touch in touches(problem.loads):
        load = former.get(touch.point)
        if isinstance(load, ForceLaw | Touch):
            force = guess.trace(force_of(load), t)
            lines.append(np.array(touch.axes).T @ force)
        else:
            lines.append(np.zeros((touch.size, len(t))))
    return np.vstack(lines)


def _lines(problem: Problem, q: ArrayLike) -> Iterator[tuple[Joint, np.ndarray]]:
    """Return joints with their waypoints (k,)."""
    return zip(problem.tree.moving, np.asarray(q, dtype=float))


def waypoints(problem: Problem, guide: BSpline | None, q: ArrayLike) -> np.ndarray:
    """Return the control points of a motion along waypoints, its loops closed, and states of
    elements at rest in its postures where no waypoints say otherwise."""
    q, states = np.asarray(q, dtype=float), len(problem.tree.states)
    if states and q.ndim == 2 and len(q) == problem.tree.dof - states:
        rest = np.array(problem.tree.neutral[-states:])
        whole = np.vstack([q, np.repeat(rest[:, None], q.shape[1], axis=1)])
        return rest_states(problem, waypoints(problem, guide, whole))
    if q.ndim != 2 or len(q) != problem.tree.dof or q.shape[1] < 2:
        raise ValueError(
            f"guess: q: expected waypoints of shape ({problem.tree.dof}, 2 or more), got {q.shape}"
        )
    for joint, line in _lines(problem, q):
        if not np.isfinite(line).all():
            odd = line[~np.isfinite(line)][0]
            raise ValueError(
                f"guess: q: joint {joint.name!r}: expected finite waypoints, got {odd}"
            )
    motion: Any = guide or problem.motion  # without a guide it is a spline
    s = np.linspace(0.0, 1.0, 10 * motion.points)
    dense = np.array([np.interp(s, np.linspace(0.0, 1.0, q.shape[1]), line) for line in q])
    dense = normalise_quaternions(problem.tree, dense)
    points = motion.fit(dense, s)
    if problem.tree.loops:
        points = close_loops(replace(problem, motion=motion), points)
    return transfer(motion, points, problem.motion)
