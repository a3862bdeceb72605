"""Every page plays in a real browser, from a file and without a network."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from pictured import moved

from ocp import Link, Point, Tree, page, revolute
from ocp.mechanics import Visual

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
FLAGS = (
    *("--headless=new", "--no-sandbox", "--no-first-run", "--window-size=1600,1000"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND"),
    *("--enable-logging=stderr", "--virtual-time-budget=2500", "--timeout=40000"),
)
INDEX = """<!DOCTYPE html><title>pages</title>
<style>iframe { width: 900px; height: 560px }</style>
<script>
const seen = {};
const crossed = {};
const pages = () => [...document.querySelectorAll("iframe")].map(f => [f.name, f.contentDocument]);
function words(page) {  // boxes of all that is written and not scrolled away
  const boxes = [], column = page.querySelector("#curves").getBoundingClientRect();
  const unseen = /SCRIPT|STYLE|OPTION/;
  const tree = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (tree.nextNode()) {
    const {parentElement} = tree.currentNode, range = page.createRange();
    if (unseen.test(parentElement.tagName) || !tree.currentNode.data.trim()) continue;
    range.selectNodeContents(tree.currentNode);
    const box = range.getBoundingClientRect();
    if (!parentElement.closest("#curves") || box.bottom < column.bottom) boxes.push(box);
  }
  return boxes;
}
function crossings(page) {
  const boxes = words(page);
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2));
}
function look() {
  for (const [name, page] of pages()) {
    if (page.readyState !== "complete") continue;  // a frame begins as an empty document
    const canvas = page.querySelector("#space > canvas"), copy = document.createElement("canvas");
    const clock = page.querySelector("output")?.textContent;
    if (!clock || !canvas.width) continue;
    const pen = copy.getContext("2d");
    Object.assign(copy, {width: 300, height: 200});
    pen.drawImage(canvas, 0, 0, 300, 200);
    const {data} = pen.getImageData(0, 0, 300, 200), shades = new Set();
    for (let i = 0; i < data.length; i += 4) shades.add(data.slice(i, i + 3).join());
    const cursors = [...page.querySelectorAll("figure u")].map(each => each.style.transform);
    (seen[name] ??= []).push([clock, shades.size, cursors[0]]);
    crossed[name] = (crossed[name] ?? 0) + crossings(page).length;
  }
}
setInterval(() => {
  look();
  document.querySelector("pre").textContent = JSON.stringify([seen, crossed]);
}, 500);
</script>
<pre></pre>
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory, solution, oddly_named, hopped):
    """A folder of pages: in space with scenery and points close together, of phases, and of odd
    names."""
    folder = tmp_path_factory.mktemp("pages")
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
        ("spatial", among),
        ("phases", hopped),
        ("odd", oddly_named),
    ):
        page(motion, folder / f"{name}.html")
    return folder


@pytest.mark.commands
@pytest.mark.skipif(not BROWSER, reason="needs a browser: chromium of the distribution's packages")
def test_every_page_plays_in_a_browser_and_no_words_cover_others(pages):
    names = sorted(path.stem for path in pages.glob("*.html"))
    frames = "".join(f'<iframe name="{name}" src="{name}.html"></iframe>' for name in names)
    (pages / "index.htm").write_text(INDEX + frames)
    command = [BROWSER, *FLAGS, "--dump-dom", (pages / "index.htm").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    assert "Uncaught" not in shown.stderr and "ERR_" not in shown.stderr
    assert "GL_INVALID" not in shown.stderr
    seen, crossed = json.loads(re.search("<pre>(.*?)</pre>", shown.stdout)[1])
    assert sorted(seen) == names and not any(crossed.values())
    for name, looks in seen.items():
        times = {clock for clock, *_ in looks}
        assert len(times) > 2 and all(clock.startswith("t = ") for clock in times), name
        assert max(shades for _, shades, _ in looks) > 100, name
        assert len({cursor for *_, cursor in looks}) > 2, name
