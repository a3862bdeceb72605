"""Parts of people by other ways than the model's: a sum over a box's bricks, parallel axes, and
strength by mass, stature and sex."""

import numpy as np
import pytest

from ocp.models.human import human, torque_scale
from ocp.models.human.people import Person
from ocp.problems.gait import effort_step as gait
from ocp.problems.lifting import problem as lift

BALL_TO_TIP, ACROSS, HIGH = 0.07448, 0.095, 0.03  # m: the forefoot as a box [assumed]
WHOLE = 0.2581 * 1.75 / 1.741  # m: length of the foot that its radii are of (de Leva 1996)
RADII = (0.257, 0.245, 0.124)  # sagittal, transverse, longitudinal
FOOT, FORE = 0.0137 * 75.0, 0.15  # kg of a foot, of which this share is its forepart
PEOPLE = {  # stature (m), mass (kg); women's strength of leg, trunk, arm over men's of their size
    "f5": (1.525, 51.3, (0.719, 0.638, 0.558)),
    "m95": (1.870, 110.7, None),
}


def of_bricks(mass, sides, count=40):
    """Moments (3, kg m2) about the centre of a box of such sides (m), brick by brick."""
    places = [(np.arange(count) + 0.5) / count * side - side / 2 for side in sides]
    x, y, z = np.meshgrid(*places, indexing="ij")
    brick = mass / count**3
    return np.array(
        [brick * (y**2 + z**2).sum(), brick * (x**2 + z**2).sum(), brick * (x**2 + y**2).sum()]
    )


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_forefoot_has_the_moments_of_the_box_that_it_is(side):
    """In its link ahead, up and across."""
    tree = human(frozen=())
    link = tree.links[tree.link_index(f"toe_ext_{side}")]
    assert link.mass == pytest.approx(FORE * FOOT, abs=1e-10)
    expected = of_bricks(FORE * FOOT, (BALL_TO_TIP, HIGH, ACROSS))
    inertia = np.array(link.inertia)
    np.testing.assert_allclose(inertia.diagonal(), expected, rtol=1e-3)  # 1 / 40^2 of bricks' own
    assert np.abs(inertia - np.diag(inertia.diagonal())).max() == 0


@pytest.mark.parametrize("side", ["r", "l"])
def test_rear_and_fore_part_make_the_measured_foot_about_its_common_centre(side):
    """By parallel axes; the rear part lies down, ahead and across in its link."""
    tree = human(frozen=())
    rear, fore = (
        tree.links[tree.link_index(f"{name}_{side}")] for name in ("ankle_inv", "toe_ext")
    )
    mass = rear.mass + fore.mass
    # the forepart's frame stands a box ahead of the ball, whose place is that of the rear's frame
    down, ahead = np.array(rear.com)[:2] - (0.0, BALL_TO_TIP + np.array(fore.com)[0])
    arm = rear.mass * fore.mass / mass  # both parts' share about the common centre
    box = of_bricks(fore.mass, (BALL_TO_TIP, HIGH, ACROSS))  # ahead, up, across
    whole = np.array(rear.inertia).copy()
    whole[0, 0] += box[1] + arm * ahead**2  # about the vertical
    whole[1, 1] += box[0] + arm * down**2  # about the long axis
    whole[2, 2] += box[2] + arm * (ahead**2 + down**2)  # about the axis across
    assert abs(whole[0, 1] - arm * down * ahead) < 1e-6  # the measured axes are principal ones
    measured = FOOT * (np.array(RADII) * WHOLE) ** 2  # sagittal, transverse, longitudinal
    np.testing.assert_allclose(whole.diagonal(), measured[[0, 2, 1]], rtol=1e-3)


def lifting(person=Person().name):
    """A lift whose torques no tissue adds to, of a person by name."""
    return lift(person=Person(name=person), passive=False)


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("task", [gait, lifting])
def test_strength_grows_with_stature_cubed_and_differs_by_sex(task, name):
    """So do the limits of all tasks, and what divides the effort; women's as Laubach (1976)."""
    stature, _, womens = PEOPLE[name]
    usual = {joint.name: np.array(joint.torque) for joint in task().tree.moving if joint.actuated}
    own = {j.name: np.array(j.torque) for j in task(person=name).tree.moving if j.actuated}
    share = dict.fromkeys(("leg", "trunk", "arm"), 1.0)
    if womens:
        share = dict(zip(share, np.array(womens) * (1.755 / 1.626) ** 3))  # of median people
    parts = {"hip": "leg", "knee": "leg", "ankle": "leg", "toe": "leg", "spine": "trunk"}
    parts |= {"head": "trunk", "neck": "trunk"}
    assert set(own) == set(usual) and len(own) >= 30
    scale = torque_scale(task(person=name).tree)
    for joint, limits in own.items():
        part = next((part for start, part in parts.items() if joint.startswith(start)), "arm")
        size = (stature / 1.75) ** 3 * share[part]
        np.testing.assert_allclose(limits, size * usual[joint], rtol=1e-12)
        assert scale[joint] == pytest.approx(np.abs(limits).max())
