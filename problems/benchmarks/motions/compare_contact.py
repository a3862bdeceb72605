"""Exact contact (Barman 2020, eq. 5.4): which equalities fit into how many control points.

A foot that stands still asks for y = 0 and v = 0 along a whole phase. A spline can give that at
some instants only, the Greville abscissae in the phase: it has so many control points per joint,
and fewer are left since the step mirrors itself. Torques and balance are left out, accelerations
are least: what remains is whether the feet can stand, and what they do between those instants.
Asked for "everywhere", joints of the leg that stands
follow the others on curves of their own (`with_dependent_curves`), and contact is exact between
those instants too. Where the solver does not come to an end, equalities that follow from others
where it stopped are left out, and it goes on from there; if that does not end either, by way of a
motion without those that nearly follow.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ocp import Attempt, Guess, Problem, Solution, Solver, smoothness, solve
from ocp.certificate import Violation, violations
from ocp.cli import BAD_ARGUMENTS, DONE, exit_status
from ocp.models.human import ROOT
from ocp.problems.benchmarks import print_table, program_parser
from ocp.problems.human.barman_gait import TASK as THESIS
from ocp.problems.human.barman_gait import problem
from ocp.solvers import NLP, Outcome, independent_rows, minimize, violation, with_rows
from ocp.solving import start
from ocp.transcription import TranscribedPhase, transcribe

POINTS = (6, 8, 12, 16)
ASKED = {
    "y": (0.0, 0.3),
    "v": (0.005, 0.0),
    "y, v": (0.0, 0.0),
    "5 mm, 0.3 m/s": (0.005, 0.3),
    "everywhere": (0.0, 0.0),
}  # m and m/s; zero is an equality
EVERYWHERE = "everywhere"  # by joints that follow on curves of their own
PLACES, RATES = ("contact", "places", "standing."), ("slip", "standing_rate.")  # names of rows
LEGS = ("hip_", "knee_", "ankle_", "toe_")
RANK = 1e-9  # of the largest singular value
NEARLY = 1e-3  # part of a unit gradient outside the span of others, below which it nearly follows
NEXT = {"mu_init": 1e-4}  # from the motion without those rows
ITERATIONS = 300
HEADER = (
    *("control points", "asked", "freedom", "equalities", "rank", "status", "iterations"),
    *("at the instants", "y between (mm)", "v between (m/s)"),
    *("rows left out", "goes on", "iterations", "rows missed by"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What came of exact contact with so many control points.

    `freedom` are the control points of pelvis and legs that a mirrored step leaves, `equalities`
    those of the contact, of the `rank`; violations `there`, where they are asked for, and of
    heights (m) and rates (m/s) `between`. `again` is what came without dependent equalities, where
    the first solve did not end.
    """

    points: int
    asked: str
    freedom: int
    equalities: int
    rank: int
    solution: Solution
    there: float
    between: tuple[float, float]
    again: "Again | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What came of a program without its dependent equalities, of which there were so many
    `left_out`, `missed` by so much at most in the end, by way of so many iterations before."""

    left_out: int
    missed: float
    before: int
    outcome: Outcome


def stated(points: int, asked: str) -> Problem:
    """Return the step that is to keep to the ground as `asked`, a name of ASKED."""
    contact, slip = ASKED[asked]
    step = problem(
        points=points,
        contact=contact,
        slip=slip,
        hold="throughout" if asked == EVERYWHERE else "ends",
        without="torques,balance",
        exact=asked == EVERYWHERE,
    )
    return replace(step, objective=smoothness(step.tree))


def fit(points: int, asked: str) -> Fit:
    """Return the Fit of exact contact, sought from the standing posture."""
    step = stated(points, asked)
    still = Guess(q=np.zeros((step.tree.dof, 2)))
    solver = Solver(options={"max_iter": ITERATIONS})
    solution = solve(step, THESIS.transcription, solver, guess=still, attempts=(Attempt(),))
    program = transcribe(step, THESIS.transcription)
    here = start(program, solution).x
    (part,) = program.parts
    equalities, rank = counted(part, here)
    known = violations(solution)
    contact = [one for name, one in known.items() if name.startswith(PLACES)]
    slip = [one for name, one in known.items() if name.startswith(RATES)]
    return Fit(
        points=points,
        asked=asked,
        freedom=freedom(step),
        equalities=equalities,
        rank=rank,
        solution=solution,
        there=max(one.nodes for one in (*contact, *slip)),
        between=(_farthest(contact, ASKED[asked][0]), _farthest(slip, ASKED[asked][1])),
        again=None if solution.success else without_dependent(program.nlp, solver, here),
    )


def without_dependent(nlp: NLP, solver: Solver, x: np.ndarray) -> Again:
    """Return the solve of a program from x on, without the equalities that follow from others
    there; if it does not end, by way of one without those that nearly follow."""
    again = _without(nlp, solver, x)
    if again.outcome.success:
        return again
    way = _without(nlp, solver, x, NEARLY).outcome
    if not way.success:
        return again
    near = replace(solver, options={**solver.options, **NEXT})
    return replace(_without(nlp, near, way.x), before=way.iterations)


def _without(nlp: NLP, solver: Solver, x: np.ndarray, *nearly: float) -> Again:
    kept = independent_rows(nlp, x, *nearly)
    outcome = minimize(with_rows(nlp, kept), solver, x)
    missed = violation(np.array(nlp.constraints(outcome.x)).ravel(), nlp.g_lower, nlp.g_upper)
    left_out = np.setdiff1d(np.arange(len(missed)), kept)
    most = float(missed[left_out].max(initial=0.0))
    return Again(left_out=len(left_out), missed=most, before=0, outcome=outcome)


def freedom(step: Problem) -> int:
    """Return the number of variables that place pelvis and legs: control points less those of the
    symmetry."""
    moving = enumerate(step.tree.moving)
    moved = [k for k, one in moving if one.name in ROOT or one.name.startswith(LEGS)]
    conditions = 0 if step.symmetry is None else 2  # angles and rates
    curves = step.motion.curves or (step.motion,) * step.tree.dof
    return sum(curves[row].points - conditions for row in moved)


def _farthest(rows: Sequence[Violation], tolerance: float) -> float:
    """Return the largest distance of rows from zero, over their tolerance."""
    return max((one.dense for one in rows), default=0.0) + tolerance


def counted(transcribed: TranscribedPhase, x: np.ndarray) -> tuple[int, int]:
    """Return the number of the contact's equalities at x, and their share of the rank beside the
    symmetry's."""
    nlp = transcribed.nlp
    slopes = np.array(nlp.jacobian(x, [])[1])
    equal = np.array(nlp.g_lower).ravel() == np.array(nlp.g_upper).ravel()
    symmetry = np.zeros(len(equal), dtype=bool)
    for placed in transcribed.rows:
        if placed.name.startswith("mirrored"):
            symmetry[placed.row[placed.row >= 0]] = True
    ranks = [
        np.linalg.matrix_rank(slopes[rows], tol=RANK * _size(slopes[rows]))
        for rows in (equal, symmetry)
    ]
    return int((equal & ~symmetry).sum()), int(ranks[0] - ranks[1])


def _size(matrix: np.ndarray) -> float:
    return float(np.linalg.norm(matrix, 2))


def _row(one: Fit) -> tuple[str, ...]:
    done = one.solution
    return (
        str(one.points),
        one.asked,
        str(one.freedom),
        str(one.equalities),
        str(one.rank),
        "solved" if done.success else done.status,
        str(done.statistics["iterations"]),
        f"{one.there:.0e}",
        f"{1e3 * one.between[0]:.2g}",
        f"{one.between[1]:.2g}",
        *_again(one.again),
    )


def _again(again: Again | None) -> tuple[str, ...]:
    """Return the table's words on a solve without dependent equalities."""
    if again is None:
        return ("",) * 4
    done = again.outcome
    status = "solved" if done.success else done.status
    iterations = f"{again.before} + {done.iterations}" if again.before else str(done.iterations)
    return str(again.left_out), status, iterations, f"{again.missed:.0e}"


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the table that the command line asks for and return the exit status."""
    parser = program_parser("compare_contact", __doc__)
    parser.add_argument(
        "points", nargs="*", type=int, default=POINTS, help="control points per joint"
    )
    chosen = parser.parse_args(arguments).points
    if min(chosen) < 4:
        print(
            f"compare_contact: error: expected at least 4 points, got {min(chosen)}",
            file=sys.stderr,
        )
        return BAD_ARGUMENTS
    rows = (_row(fit(points, asked)) for points in chosen for asked in ASKED)
    print_table(HEADER, rows)
    return DONE


if __name__ == "__main__":
    sys.exit(exit_status(run))
