"""The program of a motion under noise: gains and covariances as unknowns beside the motion.

    x = [motion | P_0 | K_0 P_1 | K_1 P_2 | ... | K_N-1 P_N]

The recursion of the covariances P under gains K (`ocp.mpc.linear_deviations`) are rows, as are
bounds of deviations, and bounds that are kept by some of them. Covariances and gains are in units
of their sizes at the first guess.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix
from ocp.mpc.linear_deviations import Deviations
from ocp.problem.constraint import Constraint, Moment, Span
from ocp.solvers.concatenate import Member, concatenate
from ocp.solvers.nlp import NLP
from ocp.transcription.assembly.assemble_program import nonlinear_program
from ocp.transcription.assembly.chain_rule_products import Block
from ocp.transcription.assembly.stacked_blocks import (
    motion_part,
    stacked_block,
    summed_block,
    variable_part,
    zero_part,
)
from ocp.transcription.kernels.kernels import as_column

ROOM = 1e-2  # of a bound: in which room for deviations is measured


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRow:
    """Rows at the instants of `when`: with `deviation` the constraint bounds the standard
    deviations of its function, otherwise it holds by a `margin` of so many of them, but for a
    `floor`, a share of its largest bound."""

    constraint: Constraint
    margin: float = 0.0
    floor: float = 0.0
    deviation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoiseProgram:
    """The program of a motion under noise, and the way back from its variables.

    Attributes:
        own: the Deviations.
        scale: what covariances and gains are measured by: of the state that deviates, of torques
            and of measurements.
        nlp: the program.
        named_rows: {constraint: its rows on deviations}.
    """

    own: Deviations
    scale: tuple[np.ndarray, np.ndarray, np.ndarray]
    nlp: NLP
    named_rows: Mapping[str, np.ndarray]

    @property
    def first(self) -> int:
        """Place of the first covariance."""
        return self.own.part.layout.size

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Places in x of the gains (N, torques * m) and of the covariances (N + 1, entries)."""
        return places(self.own, self.first)

    def join(self, x: np.ndarray, gains: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the variables from those of the motion, gains (N, torques, m) and covariances
        (N + 1, rows, rows)."""
        state, torque, output = self.scale
        own, entries = self.places
        joined = np.zeros(len(self.nlp.lower))
        joined[: self.first] = x
        joined[own] = (gains * output / torque[:, None]).reshape(len(own), -1)
        row, column = self.own.pairs
        joined[entries] = (known / np.outer(state, state))[:, row, column]
        return joined

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gains and the covariances of variables x, as `join` takes them."""
        state, torque, output = self.scale
        own, entries = self.places
        gains = x[own].reshape(len(own), len(torque), len(output)) * torque[:, None] / output
        row, column = self.own.pairs
        known = np.zeros((len(entries), len(state), len(state)))
        known[:, row, column] = known[:, column, row] = x[entries]
        return gains, known * np.outer(state, state)


def places(own: Deviations, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places in x of gains and of covariances, the first of which begins at `first`."""
    count, entries = own.periods, len(own.pairs[0])
    size = len(own.drives) * own.outputs.shape[0]
    start = first + entries + np.arange(count)[:, None] * (size + entries)
    after = start + size + np.arange(entries)
    return start + np.arange(size), np.vstack([first + np.arange(entries), after])


def noise_program(
    own: Deviations,
    start: np.ndarray,
    scale: tuple[np.ndarray, np.ndarray, np.ndarray],
    rows: Sequence[NoiseRow],
    gains: np.ndarray | None,
) -> NoiseProgram:
    """Return the NoiseProgram of a motion.

    Args:
        own: its Deviations.
        start: covariance of the state at the start, of the rows that deviate.
        scale: as in NoiseProgram.
        rows: what is asked of deviations.
        gains: (N, torques, m) where they are given; None where they are sought.
    """
    kernels = _Kernels(own=own, scale=scale)
    own_gains, entries = kernels.places
    size = int(entries[-1, -1]) + 1
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    row, column = own.pairs
    lower[entries[0]] = upper[entries[0]] = (start / np.outer(scale[0], scale[0]))[row, column]
    if gains is not None:
        given = (gains * scale[2] / scale[1][:, None]).reshape(len(own_gains), -1)
        lower[own_gains] = upper[own_gains] = given
    elif not (own.continuous or start.any() or own.reading.any()):  # nothing to answer as it begins
        lower[own_gains[0]] = upper[own_gains[0]] = 0.0
    blocks = [kernels.recursion(size)]
    bounds = [(np.zeros(blocks[0].target.size), np.zeros(blocks[0].target.size))]
    named: dict[str, np.ndarray] = {}
    for each in rows:
        first = sum(len(low) for low, _ in bounds)
        for block, low, high in kernels.row_blocks(each, size, first):
            blocks.append(block)
            bounds.append((low, high))
        last = sum(len(low) for low, _ in bounds)
        named[each.constraint.name] = len(own.part.nlp.g_lower) + np.arange(first, last)
    terms = kernels.cost_blocks(size)
    weights = ca.DM.ones(len(terms))
    beside, _ = nonlinear_program(
        terms,
        lambda x: weights,
        blocks,
        {
            "lower": lower,
            "upper": upper,
            "g_lower": np.concatenate([low for low, _ in bounds]),
            "g_upper": np.concatenate([high for _, high in bounds]),
        },
    )
    base = own.part.nlp
    members = (
        Member(nlp=base, columns=np.arange(len(base.lower))),
        Member(nlp=beside, columns=np.arange(size)),
    )
    return NoiseProgram(own=own, scale=scale, nlp=concatenate(members, size), named_rows=named)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kernels:
    """Blocks of the program of deviations, in units of the `scale`."""

    own: Deviations
    scale: tuple[np.ndarray, np.ndarray, np.ndarray]

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        return places(self.own, self.own.part.layout.size)

    def symbols(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Return symbols of gains and of the entries of a covariance, and both in SI units."""
        _, torque, output = self.scale
        gain = ca.SX.sym("gain", len(torque) * len(output))
        entry = ca.SX.sym("entry", len(self.own.pairs[0]))
        wide = ca.reshape(gain, len(output), len(torque)).T
        gains = ca.DM(torque[:, None] / output) * wide
        return gain, entry, gains, self.square(entry)

    def square(self, entry: Matrix) -> Matrix:
        """Return the covariance, in SI units, of its entries."""
        state = self.scale[0]
        known = ca.SX(len(state), len(state))
        for number, (row, column) in enumerate(zip(*self.own.pairs)):
            known[int(row), int(column)] = known[int(column), int(row)] = entry[number]
        return ca.DM(np.outer(state, state)) * known

    def block(
        self,
        size: int,
        s: np.ndarray,
        stack: Matrix,
        beside: Sequence[tuple[Matrix, np.ndarray | None]],
        first: int = 0,
    ) -> Block:
        """Return the Block of expressions of the motion at instants s, and of symbols `beside` it
        at their places in x (N, ..), of none zero; its rows begin at row `first`."""
        own, layout = self.own, self.own.part.layout
        parts = [motion_part(own.inputs.y, layout, s, np.arange(layout.size))]
        for symbol, at in beside:
            parts.append(zero_part(symbol) if at is None else variable_part(symbol, at))
        return stacked_block(own.inputs, stack, parts, s, size, first)

    @property
    def middles(self) -> np.ndarray:
        """Instants in the middle of the periods."""
        return (np.arange(self.own.periods) + 0.5) / self.own.periods

    def recursion(self, size: int) -> Block:
        """Return the block of the covariances' recursion."""
        gain, entry, gains, known = self.symbols()
        after = ca.SX.sym("after", entry.shape[0])
        state = self.scale[0]
        ahead = self.own.step(gains, known) / ca.DM(np.outer(state, state))
        rows, columns = (part.tolist() for part in self.own.pairs)
        stack = ca.vertcat(*(ahead[i, j] for i, j in zip(rows, columns))) - after
        own, entries = self.places
        beside = [(gain, own), (entry, entries[:-1]), (after, entries[1:])]
        return self.block(size, self.middles, stack, beside)

    def cost_blocks(self, size: int) -> list[Block]:
        """Return the blocks of the share of deviations in the objective: half the trace of its
        second derivatives times their covariance, over each period, and at the end.

        Answers that are held are those of the period's start; what acts at each instant is weighed
        by the mean of both ends, the trapezoid."""
        own, (own_gains, entries) = self.own, self.places
        problem = own.part.problem
        gain, entry, gains, known = self.symbols()
        after, over = ca.SX.sym("after", entry.shape[0]), known
        if own.continuous:
            over = (known + self.square(after)) / 2
        count = len(own.alive)
        path = end = ca.SX(0)
        for (weight, _), (_, term) in zip(
            problem.objective.terms, own.part.statement.objective.terms
        ):
            (bend,) = own.along([own.bend(term)])
            if term.at_end:
                end += float(weight) / 2 * ca.trace(bend[:count, :count] @ known)
            else:
                told = own.covariance(gains, over, own.sensed)
                h = own.inputs.at.T / own.periods
                path += float(weight) / 2 * h * ca.trace(bend @ told)
        blocks = []
        if path.nnz():
            beside = [(gain, own_gains), (entry, entries[:-1])]
            if own.continuous:
                beside.append((after, entries[1:]))
            blocks.append(summed_block(self.block(size, self.middles, path, beside), 0))
        if end.nnz():
            beside = [(entry, entries[-1:])]
            blocks.append(self.block(size, np.ones(1), end, beside, len(blocks)))
        return blocks

    def row_blocks(
        self, asked: NoiseRow, size: int, first: int
    ) -> list[tuple[Block, np.ndarray, np.ndarray]]:
        """Return the blocks of rows on deviations, with their bounds, which begin at row `first`:
        those at starts of periods, and that at the end, where nothing is answered any more."""
        own, (own_gains, entries) = self.own, self.places
        constraint = asked.constraint
        value = as_column(f"constraint {constraint.name!r}", constraint.function(own.at))
        gain, entry, gains, known = self.symbols()
        slopes, nominal = own.along([own.slopes(value), value])
        told = own.covariance(gains, known, own.sensed)
        variance = ca.vertcat(
            *(slopes[k, :] @ told @ slopes[k, :].T for k in range(value.shape[0]))
        )
        stack, low, high = _bounded_rows(asked, nominal, variance)
        blocks = []
        s = np.arange(own.periods + 1) / own.periods
        there = instants(constraint, s)
        for picked in (there[there < own.periods], there[there == own.periods]):
            if not len(picked):
                continue
            ends = picked[0] == own.periods
            beside = [(gain, None if ends else own_gains[picked]), (entry, entries[picked])]
            block = self.block(size, s[picked], stack, beside, first)
            blocks.append((block, np.tile(low, len(picked)), np.tile(high, len(picked))))
            first += len(picked) * len(low)
        return blocks


def _bounded_rows(
    asked: NoiseRow, nominal: Matrix, variance: Matrix
) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """Return rows and their bounds: variances over the largest one, or, for bounds that the motion
    itself keeps, the square of the room it leaves there less that of the margin, and of the floor.

    A root of the variance would have a kink where a motion is on its bound and must not deviate.
    """
    lower, upper = (np.array(each, float) for each in asked.constraint.bounds(nominal.shape[0]))
    if asked.deviation:
        unit = np.where(np.isfinite(upper), upper, np.maximum(lower, 1.0)) ** 2
        least = np.where(lower > 0, lower**2 / unit, -np.inf)
        return variance / ca.DM(unit), least, upper**2 / unit
    rows: list[Matrix] = []
    for k, sides in enumerate(zip(lower, upper)):
        if sides[0] == sides[1]:
            continue
        finite = [bound for bound in sides if np.isfinite(bound)]
        room = ROOM * (max(map(abs, finite), default=0.0) or 1.0)
        for bound in finite:
            rows.append(((nominal[k] - bound) ** 2 - asked.margin**2 * variance[k]) / room**2)
    least = np.full(len(rows), -((asked.floor / ROOM) ** 2))
    return ca.vertcat(*rows), least, np.full(len(rows), np.inf)


def instants(constraint: Constraint, s: np.ndarray) -> np.ndarray:
    """Return the numbers of the instants s (N + 1,) that a constraint asks for.

    Raises ValueError where it asks for something else.
    """
    known = {"start": s < 0.5 / len(s), "end": s > 1 - 0.5 / len(s)}
    known |= {"path": s >= 0, "hull": s >= 0, "ends": known["start"] | known["end"]}
    when = constraint.when
    if isinstance(when, Moment) or (isinstance(when, str) and when not in known):
        raise ValueError(
            f"constraint {constraint.name!r}: when: deviations are known along the path and at its "
            f"ends, not {when!r}"
        )
    there = np.flatnonzero(when.holds(s) if isinstance(when, Span) else known[when])
    if not len(there):
        raise ValueError(
            f"constraint {constraint.name!r}: when: no period begins in it; take more periods"
        )
    return there


def margin(probability: float) -> float:
    """Return the number of standard deviations by which a bound is kept with a probability."""
    return NormalDist().inv_cdf(probability)
