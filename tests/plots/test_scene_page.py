"""The page of a solution holds its scene and its curves, whole, small and without a network."""

import base64
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from pictured import NAMES, moved

import ocp
from ocp import Plane, Point, animate, page
from ocp.cli.main import command
from ocp.mechanics import Visual
from ocp.plots.bodies.animation import pace
from ocp.plots.scene_page import PLAYER, quaternions


def data_of(made):
    """The numbers of a page, or of its file."""
    text = made.text if hasattr(made, "text") else made.read_text(encoding="utf-8")
    return json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])


def numbers(packed):
    kind, text = packed
    return np.frombuffer(base64.b64decode(text), f"<{kind}").astype(float)


def places(data):
    """Places (N, P, 3) of a page."""
    return numbers(data["spots"]).reshape(len(numbers(data["t"])), -1, 3)


def corners(mesh):
    grid = numbers(mesh["places"]).reshape(-1, 3) / 65535
    return np.array(mesh["low"]) + grid * mesh["size"]


def test_a_page_holds_all_frames_and_needs_no_network(solution, tmp_path):
    made = page(solution, tmp_path / "arm.html")
    assert made.text == (tmp_path / "arm.html").read_text(encoding="utf-8")
    assert not re.search(r"http|\bsrc=|href=|import\b|fetch\(|XMLHttp", made.text)
    data = data_of(made)
    t = numbers(data["t"])
    assert data["title"] == "arm" and data["seconds"] == 2.0 and len(t) == 101
    np.testing.assert_allclose(t, solution.times(101), atol=1e-6)
    tip = solution.trace(lambda at: at.position("tip"), solution.times(101)).T
    (path,) = [each for each in data["traces"] if each["name"] == "tip"]
    np.testing.assert_allclose(numbers(path["places"]).reshape(-1, 3), tip, atol=1e-5)
    assert {each["name"] for each in data["traces"]} == {"tip", "centre of mass"}


def test_a_page_says_objective_duration_and_verdict(solution):
    words = [text for _, text in data_of(page(solution))["words"]]
    assert words == [
        "solved",
        f"objective {solution.objective:.6g}",
        f"duration {solution.duration:.4g} s",
    ]
    checked = replace(solution, verification=ocp.verify(solution))
    kind, verdict = data_of(page(checked))["words"][-1]
    assert verdict == checked.verification.verdict() and verdict.startswith("certified")
    assert kind == "verdict yes"
    failed = replace(solution, verification=ocp.verify(replace(solution, success=False)))
    assert data_of(page(failed))["words"][-1][0] == "verdict no"


def test_curves_beside_the_scene_are_the_solutions(hopped, solution):
    sections = data_of(page(solution))["sections"]
    assert [each["title"] for each in sections] == [
        "angle (rad)",
        "torque (N m)",
        "joint force, norm (N)",
    ]
    (panel,) = sections[1]["panels"]
    times = np.minimum(numbers(panel["t"]), solution.duration)
    for row, line in enumerate(panel["lines"]):
        assert line["name"] == solution.problem.tree.names[row]
        np.testing.assert_allclose(numbers(line["y"]), solution.tau(times)[row], atol=1e-4)
    assert panel["limits"] == [-10.0, 10.0] and sections[0]["panels"][0]["limits"] is None
    first = data_of(page(hopped))["sections"][0]
    assert (
        first["title"] == "contact force (N)" and first["panels"][0]["lines"][0]["name"] == "foot"
    )


def test_bodies_move_as_their_links_do(solution):
    ball = Visual(kind="sphere", size=(0.1,), colour=(1, 0, 0, 0.5))
    seen = replace(solution, problem=replace(solution.problem, scenery=(ball,)))
    data = data_of(page(seen))
    (red,) = [each for each in data["solids"] if each["colour"] == "#ff0000"]
    assert red["opacity"] == 0.5 and len(numbers(data["frames"][red["frame"]])) == 7
    assert np.linalg.norm(corners(red), axis=1).max() == pytest.approx(0.1, rel=1e-3)
    moving = [rows for rows in map(numbers, data["frames"]) if len(rows) > 7]
    assert len(moving) == 2 and len(data["solids"]) == 1 + 2 * 2  # rods and pins of two links
    tips = [rows.reshape(-1, 7)[:, :3] for rows in moving]  # where the links' frames stand
    tip = solution.trace(lambda at: at.position("tip"), solution.times(101)).T
    assert min(np.abs(tip - each).max() for each in tips) < 1e-5


def test_a_quaternion_turns_as_its_matrix_does():
    generator = np.random.default_rng(3)
    units = generator.normal(size=(20, 4))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    turns = []
    for w, *v in units:
        cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        turns.append(np.eye(3) + 2 * w * cross + 2 * cross @ cross)
    again = quaternions(np.array(turns))
    np.testing.assert_allclose(np.abs((again * units).sum(axis=1)), 1.0)


def test_every_phases_ground_is_drawn(hopped):
    (floor,) = data_of(page(hopped))["floors"]
    assert not floor["solid"] and floor["frame"][14] == pytest.approx(0.0, abs=1e-9)
    stance, flight = hopped.phases["stance"], hopped.phases["flight"]
    (foot,) = stance.problem.ground.feet
    stair = replace(foot, plane=Plane(normal=stance.problem.ground.normal, point=(0, 0.2, 0)))
    raised = replace(stance.problem, ground=replace(stance.problem.ground, feet=(stair,)))
    twice = {"low": stance, "flight": flight, "high": replace(stance, problem=raised)}
    up = replace(hopped, phases=twice, duration=sum(each.duration for each in twice.values()))
    data = data_of(page(up))
    heights = [each["frame"][14] for each in data["floors"]]
    assert [each["solid"] for each in data["floors"]] == [0, 1]
    np.testing.assert_allclose(heights, [0.0, 0.2], atol=1e-6)
    assert [name for name, _ in data["ends"]] == ["low", "flight", "high"]
    assert dict(data["legend"]).keys() >= {"contact force", "impulse", "centre of mass"}


@pytest.mark.parametrize("gravity", [(0.0, -9.81, 0.0), (0.0, 9.81, 0.0), (-9.81, 0.0, 0.0)])
def test_pages_stand_upright(solution, gravity):
    """What goes up against gravity goes up in the page."""
    tree = replace(solution.problem.tree, gravity=gravity)
    turned = moved(solution, tree, solution.points)
    data = data_of(page(turned))
    tip = turned.trace(lambda at: at.position("tip"), turned.times(101)).T
    (path,) = [each for each in data["traces"] if each["name"] == "tip"]
    height = numbers(path["places"]).reshape(-1, 3)[:, 2]
    np.testing.assert_allclose(height, tip @ gravity / -9.81, atol=1e-5)
    assert np.ptp(height) > 0.1


@pytest.mark.parametrize(
    ("seconds", "duration", "words"),
    [
        (1.5, 0.5, "slowed 3 times"),
        (2.0, 2.0, ""),
        (2.0, 2.005, ""),
        (1.0, 4.0, "sped up 4 times"),
        (2.0, 0.392, "slowed 5.1 times"),
    ],
)
def test_films_and_pages_say_how_much_they_are_slowed(seconds, duration, words):
    assert pace(seconds, duration) == words
    if shutil.which("node") is not None:  # the player says the same
        (function,) = re.findall(r"^function pace.*?^}", PLAYER.read_text(), re.M | re.S)
        code = f"{function}; console.log(pace({seconds} / {duration}))"
        said = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
        assert said.stdout.strip() == words


def test_a_page_is_not_broken_by_names(solution, oddly_named, tmp_path):
    names = ("</script><b>", "<!--<script>", "@DATA@", "a & b")
    tree = replace(
        solution.problem.tree, points=tuple(Point(name=name, link="elbow") for name in names)
    )
    made = page(moved(solution, tree, solution.points), title="<b>&")
    shown = [each["name"] for each in data_of(made)["traces"]]
    assert shown == [*names, "centre of mass"] and data_of(made)["title"] == "<b>&"
    assert "<b>" not in made.text and made.text.count("<!--") == 0
    assert made.text.count("<script") == 2
    odd = data_of(page(oddly_named))["sections"][0]["panels"][0]["lines"]
    assert [line["name"] for line in odd] == list(NAMES)[: len(odd)]


def test_an_animation_without_a_path_plays_within_a_notebook(solution, tmp_path):
    made = animate(solution)
    animate(solution, tmp_path / "motion.html")
    assert made.text == (tmp_path / "motion.html").read_text(encoding="utf-8")
    (inside,) = re.findall(r"^<iframe [^>]*srcdoc='([^']*)'></iframe>$", made._repr_html_())
    assert unescape(inside) == made.text and "HTML" in repr(made)


def test_what_makes_no_page_is_refused(solution, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"suffix '\.htm': expected one of \.html"):
        page(solution, tmp_path / "arm.htm")
    with pytest.raises(ValueError, match="seconds: expected a number above 0, got 0"):
        page(solution, seconds=0)
    monkeypatch.setattr("ocp.plots.scene_page.MOST", 1000)
    with pytest.raises(ValueError, match=r"page: it would take more than 0\.001 MB"):
        page(solution, tmp_path / "arm.html")
    assert not list(tmp_path.iterdir())


def test_a_page_of_a_large_mesh_is_made_coarser(solution, monkeypatch):
    def triangles(made):
        return sum(len(numbers(each["faces"])) // 3 for each in data_of(made)["solids"])

    fine = triangles(page(solution))
    monkeypatch.setattr("ocp.plots.scene_page.BUDGET", fine // 4)
    assert fine // 16 < triangles(page(solution)) < fine // 2


def test_the_command_writes_a_page_without_the_viewers_extra(hopped, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    ocp.save(hopped, tmp_path / "hop.npz")
    assert command(["view", str(tmp_path / "hop.npz"), "--html", str(tmp_path / "hop.html")]) == 0
    data = data_of(tmp_path / "hop.html")
    assert data["title"] == "hop" and data["seconds"] == 2.0
