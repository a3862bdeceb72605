"""Muscles in pictures: lines along paths as they are active, states of a kind in one panel."""

import json
from base64 import b64decode
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from browsing import play, played
from pictured import misplaced, moved
from refusals import refused

from ocp import (
    BSpline,
    Link,
    Problem,
    Radau,
    Transcription,
    Tree,
    at_end,
    at_start,
    load,
    page,
    plot,
    revolute,
    save,
    solve,
    squares,
)
from ocp.mechanics.muscles import GivenPath, Muscle, PathPoint, PointPath, WrapCylinder
from ocp.plots import plot_joints, plot_snapshots, plot_torques, stick
from ocp.plots.bodies.animation import FULL, SLACK, activation_colour, draw, stage
from ocp.plots.bodies.viewer import GAMMA, Viewer
from ocp.plots.canvas import picture
from ocp.plots.curves.joint_curves import Profile, axis_label

RADIUS = 0.04
ELBOW = WrapCylinder(link="ground", radius=RADIUS, quadrant="-y")
FLEXOR = PointPath(points=((0.02, 0.3, 0.0), PathPoint(link="elbow", position=(0.05, 0.03, 0))))
EXTENSOR = PointPath(
    points=((-0.03, 0.3, 0.0), ELBOW, PathPoint(link="elbow", position=(0.1, -0.02, 0)))
)
UNSEEN = GivenPath(joints=("elbow",), function=lambda x: 0.33 - 0.02 * x[0])
MUSCLES = {"flexor": FLEXOR, "extensor": EXTENSOR, "given": UNSEEN}
SLACKS, TENDONS = (0.18, 0.35, 0.22), ("compliant", "rigid", "rigid")


def arm(**paths):
    """A forearm that hangs before an upper arm, with a muscle along each path."""
    forearm = Link(mass=1.5, com=(0.15, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
    muscles = [
        Muscle(name=name, path=each, force=600.0, fibre=0.12, slack=slack, tendon=tendon)
        for (name, each), slack, tendon in zip(paths.items(), cycle(SLACKS), cycle(TENDONS))
    ]
    return Tree(
        links=(forearm,),
        joints=(revolute("elbow", actuated=False),),
        gravity=(0, -9.81, 0),
        elements=muscles,
    )


@pytest.fixture(scope="module")
def lifted():
    tree = arm(**MUSCLES)
    problem = Problem(
        tree=tree,
        motion=BSpline(points=16),
        duration=0.5,
        objective=squares("excitation", lambda at: at.tau[list(tree.states)]),
        constraints=(at_start(tree, q=(-1.2,), qd=0), at_end(tree, q=(0.5,), qd=0)),
    )
    return solve(problem, Transcription(method=Radau(intervals=20))).require(coarse=True)


def data_of(made):
    """The data of a page."""
    text = made.text.partition('application/json">')[2]
    return json.JSONDecoder().raw_decode(text)[0]


def unpacked(values):
    """Numbers of a page."""
    return np.frombuffer(b64decode(values[1]), dtype=f"<{values[0]}")


def titles(figure):
    """What stands above the panels of states."""
    return [axes.get_title() for axes in figure.axes][:3]


def test_states_of_a_kind_share_a_panel_with_what_drives_them(lifted):
    figure = plot(lifted)
    assert titles(figure) == [
        "activation; faint: excitation",
        "tendon force over largest",
        "fibre length over optimal",
    ]
    activation, force, fibre, words = figure.axes[:4]
    assert [len(axes.lines) for axes in (activation, force, fibre)] == [6, 3, 3]
    assert [text.get_text() for text in words.get_legend().get_texts()] == [*MUSCLES]
    assert misplaced(figure) == []
    t, row = lifted.times(5), lifted.problem.tree.coordinate("extensor.activation")
    line = activation.lines[1]
    drawn = np.interp(t, line.get_xdata(), line.get_ydata())
    assert drawn == pytest.approx(lifted.q(t)[row], abs=2e-3)


def test_many_muscles_are_named_below_their_panels_where_words_cover_nothing(solution):
    names = [f"{muscle} of the {side}" for side in ("left", "right") for muscle in "abcdefghi"]
    tree = arm(**dict.fromkeys(names, UNSEEN))
    points = np.random.default_rng(0).uniform(0.1, 0.9, (tree.dof, 10))
    figure = plot(moved(solution, tree, points))
    assert misplaced(figure) == [] and len(figure.axes) < 10
    lines = figure.axes[3].get_legend().get_lines()
    assert len({str(line.get_color()) for line in lines}) == len(names)


def test_pages_of_joints_and_torques_have_states_below(lifted):
    joints, torques = plot_joints(lifted), plot_torques(lifted)
    assert titles(joints) == titles(torques) == titles(plot(lifted))
    labels = ["angle (rad)", "angular velocity (rad/s)", "angular acceleration (rad/s²)"]
    assert [axes.get_ylabel() for axes in joints.axes[4:]] == labels
    assert len(torques.axes) == 4  # muscles alone drive it
    assert misplaced(joints) == misplaced(torques) == []


def test_muscles_are_drawn_along_their_paths_as_they_are_active(lifted):
    t, tree = lifted.times(7), lifted.problem.tree
    figure = stick(lifted, t)
    flexor, extensor = figure.muscles  # a given function has no places
    q = lifted.q(t)
    assert flexor.activation == pytest.approx(q[tree.coordinate("flexor.activation")])
    assert extensor.activation == pytest.approx(q[tree.coordinate("extensor.activation")])
    for k in range(len(t)):
        turn = np.array([[np.cos(q[0, k]), -np.sin(q[0, k])], [np.sin(q[0, k]), np.cos(q[0, k])]])
        start, end = figure.places[k][list(flexor.places)]
        np.testing.assert_allclose(start, (0.02, 0.3, 0), atol=1e-12)
        np.testing.assert_allclose(end[:2], turn @ (0.05, 0.03), atol=1e-12)
        first, *arc, last = figure.places[k][list(extensor.places)]
        np.testing.assert_allclose(first, (-0.03, 0.3, 0), atol=1e-12)
        np.testing.assert_allclose(last[:2], turn @ (0.1, -0.02), atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(arc, axis=1), RADIUS, atol=1e-12)
    assert figure.flat


def test_a_muscle_of_a_given_length_is_drawn_along_its_course(lifted, tmp_path):
    tree = lifted.problem.tree
    *others, given = tree.elements
    shown = replace(tree, elements=(*others, replace(given, course=FLEXOR)))
    solution = replace(lifted, problem=replace(lifted.problem, tree=shown))
    save(solution, tmp_path / "arm.npz")
    assert load(tmp_path / "arm.npz").problem.tree.elements[-1].course == FLEXOR
    figure = stick(solution, lifted.times(3))
    flexor, _, last = (figure.places[:, list(each.places)] for each in figure.muscles)
    np.testing.assert_array_equal(last, flexor)
    words = [each for _, each in data_of(page(solution))["words"]]
    assert not any("course" in each for each in words) and "efficiency" in words[-1]


def test_a_course_is_checked_as_a_path_is(lifted):
    given = lifted.problem.tree.elements[-1]
    with refused("muscle 'given': course: expected PointPath, got GivenPath"):
        replace(given, course=UNSEEN)
    ghost = PointPath(points=((0, 0, 0), PathPoint(link="ghost", position=(0, 0, 0))))
    with refused("muscle 'given': course: unknown link 'ghost'"):
        replace(lifted.problem.tree, elements=(replace(given, course=ghost),))


def test_colours_go_from_blue_to_red_with_activation(lifted):
    t = lifted.times(3)
    with picture(None, 5, 4) as figure:
        scene = stage(figure, figure.add_gridspec(1, 1)[0], stick(lifted, t))
        lines = [artist for artist in draw(scene, 0) if artist in scene.axes.lines]
    row = lifted.problem.tree.coordinate("extensor.activation")
    assert lines[-1].get_color() == pytest.approx(activation_colour(lifted.q(t)[row][0]))
    assert activation_colour(-0.1) == pytest.approx(SLACK)
    assert activation_colour(1.0) == pytest.approx(FULL)
    assert "muscles: blue to red as active" in plot_snapshots(lifted).axes[0].get_title()


def test_pages_have_muscles_and_say_which_have_no_places(lifted):
    data = data_of(page(lifted, title="arm"))
    muscles = [bar for bar in data["bars"] if "share" in bar]
    assert [len(bar["pairs"]) for bar in muscles] == [1, 7]
    row = lifted.problem.tree.coordinate("extensor.activation")
    expected = lifted.q(unpacked(data["t"]).astype(float))[row]
    assert unpacked(muscles[1]["share"]) == pytest.approx(expected, abs=1e-5)
    assert ["", "muscles without a course in space, in curves alone: given"] in data["words"]
    sections = [section["title"] for section in data["sections"]]
    assert sections[-4:-2] == ["activation", "excitation"]
    names = [line["name"] for line in data["sections"][-1]["panels"][0]["lines"]]
    assert names == [*MUSCLES]


@pytest.mark.commands
@played
def test_pages_with_muscles_play(lifted, tmp_path):
    page(lifted, tmp_path / "arm.html")
    seen, crossed = play(tmp_path)
    assert crossed == {"arm": 0} and len({clock for clock, *_ in seen["arm"]}) > 2


def test_joint_forces_say_which_muscles_are_not_among_them():
    body = arm(flexor=FLEXOR, given=UNSEEN)
    panel = Profile("force", [body.moving[0]])
    assert axis_label(body, panel) == "joint force without 1 of 2 muscles, norm (N)"
    assert axis_label(arm(flexor=FLEXOR), panel) == "joint force, norm (N)"


def test_the_viewer_has_muscles_that_move_and_colour_as_they_are_active(lifted):
    pytest.importorskip("viser", reason="needs the extra `view`")
    viewer = Viewer(port=0)
    viewer.show(lifted)
    strands, row = viewer.shown.muscles, lifted.problem.tree.coordinate("flexor.activation")
    assert strands.points.shape == strands.colors.shape == (8, 2, 3)  # one piece, and seven
    for t in (0.0, lifted.duration):
        viewer.clock.value = t
        viewer._turn()
        pose = lifted.q(t)
        turn = np.array([[np.cos(pose[0]), -np.sin(pose[0])], [np.sin(pose[0]), np.cos(pose[0])]])
        np.testing.assert_allclose(strands.points[0][0], (0.02, 0.3, 0), atol=1e-6)
        np.testing.assert_allclose(strands.points[0][1][:2], turn @ (0.05, 0.03), atol=1e-6)
        tone = 255 * activation_colour(pose[row]) ** GAMMA
        np.testing.assert_allclose(strands.colors[0], [tone, tone], atol=1)
    viewer.close()
