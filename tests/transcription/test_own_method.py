"""A transcription method of one's own is one more record: here one polynomial for the whole
motion."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import ocp
from ocp.transcription import Method, method_setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Pseudospectral(Method):
    """One Bezier curve of high degree; inequalities at Chebyshev's points, integrals by Gauss."""

    name: ClassVar[str] = "pseudospectral"

    degree: int = method_setting(12, "degree of the polynomial")

    def with_basis(self, problem):
        """Return the problem with one polynomial for its motion."""
        return replace(problem, motion=ocp.BSpline(points=self.degree + 1, degree=self.degree))

    def grid(self, problem):
        """Return the Chebyshev-Lobatto points."""
        return (1 - np.cos(np.pi * np.arange(2 * self.degree + 1) / (2 * self.degree))) / 2


INERTIA, ANGLE, TIME = 0.4, 1.5, 0.8


@pytest.fixture(scope="module")
def solution():
    """A wheel turned from rest to rest with the least squared torque, which is a cubic."""
    link = ocp.Link(mass=1.0, inertia=np.diag([INERTIA, INERTIA, INERTIA]))
    wheel = ocp.Tree(links=(link,), joints=(ocp.revolute("wheel", torque=10.0),))
    ends = (ocp.at_start(wheel, q=0.0, qd=0.0), ocp.at_end(wheel, q=ANGLE, qd=0.0))
    problem = ocp.Problem(
        tree=wheel,
        motion=ocp.BSpline(points=5),
        duration=TIME,
        objective=ocp.effort(),
        constraints=(*ends, ocp.torque_limits(wheel)),
    )
    return ocp.solve(problem, ocp.Transcription(method=Pseudospectral(degree=6))).require()


def test_its_optimum_is_the_closed_form(solution):
    assert solution.objective == pytest.approx(12 * (INERTIA * ANGLE) ** 2 / TIME**3, rel=1e-9)
    s = np.linspace(0, 1, 11)
    assert np.allclose(solution.q(s * TIME)[0], ANGLE * s**2 * (3 - 2 * s), rtol=0, atol=1e-7)
    assert solution.problem.motion == ocp.BSpline(points=7, degree=6)


def test_its_certificate_passes_and_the_report_names_it(solution):
    ocp.verify(solution).require(1e-3)
    assert "pseudospectral" in ocp.summary(solution)


def test_a_file_wants_the_method_handed_over(solution, tmp_path):
    ocp.save(solution, tmp_path / "own.npz")
    with pytest.raises(ValueError, match="method of one's own, 'pseudospectral'.*method=..."):
        ocp.load(tmp_path / "own.npz", solution.problem)
    again = ocp.load(tmp_path / "own.npz", solution.problem, method=Pseudospectral(degree=6))
    assert again.transcription == solution.transcription
    assert np.array_equal(again.points, solution.points)
