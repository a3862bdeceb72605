"""Our times beside Pinocchio's: the same answers, by turns, in one table."""

import pytest

from ocp.models.arms.ur5_like import ur5_like
from ocp.models.walkers.human_like import human_like
from ocp.problems.benchmarks import pinocchio_costs

pytest.importorskip("pinocchio", reason="needs the extra `oracles`")


@pytest.mark.commands
def test_rows_tell_both_times_of_the_same_answers():
    found = list(pinocchio_costs.rows((ur5_like(), human_like()), rounds=1))
    assert [row.joints for row in found] == [6] * 4 + [55] * 4
    assert all(min(row.ours, row.assembled, row.theirs, row.instructions) > 0 for row in found)
    assert {pinocchio_costs.cells(row)[0] for row in found} == {"6", "55"}
    assert {"forward dynamics"} <= {pinocchio_costs.cells(row)[1] for row in found}
    assert {len(pinocchio_costs.cells(row)) for row in found} == {len(pinocchio_costs.HEADER)}


def test_another_answer_is_refused(monkeypatch):
    forward = pinocchio_costs.forward_dynamics
    monkeypatch.setattr(pinocchio_costs, "forward_dynamics", lambda *at: 1.01 * forward(*at))
    with pytest.raises(ValueError, match="forward dynamics of 6 joints"):
        list(pinocchio_costs.rows((ur5_like(),), rounds=1))
