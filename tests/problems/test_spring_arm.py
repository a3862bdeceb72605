"""The arm on springs: resonance, and the closed form of one link with friction."""

import pytest

from ocp import mass_matrix, solve, verify
from ocp.plots import plot_elements
from ocp.problems.arms.spring_arm import best, lines, problem, report, resonance
from ocp.report import describe


def test_one_link_finds_the_stiffness_and_the_effort_of_the_closed_form():
    solution = solve(problem(links=1)).require()
    verify(solution).require(1e-6)
    inertia = float(mass_matrix(solution.problem.tree, [0.0]))
    stiffness, effort = best(inertia, 0.05, 0.5)
    assert solution.parameters["shoulder_k"] == pytest.approx(stiffness, rel=1e-6)
    assert solution.objective == pytest.approx(effort, rel=1e-6)
    assert any(line.startswith("closed form") for line in lines(report(solution)))


def test_without_friction_it_swings_by_itself_at_resonance():
    solution = solve(problem(links=1, damping=0.0)).require()
    inertia = float(mass_matrix(solution.problem.tree, [0.0]))
    assert solution.parameters["shoulder_k"] == pytest.approx(resonance(inertia, 0.5), rel=1e-6)
    assert solution.objective < 1e-9


def test_springs_save_two_links_nearly_all_effort(tmp_path):
    solution = solve(problem()).require()
    assert solution.objective == pytest.approx(0.0342031917, rel=1e-6)
    assert solve(problem(springs=False)).require().objective == pytest.approx(90.5403258, rel=1e-6)
    assert sum(line.startswith("spring") for line in lines(report(solution))) == 2
    known = describe(solution)["elements"]["elbow spring"]
    assert abs(known["work"]) < 1e-9 and known["taken"] == pytest.approx(-4.90538, rel=1e-4)
    plot_elements(solution, tmp_path / "arm.svg")
    words = (tmp_path / "arm.svg").read_text(encoding="utf-8")
    assert "elbow spring" in words and "drives" in words


def test_the_number_of_links_is_checked():
    with pytest.raises(ValueError, match="links: expected 1 or 2, got 3"):
        problem(links=3)
