"""A solved (or unsolved) motion as a value: curves, torques, reactions, multipliers, statistics; and its file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ocp.dynamics import FORMULATIONS
from ocp.mechanics.loads import acting, attached
from ocp.mechanics.loops import loop_loads
from ocp.mechanics.structure import structure
from ocp.motion.mesh import Mesh, between
from ocp.problem.ground import slots
from ocp.problem.statement import Problem
from ocp.transcription.kernels import trace, trace_joined
from ocp.transcription.transcribe import Transcription
from ocp.transcription.variables import kernel_inputs


class NotSolved(RuntimeError):
    """Raised by Solution.require when the solver did not converge; the message says where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The answer to a problem: control points (n, points), duration (s), and everything known of how they were found.

    Where torques and ground wrenches were variables, `lifted` (width, N) holds them at the `nodes` (N,). `multipliers` by constraint name;
    `terms` of the objective as (name, weight, value); `statistics` in plain numbers; `history` of
    Iterations; `explanation` lines when the solver failed; `verification` when it was asked for (files do not keep
    it). Times given to the methods are in s, a number or an array (N,).
    """

    problem: Problem
    transcription: Transcription
    points: np.ndarray
    duration: float
    objective: float
    terms: tuple
    status: str
    success: bool
    multipliers: Mapping
    statistics: Mapping
    nodes: np.ndarray = field(default_factory=lambda: np.empty(0))
    lifted: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    history: tuple = ()
    explanation: tuple = ()
    verification: object = None

    def q(self, t):
        """Return the coordinates (n,) or (n, N), rad or m."""
        return self.trace(lambda at: at.q, t)

    def qd(self, t):
        """Return the rates (n,) or (n, N), rad/s or m/s."""
        return self.trace(lambda at: at.qd, t)

    def qdd(self, t):
        """Return the accelerations (n,) or (n, N), rad/s2 or m/s2."""
        return self.trace(lambda at: at.qdd, t)

    def tau(self, t):
        """Return the joint torques or forces (n,) or (n, N), N m or N."""
        return self.trace(lambda at: at.tau, t)

    def loop_forces(self, t):
        """Return what the cut joints pass, (m,) or (m, N), N and N m, row by row as `ocp.loops.labels`: the force and moment on a loop's end."""
        return self.trace(lambda at: at.loop_forces, t)

    def reactions(self, t):
        """Return moment (3, links) or (3, links, N) and force, likewise, that each joint passes to its link, in the link's axes.

        They are the Newton-Euler ones whatever the formulation of the solve (Barman 2020, step 9), the ground's wrenches and the forces of
        cut joints being loads; the moment is about the anchor. With flexible links they are those of `ocp.dynamics.book`.
        """
        passed = FORMULATIONS["book" if self.problem.tree.flexible else "newton_euler"].reactions

        def both(at):
            tree, loads = _held(at)
            return ca.vertcat(*passed(tree, at.q, at.qd, at.qdd, loads))

        stacked = self.trace(both, t)  # 3 moments and 3 forces, link by link
        shape = (6, len(self.problem.tree.joints), *np.shape(t))
        moment_and_force = stacked.reshape(shape, order="F")
        return moment_and_force[:3], moment_and_force[3:]

    def trace(self, function, t):
        """Return function(Instant), a vector of m entries, along the motion: (m,) or (m, N).

        Torques are those that the motion needs, or where they are polynomials of their own, these. Ground wrenches that were variables at
        nodes run straight between them, hold after the last, and are corrected to balance the motion exactly.
        """
        s = np.atleast_1d(np.asarray(t, dtype=float)) / self.duration
        if not ((s >= -1e-9) & (s <= 1 + 1e-9)).all():
            raise ValueError(
                f"time: expected within 0 and {self.duration:g} s, got {np.min(t):g} to {np.max(t):g} s"
            )
        s = np.clip(s, 0.0, 1.0)
        values = trace(self.problem, self.transcription.dynamics, function, self._lifts)(
            self._inputs(s), s
        )
        return values if np.ndim(t) else values[:, 0]

    def trace_ends(self, function):
        """Return function(Instant at the start, Instant at the end), (m,)."""
        ends = self._inputs(np.array([0.0, 1.0]))
        return trace_joined(self.problem, self.transcription.dynamics, function, self._lifts)(
            ends.T.reshape(-1, 1)
        )

    @property
    def stands(self):
        """Tell whether ground wrenches were variables."""
        return self.problem.ground is not None and len(self.nodes) > 0

    @property
    def _told(self):
        """The rows of what is lifted that hold forces of cut joints which nothing else determines."""
        first = len(structure(self.problem.tree).drives)
        return slice(
            first,
            first
            if structure(self.problem.tree).determined
            else first + len(structure(self.problem.tree).cuts),
        )

    @property
    def _lifts(self):
        """What the inputs of a trace end with: torques that are polynomials of their own, wrenches that were variables, or nothing."""
        if isinstance(self.problem.motion, Mesh):
            return "variables"
        return "given" if self.stands or not structure(self.problem.tree).determined else None

    def wrenches(self):
        """Return {foot: moment about the origin and force (6, N)} at the nodes, as they were found (N m, N)."""
        if not self.stands:
            raise ValueError("wrenches: of this solution no ground wrenches were variables")
        found, first = {}, structure(self.problem.tree).internal
        for k, (name, _) in enumerate(slots(self.problem.ground)):
            moment, force = np.split(self.lifted[first + 6 * k : first + 6 * k + 6], 2)
            center = np.array(self.problem.ground.foot(name).center)
            found[name] = found.get(name, 0.0) + np.vstack(
                [moment + np.cross(center, force.T).T, force]
            )
        return found

    def _inputs(self, s):
        y = kernel_inputs(self.problem, self.points, self.duration, s)
        if self._lifts == "variables":
            return np.vstack([y, self.lifted @ between(self.problem.motion, s).T])
        lines = [
            *self.lifted[self._told],
            *np.vstack(
                [np.empty((0, len(self.nodes))), *(self.wrenches().values() if self.stands else ())]
            ),
        ]
        return np.vstack([y, *(np.interp(s, self.nodes, line) for line in lines)])

    def times(self, count=201):
        """Return `count` equally spaced times (s) over the motion."""
        return np.linspace(0.0, self.duration, count)

    def require(self):
        """Return self if the solver converged; raise NotSolved with the explanation otherwise."""
        if not self.success:
            raise NotSolved("\n".join([f"not solved: {self.status}", *self.explanation]))
        return self

    def save(self, path):
        """Write one .npz file, whole or not at all: arrays, and under `header` a JSON text that says what they are."""
        from ocp.solution.archive import (
            save,
        )  # which knows how a Solution is made of a file, and so imports this

        save(self, path)


def _held(at):
    """Return the instant's tree, with a point at the origin of each link on the ground, and its loads with the ground's among them."""
    loads = acting(at.loads, at.t)
    if at.tree.loops:
        loads += loop_loads(at.tree, at.q, at.loop_forces)
    wrenches = () if at.ground is None else tuple(at.reaction.wrenches.values())
    tree, pushes = attached(at.tree, at.frames, wrenches)
    return tree, (*loads, *pushes)
