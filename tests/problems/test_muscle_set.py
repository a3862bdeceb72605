"""Ninety-two muscles of a benchmark, on the human of 55 joints."""

from ocp.mechanics.muscles import muscles_of
from ocp.problems.benchmarks.dynamics import muscle_costs
from ocp.problems.benchmarks.dynamics.muscle_costs import muscle_set, table, with_muscles
from ocp.problems.gait import effort_step


def test_as_many_muscles_on_both_sides_cross_the_joints_of_legs_and_trunk():
    tree = with_muscles(effort_step(), 1, "rigid").tree
    for side in "rl":
        crossed = [
            len(muscles_of(tree, joint=f"{joint}_{side}")) for joint in ("hip_rot", "toe_ext")
        ]
        assert crossed == [27, 4]
        assert len(muscles_of(tree, f"_{side}")) == 46
    assert len(tree.states) == 92


def test_paths_begin_at_their_length_and_are_of_their_order():
    for muscle in muscle_set(3):
        assert max(map(sum, muscle.path.exponents)) == 3
        assert muscle.path.polynomial([0.0] * len(muscle.path.joints)) == 0.3


def test_costs_stand_beside_those_of_torques(monkeypatch):
    """Of seven muscles a side."""
    monkeypatch.setattr(muscle_costs, "CROSSED", dict.fromkeys(muscle_costs.CROSSED, 1))
    lines = [*table("effort", 1, "rigid")]
    torques, muscles = (float(line.split()[3]) for line in lines[1:3])
    assert lines[3].startswith("times") and min(muscles, torques) > 0
