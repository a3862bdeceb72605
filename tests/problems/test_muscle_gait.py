"""The walk by muscles of the legs: its statement, and the walk by torques that comes first."""

from functools import lru_cache, partial

import numpy as np
import pytest

from ocp.models.human.muscles.leg_muscles import leg_muscles
from ocp.problems.gait import muscle_gait
from ocp.problems.gait.statement.walking_task import Gait


@lru_cache(maxsize=1)
def stated():
    """With two muscles a side."""
    few = partial(leg_muscles, only=("soleus", "vas_lat"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(muscle_gait, "leg_muscles", few)
        return muscle_gait.problem()


def test_states_of_both_sides_are_images():
    problem = stated()
    names = [joint.name for joint in problem.tree.moving]
    images = {name: names[row] for name, row in zip(names, problem.symmetry.index)}
    assert images["soleus_r.activation"] == "soleus_l.activation"
    assert images["vas_lat_l.activation"] == "vas_lat_r.activation"
    assert images["knee_flex_r"] == "knee_flex_l"


def test_legs_have_reserves_and_no_strength_of_their_own():
    problem = stated()
    elements = [type(each).__name__ for each in problem.tree.elements]
    strong = [each.joint for each in problem.tree.elements if type(each).__name__ == "Strength"]
    assert elements.count("Muscle") == 4
    assert strong and not [name for name in strong if name.startswith(muscle_gait.LEGS)]
    (reserves,) = [each for each in problem.constraints if each.name == "reserves"]
    assert reserves.upper == muscle_gait.MOST and reserves.lower == -muscle_gait.MOST


def test_walk_by_torques_is_the_same_without_muscles():
    problem, bare = stated(), muscle_gait.by_torques(stated())
    count = bare.tree.dof
    assert not bare.tree.states and count == problem.tree.dof - 4
    assert np.array_equal(bare.symmetry.index, problem.symmetry.index[:count])
    lost = {term.name for _, term in problem.objective.terms}
    lost -= {term.name for _, term in bare.objective.terms}
    assert lost == muscle_gait.OWN


def test_walks_in_phases_are_refused():
    with pytest.raises(ValueError, match="muscle_gait: expected stride half"):
        muscle_gait.problem(Gait(stride="full"))
