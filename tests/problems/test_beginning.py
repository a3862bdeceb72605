"""The motion of a step without its forces, where people who walk begin."""

import pytest

from ocp import Solver, Spline, Transcription
from ocp.certificate import violations
from ocp.problems.gait import TASK, Gait, Goal, Terrain, problem, solve_step
from ocp.problems.gait.statement.constraint_families import family_of
from ocp.problems.gait.statement.motion_only_start import motion_alone

PEOPLES = Goal(objective="human")


@pytest.fixture(scope="module")
def step():
    return problem(goal=PEOPLES)


@pytest.fixture(scope="module")
def motion(step):
    return solve_step.placed(step, Solver(), None)


def test_it_asks_for_the_same_angles_and_places_and_for_no_force(step):
    alone = motion_alone(step)
    kept, all_of_them = ({each.name for each in one.constraints} for one in (alone, step))
    assert {family_of(name) for name in all_of_them - kept} == {"torques", "balance"}
    assert alone.ground is None and not alone.tree.elements and alone.symmetry == step.symmetry
    assert all(joint.actuated for joint in alone.tree.joints)


def test_its_feet_go_where_those_of_the_step_shall_be(motion, step):
    assert motion.success and motion.problem.motion == step.motion
    rows = dict(violations(motion))
    feet = [row.nodes for name, row in rows.items() if family_of(name) == "contact"]
    assert len(feet) > 10 and max(feet) < 1e-3  # m, m/s


@pytest.mark.parametrize(
    "other",
    [
        {"stride": "phases"},
        {"rise": 0.17},
        {"slope": 5.0},
        {"without": "coupling"},
        {"without": "symmetry"},
    ],
)
def test_walks_in_phases_up_and_down_and_with_busy_arms_begin_from_standing(step, other):
    assert solve_step.freely(step) and solve_step.freely(problem(gait=Gait(speed=0.8)))
    assert solve_step.placed(TASK.state(other), Solver(), None) is None


def test_walks_of_effort_alone_have_no_constant_limits_to_begin_with():
    effort = problem(goal=Goal(objective="effort"))
    assert solve_step.by_strength(effort, Transcription(), Solver(), values={}) is None


def test_nodes_are_close_where_both_feet_of_people_with_strength_bear_unless_it_is_said_how(step):
    usual, told = Transcription(), Transcription(method=Spline(shared=5))
    assert solve_step.closely(step, usual).method == Spline(shared=solve_step.SHARED)
    assert solve_step.closely(step, told) == told
    assert solve_step.closely(problem(goal=Goal(objective="effort")), usual) == usual
    assert solve_step.closely(problem(gait=Gait(stride="phases"), goal=PEOPLES), usual) == usual
    stairs = problem(goal=PEOPLES, terrain=Terrain(rise=0.17))
    assert solve_step.closely(stairs, usual).method == Spline(shared=solve_step.CLOSER)
    assert solve_step.CLOSER > solve_step.SHARED > Spline().nodes
