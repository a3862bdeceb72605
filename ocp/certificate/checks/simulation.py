"""Forward simulation of a tree under given torques, by CVODES."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.dynamics.closed_loops import forward as closed_forward
from ocp.dynamics.derivatives.element_states import insert_rows, moving_parts
from ocp.dynamics.formulation_record import Formulation
from ocp.dynamics.formulations import lagrange
from ocp.dynamics.formulations.lie_group import forward as articulated
from ocp.dynamics.formulations.lie_group import inverse as open_inverse
from ocp.dynamics.forward_from_inverse import accelerations_by, suits_articulated_bodies
from ocp.mechanics.elements.generalized_forces import bodies_of, state_rates, with_elements
from ocp.mechanics.kinematics.kinematics import kinetic_energy
from ocp.mechanics.kinematics.loop_assembly import closed_configurations
from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_numeric, numbers
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.load_evaluation import loads_in_state
from ocp.solvers.nlp import Option
from ocp.transcription.kernels.kernels import function

LOST = 10.0  # rad or m: a replay so far from its plan tells no more of it
TOLERANCE = 1e-10  # of the integrator, absolute and relative
WEIGHTLESS = 1e-14  # of the largest inertia: less is none
# Adams' formulas of up to twelfth order with functional iteration (no Jacobian): for smooth motions
# their truncation errors are smaller by orders than those of backward differences, and each step
# costs two evaluations. What is too stiff for them takes too many steps, and goes on with backward
# differences and Newton's method (Hindmarsh et al. 2005, section 2.1).
PLAIN = {
    "linear_multistep_method": "adams",
    "nonlinear_solver_iteration": "functional",
    "max_num_steps": 2000,
}
STIFF = {"max_num_steps": 100000}
Torques = ArrayLike | Callable[[Matrix, Matrix, Matrix], Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A simulated motion: times `t` (N,) s, coordinates `q` (n, N) rad or m, and rates `qd` (n, N).

    Values are NaN from where the simulation diverged.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray

    def __repr__(self) -> str:
        end = f"{len(self.q)} coordinates over {self.t[-1]:g} s at {len(self.t)} instants"
        return f"Simulation({end}{'' if np.isfinite(self.q).all() else ', blown up'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrator:
    """Integrators over one step: a `plain` one, and `stiff`() for motions too stiff for it."""

    plain: ca.Function
    stiff: Callable[[], ca.Function]


def simulate(
    tree: Tree,
    torques: Torques,
    start: tuple[ArrayLike, ArrayLike],
    duration: float,
    loads: Iterable[Acting] = (),
    *,
    count: int = 201,
    formulation: Formulation | None = None,
    tolerance: float = TOLERANCE,
) -> Simulation:
    """Return the Simulation of a tree under given torques.

    The mechanics are those of rigid bodies by articulated inertias (Sohl & Bobrow 2001), for
    flexible links Lagrange's equations, for closed loops, whose gaps are not stabilised, those with
    multipliers (Haug 1989).

    Args:
        tree: a Tree without stays and open parameters.
        torques: at all joints (N m or N): n numbers; a function of expressions (t, q, qd) that
            returns n of them, such as a controller; or a table (n, N) at N equally spaced instants,
            straight in between.
        start: (q, qd) of n numbers each.
        duration: s.
        loads: that act beside the torques, force laws among them.
        count: number of equally spaced instants returned; a table has its own.
        formulation: whose mechanics take the place of those above.
        tolerance: absolute and relative, of CVODES (Hindmarsh et al. 2005).

    Raises:
        ValueError: for sizes that do not fit, numbers that are not finite, too small a duration or
            count, a tree with stays, and one with parameters.
    """
    n, loads = tree.dof, tuple(loads)
    check_numeric("simulate", (tree, loads))
    if tree.stays:
        names = ", ".join(stay.name for stay in tree.stays)
        raise ValueError(
            f"simulate: stays {names} are not followed as they close and open; take "
            "replace(tree, stays=()) and state their forces as loads or torques"
        )
    q, qd = (numbers(f"start: {what}", value, (n,)) for what, value in zip(("q", "qd"), start))
    table = None if callable(torques) or np.ndim(torques) < 2 else _table(torques, n)
    count = count if table is None else table.shape[1]
    if not (np.isfinite(duration) and duration > 0 and count >= 2):
        raise ValueError(
            f"duration, count: expected a positive number of s and at least 2 instants, "
            f"got {duration} and {count}"
        )
    t, step = np.linspace(0.0, duration, count), duration / (count - 1)
    if table is not None:
        integrator = ramp_integrator(
            tree, step, loads, formulation=formulation, tolerance=tolerance
        )
        states = march(integrator, [*q, *qd], ramp_parameters(t, table))
        return Simulation(t=t, q=states[:n], qd=states[n:])
    clock, begin, state = ca.SX.sym("t"), ca.SX.sym("begin"), ca.SX.sym("x", 2 * n)
    if callable(torques):
        drive = _column(torques(begin + clock, state[:n], state[n:]), n)
    else:
        drive = ca.SX(numbers("torques", torques, (n,)))
    pushes = loads_in_state(tree, loads, begin + clock, state[:n], state[n:])
    slope = state_slope(tree, formulation, state, drive, pushes)
    integrator = cvodes_integrator(clock, state, begin, slope, step, tolerance)
    states = march(integrator, [*q, *qd], t[:-1, None])
    return Simulation(t=t, q=states[:n], qd=states[n:])


def ramp_integrator(
    tree: Tree,
    step: float,
    loads: Iterable[Acting] = (),
    *,
    formulation: Formulation | None = None,
    tolerance: float = TOLERANCE,
) -> Integrator:
    """Return the Integrator of a tree over one `step` (s) under torques that run straight in it.

    Its parameters are when the step begins, and the torques (n,) at its start and at its end.
    """
    n, clock, begin = tree.dof, ca.SX.sym("t"), ca.SX.sym("begin")
    state, ends = ca.SX.sym("x", 2 * n), ca.SX.sym("torques", n, 2)
    drive = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * clock / step
    pushes = loads_in_state(tree, tuple(loads), begin + clock, state[:n], state[n:])
    slope = state_slope(tree, formulation, state, drive, pushes)
    parameters = ca.vertcat(begin, ca.vec(ends))
    return cvodes_integrator(clock, state, parameters, slope, step, tolerance)


def ramp_parameters(t: np.ndarray, torques: np.ndarray) -> np.ndarray:
    """Return the parameters (steps, ..) of a `ramp_integrator` for torques (n, N) at t (N,)."""
    return np.vstack([t[None, :-1], torques[:, :-1], torques[:, 1:]]).T


def _table(torques: ArrayLike, n: int) -> np.ndarray:
    """Return a table of torques (n, N) as an array, checked."""
    table = np.asarray(torques, dtype=float)
    if table.ndim != 2 or len(table) != n or table.shape[1] < 2 or not np.isfinite(table).all():
        raise ValueError(
            f"torques: expected finite numbers of shape ({n},) or ({n}, 2 or more), "
            f"got {table.shape}"
        )
    return table


def _column(torques: Matrix | Sequence[Matrix], n: int) -> ca.SX:
    """Return torques from a user's function as a column of n expressions."""
    rows = torques if isinstance(torques, Sequence) else [torques]
    column = ca.vec(ca.SX(torques if hasattr(torques, "shape") else ca.vertcat(*rows)))
    if column.shape[0] != n:
        raise ValueError(f"torques: expected {n} expressions, got {column.shape[0]}")
    return column


def state_slope(
    tree: Tree,
    formulation: Formulation | None,
    state: ca.SX,
    torques: Matrix,
    loads: Sequence[Load],
) -> ca.SX:
    """Return the slope (2 n,) of a state (q, qd) of motion under joint torques and controls of
    elements' states (n,)."""
    n = tree.dof
    qdd = accelerations(tree, formulation, state[:n], state[n:], torques, loads)
    return with_state_rates(tree, state, torques, qdd)


def with_state_rates(tree: Tree, state: ca.SX, controls: Matrix, qdd: Matrix) -> ca.SX:
    """Return the slope (2 n,) of a state (q, qd) of motion whose joints accelerate so: the rates of
    elements' states, whose places in qd stay as they are, follow from their controls (n,)."""
    n = tree.dof
    rates = state[n:]
    if tree.states:
        q, moving = state[:n], n - len(tree.states)
        rates = ca.vertcat(rates[:moving], state_rates(tree, q, rates, controls))
    return ca.vertcat(rates, qdd)


def accelerations(
    tree: Tree,
    formulation: Formulation | None,
    q: Matrix,
    qd: Matrix,
    torques: Matrix,
    loads: Sequence[Load],
) -> Matrix:
    """Return the accelerations (n,) under joint torques (n,), by a formulation.

    Where it is None they are by what suits the tree. Its force elements act beside the torques.
    """
    if tree.states:
        given = with_elements(tree, torques, q, qd)
        q, qd, given = moving_parts(tree, q, qd, given)
        return insert_rows(tree, accelerations(bodies_of(tree), formulation, q, qd, given, loads))
    if formulation is not None:
        forward, inverse = formulation.forward, formulation.inverse
        if structure(tree).closed:
            return closed_forward(tree, q, qd, torques, loads, dynamics=inverse)[0]
        return accelerations_by(forward, inverse, tree, q, qd, torques, loads)
    if structure(tree).closed:
        return closed_forward(tree, q, qd, torques, loads)[0]
    if not structure(tree).flexible and not suits_articulated_bodies(tree):
        return accelerations_by(None, open_inverse, tree, q, qd, torques, loads)
    torques = with_elements(tree, torques, q, qd)
    if structure(tree).flexible:
        return lagrange.forward(tree, q, qd, torques, loads)
    return articulated(tree, q, qd, torques, loads)


@lru_cache(maxsize=64)
def massless_rows(tree: Tree) -> tuple[int, ...]:
    """Return the rows of coordinates of an open rigid tree that move no mass, in any of some
    configurations: what acts on them has to balance, and does not say how they accelerate.

    The inertia that a coordinate moves, all others at rest, is twice the kinetic energy at a rate
    of one. States of elements are none of these: they have laws of their own.
    """
    if structure(tree).closed or structure(tree).flexible:
        return ()
    n = tree.dof
    q, qd = ca.SX.sym("q", n), ca.SX.sym("qd", n)
    energies = [kinetic_energy(tree, q, qd)]
    energy = function("energy", [q, qd], energies, ["q", "qd"], ["energy"]).map(n)
    alone = ca.DM.eye(n)
    sizes = [
        2 * np.array(energy(ca.repmat(each, 1, n), alone))[0]
        for each in closed_configurations(tree)
    ]
    largest = np.max(sizes, axis=0)
    empty = np.flatnonzero(largest <= WEIGHTLESS * largest.max(initial=0.0)).tolist()
    return tuple(row for row in empty if row not in tree.states)


def cvodes_integrator(
    clock: Matrix,
    state: Matrix,
    parameters: Matrix,
    slope: Matrix,
    step: float,
    tolerance: float = TOLERANCE,
    pace: Matrix = 1.0,
) -> Integrator:
    """Return the Integrator of a `state`, (q, qd), and its `slope` over one `step` of the `clock`.

    The clock counts in units of `pace` (s), a number or one of the parameters.
    """
    ode = {
        "x": state,
        "t": clock,
        "p": parameters,
        "ode": ca.cse(pace * slope),
    }
    quiet = {"show_eval_warnings": False, "disable_internal_warnings": True}  # stiff ones go on
    options = {"abstol": tolerance, "reltol": tolerance, **quiet}

    def integrator(more: dict[str, Option]) -> ca.Function:
        return ca.integrator("simulator", "cvodes", ode, 0.0, step, options | more)

    return Integrator(plain=integrator(PLAIN), stiff=lru_cache(partial(integrator, STIFF)))


def march(
    integrator: Integrator,
    start: ArrayLike,
    parameters: ArrayLike,
    anew: np.ndarray | None = None,
    plan: np.ndarray | None = None,
) -> np.ndarray:
    """Return the states (2 n, steps + 1) from a start (2 n,) on.

    Args:
        integrator: of one step.
        start: state at the beginning (2 n,).
        parameters: those of each step (steps, ..).
        anew: states (2 n, steps + 1) at which the steps begin; by default each where the last
            one ended.
        plan: states (2 n, steps + 1) that the motion is to be near to: once coordinates are LOST
            from these it ends, as an unstable body without feedback only spins ever faster.

    Returns:
        The states, NaN from where the motion blew up or was lost.
    """
    parameters = np.asarray(parameters)
    states = np.full((len(np.asarray(start)), len(parameters) + 1), np.nan)
    states[:, 0] = start
    stepped = integrator.plain
    for k, values in enumerate(parameters):
        begin = (states if anew is None else anew)[:, k]
        try:
            result = stepped(x0=begin, p=values)
        except RuntimeError:  # CVODES gave up: stiff, blown up, or with a singular mass matrix
            if stepped is not integrator.plain:
                break
            stepped = integrator.stiff()
            try:
                result = stepped(x0=begin, p=values)
            except RuntimeError:
                break
        reached = np.array(result["xf"][:, -1]).ravel()
        n = len(reached) // 2
        if plan is not None and np.abs(reached - plan[:, k + 1])[:n].max() > LOST:
            break
        states[:, k + 1] = reached
    return states
