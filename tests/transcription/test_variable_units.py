"""Inputs of kernels that follow from the same variables, which derivatives are multiplied by."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import BSpline, HermiteSimpson, Spline, Transcription
from ocp.problems.arms.two_link_time import problem
from ocp.transcription import transcribe_phase
from ocp.transcription.assembly.chain_rule_products import units_of

COARSE = problem(points=9)
CASES = {
    "spline": (COARSE, Spline()),
    "free knots": (replace(COARSE, motion=BSpline(points=9, knots="free")), Spline()),
    "mesh": (COARSE, HermiteSimpson(intervals=6)),
    "lifted": (COARSE, Spline(torques="variables")),
}


def maps(case):
    """Return the map of every group of a problem, and the width of its inputs."""
    stated, method = CASES[case]
    made = transcribe_phase(stated, Transcription(method=method))
    return [(group.matrix, group.kernel.width) for group in made.groups]


@pytest.mark.parametrize("case", CASES)
def test_inputs_are_the_weighted_variables_of_their_units(case):
    for matrix, width in maps(case):
        units = units_of(matrix, width)
        x = np.random.default_rng(0).uniform(1, 2, matrix.shape[1])
        expected = np.reshape(np.array(matrix @ x), (-1, width))
        found = np.zeros(expected.shape)
        for number, kind in enumerate(units.kinds):
            members = np.nonzero(units.kind == number)[0]
            known = units.variables_of(number, members)[:, kind.run]  # (members, N, K)
            values = np.einsum("nak,mnk->nma", kind.weight, np.where(known < 0, 0, x[known]))
            for each, unit in enumerate(members):
                inputs = np.nonzero(units.unit == unit)[0]
                found[:, inputs] = values[:, each, units.place[inputs]]
        assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()


def test_a_joint_of_a_spline_is_a_unit_and_joints_are_alike():
    matrix, width = max(maps("spline"), key=lambda each: each[0].shape[0])
    units = units_of(matrix, width)
    assert units.unit.tolist() == [0, 1, 2, 1, 2, 1, 2]  # T, q, q', q''
    assert units.kind.tolist() == [0, 1, 1]
    assert len(units.kinds[1].local) == COARSE.motion.segments
    assert units.kinds[1].weight.shape[1:] == (3, COARSE.motion.degree + 1)


def test_numbers_that_are_variables_themselves_have_runs_of_one_instant():
    matrix, width = max(maps("mesh"), key=lambda each: each[0].shape[0])
    units = units_of(matrix, width)
    assert all(kind.size == 1 and kind.local.shape[1] == 1 for kind in units.kinds)
