"""Short forms of statements equal their long forms."""

import numpy as np
import pytest
from bipeds import rows
from standing_bodies import monopod

import ocp
from ocp.mechanics import position
from ocp.problem import Instant
from ocp.solving import posture

CORNERS = ((-0.05, -0.03), (0.12, -0.03), (0.12, 0.03), (-0.05, 0.03))


def body(turn=0.0):
    """A floating body with a sole on a link that is turned about the vertical."""
    home = np.eye(4)
    home[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    home[2, 3] = -0.5
    trunk = ocp.Link(mass=2.0, inertia=np.eye(3))
    foot = ocp.revolute("ankle", "base", axis=(0, 1, 0), home=home, torque=(-9.0, 8.0))
    return ocp.Tree(
        links=(ocp.Link(),) * 3 + (trunk,) * 2,
        joints=(*ocp.free("base"), foot),
        points=[
            ocp.Point(name=f"c{k}", link="ankle", position=(*at, -0.04))
            for k, at in enumerate(CORNERS)
        ],
        gravity=(0, 0, -9.81),
    )


def test_all_limits_are_those_that_joints_have():
    tree = body()
    assert [each.name for each in ocp.limits(tree)] == ["torque_limits"]
    assert ocp.limits(tree)[0].lower_of(0) == -9.0
    bare = ocp.Tree(links=(ocp.Link(mass=1.0),), joints=(ocp.revolute("arm"),))
    with pytest.raises(ValueError, match="limits: no joint of the tree has any"):
        ocp.limits(bare)
    assert [each.name for each in ocp.at_rest(bare)] == [
        *("at_start.qd", "at_start.qdd"),
        *("at_end.qd", "at_end.qdd"),
    ]


def test_a_sole_is_placed_below_the_origin_of_its_link():
    foot = ocp.area_contact(body(), "ankle", at=(0.3, 0.1, 0.0))
    expected = [(0.3 + x, 0.1 + y, 0.0) for x, y in CORNERS]
    assert foot.name == "ankle"
    np.testing.assert_allclose([pin.target for pin in foot.supports[0].pins], expected, atol=1e-12)
    (same,) = ocp.footholds(body(), {"ankle": (0.3, 0.1)}).feet
    np.testing.assert_array_equal(same.supports[0].polygon, foot.supports[0].polygon)


def test_footholds_are_sought_within_what_is_asked():
    (foot,) = ocp.footholds(monopod(), {"toe": (0.2, 0.0)}, within=0.1).feet
    x, y, z = foot.supports[0].pins[0].target
    assert (x.name, x.value, x.lower, x.upper, x.free) == (
        "toe_x",
        0.2,
        0.1,
        pytest.approx(0.3),
        True,
    )
    assert y.name == "toe_y" and z == 0.0
    with pytest.raises(ValueError, match="footholds: 'toe': expected 2 or 3 numbers"):
        ocp.footholds(monopod(), {"toe": (0.2,)})
    with pytest.raises(ValueError, match="footholds: within: expected a number of at least 0"):
        ocp.footholds(monopod(), {"toe": (0.2, 0.0)}, within=-1.0)
    with pytest.raises(ValueError, match="unknown point 'heel'"):
        ocp.footholds(monopod(), {"heel": (0.2, 0.0)})


def test_a_ground_that_bears_pushes_within_friction_and_the_sole():
    tree = body()
    ground = ocp.footholds(tree, {"ankle": (0.0, 0.0)})
    names = [each.name for each in ocp.contact_limits(tree, ground, torsion=0.03)]
    assert names[0] == "unilateral" and names[-1].startswith("pressure.ankle")
    assert any(name.startswith("friction") for name in names)


def stated(tree, *constraints, **fields):
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=6),
        objective=ocp.effort(),
        duration=1.0,
        constraints=constraints,
        **fields,
    )


def test_a_posture_stands_over_its_footholds():
    tree = body(turn=0.4)
    problem = stated(tree, ground=ocp.footholds(tree, {"ankle": (0.3, -0.2, 0.0)}))
    q = posture(problem, {"ankle": 0.2})
    assert q[-1] == 0.2 and np.linalg.norm(q[3:7]) == pytest.approx(1.0, abs=1e-9)
    for corner, (x, y) in enumerate(CORNERS):
        place = np.array(position(tree, q, f"c{corner}")).ravel()
        np.testing.assert_allclose(place, (0.3 + x, y - 0.2, 0.0), atol=1e-9)
    assert posture(stated(tree), [0.3])[-1] == 0.3
    with pytest.raises(ValueError, match=r"posture: angles: expected shape \(1,\)"):
        posture(stated(tree), [0.3, 0.1])


def instant(q, s=0.5):
    tree, still = body(), np.zeros(8)
    return Instant(tree=tree, s=s, T=1.0, q=q, qd=still, qdd=still, forces=None)


def test_what_swings_keeps_over_a_wave_above_the_ground():
    q = np.array([0.0, 0.0, 0.7, 1.0, 0.0, 0.0, 0.0, 0.0])
    clear = ocp.clearance(body(), "ankle", 0.05)
    assert clear.labels == ("c0", "c1", "c2", "c3")
    np.testing.assert_allclose(rows(clear, instant(q)), 0.7 - 0.5 - 0.04 - 0.05)
    np.testing.assert_allclose(rows(clear, instant(q, s=0.0)), 0.16)
    assert ocp.clearance(body(), "base").labels == ("base",)
    with pytest.raises(ValueError, match="unknown point 'toe'"):
        ocp.clearance(body(), ("ankle", "toe"))


def test_an_axis_stays_upright_and_spheres_off_a_sphere():
    q = np.array([0.0, 0.0, 0.7, np.cos(0.05), np.sin(0.05), 0.0, 0.0, 0.0])
    level = ocp.upright(body(), "ankle", 0.2)
    np.testing.assert_allclose(rows(level, instant(q)), (0.0, -np.sin(0.1)), atol=1e-12)
    assert level.upper_of(0) == -level.lower_of(1) == np.sin(0.2)
    off = ocp.off_sphere("ball", (0.0, 0.3, 0.7), 0.1, {"base": 0.15})
    assert rows(off, instant(q)) == pytest.approx([0.09])
    assert off.lower_of(0) == pytest.approx(0.0625)
