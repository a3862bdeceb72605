"""Convergence of a motion in its basis: its distance from the same problem's motion on a finer one.

A certificate compares a motion with its own laws, bounds and integrals, and so cannot see that
another basis holds a better one. The halves of all segments hold every motion of the whole ones, so
that the objective can only fall. Where its error falls with the power p of their length, that is
1 / (1 - 2^-p) times what the next basis changes, at most twice as much for p of at least 1
(Richardson 1911).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from ocp.certificate.certificate_lines import Figures
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.motion.basis import Basis
from ocp.pickling import portable
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import name_in_phase
from ocp.problem.statement import Problem
from ocp.solution.objective_values import LEAST, dense_objective
from ocp.solution.sampling import traces
from ocp.solution.solution import Solution

INSTANTS = np.linspace(0.0, 1.0, 201)  # of a motion, at which curves are compared
# Of the largest range among curves of one kind and unit: rows that move less count by that, for
# what barely moves has no shape to converge to [assumed]
SMALL = 0.1
CURVES = 2.0  # tolerances of the objective that curves may move by, of their range [assumed]
COORDINATES = "coordinates"
# Ranges below which curves count as if they had these: rad or m of coordinates, body weights of
# forces [assumed]
STILL = 1e-3
TOLD = 3  # curves that reports tell of, beside the one that moves most
FORCE = "force {}"  # the curve of the ground's force on a foot
KEPT = "convergence"  # the entry of a solution's statistics that its file keeps


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class CurveChange:
    """The row of a curve that a finer basis moves most, relative to its range.

    It is the row of that `label`, moved by at most `change`, in its `unit`, at the `time` (s), of
    its `range` on the finer basis; `share` is their ratio.
    """

    label: str
    change: float
    range: float
    share: float
    unit: str
    time: float

    def words(self, name: str) -> str:
        """Return in words how far the curve of that name moves."""
        row = name if name.endswith(self.label) else f"{name} ({self.label})"
        amount = f"{self.change:.3g} of {self.range:.3g} {self.unit}".rstrip()
        return f"{row} by {_percent(self.share)} of its range ({amount})"


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """A motion beside that on the next basis.

    Attributes:
        basis, finer: words on the two bases.
        status: of the solve on the finer one, in its solver's words.
        solved: whether that succeeded; if not, there are no numbers below.
        objectives: both integrals, the finer one last.
        durations: both durations, s.
        curves: {coordinate, force FOOT or output: CurveChange}, of phases "PHASE: NAME"; those
            that move most are the first.
    """

    basis: str
    finer: str
    status: str
    solved: bool
    objectives: tuple[float, ...]
    durations: tuple[float, ...]
    curves: Mapping[str, CurveChange]

    @property
    def objective(self) -> float:
        """The change of the objective, relative."""
        return _relative(self.objectives)

    @property
    def duration(self) -> float:
        """The change of the duration, relative."""
        return _relative(self.durations)

    @property
    def share(self) -> float:
        """What the motion is converged to: the largest change, of curves a `CURVES`th."""
        if not self.solved:
            return np.inf
        moved = max((curve.share for curve in self.curves.values()), default=0.0)
        return max(self.objective, self.duration, moved / CURVES)

    @property
    def words(self) -> str:
        """The changes in words, of the curves those of the one that moves most."""
        if not self.solved:
            return f"unknown: on {self.finer} the solve ends with {self.status}"
        text = f"on {self.finer} the objective changes by {_percent(self.objective)}"
        if self.duration > 0:
            text += f", the duration by {_percent(self.duration)}"
        return ", ".join([text, *(curve.words(name) for name, curve in self._largest_changes(1))])

    def _largest_changes(self, count: int) -> list[tuple[str, CurveChange]]:
        """Return so many curves with their names, those that move most."""
        return list(self.curves.items())[:count]

    def curve_words(self, count: int) -> list[str]:
        """Return the words on so many curves, after that which moves most."""
        return [curve.words(name) for name, curve in self._largest_changes(count + 1)[1:]]


def keep_convergence(solution: Solution, convergence: Convergence) -> Solution:
    """Return a solution whose file keeps its Convergence, among its statistics."""
    statistics = dict(solution.statistics) | {KEPT: convergence_data(convergence)}
    return replace(solution, statistics=statistics)


def convergence_data(convergence: Convergence) -> Figures:
    """Return a Convergence as plain data, with its words and what the motion is converged to."""
    return {
        **asdict(convergence),
        "share": convergence.share if convergence.solved else None,
        "words": convergence.words,
        "curve_words": convergence.curve_words(TOLD),
    }


def compare_bases(coarse: Solution, fine: Solution) -> Convergence:
    """Return the Convergence of a solution, beside the `fine` one of the same problem on another
    basis."""
    changes = _changes(coarse, fine) if fine.success else ()
    return Convergence(
        basis=basis_words(coarse),
        finer=basis_words(fine),
        status=fine.status,
        solved=fine.success,
        objectives=(_integral(coarse), _integral(fine)) if fine.success else (),
        durations=(coarse.duration, fine.duration) if fine.success else (),
        curves=dict(sorted(changes, key=lambda entry: -entry[1].share)),
    )


def basis_words(solution: Solution) -> str:
    """Return the bases of a motion in words: points of a spline, intervals of a mesh."""
    return " and ".join(_words(part.problem.motion) for part in solution.parts.values())


def _words(motion: Basis) -> str:
    if motion.collocated:
        return f"{motion.segments} intervals"
    return f"{motion.points} points"


def _integral(solution: Solution) -> float:
    """Return the objective's integral, or the program's own sum where the statement is not
    whole."""
    return solution.objective if solution.missing else dense_objective(solution)


def _changes(coarse: Solution, fine: Solution) -> Iterator[tuple[str, CurveChange]]:
    """Yield (name, CurveChange) of all curves of all phases."""
    for phase, part in coarse.parts.items():
        other, wanted = fine.parts[phase], _curves(part.problem)
        before, after = (traces(each, wanted, INSTANTS * each.duration) for each in (part, other))
        for name, changes in _changes_of_phase(part.problem, before, after, other.duration):
            yield name_in_phase(phase, name), changes


def _changes_of_phase(
    problem: Problem,
    before: Mapping[str, np.ndarray],
    after: Mapping[str, np.ndarray],
    duration: float,
) -> Iterator[tuple[str, CurveChange]]:
    """Yield (name, CurveChange) of the curves of a phase, {name: rows (m, N)} before and after."""
    joints = problem.tree.moving
    units = [unit_of(joint, "q") for joint in joints]
    rows = _row_changes(before[COORDINATES], after[COORDINATES], units, STILL, duration)
    for joint, change in zip(joints, rows):
        yield joint.name, replace(change, label=joint.name)
    for name, values in after.items():
        if name != COORDINATES and len(values):
            forces, count = name not in problem.outputs, len(values)
            unit, labels = ("N", "xyz") if forces else ("", [""] * count)
            least = STILL * body_weight(problem.tree) if forces else LEAST
            rows = _row_changes(before[name], values, [unit] * count, least, duration)
            worst = max(range(len(rows)), key=lambda row: rows[row].share)
            yield name, replace(rows[worst], label=labels[worst])


def _curves(problem: Problem) -> dict[str, Callable[[Instant], Matrix]]:
    """Return {name: function(Instant)} of what is compared."""
    feet = () if problem.ground is None else tuple(foot.name for foot in problem.ground.feet)
    forces = {FORCE.format(foot): partial(_force, foot=foot) for foot in feet}
    return {COORDINATES: lambda at: at.q, **forces, **problem.outputs}


def _force(at: Instant, foot: str) -> Matrix:
    return at.reaction.force(foot)


def _row_changes(
    before: np.ndarray, after: np.ndarray, units: Sequence[str], least: float, duration: float
) -> list[CurveChange]:
    """Return the CurveChange of every row (m, N) before and after, ranges being at `least` that."""
    moved, ranges = np.abs(after - before), np.ptp(after, axis=1)
    most = np.array([max(r for r, other in zip(ranges, units) if other == unit) for unit in units])
    scales = np.maximum(np.maximum(ranges, SMALL * most), max(least, LEAST))
    return [
        CurveChange(
            label="",
            change=float(off.max()),
            range=float(scale),
            share=float(off.max() / scale),
            unit=unit,
            time=float(INSTANTS[int(off.argmax())] * duration),
        )
        for off, scale, unit in zip(moved, scales, units)
    ]


def _relative(pair: tuple[float, ...]) -> float:
    before, after = pair
    return abs(after - before) / max(abs(after), LEAST)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"
