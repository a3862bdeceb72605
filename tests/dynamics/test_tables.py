"""Tables of dynamics: what they keep, how their error falls, derivatives, what they refuse."""

import casadi as ca
import numpy as np
import pytest
from random_trees import random_loads, random_motion, random_tree

from ocp.dynamics import (
    FORMULATIONS,
    WITHOUT_CORIOLIS,
    Tabulated,
    accelerations,
    formulation_of,
    table,
    tabulate,
)
from ocp.dynamics.catalogue import is_choice, is_named
from ocp.dynamics.forward_from_inverse import linear_in_accelerations
from ocp.mechanics import Link, Tree, fixed, prismatic, revolute, screw
from ocp.models.arms.two_link import two_link

WIDE = ((-8.0, 8.0),) * 2
WILD = ((-90.0, 90.0),) * 2
OVER = {
    "configuration": {},
    "raibert": {"rates": WIDE},
    "albus": {"rates": WIDE, "accelerations": WILD},
}
exact = FORMULATIONS["newton_euler"].inverse


def arm():
    """The two links in gravity, so that the torques depend on both angles."""
    return two_link(gravity=9.81)


def functions(tree, settings):
    """Torques, and their first and second derivatives weighed, of tables and exactly."""
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    stacked, outputs = ca.vertcat(*motion), []
    for inverse in (settings, exact):
        tau = inverse(tree, *motion)
        bend = ca.hessian(ca.dot(tau, [1.0, -0.7]), stacked)[0]
        graph = [tau, ca.densify(ca.jacobian(tau, stacked)), ca.densify(bend)]
        outputs.append(ca.Function("all", motion, graph))
    return outputs


def errors(settings, tree=None, count=400):
    """Errors (RMS) of torques and of their derivatives at random motions, relative to size."""
    rng = np.random.default_rng(0)
    motions = [rng.uniform(-size, size, (2, count)) for size in (6.0, 8.0, 90.0)]
    one, two = (each.map(count)(*motions) for each in functions(tree or arm(), settings))
    pairs = ((np.array(a), np.array(b)) for a, b in zip(one, two))
    return [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs]


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_the_error_falls_with_the_order_of_the_interpolation(degree):
    coarse, fine = (errors(Tabulated(points=points, degree=degree)) for points in (16, 32))
    orders = np.log2(np.array(coarse) / fine)
    assert orders[0] == pytest.approx(degree + 1, abs=0.25)
    assert orders[1] == pytest.approx(degree, abs=0.25)  # of derivatives, one less each
    if degree > 1:
        assert orders[2] == pytest.approx(degree - 1, abs=0.35)


@pytest.mark.parametrize("form", OVER)
def test_every_form_gives_the_torques_of_newton_and_euler(form):
    counts = {"configuration": 17, "raibert": (5, 17, 5, 5), "albus": (5, 17, 5, 5, 5, 5)}
    settings = Tabulated(points=counts[form], degree=3, form=form, **OVER[form])
    assert max(errors(settings, two_link(), 100)[:2]) < 3e-3
    assert errors(settings, two_link(), 100)[0] < 3e-4


def test_derivatives_are_those_of_the_interpolant():
    motion = [np.array([0.4, -1.1]), np.array([3.0, -2.0]), np.array([20.0, 10.0])]
    looked_up, _ = functions(arm(), Tabulated(points=9))
    slopes = looked_up(*motion)[1]
    stacked, step = np.concatenate(motion), 1e-6
    for k, column in enumerate(np.array(slopes).T):
        shift = step * np.eye(6)[k]
        ends = [looked_up(*np.split(stacked + sign * shift, 3))[0] for sign in (1, -1)]
        np.testing.assert_allclose(
            np.array(ends[0] - ends[1]).ravel() / (2 * step), column, rtol=1e-6, atol=1e-6
        )


def test_what_nothing_depends_on_is_left_out_and_what_is_the_same_is_kept_once():
    kept = tabulate(two_link(), Tabulated(points=33, degree=3))
    assert kept.splines.used_axes == (1,) and kept.reach == ()
    assert kept.size == 3 * (33 + 5) + 1  # J_11, J_12, one C; J_22 is a constant
    assert tabulate(two_link(), Tabulated(coriolis=False)).size == 2 * 38 + 1
    heavy = tabulate(arm(), Tabulated(points=33)).splines
    assert sorted(part.axes for part in heavy.parts) == [(0, 1), (1,)]
    slides = Tree(
        links=[Link(mass=2.0)] * 2, joints=[prismatic("x"), prismatic("y", "x", axis=(0, 1, 0))]
    )
    assert tabulate(slides, Tabulated(ranges=((-1, 1), (-1, 1)))).splines.used_axes == ()


def test_a_joint_that_goes_round_has_no_end_and_others_keep_their_limits():
    joints = [
        revolute("turn", position=(-0.5, 1.0)),
        fixed("plate", "turn"),
        screw("drill", "plate", pitch=0.3, axis=(0, 1, 0), position=0.7, home=(0.3, 0, 0)),
    ]
    body = Link(mass=1.0, com=(0.1, 0.2, 0), inertia=np.diag([0.1, 0.2, 0.3]))
    tree = Tree(links=[body] * 3, joints=joints, gravity=(0, -9.81, 0))
    settings = Tabulated(points=33)
    (only,) = settings.reach(tree)
    assert (only.quantity, only.row, only.lower, only.upper) == ("q", 1, -0.7, 0.7)
    for turn in (0.3, 0.3 + 2 * np.pi, 0.3 - 6 * np.pi):
        motion = [np.array([turn, 0.2]), np.array([1.0, 2.0]), np.array([3.0, -1.0])]
        tau, right = (np.array(each(tree, *map(ca.DM, motion))) for each in (settings, exact))
        np.testing.assert_allclose(tau, right, rtol=1e-4)
    (given,) = Tabulated(ranges=((-0.2, 0.4), None), points=9).reach(tree)[:1]
    assert (given.row, given.lower, given.upper) == (0, -0.2, 0.4)


def test_beyond_its_range_a_table_goes_on_smoothly():
    settings, z = Tabulated(points=9, ranges=((-1, 1), (-1, 1))), ca.SX.sym("z")
    tau = settings(arm(), ca.vertcat(0.3, z), ca.DM([1, 2]), ca.DM([3, 4]))
    slope = ca.Function("slope", [z], [ca.jacobian(tau, z)])
    inside, outside = slope(1 - 1e-9), slope(1 + 1e-9)
    np.testing.assert_allclose(np.array(inside), np.array(outside), rtol=1e-6)
    assert np.abs(np.array(slope(1.2))).max() > 0 and not np.array(slope(5.0)).any()


@pytest.mark.parametrize("seed", range(3))
def test_loads_are_computed_and_not_looked_up(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 2, kinds=("revolute",))
    motion, loads = random_motion(rng, tree), random_loads(rng, tree, 2)
    settings = Tabulated(points=65, degree=5)
    motion = [ca.DM(part) for part in motion]
    tau, right = (np.array(each(tree, *motion, loads)) for each in (settings, exact))
    np.testing.assert_allclose(tau, right, atol=1e-6 * np.abs(right).max())


@pytest.mark.parametrize("form", OVER)
def test_tables_give_accelerations_too(form):
    tree, settings = two_link(), Tabulated(points=5, form=form, **OVER[form])
    q, qd, qdd = ca.DM([0.3, 0.8]), ca.DM([1.0, -2.0]), ca.DM([5.0, 7.0])
    formulation = table(points=5, form=form, **OVER[form])
    tau = formulation.inverse(tree, q, qd, qdd)
    back = accelerations(formulation, tree, ca.SX(q), ca.SX(qd), ca.SX(tau))
    np.testing.assert_allclose(np.array(ca.evalf(back)), np.array(qdd), rtol=1e-9)
    known = linear_in_accelerations(settings, tree, q, qd)
    derived = linear_in_accelerations(lambda *motion: settings(*motion), tree, q, qd)
    for one, two in zip(known, derived):
        np.testing.assert_allclose(np.array(ca.evalf(one)), np.array(ca.evalf(two)), atol=1e-9)


@pytest.mark.parametrize("ends", [(-0.5, 0.5), (5.0, 10.0)])
def test_albus_tables_give_the_mass_matrix_of_a_range_without_zero_and_one(ends):
    tree, q, qd = arm(), [0.3, 0.8], [1.0, -2.0]
    known = tabulate(tree, Tabulated(points=9, form="albus", rates=WIDE, accelerations=(ends,) * 2))
    computed = linear_in_accelerations(exact, tree, ca.DM(q), ca.DM(qd))
    for one, two in zip(known.linear(q, qd), computed):
        np.testing.assert_allclose(np.array(one), np.array(two), atol=1e-3)


@pytest.mark.parametrize("points", [np.int64(9), np.array([9, 8])])
def test_numpys_numbers_in_settings_are_numbers_in_a_name(points):
    assert formulation_of(table(points=points).name) == table(points=points)


def test_an_inverse_that_is_not_linear_is_still_refused():
    def bent(tree, q, qd, qdd, loads=()):
        return qdd**2

    with pytest.raises(ValueError, match="linear in the accelerations"):
        linear_in_accelerations(bent, arm(), ca.SX.sym("q", 2), ca.SX.sym("qd", 2))


def test_without_coriolis_terms_torques_are_right_at_rest_only():
    tree, q, qdd = arm(), ca.DM([0.3, 0.8]), ca.DM([5.0, 7.0])
    for inverse in (WITHOUT_CORIOLIS.inverse, Tabulated(points=65, degree=5, coriolis=False)):
        right = exact(tree, q, ca.DM.zeros(2), qdd)
        for qd in (ca.DM.zeros(2), ca.DM([1.0, -2.0])):
            tau = np.array(inverse(tree, q, qd, qdd))
            np.testing.assert_allclose(tau, np.array(right), rtol=1e-7)
    assert np.abs(np.array(exact(tree, q, ca.DM([1.0, -2.0]), qdd) - right)).max() > 0.02


def test_a_table_is_known_by_its_name():
    assert formulation_of("table") == table() and formulation_of("table").name == "table"
    own = table(points=(9, 8), degree=5, ranges=((-1, 2.5), None), coriolis=False)
    assert formulation_of(own.name) == own and is_named(own) and is_choice(own.name)
    assert own.name == (
        "table(points=(9, 8), degree=5, ranges=((-1.0, 2.5), None), coriolis=False)"
    )
    assert not is_choice("tables") and is_choice("without_coriolis")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"points": 4}, "points: expected whole numbers of at least 5, for degree 3, got 4"),
        ({"points": (9, 9.5)}, "points: expected whole numbers of at least 5, .* got 9.5"),
        ({"degree": 2}, "degree: expected one of 1, 3, 5, got 2"),
        ({"degree": True}, "degree: expected one of 1, 3, 5, got True"),
        ({"points": {9: 1}}, "points: expected whole numbers"),
        ({"form": ["albus"]}, "form: expected one of .*, got .'albus'"),
        ({"ranges": 5}, "ranges: expected .lower, upper. or None for each moving joint, got 5"),
        ({"form": "horn"}, "form: expected one of configuration, raibert, albus, got 'horn'"),
        ({"rates": WIDE}, "rates: form 'configuration' has no axes of qd"),
        ({"form": "albus", "coriolis": False}, "coriolis: form 'albus' has no such terms"),
        ({"coriolis": 1}, "coriolis: expected"),
        ({"ranges": ((2, 1), None)}, "ranges: lower bound 2 is above upper bound 1"),
        ({"order": 4}, "order: no such setting; it has points, degree, ranges"),
    ],
)
def test_settings_that_are_none_are_refused(settings, message):
    with pytest.raises(ValueError, match=f"table: {message}"):
        table(**settings)


@pytest.mark.parametrize("text", ["table(9)", "table(points=9", "table(**{'points': 9})"])
def test_a_text_that_is_no_settings_is_refused(text):
    with pytest.raises(ValueError, match=r"expected settings as in 'table\(points=65, degree=5\)'"):
        formulation_of(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"points": (9, 9, 9)}, "points: expected 2, one for each joint's q, got 3"),
        ({"ranges": ((0, 1),)}, "ranges: expected 2, one for each moving joint, got 1"),
        ({"ranges": ((0, 1), (2, 2))}, "q of joint 'elbow': expected a finite range .* 2 to 2"),
        ({"form": "raibert"}, "qd of joint 'shoulder': .* give velocity limits, or rates"),
        ({"form": "albus", "rates": WIDE}, "qdd of joint 'shoulder': .* give accelerations"),
        (
            {"form": "albus", "rates": WIDE, "accelerations": WILD},
            "of shoulder, elbow: 14.1 GB would be needed, more than 67.1 MB: entries depend on "
            "shoulder, elbow, qd of shoulder, qd of elbow, qdd of .*; take at most 12 points",
        ),
    ],
)
def test_tables_that_cannot_be_made_say_why(settings, message):
    with pytest.raises(ValueError, match=f"table{' ' if message[0] == 'o' else ': '}{message}"):
        tabulate(arm(), Tabulated(**settings))


def test_trees_of_no_and_of_many_joints_have_no_table():
    with pytest.raises(ValueError, match="expected a moving joint, got none"):
        tabulate(Tree(links=[Link(mass=1.0)], joints=[fixed("base")]), Tabulated())
    many = random_tree(np.random.default_rng(0), 9, kinds=("revolute",))
    with pytest.raises(ValueError, match=r"at most 8 moving joints, got 9: 'joint8' .* bytes"):
        tabulate(many, Tabulated())
