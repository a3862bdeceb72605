"""Inputs of kernels along a finished motion, lifted variables interpolated between the nodes."""

from collections.abc import Iterable, Mapping
from typing import Protocol, cast

import numpy as np

from ocp.mechanics.model.structure import structure
from ocp.problem.contact.complementarity import touch_size, touches
from ocp.problem.contact.ground import Ground, of_contacts, slots
from ocp.problem.contact.load_paths import is_corrected
from ocp.problem.statement import Problem
from ocp.transcription.kernels.time_derivatives import motion_rates
from ocp.transcription.variables.interpolation import wrench_interpolation
from ocp.transcription.variables.layout import Layout, free_duration, motion_inputs


class SolvedMotion(Protocol):
    """The part of a `Solution` that kernels' inputs are made of."""

    @property
    def problem(self) -> Problem:
        """The problem with its numbers."""

    @property
    def points(self) -> np.ndarray:
        """Control points (n, points)."""

    @property
    def duration(self) -> float:
        """Duration (s)."""

    @property
    def nodes(self) -> np.ndarray:
        """Nodes (N,) in parts of the motion."""

    @property
    def lifted(self) -> np.ndarray:
        """Lifted variables (width, N)."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """Numbers of the parameters."""

    @property
    def stands(self) -> bool:
        """Whether ground wrenches were variables."""

    def wrenches(self) -> dict[str, np.ndarray]:
        """Return {foot: wrench (6, N)} at the nodes."""


def lifted_kind(solution: SolvedMotion) -> str | None:
    """Return the kind of lifted inputs that kernels take: "variables" for torques with polynomials
    of
    their own, "given" for forces of ground, stays or undetermined cut joints at the nodes, None
    without.
    """
    if solution.problem.motion.collocated:
        return "variables"
    drawn = structure(solution.problem.tree)
    known = drawn.determined and not drawn.stay_labels and not solution.stands
    known &= not touches(solution.problem.loads)
    return None if known else "given"


def kernel_inputs(solution: SolvedMotion, s: np.ndarray, *, rated: bool = False) -> np.ndarray:
    """Return y (width, N) of the kernels at instants s (N,), if `rated` with the rates at its
    end."""
    problem, duration, lines = solution.problem, solution.duration, solution.lifted
    if lifted_kind(solution) != "variables":
        wrenches = _contacts(solution) if solution.stands else ()
        found = [stay_forces(solution), touch_forces(solution)]
        lines = np.vstack([_cut_forces(solution), *found, *wrenches])
    parts = [motion_inputs(problem, solution.points, duration, s)]
    if rated:
        parts.append(motion_rates(problem, solution.points, s))
    if lines.size:
        known = lines @ wrench_interpolation(problem, solution.nodes, s).T
        parts.insert(1, known)
    if lines.size and rated:
        slopes = lines @ wrench_interpolation(problem, solution.nodes, s, 1).T
        parts.append(slopes if free_duration(problem) else slopes / duration)
    return np.vstack(parts)


def open_kernel_inputs(solution: SolvedMotion, layout: Layout, s: np.ndarray) -> np.ndarray:
    """Return y (width, N) of kernels whose problem is open, at instants s (N,): it ends with the
    parameters of the layout, and its rates are over the motion where they say how long that is."""
    y, n = kernel_inputs(solution, s), solution.problem.tree.dof
    if layout.timed is not None:
        y[: 3 * n] *= np.repeat(solution.duration ** np.arange(3), n)[:, None]
    values = [solution.parameters[each.name] for each in layout.values]
    return np.vstack([y, np.tile(np.reshape(values, (-1, 1)), len(s))])


def _cut_forces(solution: SolvedMotion) -> np.ndarray:
    """Return the lifted forces of cut joints (cuts, N); none where the motion tells them."""
    drawn = structure(solution.problem.tree)
    first = len(drawn.drives)
    return solution.lifted[first : first + (0 if drawn.determined else len(drawn.cuts))]


def stay_forces(solution: SolvedMotion) -> np.ndarray:
    """Return the forces of stays at the nodes (sides, N), N or N m."""
    drawn = structure(solution.problem.tree)
    return solution.lifted[drawn.internal - len(drawn.stay_labels) : drawn.internal]


def _contacts(solution: SolvedMotion) -> Iterable[np.ndarray]:
    """Return what contacts gave at the nodes: of each foot where it is corrected between them, or
    else of all in the order of what is lifted."""
    ground = cast(Ground, solution.problem.ground)
    if is_corrected(solution.problem.tree, ground):
        return solution.wrenches().values()
    return (of_contacts(solution.lifted, len(slots(ground))),)


def touch_forces(solution: SolvedMotion) -> np.ndarray:
    """Return the components (N) of contacts' forces that were sought, at the nodes."""
    first, loads = structure(solution.problem.tree).internal, solution.problem.loads
    return solution.lifted[first : first + touch_size(loads)]
