"""Deviations from a motion under noise and feedback, by its linearised mechanics.

In each period k the torques are those of the motion and K_k of the measured deviations, held or of
each instant. Of mechanics linearised in its middle, dx' = F dx + G u, what is left at its end is

    P_k+1 = C P_k C' + B (W + K V K') B' + Q

of noise W in torques, V in measurements and Q in the state (Van Wouwe, Ting & De Groote 2022).
C = e^Fh + B K H and B = int e^Fs ds G where the answer is held, C = e^F'h and B = int e^F's ds G,
F' = F + G K H, where it is not: Lyapunov's differential equation, noise held.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.certificate.checks.simulation import state_slope
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.mpc.disturbed_motion import PUSHES, Noise
from ocp.mpc.regulator import undriven_states
from ocp.problem.instant import Forces, Instant
from ocp.problem.load_evaluation import loads_in_state
from ocp.problem.objectives import SQUARED, Term
from ocp.problem.statement import Problem
from ocp.transcription.kernels.instant_symbols import Inputs, symbols
from ocp.transcription.kernels.kernels import as_column, function
from ocp.transcription.transcribe_phase import TranscribedPhase

STEPS = 6  # of Taylor's series of a period; the next term is (|F| h)^7 / 5040
Measured = Callable[[Instant], Matrix]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Deviations:
    """Deviations from a motion as its program has them.

    Attributes:
        part: program of the motion.
        noise: what disturbs.
        measured: what is fed back.
        periods: number N of them.
        continuous: whether it is fed back at each instant, rather than as periods begin.
        inputs, at: symbols of the motion at an instant, and of a state beside it.
        state, torques: symbols of that state (q, qd), and of torques and controls (n,).
        alive: rows of (q, qd) that deviate, all but places of rates of elements' states.
        slope: of the state (2 n,).
    """

    part: TranscribedPhase
    noise: Noise
    measured: Measured | None
    periods: int
    continuous: bool
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
        own, answers = self.drives, ca.SX(self.tree.dof, 1)
        answer = gain @ sensed
        if self.continuous:
            by_state = by_state + by_torque[:, own] @ answer
        h, unit = self.inputs.at.T / self.periods, ca.SX.eye(count)
        series = unit
        for k in range(STEPS, 1, -1):
            series = unit + h / k * by_state @ series
        ahead, pushed = unit + h * by_state @ series, h * series @ by_torque
        both = self.covariance(gain, known, sensed)
        answers[own] = ca.diag(both[count:, count:])
        level, shares = (self.noise.torque_sizes(name, self.tree) ** 2 for name in PUSHES)
        shaken = ca.diag(ca.DM(level) + ca.DM(shares) * (tau**2 + answers))
        driven = pushed[:, own]
        held = ahead if self.continuous else ahead + driven @ answer
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
    part: TranscribedPhase,
    noise: Noise,
    measured: Measured | None,
    periods: int,
    *,
    continuous: bool = False,
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
        continuous=continuous,
        inputs=inputs,
        at=at,
        state=state,
        torques=torques,
        alive=tuple(row for row in range(2 * n) if row not in dead),
        slope=slope,
    )


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
