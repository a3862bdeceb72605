"""Bases of a refinement's rounds: the first ends its pieces at breaks, the next ones are finer.

Each phase has a basis of its own, which is refined where the phase has errors.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from ocp.certificate.checks.discontinuities import find_breaks
from ocp.motion.basis import Basis
from ocp.motion.collocation_mesh import Mesh
from ocp.motion.spline import ALIKE, SIDE, BSpline, coarsest_curve, spline_of_curves
from ocp.motion.spline_part import Part
from ocp.problem.phases.phase_problems import with_bases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solving.refinement.mesh_error import (
    DEGREE,
    MeshErrors,
    finer_mesh,
    finer_spline,
    mesh_errors,
    split_instants,
    worst_middles,
)
from ocp.transcription.parameters.parameter_substitution import close_by_name
from ocp.transcription.transcription_methods import Collocation
from ocp.transcription.transcription_settings import Transcription, stated_parts
from ocp.transcription.variables.layout import free_knots

SETTLED = 0.1  # of the tolerance: by so much, relatively, the objective may still change
GROWN = 1.2  # times as many segments: what has to change little


def measure_errors(solution: Solution, tolerance: float) -> list[MeshErrors]:
    """Return the errors of every basis, those of the quadrature by the whole objective."""
    return [
        mesh_errors(replace(motion, objective=solution.objective), tolerance)
        for motion in solution.parts.values()
    ]


def first_round(
    problem: Problem, transcription: Transcription, values: Mapping[str, float]
) -> tuple[Problem, Transcription]:
    """Return the problem and transcription of the first round: pieces end at the breaks of the
    statement, with `values` of its parameters."""
    if problem.single_phase:
        return with_breaks(problem, transcription, values)
    parts = stated_parts(problem, transcription)
    bases = [_basis(*with_breaks(part, settings, values)) for part, settings in parts]
    return with_bases(problem, bases), transcription


def next_round(
    problem: Problem,
    transcription: Transcription,
    solution: Solution,
    every: list[MeshErrors],
    held: int,
) -> tuple[Problem, Transcription, list[Basis]]:
    """Return the problem, transcription and bases of the next round.

    Args:
        problem, transcription, solution: of the last round.
        every: its errors, those of each basis.
        held: number of rounds so far whose certificate held. Before the first, bases of phases
            without errors stay where others have some.
    """
    if problem.single_phase:
        problem, transcription = finer_basis(problem, transcription, solution, every[0], held)
        return problem, transcription, [transcription.method.with_basis(problem).motion]
    faulty = [each.gross or bool(each.open_jumps) or any(each.errors > 1) for each in every]
    parts, bases = stated_parts(problem, transcription), []
    for (part, settings), phase, own, fault in zip(parts, solution.parts.values(), every, faulty):
        if not held and any(faulty) and not fault:
            bases.append(phase.problem.motion)
        else:
            bases.append(_basis(*finer_basis(part, settings, phase, own, held)))
    return with_bases(problem, bases), transcription, bases


def next_basis(problem: Problem, transcription: Transcription) -> tuple[Problem, Transcription]:
    """Return the problem and transcription on the next basis, whose segments are the halves of
    those of the motion: it holds every motion of that one.

    Splines keep their degree, and the multiple knots at which accelerations jump; free knots, and
    free lengths of intervals, stay where they are. Parts of one spline stay its parts.

    Raises:
        ValueError: for a basis of one's own.
    """
    if problem.single_phase:
        return _halve_segments(problem, transcription)
    parts = stated_parts(problem, transcription)
    bases = [_basis(*_halve_segments(part, settings)) for part, settings in parts]
    return with_bases(problem, bases), transcription


def _halve_segments(part: Problem, transcription: Transcription) -> tuple[Problem, Transcription]:
    """Return a motion's problem and transcription on the halves of its segments."""
    method = transcription.method
    if isinstance(method, Collocation):
        mesh = part.motion if isinstance(part.motion, Mesh) else method.mesh()
        inner = finer_mesh(mesh.breaks, _middles(mesh), ())
        given = {"lengths": "given"} if mesh.moving else {}
        method = replace(method, intervals=len(inner) + 1, inner=inner, **given)
        return replace(part, motion=method.mesh()), replace(transcription, method=method)
    motion = part.motion
    if isinstance(motion, Part):
        return replace(part, motion=replace(motion, whole=_halves(motion.whole))), transcription
    if not isinstance(motion, BSpline):
        raise ValueError(
            f"finer: expected a BSpline, or a method of collocation, got {type(motion).__name__}"
        )
    return replace(part, motion=_halves(motion)), transcription


def _halves(motion: BSpline) -> BSpline:
    """Return the spline with a knot more in the middle of every segment, of coordinates' own curves
    in those of each."""
    return _by_curve(motion, lambda curve: _with_instants(curve, _middles(curve)))


def _with_instants(curve: BSpline, more: np.ndarray) -> BSpline:
    """Return a curve with a knot more at each of some instants."""
    return finer_spline(curve, more, (), np.empty(0), least=0)


def _by_curve(motion: BSpline, finer: Callable[[BSpline], BSpline]) -> BSpline:
    """Return a motion made finer, or each of its coordinates' own curves: those that follow others
    get the knots of these too."""
    if not motion.curves:
        return finer(motion)
    made = {curve: finer(curve) for curve in motion.rows_by_curve}
    knots = min(made.values(), key=lambda curve: curve.points).breaks
    nested = {each: _with_instants(one, knots) for each, one in made.items()}
    return spline_of_curves((nested[each] for each in motion.curves), motion.degree)


def _middles(motion: Basis) -> np.ndarray:
    """Return the middles (segments,) of a basis's segments."""
    return (motion.breaks[:-1] + motion.breaks[1:]) / 2


def _basis(part: Problem, transcription: Transcription) -> Basis:
    """Return the basis of a phase that is solved so."""
    method = transcription.method
    return method.mesh() if isinstance(method, Collocation) else part.motion


def with_breaks(
    problem: Problem, transcription: Transcription, values: Mapping[str, float]
) -> tuple[Problem, Transcription]:
    """Return the problem and transcription whose pieces end where the statement breaks, in the
    duration of a first guess.

    The last stage of an interval is to lie before a jump, where the next interval begins.
    """
    numbers = close_by_name(problem, values)
    torn = find_breaks(numbers, float(np.sqrt(np.prod(numbers.duration))))
    instants = np.concatenate([torn.ends, torn.jumps - SIDE])
    if not len(instants):
        return problem, transcription
    method = transcription.method
    if isinstance(method, Collocation):
        _check_kept(method.mesh().moving, instants[0], "free lengths")
        inner = finer_mesh(method.mesh().breaks, instants, ())
        method = replace(method, intervals=len(inner) + 1, inner=inner)
        return problem, replace(transcription, method=method)
    _check_kept(free_knots(problem), instants[0], "free knots")
    motion = _by_curve(
        cast(BSpline, problem.motion),
        lambda curve: finer_spline(curve, torn.ends, (), torn.jumps, 0),
    )
    return replace(problem, motion=motion), transcription


def _check_kept(moving: bool, s: float, what: str) -> None:
    """Raise ValueError where knots move and a piece of the motion is to end at an instant s."""
    if moving:
        raise ValueError(
            f"refine: at s = {s:.3g} a piece of the motion ends, where loads break; "
            f"{what} would leave it: give them"
        )


def finer_basis(
    problem: Problem, transcription: Transcription, solution: Solution, seen: MeshErrors, held: int
) -> tuple[Problem, Transcription]:
    """Return the problem and transcription of the next round.

    It has multiple knots where torques jump, and more knots where errors are.
    """
    motion, method = solution.problem.motion, transcription.method
    torn = find_breaks(solution.problem, solution.duration)
    jumps = () if seen.gross else seen.jumps if held else seen.open_jumps
    faulty = bool((seen.errors > 1).any())
    if isinstance(method, Collocation):
        more = np.append(torn.ends, _split_instants(motion, seen, held, faulty))
        inner = finer_mesh(motion.breaks, np.append(torn.jumps - SIDE, more), jumps)
        method = replace(method, intervals=len(inner) + 1, inner=inner)
        return problem, replace(transcription, method=method)
    whole = cast(BSpline, motion)
    base, errors = coarsest_curve(whole), _errors_by_curve(whole, seen)

    def finer(curve: BSpline) -> BSpline:
        way = (held, faulty) if curve == base else (0, faulty or held > 0)
        more = np.append(torn.ends, _split_instants(curve, errors[curve], *way))
        return finer_spline(curve, more, jumps, torn.jumps, 0 if whole.curves else DEGREE)

    return replace(problem, motion=_by_curve(whole, finer)), transcription


def _errors_by_curve(motion: BSpline, seen: MeshErrors) -> dict[BSpline, MeshErrors]:
    """Return {curve: errors of its segments} of a motion, where coordinates have curves of their
    own.

    Those of rows are left to the curve of coordinates that follow no others, to whose segments
    nodes belong, those of laws to others, that follow by them: where several do, to the shortest
    segments.
    """
    if not motion.curves:
        return {motion: seen}
    base, found = coarsest_curve(motion), {}
    others = [curve for curve in motion.rows_by_curve if curve != base]
    for curve in motion.rows_by_curve:
        place = np.searchsorted(curve.breaks, _middles(motion)) - 1
        laws, rows = np.zeros((2, curve.segments))
        if curve == base:
            np.maximum.at(rows, place, seen.rows)
        else:
            np.maximum.at(laws, place, seen.laws)
            least = np.min([_lengths(each, _middles(curve)) for each in others], axis=0)
            laws[np.diff(curve.breaks) > least + ALIKE] = 0.0
        found[curve] = replace(seen, laws=laws, rows=rows)
    return found


def _lengths(curve: BSpline, instants: np.ndarray) -> np.ndarray:
    """Return the lengths (N,) of the segments of a curve in which instants (N,) lie."""
    return np.diff(curve.breaks)[np.searchsorted(curve.breaks, instants) - 1]


def _split_instants(motion: Basis, seen: MeshErrors, held: int, faulty: bool) -> np.ndarray:
    """Return the instants (k,) that split segments, of a motion some of which are `faulty`, or of
    its coordinates' own curve.

    Where the certificate has `held` once, those that may still change the objective are split, and
    where it has before, or finds nothing in any of them, all, unless jumps are to be placed first.
    """
    order = max(2, motion.degree - 1)
    if not seen.gross and (seen.open_jumps or (not held and faulty)):
        return split_instants(motion.breaks, _splittable_errors(motion, seen), order)
    if held == 1:
        more = split_instants(motion.breaks, seen.errors / SETTLED, order)
        least = worst_middles(motion.breaks, seen.errors, GROWN)
        return more if len(more) >= len(least) else least
    return split_instants(motion.breaks, np.full(motion.segments, np.inf), order)


def _splittable_errors(motion: Basis, seen: MeshErrors) -> np.ndarray:
    """Return the errors (segments,) that splits make smaller, those of no jump.

    Before a multiple knot stands where a torque jumps, splits would follow a smooth curve instead.
    """
    if not isinstance(motion, BSpline):
        return seen.errors
    middles = (motion.breaks[:-1] + motion.breaks[1:]) / 2
    jumping = np.zeros(motion.segments, dtype=bool)
    for jump in seen.open_jumps:
        if jump.is_smooth:
            jumping |= (jump.start < middles) & (middles < jump.end)
    return np.where(jumping, 0.0, seen.errors)
