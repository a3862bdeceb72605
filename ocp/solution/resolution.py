"""Whether a motion's basis is fine enough: a quick look between the nodes, by the solver's own
kernels.

It costs about as much as one iteration, and is no certificate: rows of ends, of control points and
on ground wrenches that are variables are not looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ocp.mechanics.structure import structure
from ocp.mechanics.units import plain_amount, unit_of
from ocp.motion.quadrature import quadrature
from ocp.problem.constraint import Constraint, Span
from ocp.problem.names import DYNAMICS, LOOPS, PASSIVE, RESTING, TOUCHING
from ocp.problem.statement import Problem
from ocp.solvers.nlp import violation
from ocp.transcription.kernels import Kernel, evaluate
from ocp.transcription.laws import passive_measure
from ocp.transcription.rates import rated_map
from ocp.transcription.rows import Group
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.variables import (
    Layout,
    duration_at,
    free_duration,
    motion_map,
    motion_width,
)

COARSE = 0.02  # relative: what between the nodes is missed by more makes a basis too coarse
NOISE = 1e-9  # of the largest inertial force of any joint: less is none
LAWS = (DYNAMICS, PASSIVE)
SPARSE = 2  # every so many instants: where torques are looked at for their size
MANY = 200  # instants that are as good as a quadrature
MORE = 3  # points that a finer quadrature has more in each segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What is missed at most between the nodes: by `share` of its own size, and the words for it.

    The size of a row is its bound, or 1 for bounds below; of a cut joint that opens, the longest
    link, or 1 m; of a law, the largest torque or the inertia in it; of the objective, its value.
    """

    share: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Look:
    """A motion looked at: inputs `y` (width, N) of kernels at instants `s` (N,) half way between
    the nodes, `steps` (N,) long, of the variables `x` (variables,); `T` (s) is its duration."""

    transcribed: Transcribed
    x: np.ndarray
    s: np.ndarray
    steps: np.ndarray
    y: np.ndarray
    T: float

    @property
    def problem(self) -> Problem:
        """The problem of the motion."""
        return self.transcribed.problem

    def groups(self) -> Iterator[tuple[Group, np.ndarray]]:
        """Yield the groups of rows along the path, and which rows can be looked at (m,)."""
        for group in self.transcribed.groups:
            along = np.array([_along(owner) for owner, _ in group.owners])
            if group.kernel.width == len(self.y) and along.any():
                yield group, along & ~_blind(self.transcribed.layout, group.kernel)

    def slopes(self, group: Group, first: int, count: int) -> np.ndarray:
        """Return d rows / d inputs (N, m, count) of a group, of the inputs from `first` on."""
        kernel = group.kernel
        chosen = (kernel.columns >= first) & (kernel.columns < first + count)
        slopes = np.zeros((len(self.s), kernel.size, count))
        values = evaluate(kernel.jacobian, self.y, self.s)[chosen]
        slopes[:, kernel.rows[chosen], kernel.columns[chosen] - first] = values.T
        return slopes

    def laws(self) -> Iterator[tuple[Group, np.ndarray, np.ndarray]]:
        """Yield the groups with laws of motion, which of their rows are these (k,), and d rows /
        d accelerations (N, m, n)."""
        n, first = self.problem.tree.dof, motion_width(self.problem) - self.problem.tree.dof
        for group, seen in self.groups():
            named = np.array([owner.name in LAWS for owner, _ in group.owners])
            if (named & seen).any():
                yield group, np.nonzero(named & seen)[0], self.slopes(group, first, n)


def coarseness(transcribed: Transcribed, x: np.ndarray) -> str:
    """Return in words by how much the motion of the variables x misses what it is to meet between
    its nodes, nothing where its basis is fine enough."""
    look = _look(transcribed, x)
    for gaps in ([*_rows(look), *_objective(look)], [*_astray(look)]):
        worst = max(gaps, key=lambda gap: gap.share, default=Gap(share=0.0, words=""))
        if worst.share > COARSE:
            return f"the mesh is too coarse: between its nodes {worst.words}; {finer(COARSE)}"
    return ""


def finer(tolerance: float) -> str:
    """Return what to do about a basis that is too coarse."""
    return (
        f"next: solve(problem, refine={tolerance:g}), on the command line --refine {tolerance:g}, "
        "or more points or nodes"
    )


def _look(transcribed: Transcribed, x: np.ndarray) -> Look:
    problem = transcribed.problem
    nodes = transcribed.transcription.method.grid(problem)
    s = (nodes[1:] + nodes[:-1]) / 2
    return Look(
        transcribed=transcribed,
        x=x,
        s=s,
        steps=np.diff(nodes),
        y=motion_map(transcribed.layout, s)(x),
        T=duration_at(transcribed.layout, x),
    )


def _along(constraint: Constraint) -> bool:
    if constraint.name in (TOUCHING, RESTING):  # which jump where a stay closes, a point touches
        return False
    return isinstance(constraint.when, Span) or constraint.when == "path"


def _blind(layout: Layout, kernel: Kernel) -> np.ndarray:
    """Tell which rows depend on what is known at nodes alone."""
    blind, first = np.zeros(kernel.size, dtype=bool), motion_width(layout.problem)
    if not layout.problem.motion.collocated:
        lifted = (kernel.columns >= first) & (kernel.columns < first + len(layout.place))
        blind[kernel.rows[lifted]] = True
    return blind


def _rows(look: Look) -> Iterator[Gap]:
    """Yield the gap of every constraint's rows."""
    sizes = {}
    for group, law, mass in look.laws():
        sizes[id(group)] = dict(zip(law.tolist(), _sizes(look, group, law, mass)))
    for group, seen in look.groups():
        values = evaluate(group.kernel.values, look.y, look.s)
        for row in np.nonzero(seen)[0].tolist():
            opening = _opening(look.problem, *group.owners[row])
            size = sizes.get(id(group), {}).get(row, opening)
            yield _gap(look, group.owners[row], values[row], size)


def _opening(problem: Problem, constraint: Constraint, number: int) -> float | None:
    """Return by what a position of a cut joint is measured (m), None for any other row."""
    if constraint.name != LOOPS[0] or constraint.unit(number) != "m":
        return None
    lengths = [float(np.linalg.norm(np.array(joint.home)[:3, 3])) for joint in problem.tree.joints]
    return min(1.0, max(lengths)) or None


def _sizes(look: Look, group: Group, law: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return what rows of a law are measured by (k,): the largest torque of a drive, or the inertia
    in the row where that is less."""
    first = motion_width(look.problem) - look.problem.tree.dof
    accelerations = look.y[first : motion_width(look.problem)].T[:, None, :]
    inertia = np.abs(mass[:, law] * accelerations).sum(axis=2).max(axis=0)
    inertia = np.maximum(inertia, NOISE * inertia.max(initial=0.0))  # of rows that stay at rest
    torque = _torque(look)
    return np.minimum(inertia, torque * _leverage(look, group, law)) if torque > 0 else inertia


def _leverage(look: Look, group: Group, law: np.ndarray) -> np.ndarray:
    """Return what a torque of 1 N m is in rows of a law (k,): one over their unit, or where they
    are accelerations what it brings at most of these at any drives."""
    if getattr(look.transcribed.transcription.method, "form", "implicit") == "explicit":
        drives = len(structure(look.problem.tree).drives)
        slopes = look.slopes(group, motion_width(look.problem), drives)[:, law]
        return np.abs(slopes).sum(axis=2).max(axis=0)
    units = {DYNAMICS: look.transcribed.layout.weight, PASSIVE: passive_measure(look.problem.tree)}
    return 1.0 / np.array([units[group.owners[row][0].name] for row in law])


def _torque(look: Look) -> float:
    """Return the largest torque of a drive (N m or N)."""
    problem, transcribed = look.problem, look.transcribed
    drives, motion = list(structure(problem.tree).drives), look.y[: motion_width(look.problem)]
    if problem.motion.collocated:
        return float(np.abs(look.y[len(motion) :][: len(drives)]).max(initial=0.0))
    parameters = look.y[len(look.y) - len(transcribed.layout.values) :]
    y = np.vstack([motion, parameters])[:, ::SPARSE]
    return float(np.abs(evaluate(transcribed.needed, y, look.s[::SPARSE])).max(initial=0.0))


def _gap(look: Look, owner: tuple[Constraint, int], values: np.ndarray, size: float | None) -> Gap:
    """Return how far one row is off, and where."""
    constraint, number = owner
    lower, upper = constraint.lower_of(number), constraint.upper_of(number)
    inside = constraint.when.holds(look.s) if isinstance(constraint.when, Span) else True
    amounts = np.where(inside, violation(values, lower, upper), 0.0)
    k = int(np.argmax(np.where(np.isnan(amounts), np.inf, amounts)))
    bound = upper if values[k] > upper else lower
    scale = max(1.0, abs(bound)) if size is None else max(size, 1e-12)
    share = float(amounts[k] / scale)
    amount, unit = plain_amount(float(amounts[k]), constraint.unit(number))
    words = (
        f"{constraint.name} ({constraint.label(number)}) is off by {amount:.3g} {unit}, "
        f"{_times(share)}, at t = {look.s[k] * look.T:.3g} s"
    )
    return Gap(share=share if np.isfinite(share) else np.inf, words=words)


def _objective(look: Look) -> Iterator[Gap]:
    """Yield what a finer quadrature makes of the objective."""
    transcribed, motion = look.transcribed, look.problem.motion
    terms, change = look.problem.objective.terms, 0.0
    values = np.array(transcribed.terms(look.x)).ravel()
    s, weights, y = look.s, look.steps, look.y
    if len(s) < MANY:
        s, weights = quadrature(motion, "gauss", motion.degree + 1 + MORE)
        y = motion_map(transcribed.layout, s)(look.x)
    for block, (weight, term), value in zip(transcribed.goals, terms, values):
        if not term.at_end and not _blind(transcribed.layout, block.kernel).any():
            plain = block.kernel.width == len(y)
            known = y if plain else rated_map(transcribed.layout, s)(look.x)
            running = evaluate(block.kernel.values, known, s)
            change += weight * float(weights @ running[0] - value)
    total = float(sum(weight * value for (weight, _), value in zip(terms, values)))
    share = abs(change) / max(abs(total), 1e-12)
    if share > 0:
        words = f"the objective changes by {_times(share)}, to {total + change:.6g}"
        yield Gap(share=share, words=words)


def _astray(look: Look) -> Iterator[Gap]:
    """Yield how far missed forces would carry the coordinates that a law is for (rad or m): M^-1 of
    them integrated twice, without what an unstable motion makes of that."""
    moving = look.problem.tree.moving
    names = [joint.name for joint in moving]
    for group, law, mass in look.laws():
        moved = [names.index(group.owners[row][0].label(group.owners[row][1])) for row in law]
        forces = evaluate(group.kernel.values, look.y, look.s)[law].T[:, :, None]
        square = mass[:, law][:, :, moved]
        if structure(look.problem.tree).closed or not np.isfinite(square).all():
            continue
        layout = look.transcribed.layout
        fixed = not free_duration(layout.problem) and layout.timed is None  # else q'' is by s
        off = (np.linalg.pinv(square) @ forces)[:, :, 0] * (look.T**2 if fixed else 1.0)
        for _ in range(2):
            off = np.cumsum(off * look.steps[:, None], axis=0)
        far = np.abs(off).max(axis=0)
        joint = moving[moved[int(np.argmax(far))]]
        share = float(far.max())
        words = (
            f"{joint.name} misses its law of motion, which leads it {share:.2g} "
            f"{unit_of(joint, 'q')} astray"
        )
        yield Gap(share=share, words=words)


def _times(share: float) -> str:
    return f"{share:.0%}" if share < 10 else f"{share:.3g} times its size"
