"""The page of `ocp app` in a real browser: moves are shown and marked, motions are compared."""

import json
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from child_processes import children_of, wait_for_end

from ocp.problems.benchmarks.explorer_latency.browser import (
    BROWSERS,
    PageReplacedError,
    browser_tab,
)
from ocp.studies.explorer import Explorer, Server

pytestmark = [
    pytest.mark.pages,
    pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="there is no Chromium"),
]
MOVE = """new Promise(done => {
  const [known, seen] = [marks.length, delays.length];
  data.sliders.find(each => each.name == "goal_x").put(VALUE);
  ask();
  (function look() {
    if (light.className != "light busy" && (delays.length > seen || light.className == "light no"))
      done([light.textContent.trim(), marks.slice(known).map(([, mark]) => mark)]);
    else setTimeout(look, 20);
  })();
})"""


@contextmanager
def explored(name, names=()):
    server = Server(Explorer(name, names), "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with browser_tab(server.url) as page:
        page.wait_for("(window.marks?.length ?? 0) > 1")
        yield page
    server.shutdown()
    server.server_close()
    server.explorer.close()


@pytest.fixture(scope="module")
def tab():
    with explored("ur5_replan", ("goal_x", "goal_y", "goal_z")) as page:
        yield page


URDF = """<robot name="lever"><link name="base"/><link name="lever"><inertial>
<origin xyz="0 0 -0.2"/><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="pivot" type="revolute"><parent link="base"/><child link="lever"/><axis xyz="0 1 0"/>
<limit lower="-0.5" upper="0.8" effort="80" velocity="5"/></joint></robot>"""
DROP = """(text, name) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([text], name));
  dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, cancelable: true}));
}"""


def move(tab, value):
    return tab.evaluate(MOVE.replace("VALUE", f"{value}"))


def test_a_move_is_shown_marked_and_certified(tab):
    said, marks = move(tab, -0.45)
    assert said == "certified to 0.01" and marks == ["not certified yet", "certified"]
    assert tab.evaluate("current.answer.values.goal_x") == -0.45
    assert tab.evaluate("location.hash") == "#goal_x=-0.45"
    assert tab.evaluate("current.scene.handles[0].name") == "goal"


def test_what_cannot_be_is_said_and_the_last_motion_stays(tab):
    move(tab, -0.42)
    said, _ = move(tab, -1.6)
    assert said.endswith("the last motion stays")
    assert "must give way" in tab.evaluate("reasons.textContent")
    assert tab.evaluate("current.answer.values.goal_x") == -0.42


def test_motions_are_kept_as_ghosts_and_beside(tab):
    move(tab, -0.40001)
    tab.evaluate("find('#keep').click()")
    move(tab, -0.5)
    tab.evaluate("find('#kept button').click()")
    assert tab.evaluate("kept.length == 1 && kept[0].ghost && !beside.parentElement.hidden")
    tab.evaluate("find('#kept button:last-child').click()")
    assert tab.evaluate("kept.length == 0 && beside.parentElement.hidden")


def test_a_dragged_place_and_a_push_are_moves(tab):
    move(tab, -0.4)
    count = tab.evaluate("delays.length")
    tab.evaluate("frame.contentWindow.ondragged('goal', current.scene.handles[0].place)")
    tab.wait_for(f"delays.length > {count}")
    assert tab.evaluate("values.goal_x") == pytest.approx(-0.4)
    tab.evaluate("frame.contentWindow.onpushed('tool', [0.02, 0, 0], 0.5)")
    tab.wait_for("current.answer.pushed && light.className == 'light yes'")
    assert tab.evaluate("current.scene.once")


def test_the_script_on_the_page_makes_the_same_motion(tab, tmp_path):
    tab.evaluate("find('#reset').click()")
    move(tab, -0.47)
    script = tab.evaluate("find('#script').textContent")
    code = f"{script}\nprint(solution.objective)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == pytest.approx(tab.evaluate("current.answer.objective"), rel=1e-6)
    assert (tmp_path / "motion.html").exists()


def test_a_second_tab_shows_the_same_motion(tab):
    with browser_tab(tab.evaluate("location.origin + '/'")) as other:
        other.wait_for("(window.marks?.length ?? 0) > 1 && light.className == 'light yes'")
        move(tab, -0.42)
        other.wait_for("current.answer.values.goal_x == -0.42 && light.className == 'light yes'")
        numbers = [each.evaluate("current.answer.number") for each in (tab, other)]
        assert numbers[0] == numbers[1]


def test_a_motion_that_is_not_certified_is_solved_on_more_points_at_a_click():
    with explored("cart_pole_mpc") as page:
        page.evaluate("data.sliders.find(each => each.name == 'angle').put(3.05), ask()")
        page.wait_for("light.className == 'light no' && reasons.querySelector('button') != null")
        assert (
            page.evaluate("reasons.querySelector('button').textContent") == "solve with points 52"
        )
        page.evaluate("reasons.querySelector('button').click()")
        page.wait_for("light.className == 'light yes'")
        assert page.evaluate("current.answer.switched.points") == 52


def test_closing_the_page_ends_the_program_and_its_worker():
    line = [sys.executable, "-m", "ocp", "app", "cart_pole_mpc", "--no-browser"]
    program = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = program.stdout.readline().split()[2].rstrip(",")
        children = children_of(program)
        assert children
        with browser_tab(url) as page:
            page.wait_for("(window.marks?.length ?? 0) > 1")
            page.ask("Page.close")
            assert program.wait(180) == 0
        wait_for_end(children, 60)
    finally:
        program.kill()
        program.communicate()


def test_a_page_replaced_while_it_is_asked_is_told_and_waited_for(tab):
    tab.evaluate("window.old = true, setTimeout(() => location.reload(), 50)")
    with pytest.raises(PageReplacedError, match=r"Runtime\.evaluate"):
        tab.evaluate("new Promise(() => {})")
    tab.wait_for("!window.old && (window.marks?.length ?? 0) > 1")
    with pytest.raises(TimeoutError, match="window.old in 0.3 s"):
        tab.wait_for("window.old", 0.3)


def test_a_dropped_urdf_takes_the_place_of_the_problem(tab):
    """The last test of the page: its problem is gone."""
    bad = json.dumps(["<robot>", "bad.urdf"])
    tab.evaluate(f"({DROP})(...{bad})")
    tab.wait_for("light.textContent.trim() == 'bad.urdf is refused'")
    assert "no XML" in tab.evaluate("reasons.textContent")
    tab.evaluate(f"({DROP})(...{json.dumps([URDF, 'lever.urdf'])})")
    tab.wait_for("window.marks?.length && current && data.sliders[0].name == 'pivot'")
    slider = tab.evaluate("data.sliders[0]")
    assert (slider["least"], slider["most"], slider["unit"]) == (-0.5, 0.8, "rad")
    count = tab.evaluate("current.answer.number")
    tab.evaluate("data.sliders[0].put(0.5), ask()")
    tab.wait_for(f"current.answer.number > {count}")
    assert tab.evaluate("current.answer.values.pivot") == 0.5
    assert "2 kg" in tab.evaluate("facts.textContent")
