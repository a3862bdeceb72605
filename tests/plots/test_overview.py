"""The overview draws what the task is: limits, sides, surroundings, and nothing that is at rest."""

from dataclasses import replace

import numpy as np
from pictured import moved

import ocp
from ocp.mechanics import Visual
from ocp.models.human.body_surface import SHOES
from ocp.plots import plot, plot_joints, plot_snapshots, stick
from ocp.plots.bodies.animation import EARTH, rgb
from ocp.plots.canvas import COLOURS
from ocp.plots.curves.contact_forces import contact_colours, contact_forces, contacts_of
from ocp.plots.curves.joint_curves import Profile, bands, trace_joints
from ocp.plots.curves.joint_panels import LOOKS, needs_own_panels, panel_pairs
from ocp.plots.overview import sections_of

BODY = ocp.Link(mass=1.0, com=(0.1, 0.0, 0.0), inertia=np.diag([0.01, 0.01, 0.01]))


def labels(figure):
    """What the axes of values say, in order."""
    return [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]


def limited(solution, *constraints, **limits):
    """The motion with joints of these limits, under these constraints."""
    tree = solution.problem.tree
    joints = tuple(replace(joint, **limits) for joint in tree.joints)
    bounded = moved(solution, replace(tree, joints=joints), solution.points)
    asked = tuple(constraint(bounded.problem.tree) for constraint in constraints)
    problem = replace(bounded.problem, constraints=(*bounded.problem.constraints, *asked))
    return replace(bounded, problem=problem)


def shown(solution):
    """What the overview draws of which joints."""
    return {(each.quantity, *(one.name for one in each.joints)) for each in sections_of(solution)}


def test_velocities_have_a_panel_where_they_are_limited(solution):
    rates = ("qd", "shoulder", "elbow")
    assert rates not in shown(solution) | shown(limited(solution, velocity=20.0))
    rated = limited(solution, ocp.velocity_limits, velocity=20.0)
    assert rates in shown(rated)
    assert labels(plot(rated))[:3] == ["angle (rad)", "angular velocity (rad/s)", "torque (N m)"]


def test_limits_of_positions_are_shaded_where_they_are_asked_for(solution):
    unasked = plot_joints(limited(solution, position=(-2.6, 1.1)))
    assert not unasked.axes[0].patches
    angles, *others = plot_joints(limited(solution, ocp.joint_limits, position=(-2.6, 1.1))).axes
    assert len(angles.patches) == 2 and not any(axes.patches for axes in others)


def arms(names, **options):
    """A row of joints that are called so."""
    parents = ("ground", *names)
    joints = [
        ocp.revolute(name, parent, home=(0.2, 0, 0), **options)
        for name, parent in zip(names, parents)
    ]
    return ocp.Tree(links=[BODY] * len(names), joints=joints)


def test_both_sides_share_a_panel(solution):
    names = [f"{joint}_{side}" for joint in ("hip", "knee", "toe", "arm") for side in "rl"]
    many = moved(solution, arms([*names, "neck", "spine_r"]))
    assert [title for title, _ in panel_pairs(many.problem.tree.joints)] == [
        *("hip", "knee", "toe", "arm", "neck", "spine_r")
    ]
    figure = plot(many)
    (knee, _) = [axes for axes in figure.axes if axes.get_title() == "knee"]
    right, left = knee.lines
    np.testing.assert_allclose(left.get_ydata(), many.q(left.get_xdata())[3])
    assert right.get_label() == "knee_r" and right.get_color() != left.get_color()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["right", "left"]


def test_some_joints_whose_limits_differ_have_panels_of_their_own(solution):
    tree = arms("abcd", position=1.0)
    other = (*tree.joints[:3], replace(tree.joints[3], position=2.0))
    for joints, apart in ((tree.joints, False), (other, True)):
        one = moved(solution, replace(tree, joints=joints))
        asked = (*one.problem.constraints, ocp.joint_limits(one.problem.tree))
        one = replace(one, problem=replace(one.problem, constraints=asked))
        assert needs_own_panels(one, Profile("q", joints)) == apart
        assert not needs_own_panels(one, Profile("qdd", joints))


def strong(joint, direction):
    """Drives of a joint that are weaker the further and the faster it turns."""
    return ocp.Strength(
        joint=joint,
        direction=direction,
        capacity=lambda x, speed: 3.0 + direction - 0.5 * x**2 - 0.1 * speed,
    )


def test_strength_over_angle_and_speed_is_shaded_as_it_varies(solution):
    sides = [strong("a_l", 1), strong("a_l", -1), strong("a_r", 1)]
    motor = ocp.TorqueSpeed(joint="b", stall=5.0, no_load=20.0)
    tree = replace(arms(["a_r", "a_l", "b", "c"]), elements=(*sides, motor))
    one = moved(solution, tree)
    assert needs_own_panels(one, Profile("tau", tree.joints))
    assert not needs_own_panels(one, Profile("q", tree.joints))
    t, _ = trace_joints(one, ["tau"])
    q, qd, known = one.q(t), one.qd(t), bands(one, "tau")
    lower, upper = known["a_l"]
    np.testing.assert_allclose(upper, 4.0 - 0.5 * q[1] ** 2 - 0.1 * qd[1])
    np.testing.assert_allclose(lower, -(2.0 - 0.5 * q[1] ** 2 + 0.1 * qd[1]))
    np.testing.assert_allclose(known["b"], [[-5.0], [5.0]] - 5.0 / 20.0 * qd[2])
    assert np.isneginf(known["a_r"][0]).all() and "c" not in known and not bands(one, "q")
    (hinge,) = [axes for axes in plot(one).axes if axes.get_title() == "b" and axes.collections]
    below, above = (band.get_paths()[0].vertices for band in hinge.collections)
    for edge, shaded in zip(known["b"], (below, above)):
        assert np.isin(np.clip(edge, *hinge.get_ylim()), shaded[:, 1]).all()


def test_what_is_at_rest_has_no_panel(solution):
    still = arms("ab")
    points = np.array(moved(solution, still).points) * [[1.0], [1e-12]]
    assert ("q", "a") in shown(moved(solution, still, points))
    sliding = ocp.Tree(
        links=(BODY, BODY),
        joints=(ocp.prismatic("rail"), ocp.revolute("hinge", "rail", axis=(1, 0, 0))),
    )
    points = np.array(moved(solution, sliding).points) * [[1e-15], [1.0]]
    assert ("q", "hinge") in shown(moved(solution, sliding, points))
    assert ("q", "rail") not in shown(moved(solution, sliding, points))


def test_scenery_and_bodies_are_drawn_in_their_places_and_colours(solution):
    wall = Visual(
        kind="box", size=(0.2, 0.1, 1.0), colour=(1, 0, 0, 1), pose=(np.eye(4) + np.eye(4, k=3) * 3)
    )
    seen = replace(solution, problem=replace(solution.problem, scenery=(wall,)))
    axes = plot_snapshots(seen, count=3).axes[0]
    assert axes.get_xlim()[1] > 3.1 and len(axes.images) == 3
    pixels, (left, right, low, high) = axes.images[-1].get_array(), axes.images[-1].get_extent()
    red = (pixels[..., 3] > 0.9) & (pixels[..., 0] > 2 * pixels[..., 1])
    rows, columns = np.nonzero(red)
    step = (right - left) / red.shape[1]
    across, along = left + step * columns, low + (high - low) / red.shape[0] * rows
    np.testing.assert_allclose([across.min(), across.max() + step], [2.9, 3.1], atol=2 * step)
    np.testing.assert_allclose([along.min(), along.max() + step], [-0.05, 0.05], atol=2 * step)
    early, late = (image.get_array() for image in plot_snapshots(solution, count=2).axes[0].images)
    assert early[..., :3][early[..., 3] > 0.9].min() > 0.5 > late[..., :3][late[..., 3] > 0.9].min()


def test_a_body_adrift_has_no_rails_and_stands_on_its_ground(hopped):
    figure = stick(hopped, hopped.times(5))
    assert figure.bars["slide"] == [] and not figure.feet
    (floor,) = figure.floors
    np.testing.assert_allclose(floor[:, 1], 0.0, atol=1e-12)
    axes = plot_snapshots(hopped).axes[0]
    ground = [line for line in axes.lines if line.get_color() == EARTH]
    assert len(ground) == 1 and np.ptp(ground[0].get_xdata()) > 1.0


def test_contacts_that_nobody_schedules_are_drawn_too():
    ball = ocp.Tree(
        links=(ocp.Link(mass=1.0),),
        joints=(ocp.prismatic("rise", axis=(0, 0, 1)),),
        points=(ocp.Point(name="sole", link="rise"),),
    )
    problem = ocp.Problem(
        tree=ball,
        motion=ocp.BSpline(points=8),
        duration=0.2,
        objective=ocp.effort(),
        constraints=ocp.at_start(ball, q=0.01, qd=-0.1),
        loads=ocp.contacts(ball, ("sole",)),
    )
    fallen = ocp.solve(problem)
    assert contacts_of(fallen) == ("sole",)
    felt = contact_forces(fallen, fallen.times(9))["sole"]
    assert felt.forces[:, 2].max() > 1.0
    assert "contact force (N)" in labels(plot(fallen))
    figure = stick(fallen, fallen.times(9))
    assert len(figure.floors) == 1 and "force" in figure.arrows


def test_a_body_that_turns_any_way_is_drawn(solution):
    tree = ocp.Tree(links=(ocp.Link(), ocp.Link(), ocp.Link(), BODY), joints=ocp.free("body"))
    points = np.array(moved(solution, tree).points)
    points[3] += 2.0  # away from a quaternion of no length
    tumbling = moved(solution, tree, points)
    figure = stick(tumbling, tumbling.times(5))
    assert figure.bars["slide"] == [] and len(figure.solids) == 1
    assert {each for each, *_ in shown(tumbling)} == {"q", "force"}


def test_a_side_has_one_colour_in_panels_forces_and_shoes():
    right, left = (look["color"] for look in LOOKS)
    assert contact_colours(["left", "right", "hand"]) == {
        "left": left,
        "right": right,
        "hand": COLOURS[2],
    }
    for side, colour in (("r", right), ("l", left)):
        np.testing.assert_allclose(SHOES[side][:3], rgb(colour), atol=2e-3)
