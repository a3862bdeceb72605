"""Outputs that studies measure of every problem."""

import pytest
import study_cells

from ocp import solve
from ocp.cli.commands.study import _measure
from ocp.studies import outputs, sweep


def test_the_outputs_of_a_problem_are_measured_row_by_row():
    done = sweep(study_cells.watched, {"torque": [9.0]}, workers=0, measure=outputs)
    measured, solution = done.cells[0].measured, solve(study_cells.watched(9.0))
    tip = solution.output("tip", solution.times())
    assert list(measured)[:3] == ["tip 0 least", "tip 1 least", "tip 2 least"]
    assert measured["tip 1 most"] == pytest.approx(tip[1].max(), rel=1e-9)
    assert {"power least", "power most"} <= set(measured) and len(measured) == 8


def test_the_command_measures_outputs_unless_a_module_has_its_own():
    assert _measure(study_cells, "outputs") is outputs
    assert _measure(study_cells, "speeds") is study_cells.speeds
    with pytest.raises(ValueError, match="has no function 'beauty'"):
        _measure(study_cells, "beauty")
