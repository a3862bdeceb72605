"""Inputs of kernels: symbols of one instant of the motion, and the source of the forces there.

Inputs are s and y = (T, q, q', q'') with primes for d/ds, or (q, qd, qdd) when the duration is
given, or what makes a curve where knots are free; then what is lifted: joint torques, forces of cut
joints and stays, ground wrenches; then the parameters. Inverse dynamics may bring its own
derivatives.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Protocol, cast

import casadi as ca

from ocp.codegen.function_map import Graph
from ocp.dynamics.closed_loops import scatter_gap_rows
from ocp.dynamics.derivatives.momentum import has_momentum_slopes
from ocp.dynamics.derivatives.muscle_derivatives import muscle_rows
from ocp.dynamics.formulation_record import Formulation, Provider
from ocp.mechanics.kinematics.zero_moment import resultant
from ocp.mechanics.model.loads import Wrench
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import Parameter, is_open
from ocp.mechanics.values.types import Matrix
from ocp.motion.free_knots import spline_value
from ocp.problem.contact.complementarity import touch_size
from ocp.problem.contact.ground import Ground, of_contacts, slots
from ocp.problem.contact.reactions import check_two_pass, share_reaction, two_pass
from ocp.problem.contact.transmitted_wrenches import is_corrected, transmissions
from ocp.problem.instant import Forces, Instant
from ocp.problem.statement import Problem
from ocp.transcription.kernels.custom_derivatives import (
    MuscleColumn,
    Spin,
    StandIn,
    Torque,
    chosen_of,
)
from ocp.transcription.kernels.time_derivatives import flow_of
from ocp.transcription.variables.layout import Layout, free_duration

PendingKernel = tuple[Callable[[], ca.Function], ca.Sparsity]  # function to wait for, pattern


class Backend(Protocol):
    """Makes functions of the graphs of kernels: as they are, shared, or as machine code."""

    @property
    def scalar(self) -> bool:
        """Tell whether all graphs have to be scalar ones."""

    def __call__(
        self, name: str, build: Callable[[], Graph], follows: Callable[[], str]
    ) -> PendingKernel:
        """Return the function of a Graph, to be waited for, and the Graph's pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What kernels are functions of: y and s as SX symbols, the Instant they describe (or two,
    start and end), its `torque` when inverse dynamics has derivatives of its own (and then is a
    symbol that stands for it), its `spin` likewise when the angular momentum has, its `muscles`
    when some are over polynomial paths, the `backend` of every Function, what of the motion lies in
    the instant's own segment where knots are free (`width`), and the `rates` that y has beside the
    motion once values contain any.

    At the end of y stand parameters: `sought` ones, and ones that are `given`, by which nothing is
    differentiated."""

    y: Matrix
    s: Matrix
    at: Any
    torque: Torque | None = None
    spin: Spin | None = None
    muscles: MuscleColumn | None = None
    backend: Backend | None = None
    width: Matrix = 1.0
    sought: int = 0
    given: int = 0
    rates: Matrix = field(default_factory=lambda: ca.SX(0, 1))

    @property
    def with_rates(self) -> "Inputs":
        """The Inputs of kernels whose values contain rates."""
        return replace(self, y=ca.vertcat(self.motion, self.rates, self.parameters, self.constants))

    @property
    def differentiable(self) -> Matrix:
        """What of y a solve may move."""
        return self.y[: self.y.shape[0] - self.given]

    @property
    def motion(self) -> Matrix:
        """What of y is no parameter."""
        return self.y[: self.y.shape[0] - self.given - self.sought]

    @property
    def parameters(self) -> Matrix:
        """The parameters that are sought."""
        return self.y[self.y.shape[0] - self.given - self.sought : self.y.shape[0] - self.given]

    @property
    def constants(self) -> Matrix:
        """What of y a solve leaves as it is given."""
        return self.y[self.y.shape[0] - self.given :]

    def with_parameters(self, parameters: Sequence[Parameter], free: int) -> "Inputs":
        """Return the Inputs with parameters at the end of y, of which the first `free` are
        sought."""
        if not parameters:
            return self
        y = ca.vertcat(self.y, *(each.expression for each in parameters))
        return replace(self, y=y, sought=free, given=len(parameters) - free)

    @property
    def stand_ins(self) -> tuple[StandIn, ...]:
        """What symbols stand for."""
        known = self.torque, self.spin, self.muscles
        return tuple(each for each in known if each is not None)

    @property
    def measure(self) -> Matrix:
        """What an integral over the motion, or over the segment where knots are free, is multiplied
        by to be one over time (s)."""
        return self.width * (self.at[0].T if isinstance(self.at, tuple) else self.at.T)


def symbols(
    problem: Problem,
    formulation: Formulation,
    provider: Provider | None = None,
    backend: Backend | None = None,
    wrenches: str | None = None,
    *,
    moving: bool = False,
    shared: bool = False,
) -> Inputs:
    """Return the Inputs of kernels for a problem.

    Args:
        problem: the statement.
        formulation: of inverse dynamics.
        provider: derivatives of inverse dynamics; None leaves them to automatic differentiation.
        backend: makes functions of the graphs; None leaves them as they are.
        wrenches: source of the forces. None: ground wrenches from the motion in two passes.
            "variables": y has ground wrenches, torques of actuated joints and forces of cut joints
            and stays, where a Layout places them. "given": y has the wrench of each foot, which is
            corrected to equilibrium, and the forces of stays and undetermined cut joints before it.
        moving: knots are free; y has control points and distances, which make the curve.
        shared: take the motion's symbols that all such Inputs of the very same problem share, so
            that what follows from the motion alone is traced once. No function may be of two such.
    """
    count, forces = _LIFTED[wrenches](problem)
    known = (_shared_motion if shared else _motion)(problem, moving)
    lifted = ca.SX.sym("lifted", count)
    y, size = ca.vertcat(known.y, lifted), known.y.shape[0]
    at = replace(known.at, forces=replace(forces(lifted), inverse=formulation.inverse))
    torque = spin = muscles = None
    if provider is not None:
        at, torque = _with_derivatives(at, provider, y, lifted)
        at, spin = _with_spin(at, y)
        at, muscles = _with_muscles(at, y)
    rates = ca.SX.sym(
        "rate", (0 if moving else problem.tree.dof) + count
    )  # jerks, slopes of the lifted
    inputs = replace(known, y=y, at=at, backend=backend, rates=rates)
    inputs = replace(inputs, torque=torque, spin=spin, muscles=muscles)
    flow = cache(partial(flow_of, problem, inputs, size, count, moving=moving))
    return replace(inputs, at=replace(at, flow=lambda expression: flow()(expression)))


def _motion(problem: Problem, moving: bool) -> Inputs:
    """Return the Inputs of a motion alone, of whose forces nothing is known."""
    n, free = problem.tree.dof, free_duration(problem)
    size = Layout(problem=problem, moving=moving).motion_width
    y, s = ca.SX.sym("y", size), ca.SX.sym("s")
    T, timed = y[0] if free else ca.SX(problem.duration[0]), is_open(problem.duration[0])
    on_free_knots = moving_curve(problem, y[free:]) if moving else None
    q, qd, qdd, instant, width = on_free_knots or (*ca.vertsplit(y[free:], n), s, 1.0)
    if free or moving or timed:
        qd, qdd = qd / T, qdd / T**2
    at = Instant(
        tree=problem.tree,
        s=instant,
        T=T,
        q=q,
        qd=qd,
        qdd=qdd,
        loads=tuple(problem.loads),
        ground=problem.ground,
        forces=Forces(inverse=None),
    )
    return Inputs(y=y, s=s, at=at, width=width)


_shared_motion = memoize(4)(_motion)


def moving_curve(problem: Problem, motion: Matrix) -> tuple:
    """Return q, q', q'', s and the width of the segment, from its control points and distances, or
    as they are on intervals of free lengths."""
    n, p = problem.tree.dof, problem.motion.degree
    if problem.motion.collocated:
        return *ca.vertsplit(motion[: 3 * n], n), motion[3 * n], motion[3 * n + 1]
    points, distances = motion[: n * (p + 1)], ca.vertsplit(motion[n * (p + 1) :])
    back, on, past = distances[:p], distances[p : 2 * p], distances[-1]
    around = ca.vertsplit(points, n)
    curves = (ca.cse(spline_value(around, back, on, order)) for order in range(3))
    return *curves, past, back[0] + on[0]


def joined_symbols(
    problem: Problem,
    formulation: Formulation,
    backend: Backend | None = None,
    wrenches: str | None = None,
    *,
    moving: bool = False,
) -> Inputs:
    """Return the Inputs of kernels of both ends of the motion: y is that of the start on top of
    that of the end."""
    ends = [symbols(problem, formulation, wrenches=wrenches, moving=moving) for _ in range(2)]
    instants = tuple(replace(end.at, s=ca.SX(s), flow=None) for end, s in zip(ends, (0.0, 1.0)))
    y = ca.vertcat(*(end.y for end in ends))
    return Inputs(y=y, s=ca.SX.sym("s"), at=instants, backend=backend)


def _with_derivatives(
    at: Instant, provider: Provider, y: Matrix, lifted: Matrix
) -> tuple[Instant, Torque]:
    """Return the Instant with a symbol for inverse dynamics, and the Torque that the symbol stands
    for.

    Where torques are variables, inverse dynamics has the ground's wrenches among its loads.
    """
    symbol = ca.SX.sym("tau", at.tree.dof)
    loads = at.current_loads
    follows = at.forces.torques is None
    bodies, states = at.tree.dof - len(at.tree.states), len(at.tree.states)
    moving = ca.vertcat(symbol[:bodies], ca.SX(states, 1)) if states else symbol
    if follows:
        known = replace(at.forces, inverse=lambda *_: moving)
    else:
        loads += _contact_loads(at, lifted)
        known = replace(at.forces, needed=lambda _: moving)
    parts: list[Matrix] = [part for load in loads for part in (load.moment, load.force)]
    wrenches = [ca.SX(part[k]) for part in parts for k in range(3)]
    place = ca.vertcat(at.q, at.qd, at.qdd, *wrenches)
    torque = Torque(
        symbol=symbol,
        made=lambda: at.inertial if follows else at.inertial - at.ground_torques,
        place=place,
        provider=provider,
        tree=at.tree,
        records=(at.loads, at.ground, follows),
        arguments=(at.q, at.qd, at.qdd, loads),
        chosen=chosen_of(place, y),
    )
    return replace(at, forces=known), torque


def _with_spin(at: Instant, y: Matrix) -> tuple[Instant, Spin | None]:
    """Return the Instant with a symbol for its angular momentum, and the Spin that the symbol
    stands for; as it is, and None, where that has no derivatives of its own."""
    if not has_momentum_slopes(at.tree):
        return at, None
    symbol, place = ca.SX.sym("momentum", 3), ca.vertcat(at.q, at.qd)
    spin = Spin(symbol=symbol, place=place, tree=at.tree, chosen=chosen_of(place, y))
    return replace(at, forces=replace(at.forces, spin=lambda _: symbol)), spin


def _with_muscles(at: Instant, y: Matrix) -> tuple[Instant, MuscleColumn | None]:
    """Return the Instant with a symbol for what muscles over polynomial paths give, and the
    MuscleColumn that the symbol stands for; as it is, and None, without such muscles."""
    rows = muscle_rows(at.tree)
    if not rows:
        return at, None
    symbol, place = ca.SX.sym("muscles", at.tree.dof), ca.vertcat(at.q, at.qd)
    moving = ca.SX(at.tree.dof, 1)
    moving[list(rows)] = symbol[list(rows)]
    muscles = MuscleColumn(symbol=symbol, place=place, tree=at.tree, chosen=chosen_of(place, y))
    return replace(at, forces=replace(at.forces, muscles=lambda _: moving)), muscles


# How forces are known: each returns how many inputs are lifted, and Forces of them


def forces_from_motion(problem: Problem) -> tuple[int, Callable]:
    """Ground wrenches in two passes, none in flight; torques and forces of cut joints follow."""
    ground: Any = problem.ground
    if ground is not None and slots(ground):
        check_two_pass(problem.tree, ground)

    def two_passes(at: Instant) -> dict:
        if not slots(ground):
            return {}
        return two_pass(ground, at.s, resultant(at.tree, at.frames, at.torques_without_ground))

    known = Forces(inverse=None, ground=None if ground is None else two_passes)
    return 0, lambda lifted: known


def _known_forces(problem: Problem) -> tuple[int, Callable[[Matrix], Forces]]:
    """Ground wrenches foot by foot, corrected to equilibrium; or as contacts have them, where they
    are not corrected.

    Forces of cut joints unless passive joints determine them, and those of stays.
    """
    tree, ground = problem.tree, cast(Ground, problem.ground)  # None is asked for below
    undetermined = () if structure(tree).determined else structure(tree).cuts
    cuts, held = len(undetermined), len(structure(tree).stay_labels)
    closed = cuts + held
    first = closed + touch_size(problem.loads)
    if ground is None and not first:
        return forces_from_motion(problem)

    corrects = ground is not None and is_corrected(tree, ground)
    contacts = 0 if ground is None else len(ground.feet if corrects else slots(ground))

    def forces(lifted: Matrix) -> Forces:
        def in_balance(at: Instant) -> dict:
            parts = ca.vertsplit(lifted[first:], 6)
            given = {
                foot.name: Wrench(link="", moment=part[:3], force=part[3:])
                for foot, part in zip(ground.feet, parts)
            }
            return share_reaction(
                ground, at.s, given, resultant(at.tree, at.frames, at.torques_without_ground)
            )

        def as_given(at: Instant) -> dict:
            return contact_wrenches(at, lifted)

        return Forces(
            inverse=None,
            ground=(in_balance if corrects else as_given) if ground is not None else None,
            cuts=(lambda at: scatter_gap_rows(tree, lifted[:cuts], undetermined)) if cuts else None,
            stays=lambda at: lifted[cuts:closed],
            touches=lambda at: lifted[closed:first],
        )

    return first + 6 * contacts, forces


def _lifted_forces(problem: Problem) -> tuple[int, Callable[[Matrix], Forces]]:
    """Torques of driven joints, forces of cut joints and of stays, and wrenches of every support of
    the ground, all of them inputs."""
    tree, ground = problem.tree, problem.ground
    drives, cuts = list(structure(tree).drives), structure(tree).cuts
    first, places = len(drives), () if ground is None else slots(ground)
    last, internal = first + len(cuts), structure(tree).internal
    whole = internal + touch_size(problem.loads)

    def forces(lifted: Matrix) -> Forces:
        def torques(at: Instant) -> Matrix:
            rows = range(tree.dof)
            return ca.vertcat(*(lifted[drives.index(row)] if row in drives else 0 for row in rows))

        def wrenches(at: Instant) -> dict:
            return contact_wrenches(at, lifted)

        return Forces(
            inverse=None,
            torques=torques,
            ground=None if ground is None else wrenches,
            cuts=(lambda at: scatter_gap_rows(tree, lifted[first:last], cuts)) if cuts else None,
            stays=lambda at: lifted[last:internal],
            touches=lambda at: lifted[internal:whole],
        )

    return whole + 6 * len(places), forces


_LIFTED = {None: forces_from_motion, "given": _known_forces, "variables": _lifted_forces}


def contact_wrenches(at: Instant, lifted: Matrix) -> dict[tuple[str, str], Wrench]:
    """Return the Wrench of every slot of the ground, of all that is lifted at an instant."""
    ground: Any = at.ground
    given = transmissions(at.tree, ground)
    parts = ca.vertsplit(of_contacts(lifted, len(given)), 6)
    wrenches = {}
    for each, part in zip(given, parts):
        place = None if each.point is None else at.position(each.point)
        wrenches[each.foot, each.link] = each.wrench(ground, place, part)
    return wrenches


def _contact_loads(at: Instant, lifted: Matrix) -> tuple:
    """Return the loads that do the same as these wrenches in inverse dynamics."""
    if at.ground is None:
        return ()
    given = transmissions(at.tree, at.ground)
    parts = ca.vertsplit(of_contacts(lifted, len(given)), 6)
    return tuple(each.load(at.ground, part) for each, part in zip(given, parts))
