"""Whether a motion's basis is fine enough: a quick look between the nodes, by the solver's own
kernels.

It costs about as much as one iteration, and is no certificate: rows of ends, of control points and
on ground wrenches that are variables are not looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ocp.dynamics import formulation_of
from ocp.mechanics.structure import structure
from ocp.mechanics.zero_moment import body_weight
from ocp.motion.quadrature import quadrature
from ocp.problem.names import DYNAMICS, PASSIVE
from ocp.problem.statement import Constraint, Span
from ocp.solvers.nlp import violation
from ocp.transcription.kernels import Kernel, evaluate
from ocp.transcription.rows import Group
from ocp.transcription.sparse import Block
from ocp.transcription.tracing import trace
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.variables import free_duration, motion_map, motion_width

COARSE = 0.02  # relative: what between the nodes is missed by more makes a basis too coarse
SPARSE = 2  # every so many instants: where torques are looked at for their size
MORE = 3  # points that a finer quadrature has more in each segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What is missed at most between the nodes: by `share` of its own size, and the words for it.

    The size of a row is its bound, or 1 for bounds below; of a law, the largest torque or the
    inertia in it; of the objective, its value.
    """

    share: float
    words: str


def coarseness(transcribed: Transcribed, x: np.ndarray) -> str:
    """Return in words by how much the motion of the variables x misses what it is to meet between
    its nodes, nothing where its basis is fine enough."""
    gaps = [*_rows(transcribed, x), *_objective(transcribed, x)]
    worst = max(gaps, key=lambda gap: gap.share, default=Gap(share=0.0, words=""))
    if not worst.share > COARSE:
        return ""
    return f"the mesh is too coarse: between its nodes {worst.words}"


def _rows(transcribed: Transcribed, x: np.ndarray) -> Iterator[Gap]:
    """Yield the gap of every constraint's rows half way between the nodes."""
    nodes = transcribed.transcription.method.grid(transcribed.problem)
    s = (nodes[1:] + nodes[:-1]) / 2
    y = motion_map(transcribed.layout, s)(x)
    for group in transcribed.groups:
        rows = [row for row, (owner, _) in enumerate(group.owners) if _looked_at(owner)]
        if not rows or group.kernel.width != len(y):
            continue
        values = evaluate(group.kernel.values, y, s)
        sizes = _sizes(transcribed, group, x, y, s) if _lawful(group) else None
        blind = _blind(transcribed, group.kernel)
        for row in rows:
            if not blind[row]:
                size = None if sizes is None else sizes[row]
                yield _gap(group, row, s, values[row], size, transcribed, x)


def _looked_at(constraint: Constraint) -> bool:
    return isinstance(constraint.when, Span) or constraint.when == "path"


def _lawful(group: Group) -> bool:
    return any(owner.name in (DYNAMICS, PASSIVE) for owner, _ in group.owners)


def _blind(transcribed: Transcribed, kernel: Kernel) -> np.ndarray:
    """Tell which rows depend on what is known at nodes alone."""
    blind = np.zeros(kernel.size, dtype=bool)
    if not transcribed.problem.motion.collocated:
        blind[kernel.rows[kernel.columns >= motion_width(transcribed.problem)]] = True
    return blind


def _sizes(
    transcribed: Transcribed, group: Group, x: np.ndarray, y: np.ndarray, s: np.ndarray
) -> np.ndarray:
    """Return what rows of laws are measured by (m,): the largest torque of a drive, or the inertia
    in the row where that is less."""
    inertia, problem = _inertia(transcribed, group, y, s), transcribed.problem
    drives = list(structure(problem.tree).drives)
    if problem.motion.collocated:
        torque = np.abs(y[motion_width(problem) :][: len(drives)]).max(initial=0.0)
    else:
        formulation = formulation_of(transcribed.transcription.dynamics, problem.tree)
        needed = trace(problem, formulation, lambda at: at.needed[drives])
        few = slice(None, None, SPARSE)
        motion = y[: motion_width(problem), few]
        torque = np.abs(needed(motion, s[few])).max(initial=0.0)
    weight = body_weight(problem.tree)
    units = np.array([weight if owner.name == DYNAMICS else 1.0 for owner, _ in group.owners])
    return np.minimum(inertia, torque / units) if torque > 0 else inertia


def _inertia(transcribed: Transcribed, group: Group, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the size of each row's largest share in accelerations (m,)."""
    kernel, n = group.kernel, transcribed.problem.tree.dof
    first = free_duration(transcribed.problem) + 2 * n
    chosen = (kernel.columns >= first) & (kernel.columns < first + n)
    slopes = evaluate(kernel.jacobian, y, s)[chosen] * y[kernel.columns[chosen]]
    shares = np.zeros((kernel.size, len(s)))
    np.add.at(shares, kernel.rows[chosen], np.abs(slopes))
    return shares.max(axis=1)


def _gap(
    group: Group,
    row: int,
    s: np.ndarray,
    values: np.ndarray,
    size: float | None,
    transcribed: Transcribed,
    x: np.ndarray,
) -> Gap:
    """Return how far one row is off, and where."""
    constraint, number = group.owners[row]
    lower, upper = constraint.lower_of(number), constraint.upper_of(number)
    inside = constraint.when.holds(s) if isinstance(constraint.when, Span) else True
    amounts = np.where(inside, violation(values, lower, upper), 0.0)
    k = int(np.argmax(np.where(np.isnan(amounts), np.inf, amounts)))
    bound = upper if values[k] > upper else lower
    scale = max(1.0, abs(bound)) if size is None else max(size, 1e-12)
    share = float(amounts[k] / scale)
    free = free_duration(transcribed.problem)
    t = s[k] * (float(x[0]) if free else transcribed.problem.duration[0])
    words = (
        f"{constraint.name} ({constraint.label(number)}) is off by {amounts[k]:.3g} "
        f"{constraint.unit(number)}, {_times(share)}, at t = {t:.3g} s"
    )
    return Gap(share=share if np.isfinite(share) else np.inf, words=words)


def _objective(transcribed: Transcribed, x: np.ndarray) -> Iterator[Gap]:
    """Yield what a finer quadrature makes of the objective."""
    problem, motion = transcribed.problem, transcribed.problem.motion
    terms, change = problem.objective.terms, 0.0
    values = np.array(transcribed.terms(x)).ravel()
    for block, (weight, term), value in zip(transcribed.goals, terms, values):
        if term.kind != "end" and not _blind(transcribed, block.kernel).any():
            s, weights = quadrature(motion, "gauss", motion.degree + 1 + MORE)
            change += weight * (_integral(transcribed, block, x, s, weights) - value)
    total = float(sum(weight * value for (weight, _), value in zip(terms, values)))
    share = abs(change) / max(abs(total), 1e-12)
    if share > 0:
        words = f"the objective changes by {_times(share)}, to {total + change:.6g}"
        yield Gap(share=share, words=words)


def _integral(
    transcribed: Transcribed, block: Block, x: np.ndarray, s: np.ndarray, weights: np.ndarray
) -> float:
    y = motion_map(transcribed.layout, s)(x)
    return float(weights @ evaluate(block.kernel.values, y, s)[0])


def _times(share: float) -> str:
    return f"{share:.0%}" if share < 10 else f"{share:.3g} times its size"
