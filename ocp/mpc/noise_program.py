"""The program of a motion under noise: gains and covariances as unknowns beside the motion.

    x = [motion | P_0 | K_0 P_1 | K_1 P_2 | ... | K_N-1 P_N]

In each period k the torques are those of the motion and K_k of the measured deviations, held. With
A, B, H of the mechanics linearised in its middle, what is left of deviations at its end is

    P_k+1 = (A + B K H) P_k (A + B K H)' + B (W + K V K') B' + Q

of noise W in torques, V in measurements and Q in the state (Van Wouwe, Ting & De Groote 2022).
Covariances and gains are in units of their sizes at the first guess.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import casadi as ca
import numpy as np

from ocp.certificate.checks.simulation import state_slope
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.mpc.disturbed_motion import PUSHES, Noise
from ocp.mpc.regulator import undriven_states
from ocp.problem.constraint import Constraint, Moment, Span
from ocp.problem.instant import Forces, Instant
from ocp.problem.load_evaluation import loads_in_state
from ocp.problem.objectives import SQUARED, Term
from ocp.problem.statement import Problem
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
from ocp.transcription.kernels.instant_symbols import Inputs, symbols
from ocp.transcription.kernels.kernels import as_column, function
from ocp.transcription.transcribe_phase import TranscribedPhase

SMOOTH = 1e-4  # of a bound: standard deviations below it are smoothed, upward
STEPS = 6  # of Taylor's series of a period; the next term is (|F| h)^7 / 5040
Measured = Callable[[Instant], Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRow:
    """Rows at the instants of `when`: with `deviation` the constraint bounds the standard
    deviations of its function, otherwise it holds by a `margin` of so many of them."""

    constraint: Constraint
    margin: float = 0.0
    deviation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Deviations:
    """Deviations from a motion as its program has them.

    Attributes:
        part: program of the motion.
        noise: what disturbs.
        measured: what is fed back.
        periods: number N of them.
        inputs, at: symbols of the motion at an instant, and of a state beside it.
        state, torques: symbols of that state (q, qd), and of torques and controls (n,).
        alive: rows of (q, qd) that deviate, all but places of rates of elements' states.
        slope: of the state (2 n,).
    """

    part: TranscribedPhase
    noise: Noise
    measured: Measured | None
    periods: int
    inputs: Inputs
    at: Instant
    state: Matrix
    torques: Matrix
    alive: tuple[int, ...]
    slope: Matrix

    @property
    def tree(self) -> Tree:
        """The tree, parameters open."""
        return self.part.statement.tree

    @property
    def drives(self) -> list[int]:
        """Rows of what drives."""
        return list(structure(self.tree).drives)

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries of a covariance that are unknowns."""
        return np.triu_indices(len(self.alive))

    @property
    def outputs(self) -> Matrix:
        """What is fed back (m,): the state that deviates unless something else is measured."""
        if self.measured is None:
            return self.state[list(self.alive)]
        return as_column("measured", self.measured(self.at))

    def along(self, values: Sequence[Matrix]) -> list[Matrix]:
        """Return expressions in the state as those of the motion."""
        on = self.inputs.at
        given = [ca.vertcat(on.q, on.qd), on.tau, on.s, on.T]
        own = [self.state, self.torques, self.at.s, self.at.T]
        pairs = [(a, b) for a, b in zip(own, given)]
        return ca.substitute(list(values), [a for a, _ in pairs], [ca.SX(b) for _, b in pairs])

    def slopes(self, values: Matrix) -> Matrix:
        """Return the slopes of values by what deviates of the state, and by torques."""
        every = [*self.alive, *(2 * self.tree.dof + row for row in self.drives)]
        return ca.jacobian(values, ca.vertcat(self.state, self.torques))[:, every]

    def covariance(self, gain: Matrix, known: Matrix, sensed: Matrix) -> Matrix:
        """Return the covariance of the state and the torques that answer it."""
        answered = gain @ sensed
        read = answered @ known
        told = read @ answered.T + gain @ self.reading @ gain.T
        return ca.vertcat(ca.horzcat(known, read.T), ca.horzcat(read, told))

    @property
    def reading(self) -> np.ndarray:
        """Covariance (m, m) of the noise of measurements."""
        size = self.outputs.shape[0]
        return np.diag(self.noise.sizes("sensor", size) ** 2)

    def step(self, gain: Matrix, known: Matrix) -> Matrix:
        """Return the covariance at the end of a period of the motion."""
        count = len(self.alive)
        moving = self.slope[list(self.alive)]
        parts = [self.slopes(moving)[:, :count], ca.jacobian(moving, self.torques), self.torques]
        by_state, by_torque, tau, sensed = self.along(
            [*parts, self.slopes(self.outputs)[:, :count]]
        )
        h, unit = self.inputs.at.T / self.periods, ca.SX.eye(count)
        series = unit
        for k in range(STEPS, 1, -1):
            series = unit + h / k * by_state @ series
        ahead, pushed = unit + h * by_state @ series, h * series @ by_torque
        both = self.covariance(gain, known, sensed)
        own, answers = self.drives, ca.SX(self.tree.dof, 1)
        answers[own] = ca.diag(both[count:, count:])
        level, shares = (self.noise.torque_sizes(name, self.tree) ** 2 for name in PUSHES)
        shaken = ca.diag(ca.DM(level) + ca.DM(shares) * (tau**2 + answers))
        driven = pushed[:, own]
        held = ahead + driven @ gain @ sensed
        process = np.diag(self.noise.sizes("state", 2 * self.tree.dof)[list(self.alive)] ** 2)
        read = driven @ gain @ self.reading @ gain.T @ driven.T
        return held @ known @ held.T + pushed @ shaken @ pushed.T + read + process

    def bend(self, term: Term) -> Matrix:
        """Return the second derivatives of a term's integrand or end value by state and torques;
        of squares those that leave out how residuals bend."""
        if term.instants:
            raise ValueError(f"objective {term.name!r}: samples are not weighed under noise")
        value = as_column(f"objective {term.name!r}", term.function(self.at))
        if term.kind in SQUARED:
            slopes = self.slopes(value)
            return 2 * slopes.T @ slopes
        every = [*self.alive, *(2 * self.tree.dof + row for row in self.drives)]
        return ca.hessian(value, ca.vertcat(self.state, self.torques))[0][every, every]

    @property
    def sensed(self) -> Matrix:
        """Slopes (m, rows that deviate) of what is measured."""
        return self.along([self.slopes(self.outputs)[:, : len(self.alive)]])[0]


def deviations_of(
    part: TranscribedPhase, noise: Noise, measured: Measured | None, periods: int
) -> Deviations:
    """Return the Deviations from the motion of a program."""
    statement, layout = part.statement, part.layout
    wrenches = "variables" if layout.lifts else None
    inputs = symbols(statement, part.formulation, wrenches=wrenches)
    inputs = inputs.with_parameters(tuple(layout.values), layout.free)
    tree, n = statement.tree, statement.tree.dof
    state, s, T = ca.SX.sym("state", 2 * n), ca.SX.sym("s_there"), ca.SX.sym("T_there")
    torques = ca.SX.sym("torques", n)
    loads = loads_in_state(tree, statement.loads, s * T, state[:n], state[n:])
    slope = state_slope(tree, None, state, torques, loads)
    dead = {n + row for row in tree.states}
    at = Instant(
        tree=tree,
        s=s,
        T=T,
        q=state[:n],
        qd=slope[:n],
        qdd=slope[n:],
        loads=tuple(statement.loads),
        forces=Forces(inverse=part.formulation.inverse, torques=lambda _: torques),
    )
    return Deviations(
        part=part,
        noise=noise,
        measured=measured,
        periods=periods,
        inputs=inputs,
        at=at,
        state=state,
        torques=torques,
        alive=tuple(row for row in range(2 * n) if row not in dead),
        slope=slope,
    )


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
    elif not start.any() and not own.reading.any():  # nothing there that the first could answer
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
    beside = nonlinear_program(
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
        state, torque, output = self.scale
        gain = ca.SX.sym("gain", len(torque) * len(output))
        entry = ca.SX.sym("entry", len(self.own.pairs[0]))
        wide = ca.reshape(gain, len(output), len(torque)).T
        gains = ca.DM(torque[:, None] / output) * wide
        return gain, entry, gains, ca.DM(np.outer(state, state)) * self.square(entry)

    def square(self, entry: Matrix) -> Matrix:
        """Return the covariance of its entries."""
        known = ca.SX(len(self.scale[0]), len(self.scale[0]))
        for number, (row, column) in enumerate(zip(*self.own.pairs)):
            known[int(row), int(column)] = known[int(column), int(row)] = entry[number]
        return known

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
        second derivatives times their covariance, over each period, and at the end."""
        own, (own_gains, entries) = self.own, self.places
        problem = own.part.problem
        gain, entry, gains, known = self.symbols()
        count = len(own.alive)
        path = end = ca.SX(0)
        for (weight, _), (_, term) in zip(
            problem.objective.terms, own.part.statement.objective.terms
        ):
            (bend,) = own.along([own.bend(term)])
            if term.at_end:
                end += float(weight) / 2 * ca.trace(bend[:count, :count] @ known)
            else:
                told = own.covariance(gains, known, own.sensed)
                h = own.inputs.at.T / own.periods
                path += float(weight) / 2 * h * ca.trace(bend @ told)
        blocks = []
        if path.nnz():
            beside = [(gain, own_gains), (entry, entries[:-1])]
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
    """Return rows and their bounds: variances over the largest one, or values by a margin."""
    lower, upper = (np.array(each, float) for each in asked.constraint.bounds(nominal.shape[0]))
    if asked.deviation:
        unit = np.where(np.isfinite(upper), upper, np.maximum(lower, 1.0)) ** 2
        least = np.where(lower > 0, lower**2 / unit, -np.inf)
        return variance / ca.DM(unit), least, upper**2 / unit
    rows: list[Matrix] = []
    bounds = []
    for k, sides in enumerate(zip(lower, upper)):
        for bound, side in zip(sides, (-1, 1)):
            if sides[0] == sides[1] or not np.isfinite(bound):
                continue
            smooth = SMOOTH * (abs(bound) or 1.0)
            away = ca.sqrt(ca.fmax(variance[k], 0.0) + smooth**2)
            rows.append(nominal[k] + side * asked.margin * away)
            bounds.append((bound, np.inf) if side < 0 else (-np.inf, bound))
    low, high = np.reshape(np.array(bounds).T, (2, -1))
    return ca.vertcat(*rows), low, high


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


def recursion_function(own: Deviations) -> ca.Function:
    """Return the Function (y, s, gains, covariance) -> the next covariance, and H."""
    count = len(own.alive)
    gain = ca.SX.sym("gain", len(own.drives), own.outputs.shape[0])
    known = ca.SX.sym("known", count, count)
    names = ["y", "s", "gain", "known"]
    outputs = [own.step(gain, known), own.sensed]
    inputs = [own.inputs.y, own.inputs.s, gain, known]
    return function("recursion", inputs, outputs, names, ["ahead", "sensed"])


def check_problem(problem: Problem) -> None:
    """Raise ValueError naming what deviations are not known of."""
    tree = problem.tree
    unknown = {
        "phases": not problem.single_phase,
        "a ground": problem.ground,
        "balls": tree.balls,
        "stays": tree.stays,
        "loops": tree.loops,
        "flexible links": tree.flexible,
        "states of elements that nothing drives": undriven_states(tree),
    }
    there = [name for name, those in unknown.items() if those]
    if there:
        raise ValueError(f"noise: {', '.join(there)}: deviations are not known of these")
