"""Latency of the explorer: from a move to the new motion on screen, as its page measures it.

    python -m problems.benchmarks.explorer_latency
    python -m problems.benchmarks.explorer_latency ur5_replan --move goal_x goal_y --moves 500

starts the explorer and Chromium without a window, moves each parameter many times at random, waits
for each motion and for its certificate, and prints medians, frames per second, what marked the
motions that were shown, and memory, files and threads before, every hundredth move and after.
Without a problem it moves those of ASKED. Time is that of a clock: nothing else should run.
"""

import argparse
import json
import os
import random
import statistics
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from ocp.problems.benchmarks.explorer_latency.browser import Tab, browser_tab
from ocp.studies.explorer import Explorer, Server

ASKED: dict[str, tuple[str, ...]] = {
    "gait": ("speed", "slope", "backpack", "ankles"),
    "ur5_reach": ("goal_x", "goal_y", "goal_z"),
}
REACH = 0.08  # share of a parameter's value by which a move goes, either way, from its default
HALF = 0.5  # of its slider, either way, where that default is 0
LONGEST = 120.0  # s: for one answer
TOLD = 100  # moves after which memory, files and threads are told again
MOVE = """(name, value) => new Promise(done => {
  const each = named.find(each => each.name == name), player = frame.contentWindow;
  const before = delays.length, known = marks.length;
  const drawn = player.drawn_frames, began = performance.now();
  let shown = null;
  each.put(value);
  ask();
  (function look() {
    const now = performance.now();
    const rate = 1000 * (player.drawn_frames - drawn) / (now - began);
    if (shown === null && delays.length > before) shown = [delays.at(-1), rate, marks.at(-1)?.[1]];
    const end = marks.slice(known).find(([, mark]) => mark != "not certified yet");
    const failed = light.className == "light no";
    if (shown && end || failed || now - began > 120000)
      done({shown, end: end?.[1] ?? null, seen: now - began, words: light.textContent.trim()});
    else setTimeout(look, 4);
  })();
})"""


def resources(explorer: Explorer, tab: Tab) -> dict[str, float]:
    """Return memory (MB), open files and threads of this process and of the explorer's worker, and
    memory of the page."""
    tab.ask("HeapProfiler.collectGarbage")
    heap = tab.evaluate("performance.memory.usedJSHeapSize + 0")
    assert isinstance(heap, int | float)
    told: dict[str, float] = {}
    for name, pid in (("server", os.getpid()), ("worker", explorer.process.pid)):
        status = Path(f"/proc/{pid}/status").read_text()
        memory = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        told[f"{name} MB"] = round(int(memory.split()[1]) / 1024)
        told[f"{name} files"] = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        told[f"{name} threads"] = len(list(Path(f"/proc/{pid}/task").iterdir()))
    return told | {"page MB": round(heap / 1e6)}


def reach_of(explorer: Explorer, name: str) -> tuple[float, float]:
    """Return the ends between which a parameter moves."""
    known = next(each for each in explorer.sliders if each["name"] == name)
    if value := known["value"]:
        return (1 - REACH) * value, (1 + REACH) * value
    return HALF * known["lower"], HALF * known["upper"]


def measure(
    explorer: Explorer, tab: Tab, name: str, between: tuple[float, float], moves: int, seed: int
) -> None:
    """Move one parameter at random between two ends, and print what came."""
    draw = random.Random(seed)
    delays, rates, marks, ends, failed = [], [], [], [], []
    for move in range(moves):
        if move and move % TOLD == 0:
            print(f"after {move} moves of {name}:", resources(explorer, tab), flush=True)
        value = draw.uniform(*between)
        said = tab.evaluate(f"({MOVE})({json.dumps(name)}, {value!r})")
        assert isinstance(said, dict)
        if said["shown"] is None:
            failed.append(said["words"])
            continue
        delay, rate, mark = said["shown"]
        delays.append(delay / 1000)
        rates.append(rate)
        marks.append(mark)
        ends.append(said["end"])
    shown = len(delays)
    if not shown:
        print(f"{name}: of {moves} moves no motion was shown: {failed[:2]}", flush=True)
        return
    certified = sum(end == "certified" for end in ends)
    deciles = statistics.quantiles(delays, n=10) if shown > 1 else [delays[0]] * 9
    print(
        f"{name:16s} {moves} moves, {shown} shown: median {statistics.median(delays):.3f} s, "
        f"90 % {deciles[8]:.3f} s, {statistics.median(rates):.0f} frames a second; marked when "
        f"shown {sum(bool(mark) for mark in marks)}, certified after {certified}",
        flush=True,
    )
    for words in sorted(set(failed)):
        print(f"    {failed.count(words)}: {words}", flush=True)


def command(arguments: Sequence[str]) -> None:
    """Measure as the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", nargs="?", help="default: those of ASKED")
    parser.add_argument("--move", nargs="+", default=[], metavar="PARAMETER")
    words = "parameter or argument, and within what it moves"
    shown = ("ARGUMENT", "LOW", "HIGH")
    parser.add_argument("--state", nargs=3, action="append", default=[], metavar=shown, help=words)
    parser.add_argument("--moves", type=int, default=50, help="of each (default: 50)")
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args(arguments)
    chosen = {flags.problem: tuple(flags.move)} if flags.problem else ASKED
    for problem, names in chosen.items():
        print(f"{problem}:", flush=True)
        explore(problem, names, flags)


def explore(problem: str, names: Sequence[str], flags: argparse.Namespace) -> None:
    """Measure the moves of one problem's parameters of these names, and those of the flags."""
    explorer = Explorer(problem)
    server = Server(explorer, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with browser_tab(server.url) as tab:
            tab.wait_for("(window.marks?.length ?? 0) > 1", 3 * LONGEST)
            moved = {name: reach_of(explorer, name) for name in names}
            moved |= {name: (float(low), float(high)) for name, low, high in flags.state}
            for name, (low, high) in moved.items():
                for value in (high, low, (low + high) / 2):  # what is made once is not measured
                    tab.evaluate(f"({MOVE})({json.dumps(name)}, {value!r})")
            print("before:", resources(explorer, tab), flush=True)
            for name, (low, high) in moved.items():
                measure(explorer, tab, name, (low, high), flags.moves, flags.seed)
            print("after: ", resources(explorer, tab), flush=True)
            print(f"load of the machine: {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors")
    finally:
        server.shutdown()
        server.server_close()
        explorer.close()


if __name__ == "__main__":
    command(sys.argv[1:])
