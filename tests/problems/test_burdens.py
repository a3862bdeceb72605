"""Burdens in the hands and on the back: direction of their forces, distance from the middle."""

import casadi as ca
import numpy as np
import pytest

from ocp.dynamics import inverse_dynamics
from ocp.mechanics import poses, positions
from ocp.problems.gait import effort_step as gait
from ocp.problems.lifting import problem as lifting
from ocp.problems.lifting.statement.standing_body import stability

UP = np.array([0.0, 1.0, 0.0])


def center_of_mass(tree, q):
    """The centre of mass (3, m) of all links."""
    masses = [link.mass for link in tree.links]
    places = [
        (np.array(pose) @ np.append(link.com, 1.0))[:3]
        for pose, link in zip(poses(tree, q), tree.links)
    ]
    return np.average(places, axis=0, weights=masses), sum(masses)


def test_weights_in_the_hands_press_on_the_ground_and_pull_the_arms_down():
    bare, burdened = gait(), gait(hands=50.0)
    tree, q = bare.tree, np.zeros(bare.tree.dof)
    arms = [tree.coordinate(f"shou_flex_{side}") for side in "rl"]
    q[arms] = 0.5  # ahead of the body
    alone, laden = (
        np.array(inverse_dynamics(tree, q, 0 * q, 0 * q, each.loads)).ravel()
        for each in (bare, burdened)
    )
    height = tree.coordinate("glob_ty")
    assert laden[height] - alone[height] == pytest.approx(100.0)
    assert (alone[arms] > 1).all() and (laden[arms] > alone[arms] + 5).all()  # N m


def test_a_backpack_hangs_behind_the_back():
    bare, packed = (gait(backpack=mass).tree for mass in (0.0, 15.0))
    still = np.zeros(bare.dof)
    (middle, weight), (shifted, heavier) = (center_of_mass(tree, still) for tree in (bare, packed))
    pack = (heavier * shifted - weight * middle) / (heavier - weight)
    spine, heel, toe = (
        np.array(place).ravel() for place in positions(bare, still, ("T6", "heel_r", "toe_r"))
    )
    ahead = (toe - heel) * (1 - UP)
    ahead /= np.linalg.norm(ahead)
    assert heavier - weight == pytest.approx(15.0)
    assert -0.25 < ahead @ (pack - spine) < -0.10 and abs((pack - spine)[1]) < 1e-9


class Standing:
    """An instant of which the ground's wrench alone is known: a push (N) at a place (m)."""

    def __init__(self, force, place):
        self.reaction = self
        self.whole, self.place = np.array(force), np.array(place)

    def force(self, foot):
        return ca.DM(self.whole * {"right": 0.7, "left": 0.3}[foot])

    def moment(self, foot):
        return ca.cross(ca.DM(self.place), self.force(foot))


@pytest.mark.parametrize("sideways", [-0.03, 0.04])
@pytest.mark.parametrize("ahead", [-0.02, 0.09])
def test_instability_is_the_way_of_the_zero_moment_point_from_the_middle(ahead, sideways):
    problem = lifting()
    soles = np.array([spot for foot in problem.ground.feet for spot in foot.supports[0].polygon])
    low, high = soles.min(axis=0), soles.max(axis=0)
    half = (high - low)[2] / 2
    place = (low + high) / 2 + (sideways, 0.0, ahead)
    ((_, term),) = stability(problem.ground).terms
    way = np.array(term.function(Standing((30.0, 800.0, -50.0), place))).ravel()
    assert way == pytest.approx([sideways / half, ahead / half])
