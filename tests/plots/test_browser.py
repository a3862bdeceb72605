"""Every film plays in a real browser, from a file and without a network."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from made_up_steps import made_up_step
from pictured import moved

from ocp import Link, Point, Tree, animate, revolute
from ocp.mechanics import Visual
from ocp.problems.gait.pictures.film import animate_walk

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND"),
    *("--enable-logging=stderr", "--virtual-time-budget=4000", "--timeout=20000"),
)
INDEX = """<!DOCTYPE html><title>films</title>
<script>
const seen = {};
const crossed = {};
function follow(name, pen) {  // counts names that cover one another, frame by frame
  const write = pen.fillText.bind(pen);
  let boxes = [];
  pen.fillText = (text, x, y) => {
    const box = [x, y - 10, x + pen.measureText(text).width, y];
    const ruler = / m   /.test(text);  // the last words of a frame
    if (boxes.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3]))
      crossed[name] = (crossed[name] ?? 0) + !ruler;
    boxes = ruler ? [] : [...boxes, box];
    write(text, x, y);
  };
}
const films = () => [...document.querySelectorAll("iframe")].map(f => [f.name, f.contentDocument]);
function look() {
  for (const [name, page] of films()) {
    const canvas = page.querySelector("canvas"), {width, height} = canvas;
    if (!(name in seen)) follow(name, canvas.getContext("2d"));
    const pixels = width && canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const inked = pixels ? pixels.filter((v, i) => i % 4 == 3 && v > 100).length : 0;
    (seen[name] ??= []).push([page.querySelector("output").textContent, inked]);
  }
}
const told = () => { document.querySelector("pre").textContent = JSON.stringify([seen, crossed]); };
setInterval(() => { look(); told(); }, 500);
</script>
<pre></pre>
"""


@pytest.fixture(scope="module")
def films(tmp_path_factory, solution, oddly_named, hopped):
    """A folder of films: flat, in space with scenery and points close together, of phases, of odd
    names, and of a walk that goes on."""
    folder = tmp_path_factory.mktemp("films")
    link = Link(mass=1.0, com=(0.1, 0, 0), inertia=np.diag([0.01, 0.01, 0.01]))
    tree = Tree(
        links=(link, link),
        joints=(revolute("yaw"), revolute("pitch", "yaw", axis=(0, 1, 0), home=(0.2, 0, 0.3))),
    )
    corners = [
        Point(name=f"corner {k}", link="pitch", position=(0.2 + 0.02 * (k // 4), 0.01 * (k % 4), 0))
        for k in range(8)
    ]
    spatial = moved(solution, replace(tree, points=corners))
    wall = (Visual(kind="box", size=(0.1, 0.4, 0.4), colour=(1, 0, 0, 1)),)
    among = replace(spatial, problem=replace(spatial.problem, scenery=wall))
    for name, motion in (
        ("flat", solution),
        ("spatial", among),
        ("phases", hopped),
        ("odd", oddly_named),
    ):
        animate(motion, folder / f"{name}.html", rate=10)
    animate_walk(made_up_step(), folder / "walk.html", steps=2, rate=10)
    return folder


@pytest.mark.commands
@pytest.mark.skipif(not BROWSER, reason="needs a browser: chromium of the distribution's packages")
def test_every_film_plays_in_a_browser(films):
    names = sorted(path.stem for path in films.glob("*.html"))
    frames = "".join(f'<iframe name="{name}" src="{name}.html"></iframe>' for name in names)
    (films / "index.htm").write_text(INDEX + frames)
    command = [BROWSER, *FLAGS, "--dump-dom", (films / "index.htm").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    assert "Uncaught" not in shown.stderr and "ERR_" not in shown.stderr
    seen, crossed = json.loads(re.search("<pre>(.*?)</pre>", shown.stdout)[1])
    assert sorted(seen) == names and not any(crossed.values())
    for name, looks in seen.items():
        times = {clock for clock, _ in looks}
        assert len(times) > 2 and all(clock.startswith("t = ") for clock in times), name
        assert max(inked for _, inked in looks) > 200, name
