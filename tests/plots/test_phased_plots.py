"""Pictures and films of motions of phases: one axis of time, gaps where they jump, arrows."""

from dataclasses import replace

import numpy as np
import pytest
from phased_motions import ARM, fallen, moved

from ocp import Plane, fixed, solve
from ocp.mechanics import Link, Tree, Visual
from ocp.plots import animate, plot, plot_joints, plot_outputs, plot_snapshots, stick
from ocp.plots.canvas import picture
from ocp.plots.curves.contact_forces import contact_forces, contacts_of
from ocp.plots.curves.phase_curves import curve, mark_ends, pieces
from ocp.storage.problem_data import problem_data, problem_from_data


@pytest.fixture(scope="module")
def fall():
    return fallen(friction=10.0)


def words(figure):
    """All that is written in a figure's axes."""
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_curves_have_gaps_where_phases_meet(fall):
    t, rates = curve(fall, lambda motion, own: motion.qd(own))
    (gap,) = np.flatnonzero(np.isnan(rates).any(axis=0))
    assert t[gap] == t[gap - 1] == t[gap + 1] == pytest.approx(0.3)
    np.testing.assert_allclose(rates[:, gap - 1], fall.phases["fall"].qd(0.3))
    np.testing.assert_allclose(rates[:, gap + 1], fall.phases["rise"].qd(0.0))
    assert (t[0], t[-1]) == (0.0, pytest.approx(0.5))
    whole = curve(fall.phases["fall"], lambda motion, own: motion.q(own))
    assert np.isfinite(whole[1]).all()


def test_ends_are_marked_and_phases_named_once(fall):
    figure = plot_joints(fall)
    assert words(figure).count("fall") == words(figure).count("rise") == 2  # above both columns
    for axes in figure.axes:
        assert any(np.allclose(line.get_xdata(), 0.3) for line in axes.lines)


def test_names_of_short_phases_do_not_cover_each_other(fall):
    with picture(None, 5, 3) as figure:
        axes = figure.subplots()
        axes.set_xlim(0, 0.5)
        mark_ends(axes, fall, named=True)
        heights = [text.xyann[1] for text in axes.texts]
    assert heights == [3, 3]
    assert [each.begin for each in pieces(fall)] == [0.0, pytest.approx(0.3)]


def test_the_overview_draws_contact_forces_and_impulses(fall, hopped):
    assert "end 4.14 N s" in words(plot(fall))
    figure = plot(hopped)
    shown = words(figure)
    size = np.linalg.norm(hopped.impulses["flight to stance"]["foot"])
    assert f"foot {size:.3g} N s" in shown
    below = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "foot" not in below and "hip" in below  # contacts have a legend of their own
    assert [axes.get_ylabel() for axes in plot(fall).axes].count("impulses") == 1
    assert contacts_of(hopped) == ("foot",) and contacts_of(fall) == ()


def test_forces_act_where_the_foot_stands_and_vanish_in_flight(hopped):
    t = hopped.times(41)
    foot = contact_forces(hopped, t)["foot"]
    stance = t < hopped.durations["stance"]
    np.testing.assert_allclose(foot.places[stance], 0.0, atol=1e-2)
    assert (foot.forces[stance][:, 1] > 10.0).all() and not foot.forces[~stance].any()


def test_a_film_shows_forces_impulses_and_names_of_phases(hopped, tmp_path):
    figure = stick(hopped, hopped.times(51))
    assert set(figure.arrows) == {"force", "impulse"}
    ((tail, head),) = figure.arrows["impulse"]
    lengths = np.linalg.norm(figure.places[:, head] - figure.places[:, tail], axis=1)
    assert lengths[-1] > 0.1 and lengths[:40].max() == 0.0
    assert (figure.phase(0), figure.phase(50)) == ("stance", "flight")
    animate(hopped, tmp_path / "hop.gif", seconds=0.3, rate=10)
    assert (tmp_path / "hop.gif").read_bytes()[:3] == b"GIF"


def test_snapshots_show_every_impulse_where_it_strikes(fall):
    (axes,) = plot_snapshots(fall, count=3).axes
    arrows = [text for text in axes.texts if text.arrow_patch is not None]
    place = fall.trace(lambda at: at.position("end"), 0.3)
    assert any(np.allclose(arrow.xyann, place[[0, 2]]) for arrow in arrows)


def test_a_phase_that_carries_another_link_is_drawn_like_the_others():
    ball = Tree(
        links=(*ARM.links, Link(mass=0.5)),
        joints=(*ARM.joints, fixed("ball", "elbow")),
        points=ARM.points,
    )
    first, second = moved().phases
    carried = replace(moved(), phases=(replace(first, tree=ball), second))
    solution = solve(carried)
    assert len(plot(solution).axes) > 3
    shown = stick(solution, solution.times(5))
    tip = solution.trace(lambda at: at.position("tip"), solution.times(5))
    np.testing.assert_allclose(shown.places[:, shown.tips["tip"]].T, tip, atol=1e-9)


def test_a_motion_without_outputs_says_so(fall):
    with pytest.raises(ValueError, match="plot_outputs: the problem has no outputs"):
        plot_outputs(fall)


def test_the_ground_of_every_phase_is_drawn(hopped):
    stance, flight = hopped.phases["stance"], hopped.phases["flight"]
    (foot,) = stance.problem.ground.feet
    stair = replace(foot, plane=Plane(normal=stance.problem.ground.normal, point=(0, 0.2, 0)))
    raised = replace(stance.problem, ground=replace(stance.problem.ground, feet=(stair,)))
    twice = {"low": stance, "flight": flight, "high": replace(stance, problem=raised)}
    up = replace(hopped, phases=twice, duration=sum(each.duration for each in twice.values()))
    t = up.times(31)
    heights = [floor[:, 1] for floor in stick(up, t).floors]
    np.testing.assert_allclose(heights, np.repeat([[0.0], [0.2]], 4, axis=1), atol=1e-12)


def test_scenery_of_phases_is_kept(fall):
    wall = Visual(kind="sphere", size=(0.1,))
    problem = replace(fall.problem, scenery=(wall,))
    assert problem_from_data(problem_data(problem)).scenery[0].kind == "sphere"
    assert "scenery" not in problem_data(fall.problem).data
