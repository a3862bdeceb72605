"""The straightest motions that first guesses start from."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp.motion import curve_matrix, quadrature
from ocp.problems.benchmarks.scale.cases.trees import chain
from ocp.transcription.transcribe import transcribe

ARM = chain(4)
PLAIN = ocp.BSpline(points=9)
CURVES = ocp.BSpline(points=9, curves=(PLAIN, ocp.BSpline(points=6), PLAIN, PLAIN))
END, RATE = 0.6, 0.5  # of two coordinates together, and of one at the start


def tied(motion):
    """Return a problem whose first and third coordinates are tied at the end by a sum, and whose
    second has a rate alone."""
    together = ocp.Constraint(
        name="together",
        function=lambda at: at.q[0] + 2 * at.q[2],
        when="end",
        lower=END,
        upper=END,
    )
    return ocp.Problem(
        tree=ARM,
        motion=motion,
        duration=1.0,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(
                ARM, q={"joint0": 0.1, "joint2": -0.2}, qd={"joint0": 0.0, "joint1": RATE}
            ),
            together,
        ),
    )


def straightest(problem):
    """Return the control points (n, points) of the first guess, own curves' first in each row."""
    plan = transcribe(problem, ocp.Transcription())
    shape = problem.tree.dof, problem.motion.points
    return np.reshape(plan.guess[: np.prod(shape)], shape, order="F")


def by_dense_system(motion, pull=1e-9):
    """Return the same from one system of all control points and multipliers."""
    n, count = ARM.dof, motion.points
    s, weight = quadrature(motion, "gauss", motion.degree)
    slope, ends = motion.values(s, 1), motion.values(np.array([0.0, 1.0]))
    rate = motion.values(np.array([0.0]), 1)[0]
    each = np.eye(n)
    lines = [
        np.kron(each[0], ends[0]),
        np.kron(each[2], ends[0]),
        np.kron(each[0], rate),
        np.kron(each[1], rate),
        np.kron(each[0] + 2 * each[2], ends[1]),
    ]
    spread = np.zeros((n * count, 0))
    for row, curve in enumerate(motion.curves or (motion,) * n):
        own = curve_matrix(motion, curve) if motion.curves else np.eye(count)
        spread = np.hstack([spread, np.kron(each[row][:, None], own)])
    stiffness = np.kron(each, slope.T @ (weight[:, None] * slope) + pull * np.eye(count))
    lines = np.array(lines) @ spread
    zero = np.zeros((len(lines), len(lines)))
    system = np.block([[spread.T @ stiffness @ spread, lines.T], [lines, zero]])
    right = np.append(np.zeros(spread.shape[1]), [0.1, -0.2, 0.0, RATE, END])
    own = np.linalg.solve(system, right)[: spread.shape[1]]
    sizes = [curve.points for curve in motion.curves] or [count] * n
    each = np.split(own, np.cumsum(sizes)[:-1])
    return np.array([np.pad(points, (0, count - len(points))) for points in each])


@pytest.mark.parametrize("motion", [PLAIN, CURVES], ids=["plain", "curves"])
def test_the_guess_is_the_straightest_motion_that_meets_all_equalities(motion):
    """Where equalities hold it, to rounding; where the pull alone does, as well as that holds."""
    points, dense = straightest(tied(motion)), by_dense_system(motion)
    np.testing.assert_allclose(points[[0, 2]], dense[[0, 2]], rtol=0, atol=1e-11)
    np.testing.assert_allclose(points[[1, 3]], dense[[1, 3]], rtol=0, atol=1e-6)


def test_a_coordinate_that_has_a_rate_alone_stays_about_neutral():
    accelerated = ocp.Constraint(
        name="accelerated", function=lambda at: at.qdd[0], when="start", lower=0.3, upper=0.3
    )
    for count in (9, 128):
        problem = tied(ocp.BSpline(points=count))
        points = straightest(replace(problem, constraints=(*problem.constraints, accelerated)))
        assert abs(points[1].mean()) < 1e-6 and np.abs(points[3]).max() < 1e-6


def test_equalities_that_repeat_or_exclude_each_other_leave_the_nearest_motion():
    problem = tied(PLAIN)
    twice = replace(problem.constraints[-1], name="twice")
    more = replace(twice, name="more", lower=END + 0.2, upper=END + 0.2)
    alone = straightest(problem)
    repeated = straightest(replace(problem, constraints=(*problem.constraints, twice)))
    np.testing.assert_allclose(repeated, alone, rtol=0, atol=1e-6)
    between = straightest(replace(problem, constraints=(*problem.constraints, more)))
    assert between[0, -1] + 2 * between[2, -1] == pytest.approx(END + 0.1, abs=1e-9)


def test_no_dense_system_grows_with_the_points(monkeypatch):
    """It has an unknown for each coordinate and each equality."""
    sizes, solve = [], np.linalg.lstsq
    monkeypatch.setattr(
        np.linalg,
        "lstsq",
        lambda a, *rest, **more: sizes.append(a.shape) or solve(a, *rest, **more),
    )
    for count in (9, 90):
        straightest(tied(ocp.BSpline(points=count)))
    assert sizes == [(9, 9), (9, 9)]
