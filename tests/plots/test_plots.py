"""Pictures show what the solution holds, whole or not at all, and without a display."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from pictured import NAMES, misplaced, moved
from PIL import Image

import ocp
from ocp import Link, Point, Transcription, Tree, animate, load, plot, prismatic, revolute
from ocp.plots import (
    COLOURS,
    Body,
    Margins,
    Scene,
    grid,
    picture,
    plan,
    plot_convergence,
    plot_joints,
    plot_outputs,
    plot_reactions,
    plot_snapshots,
    plot_torques,
    spy,
    stick,
    strip,
)
from ocp.plots.bodies.animation import camera_of
from ocp.plots.canvas import LABELLED
from ocp.plots.curves.joint_curves import MANY
from ocp.transcription import transcribe

PICTURES = (plot, plot_joints, plot_torques, plot_reactions, plot_snapshots, plot_convergence, spy)
BODY = Link(mass=1.0, com=(0.1, 0.0, 0.0), inertia=np.diag([0.01, 0.01, 0.01]))


def slider(**options):
    """Return a slide along z that carries a link turning about x."""
    return Tree(
        links=(BODY, BODY),
        joints=(prismatic("rail", home=(0, 0, 0.2)), revolute("hinge", "rail", axis=(1, 0, 0))),
        points=(Point(name="tip", link="hinge", position=(0, 0.3, 0)),),
        **options,
    )


def curves(axes):
    """Return {label: (t, values)} of the labelled lines."""
    return {
        line.get_label(): line.get_data()
        for line in axes.lines
        if not line.get_label().startswith("_")
    }


def shades(axes):
    """Return (low, high, RGBA) of the shaded bands."""
    return [
        (patch.get_y(), patch.get_y() + patch.get_height(), patch.get_facecolor())
        for patch in axes.patches
    ]


def drawn(axes, *place):
    """Tell whether some line passes through a place."""
    return any(
        np.isclose(
            np.transpose(line.get_data_3d() if axes.name == "3d" else line.get_data()), place
        )
        .all(axis=1)
        .any()
        for line in axes.lines
    )


def test_torque_lines_are_the_torques_of_the_solution(solution):
    (axes,) = plot_torques(solution).axes
    for row, name in enumerate(("shoulder", "elbow")):
        t, values = curves(axes)[name]
        np.testing.assert_allclose(values, solution.tau(t)[row])
        assert t[0] == 0 and t[-1] == solution.duration
    assert axes.get_ylabel() == "torque (N m)" and axes.get_xlabel() == "time (s)"


def test_torques_are_shaded_beyond_their_limits_to_the_edge(solution):
    (axes,) = plot_torques(solution).axes
    low, high = axes.get_ylim()
    assert sorted(sorted(band[:2]) for band in shades(axes)) == [[low, -10.0], [10.0, high]]


def test_nothing_is_shaded_where_torque_is_unlimited(solution):
    free = (
        replace(solution.problem.tree.joints[0], torque=(-np.inf, 9.0)),
        replace(solution.problem.tree.joints[1], torque=np.inf),
    )
    (axes,) = plot_torques(
        moved(solution, replace(solution.problem.tree, joints=free), solution.points)
    ).axes
    ((edge, far, _),) = shades(axes)
    assert edge == 9.0 and far > edge


def test_limits_of_one_joint_alone_are_shaded_in_its_colour(solution):
    from matplotlib.colors import to_rgba

    joints = solution.problem.tree.joints[0], replace(solution.problem.tree.joints[1], torque=6.0)
    (axes,) = plot_torques(
        moved(solution, replace(solution.problem.tree, joints=joints), solution.points)
    ).axes
    assert {(abs(band[0]), band[2][:3]) for band in shades(axes)} == {
        (10.0, to_rgba(COLOURS[0])[:3]),
        (6.0, to_rgba(COLOURS[1])[:3]),
    }


def test_joint_lines_are_position_rate_and_acceleration(solution):
    for axes, quantity in zip(plot_joints(solution).axes, (solution.q, solution.qd, solution.qdd)):
        t, values = curves(axes)["elbow"]
        np.testing.assert_allclose(values, quantity(t)[1])


def test_limited_rates_are_drawn_and_shaded(solution):
    """Of jerk below accelerations, of torque rates below torques."""
    tree = solution.problem.tree
    joints = tuple(replace(one, jerk=50.0, torque_rate=(-30.0, 40.0)) for one in tree.joints)
    limited = moved(solution, replace(tree, joints=joints))
    *_, jerk = plot_joints(limited).axes
    torque, rate = plot_torques(limited).axes
    assert jerk.get_ylabel() == "angular jerk (rad/s³)"
    assert rate.get_ylabel() == "torque rate (N m/s)"
    t = rate.lines[0].get_xdata()
    for axes, values in ((jerk, limited.qddd(t)), (rate, limited.tau_rate(t))):
        np.testing.assert_allclose([line.get_ydata() for line in axes.lines[:2]], values)
    assert len(torque.lines) == len(rate.lines)


def test_reactions_are_norms_of_force_and_moment(solution):
    for axes, vectors in zip(plot_reactions(solution).axes, (1, 0)):
        t, values = curves(axes)["shoulder"]
        np.testing.assert_allclose(
            values, np.linalg.norm(solution.reactions(t)[vectors][:, 0], axis=0)
        )


def test_joints_that_turn_and_that_slide_have_panels_with_their_units(solution):
    figure = plot_torques(moved(solution, slider()))
    assert [(axes.get_ylabel(), list(curves(axes))) for axes in figure.axes] == [
        ("torque (N m)", ["hinge"]),
        ("force (N)", ["rail"]),
    ]
    assert [axes.get_ylabel() for axes in plot_joints(moved(solution, slider())).axes[:2]] == [
        "angle (rad)",
        "slide (m)",
    ]


def test_many_joints_get_torque_panels_of_their_own(solution):
    names = [f"joint{k}" for k in range(MANY + 1)]
    chain = Tree(
        links=[BODY] * len(names),
        joints=[
            revolute(name, parent, home=(0.2, 0, 0), torque=5.0)
            for name, parent in zip(names, ["ground", *names])
        ],
    )
    many = moved(solution, chain)
    panels = [axes for axes in plot_torques(many).axes if axes.get_visible()]
    assert [axes.get_title() for axes in panels] == names
    assert all(list(curves(axes)) == [axes.get_title()] for axes in panels)
    assert all(len(shades(axes)) == 2 for axes in panels)
    assert [axes.get_title() for axes in plot_reactions(many).axes] == names * 2


def test_outputs_are_drawn_by_name(solution):
    looks = {
        "tip (m)": lambda at: at.position("tip")[:2],
        "power (W)": lambda at: at.tau[0] * at.qd[0],
    }
    watched = replace(solution, problem=replace(solution.problem, outputs=looks))
    place, power = plot_outputs(watched).axes
    assert [place.get_ylabel(), power.get_ylabel()] == list(looks)
    for axes, name in zip((place, power), looks):
        for row, (t, values) in enumerate(curves(axes).values()):
            np.testing.assert_allclose(values, np.atleast_2d(watched.output(name, t))[row])
    assert len(curves(place)) == 2 and power.get_xlabel() == "time (s)"
    with pytest.raises(ValueError, match="plot_outputs: the problem has no outputs"):
        plot_outputs(solution)


def test_snapshots_hold_the_tip_at_start_and_end(solution):
    axes = plot_snapshots(solution, count=5).axes[0]
    for t in (0.0, solution.duration):
        assert drawn(axes, *solution.trace(lambda at: at.position("tip"), t)[:2])
    assert (axes.name, axes.get_xlabel(), axes.get_ylabel(), axes.get_aspect()) == (
        "rectilinear",
        "x (m)",
        "y (m)",
        1.0,
    )


def test_as_many_snapshots_as_asked_from_pale_to_strong(solution):
    axes = plot_snapshots(solution, count=5).axes[0]
    shades = [image.get_array() for image in axes.images]
    darkest = [float(shade[..., :3][shade[..., 3] > 0.9].min()) for shade in shades]
    assert len(darkest) == 5 and (np.diff(darkest) < 0).all()
    assert f"every {solution.duration / 4:.3g} s" in axes.get_title()
    with pytest.raises(ValueError, match="count: expected at least 2 snapshots, got 1"):
        plot_snapshots(solution, count=1)


def test_a_slide_is_a_bar_from_its_zero_to_where_it_is(solution):
    sliding = moved(solution, slider())
    axes = plot_snapshots(sliding).axes[0]
    bars = [line.get_xydata() for line in axes.lines if len(line.get_xdata()) == 2]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("y (m)", "z (m)")
    assert any(np.allclose(ends, [(0, 0.2), (0, 0.2 + sliding.q(0.0)[0])]) for ends in bars)


def test_the_plane_is_drawn_with_gravity_downwards(solution):
    axes = plot_snapshots(moved(solution, slider(gravity=(0.0, 9.81, 0.0)))).axes[0]
    assert axes.get_ylabel() == "y (m)" and axes.yaxis.get_inverted()


def test_a_spatial_tree_is_drawn_in_space(solution):
    tree = Tree(
        links=(BODY, BODY),
        joints=(revolute("yaw"), revolute("pitch", "yaw", axis=(0, 1, 0), home=(0.2, 0, 0.3))),
    )
    spatial = moved(solution, tree)
    axes = plot_snapshots(spatial, count=3).axes[0]
    camera = camera_of(stick(spatial, spatial.times(3)))
    tip = replace(tree, points=(Point(name="end", link="pitch", position=(0.1, 0.0, 0.0)),))
    end = moved(solution, tip).trace(lambda at: at.position("end"), 0.8)
    pixels, (left, right, low, high) = axes.images[-1].get_array(), axes.images[-1].get_extent()
    x, y = (camera.flat(end) - (left, low)) / (right - left, high - low) * pixels.shape[1::-1]
    assert pixels[int(y), int(x), 3] == 1.0 and not axes.axison
    assert len(axes.images) == 3 * 2 and axes.collections  # shadows, and the grid below them


def test_convergence_shows_every_iteration(solution):
    objective, violation = plot_convergence(solution).axes
    np.testing.assert_array_equal(
        objective.lines[0].get_ydata(), [step.objective for step in solution.history]
    )
    assert violation.get_yscale() == "log"
    assert violation.lines[0].get_ydata().tolist() == [
        max(step.violation, 1e-16) for step in solution.history
    ]
    assert (objective.get_ylabel(), violation.get_ylabel()) == ("objective (s)", "violation (SI)")
    assert [axes.get_title() for axes in plot_convergence(replace(solution, history=())).axes] == [
        "no iterations recorded"
    ] * 2


def objectives_drawn(solution, *values):
    steps = [replace(solution.history[0], objective=value) for value in values]
    axes = plot_convergence(replace(solution, history=tuple(steps))).axes[0]
    return axes.get_yscale(), list(axes.lines[0].get_ydata())


def test_objectives_that_are_zero_do_not_stretch_the_axis(solution):
    wide = (40.0, 0.02, 0.13)
    assert objectives_drawn(solution, *wide) == ("log", [*wide])
    for zero in (1e-27, 0.0, -1e-20):
        assert objectives_drawn(solution, zero, *wide) == ("log", [0.002, *wide])
        assert objectives_drawn(solution, zero, 4.0, 1.0) == ("linear", [zero, 4.0, 1.0])
    assert objectives_drawn(solution, -1.0, *wide) == ("linear", [-1.0, *wide])


def test_spy_names_rows_by_constraint_and_shows_every_nonzero(solution):
    figure = spy(solution)
    (axes,) = figure.axes
    nlp = transcribe(solution.problem, solution.transcription).nlp
    rows = len(nlp.g_lower)
    assert [text.get_text() for text in axes.texts] == [
        "at_start.qd (2)",
        "at_end.qd (2)",
        f"torque_limits ({rows - 4})",
    ]
    assert len(axes.lines[0].get_xdata()) == nlp.jacobian.nnz_out(1)
    assert axes.get_xticklabels()[0].get_text() == "T"
    assert "at_start.q, at_end.q" in figure.get_suptitle()


def test_spy_is_the_same_when_the_solver_differentiates(solution):
    left = replace(solution, transcription=Transcription(derivatives="solver"))
    marks = [set(map(tuple, spy(one).axes[0].lines[0].get_xydata())) for one in (solution, left)]
    assert marks[0] == marks[1]


def test_spy_without_rows_says_so(solution):
    with pytest.raises(ValueError, match="spy: the Jacobian has no rows"):
        spy(replace(solution, problem=replace(solution.problem, constraints=())))


def test_a_loaded_solution_is_drawn_and_one_without_constraints(solution, tmp_path):
    ocp.save(solution, tmp_path / "arm.npz")
    again = load(tmp_path / "arm.npz")
    assert again.problem.constraints and solution.status in plot(again).get_suptitle()
    bare = replace(again, problem=replace(again.problem, constraints=()))
    figure = plot(bare, tmp_path / "arm.png")
    assert solution.status in figure.get_suptitle()
    with Image.open(tmp_path / "arm.png") as page:
        assert page.width == 1440


@pytest.mark.parametrize(
    "suffix, magic", [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
)
def test_a_picture_is_written_by_suffix(solution, tmp_path, suffix, magic):
    path = tmp_path / f"torques{suffix}"
    plot_torques(solution, path)
    assert path.read_bytes().startswith(magic)


@pytest.mark.parametrize("show", [*PICTURES, animate])
def test_an_unknown_suffix_is_named_and_nothing_written(solution, tmp_path, show):
    with pytest.raises(ValueError, match=r"arm\.doc: suffix '\.doc': expected one of"):
        show(solution, tmp_path / "arm.doc")
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_behind_by_an_error(solution, tmp_path):
    with pytest.raises(ValueError, match="spy"):
        spy(
            replace(solution, problem=replace(solution.problem, constraints=())),
            tmp_path / "spy.png",
        )
    for options in ({"rate": 0}, {"seconds": -1.0}):
        with pytest.raises(ValueError, match="expected positive numbers of seconds and frames"):
            animate(solution, tmp_path / "arm.gif", **options)
    with pytest.raises(OSError, match="does not exist"):
        plot_convergence(solution, tmp_path / "absent" / "arm.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("show", [*PICTURES, plot_outputs])
def test_names_are_no_formulas(oddly_named, tmp_path, show):
    """One named like half a formula stopped every picture."""
    figure = show(oddly_named, tmp_path / "odd.svg")
    if figure.legends:
        shown = {text.get_text().strip() for text in figure.legends[0].texts}
        assert shown == set(NAMES[:2])


@pytest.mark.commands
def test_matplotlib_loads_only_for_pictures_and_pyplot_never(solution):
    check = "import sys, ocp, ocp.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
    plot_convergence(solution)
    assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules


def test_a_page_is_drawn_once_and_its_words_cover_nothing(solution, tmp_path, monkeypatch):
    draw, times = Figure.draw, []
    monkeypatch.setattr(Figure, "draw", lambda *given: (times.append(given), draw(*given)))
    figure = plot(solution, tmp_path / "page.png")
    assert len(times) == 1 and misplaced(figure) == []


@pytest.mark.parametrize("way", [1, -1])
def test_labels_of_a_plan_keep_clear_of_one_another(way):
    s = np.linspace(0, 1, 101)
    ahead = way * np.interp(s, (0, 0.1, 0.2, 0.9, 1), (0, 0.5, 0.51, 0.52, 1))
    zmp = np.vstack([0.1 * s, 0 * s, ahead])
    ground = SimpleNamespace(feet=(), switches=(0.1, 0.2, 0.3, 0.4), normal=(0, 1, 0))
    ways = {"points": {}, "forces": {}, "pressures": {}}
    standing = Scene(t=s, zmp=zmp, ground=ground, **ways)
    body = Body(bars={}, colours={}, middle="", force="k")
    with picture(None, 6, 3) as figure:
        axes = figure.subplots()
        plan(axes, standing, body, (2, 0), s)
        width = np.ptp(axes.get_xlim())
        places = [text.get_position() for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == [
        f"s = {edge:g}" for edge in (0, 0.1, 0.2, 0.3, 0.4, 1)[::way]
    ]
    for side in {y for _, y in places}:
        along = [x for x, y in places if y == side]
        assert all(later - early > 0.15 * width for early, later in pairwise(along))


def test_labels_of_axes_that_are_true_to_scale_are_as_far_from_them_as_of_others():
    margins = Margins(left=1.0, right=0.0, top=0.1, below=0.5)
    with picture(None, 6.0, 3.0, fixed=True) as figure:
        ((axes,),) = grid(figure, (2.0,), margins)
        axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), ylabel="up", aspect="equal")
        figure.canvas.draw()
        edge = axes.get_window_extent().x0 / figure.dpi
        assert edge > 1.5 + margins.left - 0.1  # the axes are a square in the middle of the cell
        label = axes.yaxis.label.get_window_extent().x1 / figure.dpi
        assert edge - label == pytest.approx(LABELLED[1], abs=0.05)


def test_a_strip_has_room_for_what_its_last_figure_holds():
    ends = {"foot": np.zeros((3, 2)), "box": np.array([[0, 0], [1, 1], [0.3, 0.9]], dtype=float)}
    ways = {"forces": {}, "pressures": {}, "zmp": np.zeros((3, 2))}
    ground = SimpleNamespace(feet=(), switches=(), normal=(0, 1, 0))
    held = Scene(t=np.arange(2.0), points=ends, ground=ground, **ways)
    body = Body(bars={"arm": (("foot", "box"),)}, colours={"arm": "k"}, middle="foot", force="k")
    with picture(None, 6, 3) as figure:
        axes = figure.subplots()
        strip(axes, held, body, (2, 1), 1.4, ["begins", "ends"])
        assert axes.get_xlim() == pytest.approx((-0.77, 1.4 + 0.95))
