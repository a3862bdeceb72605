"""Costs of evaluating derivatives and the kernels within them."""

from ocp.problems.arms import two_link_effort
from ocp.problems.benchmarks.evaluation_costs import PARTS, costs, kernels, shown, wholes
from ocp.transcription import transcribe_phase


def test_wholes_and_kernels_are_told_of_every_derivative():
    problem = two_link_effort.problem()
    made = transcribe_phase(problem)
    assert tuple(wholes(made)) == tuple(kernels(made, "assembled")) == PARTS
    table = list(costs(problem, wholes(made), "auto"))
    assert [part for part, *_ in table] == list(PARTS)
    assert all(own > 0 and whole > 0 and old > 0 for _, own, whole, old in table)
    lines = list(shown("arm", table))
    assert len(lines) == 1 + len(PARTS) and "whole / old" in lines[0]
