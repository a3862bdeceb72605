"""Requests: rows of constraints and laws with their instants, gathered into groups.

Equalities hold where the basis has freedom for them, inequalities at the nodes of the method,
because an equality sampled more densely than the motion has freedom cannot hold. Rows on torques,
forces of cut joints and ground wrenches that are variables hold at the nodes of these.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import casadi as ca
import numpy as np

from ocp.index_sets import distinct, is_in
from ocp.mechanics.values.parameters import anything_open, nominal, parameters_of
from ocp.mechanics.values.types import Matrix
from ocp.motion.quadrature import sample
from ocp.motion.spline import BSpline, coarsest_curve
from ocp.problem.constraint import Constraint, Moment, Span
from ocp.problem.constraints.activations import MIRRORED
from ocp.problem.contact.ground import Ground, bearing_slots
from ocp.problem.phases.shared_spline import SHARED, moving_points
from ocp.problem.reserved_names import DYNAMICS, PASSIVE
from ocp.problem.statement import Problem
from ocp.transcription.constraint_rows import Group
from ocp.transcription.kernels.kernels import Kernel, as_column
from ocp.transcription.kernels.user_functions import call_user_function, kernel_of
from ocp.transcription.parameters.open_parameters import split_open_bounds
from ocp.transcription.problem_symbols import Program
from ocp.transcription.variables.layout import Layout, free_duration

SINGLE = {"start": (0.0,), "end": (1.0,), "ends": (0.0, 1.0), "joined": (0.0,)}
DENSER = 10  # the dense grid has so many steps where the nodes have one
ALIKE = 1e-9  # of the motion: instants so close are one
STEP = 1e-6  # of the motion: shorter ones only part the sides of a jump


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Rows `numbers` of a constraint, expressions `stack`, that are asked for at the instants `s`.

    `kind` says of what the expressions are functions: an instant of the "path", an end, both, the
    control points ("hull"), an instant and its "rates", or an instant that is open. `plain`, the
    constraint's function has no parameters in it.
    """

    constraint: Constraint
    numbers: tuple[int, ...]
    stack: Matrix
    s: tuple[float, ...]
    kind: str | Moment
    equal: bool
    on_nodes: bool
    law: bool
    plain: bool = False

    @property
    def key(self) -> tuple:
        """What requests that are evaluated together share."""
        return self.kind, self.equal, self.on_nodes, self.law


def schedule_grid(problem: Problem, per_segment: int, shared: int | None = None) -> np.ndarray:
    """Return the instants of the motion's grid.

    Where the ground has a contact schedule, they stand at its switches too. A segment that these
    cut has its steps anew: in each piece as many as are its part of the segment, and two at least
    unless the grid has but one. If they are told how many to a segment where several feet bear, it
    is as many as are `shared` there, one at least. The first step after a strike, where velocities
    fall fastest, is halved.
    """
    motion, ground = coarsest_curve(problem.motion), problem.ground
    s = motion.grid(per_segment)
    if ground is None:
        return s
    switches = np.array(ground.switches)
    for a, b in pairwise(motion.breaks.tolist()):
        cuts = switches[(switches > a + ALIKE) & (switches < b - ALIKE)].tolist()
        if cuts or shared:
            steps = _steps_between(ground, [a, *cuts, b], per_segment, shared)
            s = np.concatenate([s[s <= a], steps, s[s > b - STEP]])
    strikes = [foot.bears[0] for foot in ground.feet if 0 <= foot.bears[0] < 1]
    halves = [(s[s <= at + ALIKE][-1] + s[s > at + ALIKE][0]) / 2 for at in strikes]
    return np.sort(np.append(s, halves))


def _steps_between(
    ground: Ground, edges: Sequence[float], per_segment: int, shared: int | None
) -> list[float]:
    """Return the steps strictly inside a segment between its `edges`, those inside among them."""
    length, s = edges[-1] - edges[0], [edges[0]]
    for a, b in pairwise(edges):
        steps, least = per_segment, min(2, per_segment)
        if shared and len(bearing_slots(ground, (a + b) / 2)) > 1:
            steps, least = shared, 1
        count = max(least, round((b - a) / length * steps))
        s += np.linspace(a, b, count + 1)[1:].tolist()
    return s[1:-1]


def dense_grid(problem: Problem, per_segment: int) -> np.ndarray:
    """Return equal steps through every segment with the contact schedule's switches, for looking
    between the nodes."""
    return (
        sample(problem.motion, per_segment)
        if problem.motion.collocated
        else schedule_grid(problem, per_segment)
    )


def request_instants(
    program: Program, nodes: np.ndarray, when: str | Span | Moment, equal: bool, on_nodes: bool
) -> tuple:
    """Return the instants at which rows of a constraint hold; `nodes` are those of inequalities."""
    problem = program.problem
    if isinstance(when, str) and when in SINGLE:
        return SINGLE[when]
    if isinstance(when, Moment):
        return (nominal(when.s),)
    if when == "hull" and problem.motion.hull:
        nodes = moving_points(problem)
        return tuple(nodes[: -1 if problem.cyclic else None].tolist())
    s = coarsest_curve(problem.motion).abscissae(0) if equal else nodes
    if on_nodes:  # the end of a cycle is the start's image, whose bounds hold for both
        s = program.layout.nodes[: -1 if problem.cyclic else None]
    elif isinstance(when, Span) and not equal:
        parts = np.linspace(0.0, 1.0, when.between + 1, endpoint=False)
        s = np.append((s[:-1, None] + np.diff(s)[:, None] * parts).ravel(), s[-1])
    if problem.end == SHARED:  # the next phase asks for what holds where it starts
        s = s[s < 1 - ALIKE]
    if isinstance(when, str):
        return tuple(s.tolist())
    return _instants_within(when, s, fixed=on_nodes, dense=not equal)


def between_nodes(when: str | Span | Moment) -> bool:
    """Tell whether rows hold between the nodes too."""
    return isinstance(when, Span) and when.between > 0


def _instants_within(when: Span, s: np.ndarray, *, fixed: bool, dense: bool) -> tuple[float, ...]:
    """Return the instants of s in a span.

    Its own ends beside them where these are free to be asked, and its middle if there is no other;
    none where instants are `fixed`.
    """
    inside = set(s[when.holds(s)].tolist())
    if dense and not fixed:
        ends = (end for end in (when.start, when.end) if when.holds(end))
        inside |= {end for end in ends if not np.isclose(s, end, atol=ALIKE).any()}
    if not inside and not fixed:
        inside = {(when.start + when.end) / 2}
    return tuple(sorted(inside))


def constraint_requests(
    program: Program, constraints: Iterable[Constraint], nodes: np.ndarray
) -> Iterator[Request]:
    """Yield the requests of the statement's constraints.

    Rows with equal and with unequal bounds, on the motion and on lifted quantities, have instants
    of their own.
    """
    for constraint in constraints:
        what = f"constraint {constraint.name!r}"
        if constraint.when == "joined":
            stack = _joined_stack(program, what, constraint)
            on_nodes = np.zeros(stack.shape[0], dtype=bool)
        elif isinstance(constraint.when, Moment):
            _check_moment(program, what)
            stack = call_user_function(
                what, constraint.function, program.inputs_of(constraint.when)
            )
            on_nodes = np.zeros(stack.shape[0], dtype=bool)
        else:
            stack = call_user_function(
                what, constraint.function, program.inputs_of(constraint.when)
            )
            on_nodes = program.lifted_rows(stack)
            program.check_end(what, bool(constraint.when in ("end", "ends") and on_nodes.any()))
        on_nodes, rated = _beside_rates(program, stack, on_nodes)
        plain = anything_open() and not parameters_of(stack)
        parts: Iterable[tuple[Constraint, Matrix]] = ((constraint, stack),)
        if constraint.open:
            parts = split_open_bounds(constraint, stack, program.free)
        for part, values in parts:
            places: dict = {}
            for chosen, equal, lifted, rates in _sort_rows(part, values, on_nodes, rated):
                s = request_instants(program, nodes, constraint.when, equal, lifted)
                if lifted and not (equal or rates) and between_nodes(constraint.when):
                    rates = True  # whose kernels know what is lifted between the nodes
                    s = request_instants(
                        program, program.layout.nodes, constraint.when, False, False
                    )
                elif rates:
                    grid = program.rate_grid(stack[chosen], nodes, equal=equal, lifted=lifted)
                    s = request_instants(program, grid, constraint.when, False, False)
                if not s and not (constraint.when.open_start and constraint.when.open_end):
                    raise ValueError(
                        f"{what}: no node lies between s = {constraint.when.start:g} and "
                        f"{constraint.when.end:g}, where it holds for torques or ground wrenches; "
                        "take more nodes"
                    )
                if rated.any() and places.setdefault(equal, s) != s:
                    raise ValueError(
                        f"{what}: its rows hold at different instants, since some contain rates, "
                        "of the motion or of forces, and some none; state these apart"
                    )
                rows = [s] * len(on_nodes)
                of = program, part, values, chosen, rows, lifted
                yield from (replace(each, plain=plain) for each in _requests(*of, rated=rates))


def law_requests(
    program: Program,
    laws: Iterable[tuple[Constraint, Sequence[Sequence[float]] | None]],
    handed: Collection[str] = (),
) -> Iterator[Request]:
    """Yield the requests of laws, ((Constraint, instants of every row, or None for all nodes), ..),
    at the start without those of motion of the joints `handed` over."""
    for constraint, s in laws:
        stack = as_column(f"constraint {constraint.name!r}", constraint.function(program.inputs.at))
        nodes = program.layout.nodes
        if program.problem.end == SHARED:
            nodes = nodes[:-1]
        rows = [tuple(nodes.tolist())] * stack.shape[0] if s is None else s
        if constraint.name in (DYNAMICS, PASSIVE):
            rows = [
                own[1:] if label in handed and own[:1] == (0.0,) else own
                for label, own in zip(constraint.labels, rows)
            ]
        chosen = list(range(stack.shape[0]))
        yield from _requests(program, constraint, stack, chosen, rows, s is None, law=True)


def request_groups(program: Program, requests: Iterable[Request]) -> Iterator[Group]:
    """Yield the requests gathered by what is evaluated together, in the order in which they first
    come."""
    gathered: dict = {}
    for request in requests:
        gathered.setdefault(request.key, []).append(request)
    for members in gathered.values():
        yield _group(program, members)


def _beside_rates(
    program: Program, stack: Matrix, on_nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows are on lifted quantities and which contain rates; beside these, rows that
    nothing moves, as those of passive joints or of a foot in swing, go with them."""
    rated, inputs = program.rated_rows(stack), program.inputs
    if rated.any() or (on_nodes.any() and not on_nodes.all()):
        moving = [inputs.y, inputs.s, *(each.symbol for each in inputs.stand_ins)]
        still = ~np.array(ca.which_depends(stack, ca.vertcat(*moving), 1, True), dtype=bool)
        if rated.any():
            on_nodes = on_nodes | (still & ~rated & on_nodes[rated].any())
            rated = rated | still
        else:
            on_nodes = on_nodes | still
    return on_nodes, rated


def _joined_stack(program: Program, what: str, constraint: Constraint) -> Matrix:
    stack = call_user_function(what, constraint.function, program.both_ends)
    beyond = program.both_ends.y[program.layout.width + program.layout.motion_width :]
    if constraint.name != MIRRORED:  # where supports share, that tells how they do at the end
        program.check_end(what, ca.depends_on(stack, beyond))
    return stack


def _check_moment(program: Program, what: str) -> None:
    """Raise ValueError unless the curve is known at an instant that is open: as a spline's is."""
    motion = program.problem.motion
    if not isinstance(motion, BSpline) or program.layout.moving:
        raise ValueError(
            f"{what}: when: an instant that is open is known of splines on given knots only; take "
            "BSpline(points=...), or a number"
        )


def _sort_rows(
    constraint: Constraint, stack: Matrix, on_nodes: np.ndarray, rated: np.ndarray
) -> Iterator[tuple[list[int], bool, bool, bool]]:
    """Yield (numbers of rows, whether equalities, whether on lifted quantities, whether on rates).

    Rows without any bound are left out.
    """
    constraint.bounds(stack.shape[0])
    rows = range(stack.shape[0])
    same = np.array([constraint.equal(row) for row in rows], dtype=bool)
    bounded = np.array([any(constraint.has_bounds(row)) for row in rows], dtype=bool)
    if not (same | bounded).any():
        raise ValueError(
            f"constraint {constraint.name!r}: expected a lower or an upper bound, got neither"
        )
    for equal, wanted in ((True, same), (False, bounded & ~same)):
        for lifted, rates in product((False, True), repeat=2):
            numbers = np.nonzero(wanted & (on_nodes == lifted) & (rated == rates))[0].tolist()
            if numbers:
                yield numbers, equal, lifted, rates


def _requests(
    program: Program,
    constraint: Constraint,
    stack: Matrix,
    chosen: Sequence[int],
    instants_of_rows: Sequence[Sequence[float]],
    on_nodes: bool,
    law: bool = False,
    rated: bool = False,
) -> Iterator[Request]:
    """Yield a Request for rows with the same instants.

    None for an open span that lies between two nodes.
    """
    kind = constraint.when if isinstance(constraint.when, str | Moment) else "path"
    if kind == "hull" and not program.problem.motion.hull:
        kind = "path"
    together: dict = {}
    for number in chosen:
        together.setdefault(tuple(instants_of_rows[number]), []).append(number)
    for s, numbers in together.items():
        if s:
            yield Request(
                constraint=constraint,
                numbers=tuple(numbers),
                stack=stack[numbers],
                s=s,
                kind="rates" if rated else kind,
                equal=constraint.equal(numbers[0]),
                on_nodes=bool(on_nodes),
                law=law,
            )


def _group(program: Program, members: Sequence[Request]) -> Group:
    kind, layout = members[0].kind, program.layout
    s = np.array(sorted({instant for request in members for instant in request.s}))
    owners = tuple((one.constraint, number) for one in members for number in one.numbers)
    asked = np.array([is_in(s, one.s) for one in members for _ in one.numbers])
    inputs = program.inputs_of(kind)
    parts = [(f"constraint {each.constraint.name!r}", each.stack) for each in members]
    made = kernel_of(inputs, parts)
    if kind == "hull":
        _check_hull(layout, made, owners)
    matrix = program.matrix_of(kind, s)
    return Group(kernel=made, s=s, matrix=matrix, owners=owners, active=asked)


def _check_hull(layout: Layout, made: Kernel, owners: Sequence[tuple[Constraint, int]]) -> None:
    """Raise ValueError naming a constraint of control points that is not linear in q alone, beside
    parameters in which it is."""
    first, last = free_duration(layout.problem), made.width - len(layout.values)
    moved = (made.columns >= first + layout.problem.tree.dof) & (made.columns < last)
    outside = (made.columns < first) | moved
    sound = made.linear.copy()
    sound[made.rows[outside]] = False
    if not sound.all():
        name = owners[int(np.argmin(sound))][0].name
        raise ValueError(f"constraint {name!r}: when 'hull': expected a function linear in q alone")


def certificate_grid(
    problem: Problem, nodes: np.ndarray, steps: int, constraints: Iterable[Constraint]
) -> np.ndarray:
    """Return the instants of the dense grid of a method with so many steps per segment, with its
    nodes and the ends of spans among them."""
    grids = [dense_grid(problem, DENSER * steps), nodes, np.array([0.0, 1.0])]
    for constraint in constraints:
        when = constraint.when
        if isinstance(when, Span):
            grids.append(np.array([when.start, (when.start + when.end) / 2, when.end]))
    return distinct(np.concatenate(grids))[0]
