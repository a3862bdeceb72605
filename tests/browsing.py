"""Pages played in a real browser, from files and without a network."""

import json
import re
import shutil
import subprocess

import pytest

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
}, 250);
</script>
<pre></pre>
"""

played = pytest.mark.skipif(not BROWSER, reason="needs chromium of the distribution's packages")


def play(folder):
    """Play all pages of a folder side by side for some seconds.

    Returns {page: what was seen at times} (clock, shades, place of the cursor), and {page: pairs of
    words that covered each other}.
    """
    names = sorted(path.stem for path in folder.glob("*.html"))
    frames = "".join(f'<iframe name="{name}" src="{name}.html"></iframe>' for name in names)
    (folder / "index.htm").write_text(INDEX + frames)
    command = [BROWSER, *FLAGS, "--dump-dom", (folder / "index.htm").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    assert "Uncaught" not in shown.stderr and "ERR_" not in shown.stderr
    assert "GL_INVALID" not in shown.stderr
    seen, crossed = json.loads(re.search("<pre>(.*?)</pre>", shown.stdout)[1])
    assert sorted(seen) == names
    return seen, crossed
