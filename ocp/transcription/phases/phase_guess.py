"""The first guess of a motion of phases: the straightest one that keeps together.

The straight motions of the phases, each by itself, neither meet nor stand where contacts hold. So
all control points c are sought at once that make

    sum over phases of  1/T  integral |q' - a|^2 ds        (primes are d/ds)

least where the equalities hold that concern coordinates, rates and accelerations alone: what is
prescribed, what is the same where phases meet, contacts and loops that hold, whatever strikes
leaves the ground as it does. Durations T are held, as long as flights say (`ballistic`). Slides of
a root that nothing bears follow gravity, a = g T^2 (s - 1/2), the arc of a ballistic flight;
elsewhere a = 0. The search is a damped one (`_levenberg_marquardt`); laws of motion, forces and
inequalities are the solver's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import array
from ocp.mechanics.values.validation import nominal_array
from ocp.motion.quadrature import quadrature
from ocp.problem import reserved_names
from ocp.problem.statement import Problem
from ocp.solvers.nlp import NLP, Evaluator, with_derivatives
from ocp.transcription.initial_guess import lifted_guess
from ocp.transcription.phases.duration_guess import mean_duration, phase_durations
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import free_duration, join_variables

Program: TypeAlias = Any  # a Transcribed, whose module stands on this one

FORCES = (
    *(
        reserved_names.DYNAMICS,
        reserved_names.PASSIVE,
        reserved_names.CONTROLS,
        reserved_names.STATES,
        reserved_names.STAYS,
        reserved_names.TOUCHING,
        reserved_names.WIRES,
    ),
    *(reserved_names.TOUCHES, reserved_names.RESTING, reserved_names.GRIPPING),
)  # laws that a guess of the motion leaves out
WEIGHTS = (1e2, 1e4, 1e7)  # of the equalities beside straightness, one search after the other
ITERATIONS = 15  # of each
MET = 1e-5  # gaps of equalities, over the size of their slopes
SHORT = 1e-4  # rad or m: a step that ends a search
PULL = 1e-5  # toward the start of the search, where nothing else says where
INSIDE = 0.1  # of a joint's range, that the search starts within it: no joint is straight


@dataclass(frozen=True, slots=True, kw_only=True)
class Straight:
    """What makes a motion straight: `hessian` (variables, variables) and `slope` (variables,) of
    half the sum, at control points `free` (bool, variables)."""

    hessian: ca.DM
    slope: np.ndarray
    free: np.ndarray


def phases_guess(program: Program) -> np.ndarray:
    """Return x of a `Phased` program at its first guess."""
    program = replace(program, nlp=with_derivatives(program.nlp))
    times = phase_durations(
        [part.layout.problem for part in program.parts], program.statement.transitions, root_gravity
    )
    own = [
        part.guess if mean_duration(part.layout.problem) == T else _with_forces(part, part.guess, T)
        for part, T in zip(program.parts, times)
    ]
    alone = program.join_phases(own)
    straight = _straight(program, times)
    rows = _motion_equalities(program, alone, straight.free)
    total = _weighted_sum(program, straight, _within_joint_ranges(program, alone), rows)
    x = _levenberg_marquardt(total)
    before, after = (np.abs(total.gaps(each)[0]).max(initial=0.0) for each in (alone, x))
    if not after < max(before, MET):
        return alone
    return program.join_phases(
        [_with_forces(part, x[columns], T) for (part, columns), T in zip(_parts(program), times)]
    )


def _parts(program: Program) -> Iterator[tuple[TranscribedPhase, np.ndarray]]:
    return zip(program.parts, program.columns)


def _points(part: TranscribedPhase) -> slice:
    """Return the places of the control points in x of a phase."""
    problem = part.layout.problem
    first = int(free_duration(problem))
    return slice(first, first + problem.tree.dof * problem.motion.points)


def _with_forces(part: TranscribedPhase, x: np.ndarray, T: float) -> np.ndarray:
    """Return x of a phase that lasts T (s), with what is lifted made anew."""
    problem = part.layout.problem
    points = np.reshape(x[_points(part)], (problem.tree.dof, -1), order="F")
    return join_variables(part.layout, points, T, lifted_guess(part.layout, points, T))


def _straight(program: Program, times: Sequence[float]) -> Straight:
    """Return the quadratic form that is least where all phases are straight, of phases that last so
    long (s)."""
    size = program.layout.size
    free, slope, triplets = np.zeros(size, dtype=bool), np.zeros(size), []
    for (part, columns), T in zip(_parts(program), times):
        problem = part.layout.problem
        s, weight = quadrature(problem.motion, "gauss", problem.motion.degree)
        values = problem.motion.values(s, 1)
        places = columns[_points(part)].reshape((problem.tree.dof, -1), order="F")
        free[places] = True
        stiffness = values.T @ (weight[:, None] * values) / T
        arc = values.T @ (weight * (s - 0.5)) * T  # T^2 / T
        for line, pull in zip(places, root_gravity(problem)):
            slope[line] -= pull * arc
            row, column = np.nonzero(stiffness)
            triplets.append((line[row], line[column], stiffness[row, column]))
    rows, columns, values = (
        np.concatenate([np.ravel(one) for one in each]) for each in zip(*triplets)
    )
    hessian = ca.DM.triplet(rows.tolist(), columns.tolist(), ca.DM(values), size, size)
    return Straight(hessian=hessian, slope=slope, free=free)


def root_gravity(problem: Problem) -> np.ndarray:
    """Return gravity (n,; m/s2) along the slides of a root that nothing drives or bears."""
    tree, pulls = problem.tree, np.zeros(problem.tree.dof)
    if problem.ground is not None:
        return pulls
    gravity = nominal_array(array(tree.gravity))
    for row, joint in enumerate(tree.moving):
        if joint.kind == "prismatic" and not joint.actuated and _slides(tree, joint.name):
            pulls[row] = gravity @ _axis(tree, joint.name)
    return pulls


def _chain(tree: Tree, name: str) -> list:
    """Return the joints from the ground to the named one."""
    known = dict(zip(tree.link_names, tree.joints))
    chain = [tree.joints[tree.joint_index(name)]]
    while chain[0].parent in known:
        chain.insert(0, known[chain[0].parent])
    return chain


def _slides(tree: Tree, name: str) -> bool:
    """Tell whether a coordinate is that of a joint, and nothing turns between the ground and it."""
    if all(joint.name != name for joint in tree.joints):  # how a link bends
        return False
    return all(joint.kind in ("prismatic", "fixed") for joint in _chain(tree, name))


def _axis(tree: Tree, name: str) -> np.ndarray:
    """Return the global direction (3,) of a slide that nothing turns."""
    turn = np.eye(3)
    for joint in _chain(tree, name):
        turn = turn @ nominal_array(array(joint.home))[:3, :3]
    return turn @ nominal_array(array(_chain(tree, name)[-1].screw))[3:]


def _within_joint_ranges(program: Program, x: np.ndarray) -> np.ndarray:
    """Return x with coordinates moved into the ranges of their joints."""
    x = x.copy()
    for part, columns in _parts(program):
        tree = part.layout.problem.tree
        places = columns[_points(part)].reshape((tree.dof, -1), order="F")
        count = part.layout.problem.motion.points
        if part.layout.problem.motion.collocated:
            continue
        for line, joint in zip(places[:, :count], tree.moving):
            lower, upper = nominal_array(array(joint.position))
            if np.isfinite([lower, upper]).all():
                room = INSIDE * (upper - lower)
                x[line] = np.clip(x[line], lower + room, upper - room)
    return x


def _motion_equalities(program: Program, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the rows of g that are equalities of the motion alone, its durations held."""
    nlp = program.nlp
    _, slopes = nlp.jacobian(ca.DM(x), [])
    line, column = (np.array(index, dtype=int) for index in slopes.sparsity().get_triplet())
    motion = free.copy()
    for part, columns in _parts(program):
        motion[columns[: _points(part).start]] = True
    motion[program.layout.parameters] = True
    wanted = np.isclose(nlp.g_lower, nlp.g_upper, rtol=0.0, atol=0.0)
    wanted[line[~motion[column]]] = False
    concerned = np.zeros(len(wanted), dtype=bool)
    concerned[line[free[column]]] = True
    for rows in program.rows:
        if rows.constraint.name.rpartition(": ")[2] in FORCES:
            wanted[rows.row[rows.row >= 0]] = False
    return np.flatnonzero(wanted & concerned)


def _fixed(nlp: NLP) -> np.ndarray:
    """Return the variables that their bounds fix."""
    return np.flatnonzero(nlp.lower == nlp.upper)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Half the sum of squares that a search makes least: of what makes a motion straight, of how
    far it is `near` (variables,) its start, and of the equalities in `rows` of the program and of
    variables that are `fixed`, each over its `sizes`. Slopes of these by the control points have a
    `pattern`, and are those `entries` of the program's, of which one is the last and more."""

    straight: Straight
    near: np.ndarray
    slopes: Evaluator
    rows: np.ndarray
    goals: np.ndarray
    fixed: np.ndarray
    pattern: ca.Sparsity
    entries: np.ndarray
    sizes: np.ndarray

    def gaps(self, x: np.ndarray) -> tuple[np.ndarray, ca.DM]:
        """Return the gaps of the equalities and their slopes by the control points."""
        value, slopes = self.slopes(x)
        gap = np.append(value[self.rows], x[self.fixed]) - self.goals
        scale = (1 / self.sizes)[self.pattern.row()]
        return gap / self.sizes, ca.DM(self.pattern, scale * np.append(slopes, 1.0)[self.entries])

    def bend(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the cost of a motion's distance from straight, and its slope (variables,)."""
        away = x - self.near
        pull = np.array(self.straight.hessian @ x).ravel()
        cost = x @ pull / 2 + self.straight.slope @ x + PULL * (away @ away) / 2
        return float(cost), pull + self.straight.slope + PULL * away


def _weighted_sum(program: Program, straight: Straight, near: np.ndarray, rows: np.ndarray) -> Sum:
    """Return the Sum whose gaps count over the size of their slopes at `near`."""
    nlp, free = program.nlp, np.flatnonzero(straight.free)
    fixed = np.intersect1d(_fixed(nlp), free)
    pattern = nlp.jacobian.sparsity_out(1)
    numbered = ca.DM(pattern, np.arange(1.0, pattern.nnz() + 1))
    places = list(range(len(fixed)))
    pins = ca.DM.triplet(places, fixed.tolist(), ca.DM.zeros(len(fixed)), len(fixed), len(near))
    chosen = ca.vertcat(numbered[rows.tolist(), :], pins)[:, free.tolist()]
    plain = Sum(
        straight=straight,
        near=near,
        slopes=Evaluator(nlp.jacobian),
        rows=rows,
        goals=np.append(nlp.g_lower[rows], nlp.lower[fixed]),
        fixed=fixed,
        pattern=chosen.sparsity(),
        entries=np.array(chosen.nonzeros(), dtype=int) - 1,
        sizes=np.ones(len(rows) + len(fixed)),
    )
    _, slopes = plain.gaps(near)
    sizes = np.maximum(np.sqrt(np.array(ca.sum2(slopes**2)).ravel()), 1.0)
    return replace(plain, sizes=sizes)


def _levenberg_marquardt(total: Sum) -> np.ndarray:
    """Return the straightest x where the equalities hold, by damped steps that weigh these more
    and more (Levenberg 1944; Marquardt 1963)."""
    x, free = total.near, np.flatnonzero(total.straight.free)
    hessian = total.straight.hessian[free.tolist(), free.tolist()]
    hessian = (hessian + hessian.T) / 2  # rounding is not symmetric
    for weight in WEIGHTS:
        damping = 1.0
        gap, slopes = total.gaps(x)
        cost, down = total.bend(x)
        for _ in range(ITERATIONS):
            step = _step(
                hessian + (PULL + damping) * ca.DM.eye(len(free)), slopes, weight, down[free], gap
            )
            trial = x.copy()
            trial[free] += step
            ahead, turned = total.gaps(trial)
            bent, sloped = total.bend(trial)
            gained = cost - bent + weight * (gap @ gap - ahead @ ahead) / 2
            if not gained > 0:
                damping *= 10
                continue
            x, gap, slopes, cost, down = trial, ahead, turned, bent, sloped
            damping /= 10
            if np.abs(step).max() < SHORT:
                break
    return x


def _step(
    hessian: ca.DM, rows: ca.DM, weight: float, down: np.ndarray, gap: np.ndarray
) -> np.ndarray:
    """Return the step that makes least a quadratic and the weighed squares of linear gaps."""
    soft = ca.DM.eye(rows.shape[0]) / weight
    matrix = ca.blockcat([[hessian, rows.T], [rows, -soft]])
    factors = ca.ldl(ca.sparsify(matrix), True)
    right = ca.DM(-np.append(down, gap))
    return np.array(ca.ldl_solve(right, *factors)).ravel()[: len(down)]
