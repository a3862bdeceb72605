"""Time derivatives of functions of an instant.

Along the motion the rate of an expression e of the instant s and of a kernel's inputs y is

    de/dt = de/dy . dy/dt + de/ds / T

where dy/dt consists of inputs, q' and q'', and of what is no input of a kernel, q''' and the slopes
of what is lifted. These stand at the end of the inputs of a kernel whose values contain a rate, and
of no other. On free knots all of y's rates but those of the lifted are known by themselves: an
instant moves away from the knots before it, and towards those that follow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp.index_sets import distinct
from ocp.mechanics.values.parameters import is_open
from ocp.mechanics.values.types import Matrix
from ocp.motion.collocation_mesh import Mesh
from ocp.motion.free_knots import locate
from ocp.motion.spline import SIDE, BSpline
from ocp.problem.contact.complementarity import touch_labels, touches
from ocp.problem.instant import NoRate
from ocp.problem.statement import Problem
from ocp.transcription.kernels.custom_derivatives import Spin, StandIn
from ocp.transcription.variables.interpolation import follows_accelerations, slope_instants
from ocp.transcription.variables.layout import (
    Layout,
    MotionMap,
    free_duration,
    lifted_entries,
    motion_map,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The rate (1/s) of an expression of a `place`, whose own rates are its `velocity`.

    Symbols may stand for values, as `stand_ins` say. What depends on `unknown` symbols, ((symbols,
    why not), ..), has no rate.
    """

    place: Matrix
    velocity: Matrix
    unknown: tuple[tuple[Matrix, str], ...]
    stand_ins: tuple[StandIn, ...] = ()

    def __call__(self, expression: Matrix) -> Matrix:
        """Return the rate; raise NoRate saying why there is none."""
        expression = ca.SX(expression)
        inside = [each for each in self.stand_ins if ca.depends_on(expression, each.symbol)]
        for each in inside:
            if isinstance(each, Spin):
                expression = ca.substitute(expression, each.symbol, each.value)
        torques = [each for each in inside if not isinstance(each, Spin)]
        whole = ca.veccat(expression, *(each.value for each in torques))
        for symbols, reason in self.unknown:
            if ca.depends_on(whole, symbols):
                raise NoRate(f"no rate is known: {reason}")
        total = ca.jtimes(expression, self.place, self.velocity)
        for torque in torques:
            moved = ca.jtimes(torque.value, self.place, self.velocity)
            total += ca.jtimes(expression, torque.symbol, moved)
        return total


def flow_of(problem: Problem, inputs: Any, motion: int, count: int, *, moving: bool) -> Flow:
    """Return the Flow of what Inputs describe: the first `motion` of their y make the motion, and
    the next `count` are lifted."""
    y, s, rates, T = inputs.y, inputs.s, inputs.rates, inputs.at.T
    n, free = problem.tree.dof, free_duration(problem)
    by_s = free or is_open(problem.duration[0])
    lifted = y[motion : motion + count]
    if moving and problem.motion.collocated:
        slopes, rest = y[free + n : free + 3 * n] / T, ca.SX.zeros(n)
        parts = [ca.SX.zeros(free), slopes, rest, 1 / T, 0, rates / (inputs.width * T)]
    elif moving:
        p = problem.motion.degree
        still, steps = ca.SX.zeros(free + n * (p + 1)), ca.SX.ones(p)
        parts = [still, steps / T, -steps / T, 1 / T, rates / (inputs.width * T)]
    else:
        known = ca.vertcat(y[free + n : free + 3 * n], rates)
        parts = [ca.SX.zeros(free), known / T if by_s else known]
    unknown = (rates, "it contains a rate already"), *_unknown(problem, y[:motion], lifted)
    return Flow(
        place=ca.vertcat(y, s),
        velocity=ca.vertcat(*parts, 1 / T),
        unknown=unknown,
        stand_ins=inputs.stand_ins,
    )


def _unknown(problem: Problem, motion: Matrix, lifted: Matrix) -> Iterator[tuple[Matrix, str]]:
    """Yield (inputs without a rate, why they have none)."""
    n, basis, tree = problem.tree.dof, problem.motion, problem.tree
    if isinstance(basis, BSpline) and not basis.moving:
        jumps = "degree 2" if basis.degree == 2 else f"knots at {basis.jumps.tolist()}"
        if basis.degree == 2 or len(basis.jumps):
            yield motion[-n:], f"accelerations of a spline with {jumps} jump"
    if isinstance(basis, Mesh) and basis.moving:
        why = "on intervals of free lengths accelerations and forces are known at stages alone"
        yield ca.vertcat(motion[-n - 2 : -2], lifted), why
    closing = [stay.name for stay in tree.stays if not stay.path]
    if closing:
        names = ", ".join(closing)
        yield lifted, f"forces jump where stays {names} close"
    if touches(problem.loads):
        names = ", ".join(touch_labels(problem.loads))
        yield lifted, f"forces jump where contacts {names} touch"


def rate_map(layout: Layout, s: np.ndarray) -> MotionMap:
    """Return the MotionMap of the instants s (N,) whose y has rates before the parameters."""
    problem, plain = layout.problem, motion_map(layout, s)
    n, free = problem.tree.dof, free_duration(problem)
    size, first = layout.width, layout.width - len(layout.values)
    width = size + (0 if layout.moving else n) + len(layout.place)
    instant, entry = np.divmod(plain.row, size)
    entry = np.where(entry < first, entry, entry + width - size)
    parts = [(instant * width + entry, plain.column, plain.value)]
    powers = np.zeros(width - size)
    if not layout.moving:
        slopes, joint = problem.motion.values(s, 3), np.arange(n)
        instant, point = np.nonzero(slopes)
        row = (instant * width + first)[:, None] + joint
        column = (free + point * n)[:, None] + joint
        value = np.repeat(slopes[instant, point][:, None], n, axis=1)
        parts.append((row.ravel(), column.ravel(), value.ravel()))
        powers[:n], first = 3, first + n
    if layout.lifts:
        s = np.asarray(s, dtype=float)
        parts.append(lifted_entries(layout, s, width, first, 1, _lengths(layout, s)[:, None]))
        powers[len(powers) - len(layout.place) :] = 1
    number = not (free or layout.moving) and layout.timed is None
    rates = (problem.duration[0] if number else 1.0) ** powers
    row, column, value = (np.concatenate(part) for part in zip(*parts))
    divisor = np.insert(plain.divisor, layout.width - len(layout.values), rates)
    shape = width * len(s), layout.size
    return MotionMap(row=row, column=column, value=value, shape=shape, divisor=divisor)


def _lengths(layout: Layout, s: np.ndarray) -> np.ndarray:
    """Return the lengths of the segments of instants s (N,) where knots are free, and slopes by the
    share of these; else 1."""
    motion: Any = layout.problem.motion
    return np.diff(motion.breaks)[locate(motion, s)[0]] if layout.moving else np.ones(len(s))


def motion_rates(problem: Problem, control_points: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return q''' (n, N) at the instants s, or qddd where the duration is given, as `rate_map` has
    it."""
    by_s = control_points @ problem.motion.values(s, 3).T
    return by_s if free_duration(problem) else by_s / problem.duration[0] ** 3


def rate_instants(
    layout: Layout, nodes: np.ndarray, *, equal: bool, lifted: bool, steady: bool
) -> np.ndarray:
    """Return the instants at which rows with rates hold along the path.

    On meshes those that tell all of q'''; where torques are `lifted`, those that tell their slopes;
    else the `nodes` of inequalities, and knots where q''' jumps from their left too. Equalities,
    and rows that are `steady` over every segment, hold at the abscissae of q'''.
    """
    problem, motion = layout.problem, layout.problem.motion
    if motion.collocated or ((equal or steady) and not lifted):
        return motion.abscissae(3)
    if lifted and not follows_accelerations(problem):
        return slope_instants(problem, layout.nodes)
    kinks = motion.kinks if isinstance(motion, BSpline) else motion.breaks[1:-1]
    return distinct(np.append(nodes, kinks - SIDE))[0]
