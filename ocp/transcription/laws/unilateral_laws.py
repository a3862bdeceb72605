"""Laws of stays: gaps within bounds, forces of one sign, and forces only where a stay is closed.

Where the motion finds out when that is, gap and force are complementary but for a leak, and so are
the gap's rate and acceleration, without which a mesh would strike its stays: a force of a single
node throws a body as far as it likes. Where it is prescribed a stay has a force over its spans
alone, in which the gap, its rate and its acceleration vanish: for a spline at as many instants as
it has freedom there, for a mesh as loops close.
"""

from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.unilateral_forces import (
    stay_accelerations,
    stay_gaps,
    stay_labels,
    stay_rates,
    stay_units,
)
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.unilateral_joints import ALIKE, Stay
from ocp.mechanics.values.types import Matrix
from ocp.motion.basis import Basis
from ocp.problem.constraint import Constraint
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import HELD, STAYS, TOUCHING, WIRES
from ocp.problem.statement import Problem
from ocp.transcription.kernels.motion_traces import ByIdentity
from ocp.transcription.laws.loop_boundaries import OFF, dependent_rows, prescribed_by

GAPS = (
    lambda at: stay_gaps(at.tree, at.q),
    lambda at: stay_rates(at.tree, at.q, at.qd),
    lambda at: stay_accelerations(at.tree, at.q, at.qd, at.qdd),
)
PER = ("", "/s", "/s2")  # units of a gap, its rate and its acceleration
NEW = 1e-9  # part of a row of a basis, beside the rows before it, from which it says something new
SAMPLES = 2  # times the degree: instants of a segment that tell what freedom a spline has there
SIDE = 1e-8  # of the motion: how far before a span's end accelerations are asked for


def unilateral_laws(problem: Problem) -> tuple:
    """Return the laws of a tree's stays, ((Constraint, instants of every row, or None for all
    nodes), ..)."""
    tree, motion = problem.tree, problem.motion
    owners = _owners(tree)
    bound = [k for k, stay in enumerate(owners) if not stay.path]
    held = [k for k in bound if owners[k].closed]
    free = [k for k in bound if owners[k].closed is None]
    stated: list[tuple] = [(_gap_law(tree, bound), None)] if bound else []
    stated += [(_wire_law(tree), None)] if len(bound) < len(owners) else []
    stated += [(_rate_law(tree, free), None)] if free else []
    known = _implied_by_ends(ByIdentity(problem)) if bound else frozenset()
    for level in range(3) if held else ():
        instants = tuple(
            tuple(
                s
                for span in owners[k].closed or ()
                for s in closing_instants(motion, level, span, _at_ends(known, k))
            )
            for k in held
        )
        if any(instants):
            stated.append((_closure_law(tree, held, level), instants))
    return tuple(stated)


def nodes_beside_jumps(problem: Problem, nodes: np.ndarray) -> np.ndarray:
    """Return the nodes with both sides of every instant inside the motion at which a stay is
    prescribed to close or open, since forces jump there."""
    edges = {edge for stay in problem.tree.stays for span in stay.closed or () for edge in span}
    sides = [s for edge in sorted(edges - {0.0, 1.0}) for s in (edge - SIDE, edge)]
    new = [s for s in sides if np.abs(nodes - s).min() > ALIKE]
    return np.sort(np.append(nodes, new))


def _owners(tree: Tree) -> list[Stay]:
    """Return the stay of every row."""
    return [stay for stay in tree.stays for _ in stay.sides]


def _gap_law(tree: Tree, bound: list[int]) -> Constraint:
    """0 <= gap, 0 <= force, gap force <= leak (Xiang, Arora & Abdel-Malek 2009, eq. 38b), of the
    rows of what is `bound`.

    Where a stay is prescribed to be closed its gap is said to vanish elsewhere.
    """
    owners = [_owners(tree)[k] for k in bound]
    names, units = ([each[k] for k in bound] for each in (stay_labels(tree), stay_units(tree)))
    words, many = ("gap", "force", "gap times force"), len(names)

    def rows(at: Instant) -> Matrix:
        gaps, forces = _select_rows(at.stay_gaps, bound), _select_rows(at.stay_forces, bound)
        return ca.vertcat(gaps * (1 - _closed_mask(owners, at.s)), forces, gaps * forces)

    return Constraint(
        name=STAYS,
        function=rows,
        lower=[0.0] * (2 * many) + [-np.inf] * many,
        upper=[np.inf] * (2 * many) + [stay.leak for stay in owners],
        labels=tuple(f"{name}: {word}" for word in words for name in names),
        units=(*units, *("N" if unit == "m" else "N m" for unit in units), *["J"] * many),
    )


def _wire_law(tree: Tree) -> Constraint:
    """Tensions of wires within their bounds, and where they have any, their speeds."""
    wires = [(k, stay) for k, stay in enumerate(_owners(tree)) if stay.path]
    quick = [(k, stay) for k, stay in wires if stay.speed is not None]

    def rows(at: Instant) -> Matrix:
        tensions = at.stay_forces[[k for k, _ in wires]]
        if not quick:
            return tensions
        speeds = stay_rates(at.tree, at.q, at.qd)[[k for k, _ in quick]]
        return ca.vertcat(tensions, speeds)

    return Constraint(
        name=WIRES,
        function=rows,
        lower=[*(stay.tension[0] for _, stay in wires), *(-stay.speed for _, stay in quick)],
        upper=[*(stay.tension[1] for _, stay in wires), *(stay.speed for _, stay in quick)],
        labels=(
            *(f"{stay.name}: tension" for _, stay in wires),
            *(f"{stay.name}: hauled in" for _, stay in quick),
        ),
        units=(*["N"] * len(wires), *["m/s"] * len(quick)),
    )


def _select_rows(rows: Matrix, numbers: list[int]) -> Matrix:
    return rows if len(numbers) == rows.shape[0] else rows[numbers]


def _rate_law(tree: Tree, free: list[int]) -> Constraint:
    """|T gap' force| <= leak, |T^2 gap'' force| <= leak: what a force holds stays where it is."""
    names, owners = stay_labels(tree), _owners(tree)
    leaks = np.tile([owners[k].leak for k in free], 2)

    def rows(at: Instant) -> Matrix:
        moving = [at.T**level * GAPS[level](at) * at.stay_forces for level in (1, 2)]
        return ca.vertcat(*(part[free] for part in moving))

    return Constraint(
        name=TOUCHING,
        function=rows,
        lower=-leaks,
        upper=leaks,
        labels=tuple(f"{names[k]}: {word}" for word in ("rate", "acceleration") for k in free),
        units="J",
    )


def _closure_law(tree: Tree, held: list[int], level: int) -> Constraint:
    """gap = 0, or its derivative of that level, where stays are prescribed to be closed."""
    names, units, owners = stay_labels(tree), stay_units(tree), _owners(tree)
    gaps = GAPS[level]
    return Constraint(
        name=HELD[level],
        function=lambda at: (gaps(at) * _closed_mask(owners, at.s, inside=level == 2))[held],
        lower=0.0,
        upper=0.0,
        labels=tuple(names[k] for k in held),
        units=tuple(units[k] + PER[level] for k in held),
    )


def _closed_mask(owners: list[Stay], s: Matrix, inside: bool = False) -> Matrix:
    """Return 1 for each row (m,) that is prescribed to be closed at s, else 0; with `inside` not at
    the ends of its spans but for those of the motion, since accelerations may jump there."""
    shrink = SIDE / 2 if inside else -ALIKE
    rows = []
    for stay in owners:
        whole = ca.SX(0)
        for start, end in stay.closed or ():
            after = s > (start + shrink if start > 0 else -ALIKE)
            whole += after * (s < (end - shrink if end < 1 else 1 + ALIKE))
        rows.append(whole)
    return ca.vertcat(*rows)


@lru_cache(maxsize=16)
def _implied_by_ends(same: ByIdentity) -> frozenset:
    """Return (level, end, row) of the gaps of closed stays, and of their derivatives, that vanish
    by what the statement prescribes at the ends of the motion.

    Raises ValueError naming a stay that it keeps from closing, or that it takes beyond its bound.
    """
    problem = same.value
    owners, T = _owners(problem.tree), np.sqrt(np.prod(problem.duration))
    asked = [
        (level, end, row)
        for row, stay in enumerate(owners)
        if not stay.path
        for end in (0, 1)
        for level in range(3 if _closes(stay, end) else 1)
    ]
    functions = [
        (end, lambda at, level=level, row=row: T**level * GAPS[level](at)[row])
        for level, end, row in asked
    ]
    known = dependent_rows(problem, functions)
    for number, found in known.items():
        level, end, row = asked[number]
        closes = _closes(owners[row], end)
        if abs(found.value) > OFF if closes else found.value < -OFF:
            raise ValueError(
                f"stay {stay_labels(problem.tree)[row]}: what the constraints prescribe at the "
                f"{('start', 'end')[end]} leaves {('a gap', 'a rate', 'an acceleration')[level]} "
                f"of {found.value / T**level:.4g} {stay_units(problem.tree)[row]}{PER[level]}"
                f"{' where it is to be closed' if closes else '; expected at least 0'}"
                f"{prescribed_by(problem, found.sources)}"
            )
    followed = (asked[number] for number in known)
    return frozenset((level, end, row) for level, end, row in followed if _closes(owners[row], end))


def _closes(stay: Stay, end: int) -> bool:
    """Tell whether a stay is prescribed to be closed at the start (0) or at the end (1)."""
    return any(span[end] == end for span in stay.closed or ())


def _at_ends(known: frozenset, row: int) -> tuple[frozenset, frozenset]:
    """Return the levels of a row that are known to vanish at the start and at the end."""
    start, end = (
        frozenset(level for level, end, number in known if (end, number) == (side, row))
        for side in (0, 1)
    )
    return start, end


def closing_instants(
    motion: Basis,
    level: int,
    span: tuple[float, float],
    known: tuple[frozenset, frozenset],
    *,
    ends_first: bool = False,
) -> list[float]:
    """Return the instants of a span at which a gap's derivative of that level is to vanish, without
    those at the motion's ends where that is `known`."""
    start, end = span
    if motion.collocated:
        s = motion.closing(level, known)
        return s[(s >= start - ALIKE) & (s <= end + ALIKE)].tolist()
    there = [(order, s) for s in (0.0, 1.0) if s in span for order in sorted(known[int(s)])]
    chosen = _spline_instants(motion, start, end, there, ends_first=ends_first)
    return [s for order, s in chosen if order == level]


def _spline_instants(
    motion: Basis,
    start: float,
    end: float,
    known: list[tuple[int, float]],
    *,
    ends_first: bool,
) -> list[tuple[int, float]]:
    """Return (level, s): so many independent ones, of each other and of those `known`, as the
    spline has freedom between start and end.

    First come the Greville abscissae there, then both ends, their rates and their accelerations; or
    with `ends_first` both ends and their rates, then the abscissae.
    """
    inside = motion.nodes[(motion.nodes >= start - ALIKE) & (motion.nodes <= end + ALIKE)]
    abscissae = [(0, s) for s in inside.tolist()]
    edges = [(level, s) for level in (0, 1) for s in (start, end)]
    candidates = [*edges, *abscissae] if ends_first else [*abscissae, *edges]
    candidates += [(2, start + SIDE), (2, end - SIDE)]
    freedom = int(np.linalg.matrix_rank(motion.values(_many(motion, start, end))))
    chosen: list[tuple[int, float]] = []
    base = np.empty((0, motion.points))
    for number, (level, s) in enumerate([*known, *candidates]):
        row = motion.values(np.array([s]), level)[0]
        rest = row - base.T @ (base @ row)
        rest = rest - base.T @ (base @ rest)
        if len(base) < freedom and np.linalg.norm(rest) > NEW * np.linalg.norm(row):
            base = np.vstack([base, rest / np.linalg.norm(rest)])
            chosen += [(level, s)] if number >= len(known) else []
    return chosen


def _many(motion: Basis, start: float, end: float) -> np.ndarray:
    """Return instants between start and end that tell the spline there, some in every segment."""
    edges = motion.breaks
    edges = np.array([start, *edges[(edges > start + ALIKE) & (edges < end - ALIKE)], end])
    count = SAMPLES * motion.degree
    shares = (np.arange(count) + 0.5) / count
    return (edges[:-1, None] + np.diff(edges)[:, None] * shares).ravel()
