"""A sweep on plans beside one built anew, told of an arm in place of the human."""

from study_cells import PLANNED

from ocp.problems.benchmarks.motions import compare_sweeps
from ocp.problems.benchmarks.motions.compare_sweeps import compared, differences, lowered, table
from ocp.solvers import Solver
from ocp.studies.continuation import chain_design
from ocp.studies.store.cell_specification import recipe
from ocp.studies.study import carry_out

OVER = [{"torque": torque, "points": 6} for torque in (8.0, 9.0)]


def test_both_sweeps_are_timed_and_no_neighbour_leads_lower(tmp_path):
    once, planned, alone = compared(PLANNED, OVER, 0, tmp_path)
    rows = [
        [entry.strip() for entry in line.split("|")]
        for line in table((once, planned, alone)).splitlines()
    ]
    assert [row[1:4] for row in rows[2:]] == [
        ["on plans, from neighbours", "2", "2"],
        ["and the lowest branch kept", "2", "2"],
        ["built anew per cell", "2", "2"],
    ]
    assert once.iterations < alone.iterations
    assert float(rows[2][7]) > 0.0 and rows[4][7] == "1.00"
    assert "are lower, by up to" in differences(planned, alone)
    assert lowered(PLANNED, planned.study, 0) == []


def test_a_cell_above_the_branch_of_a_neighbour_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(compare_sweeps, "SLIGHT", -1e-6)  # what is as low counts as lower
    done = carry_out(
        chain_design(recipe(PLANNED, None, Solver()), OVER), file=tmp_path / "a.sqlite", workers=0
    )
    found = lowered(PLANNED, done, 0)
    assert len(found) == 2 and found[0][:2] == (OVER[1], OVER[0])
