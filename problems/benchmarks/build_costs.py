"""Costs of a whole run of the gait, stage by stage: import, graphs, solver, solves, report.

    python -m problems.benchmarks.build_costs [--runs 3] [--of effort,walk,...] [--old DIRECTORY]

In seconds of processor time, medians of fresh processes by turns, and the largest memory that they
had (MB); in a clone. With the directory of an older checkout, whose gait is that of effort, ratios
to it. "build" is import, graphs and solver: model, functions and the solver set up; "verify" is the
certificate of runs that are verified, and "share" what it is of graphs, solver and solve. What is
compiled is so in a run before the first.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from statistics import median

import ocp

STAGES = (
    "import",
    "graphs",
    "solver",
    "solve",
    "verify",
    "report",
    "build",
    "share",
    "command",
    "memory",
)
EFFORT, IPOPT = ("--objective", "effort"), ("--plugin", "ipopt")
VERIFIED = ("--verify", "1e-2")
VIRTUAL, COMPILED = (("--kernels", kind) for kind in ("virtual", "compiled"))
RUNS: Mapping[str, tuple[str, ...]] = {
    "effort": EFFORT,
    "effort-ipopt": (*EFFORT, *IPOPT),
    "effort-virtual": (*EFFORT, *VIRTUAL),
    "effort-ipopt-virtual": (*EFFORT, *IPOPT, *VIRTUAL),
    "effort-compiled": (*EFFORT, *COMPILED),
    "effort-ipopt-compiled": (*EFFORT, *IPOPT, *COMPILED),
    "walk": (),
    "walk-ipopt": IPOPT,
    "walk-virtual": VIRTUAL,
    "walk-compiled": COMPILED,
    "effort-verified": (*EFFORT, *VERIFIED),
    "walk-verified": VERIFIED,
}
LONGEST = 1800  # s that a run may take
FRESH = """
import dataclasses, importlib, json, os, resource, runpy, sys, time
import casadi as ca
marks, set_up = [], ca.nlpsol
def mark(stage):
    marks.append((stage, time.process_time()))
class Timed:
    def __init__(self, function):
        self.function = function
    def __getattr__(self, name):
        return getattr(self.function, name)
    def __call__(self, *arguments, **named):
        mark("graphs")
        try:
            return self.function(*arguments, **named)
        finally:
            mark("solve")
def timed(name, *arguments):
    if name == "probe":
        return set_up(name, *arguments)
    mark("graphs")
    made = set_up(name, *arguments)
    mark("solver")
    return Timed(made)
ca.nlpsol = timed
def prepared(prepare):
    def prepared_by(*arguments):
        mark("graphs")
        run = prepare(*arguments)
        mark("solver")
        def running():
            try:
                return run()
            finally:
                mark("solve")
        return running
    return prepared_by
sys.path.insert(0, os.getcwd())
import problems.gait
def first(*names):  # of modules, as this checkout or a former one has them
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
ours = first("ocp.interior_point.interior_point_backend", "ocp.solvers.structured.running")
if ours:
    ours.BACKEND = dataclasses.replace(ours.BACKEND, prepare=prepared(ours.BACKEND.prepare))
if "--verify" in sys.argv:  # else certificates do not load
    certificate = first("ocp.solving.verify_solution", "ocp.certificate.verify_solution")
    verify = certificate.verify
    def certified(*arguments, **named):
        mark("graphs")
        try:
            return verify(*arguments, **named)
        finally:
            mark("verify")
    certificate.verify = certified
mark("import")
printed, sys.stdout = sys.stdout, open(os.devnull, "w")
sys.stderr = sys.stdout
try:
    runpy.run_module("problems.gait", run_name="__main__", alter_sys=True)
except SystemExit:
    pass
mark("report")
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([marks, memory]), file=printed)
"""


def run(directory: Path, flags: Sequence[str]) -> dict[str, float]:
    """Return {stage: seconds} of one run of the gait of a checkout, and its "memory" (MB)."""
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "ocp"  # by this name it is one of the house's own
        program.write_text(FRESH)
        command = [sys.executable, str(program), *flags]
        said = {"capture_output": True, "text": True}
        done = subprocess.run(command, cwd=directory, check=True, timeout=LONGEST, **said)
    return summed(*json.loads(done.stdout.splitlines()[-1]))


def summed(marks: Sequence[tuple[str, float]], memory: float) -> dict[str, float]:
    """Return {stage: seconds} of `marks` (stage, the process's time at its end), in order."""
    total, before = dict.fromkeys(STAGES, 0.0), 0.0
    for stage, end in marks:
        total[stage] += end - before
        before = end
    total["build"] = sum(total[stage] for stage in STAGES[:3])
    total["share"] = total["verify"] / sum(total[stage] for stage in ("graphs", "solver", "solve"))
    return total | {"command": before, "memory": memory}


def shown(
    name: str, runs: Sequence[Mapping[str, float]], old: Sequence[Mapping[str, float]]
) -> str:
    """Return the line of a run's medians, and where there are `old` ones that of the ratios."""
    lines = [f"{name:28}" + "".join(f"{median(each[s] for each in runs):9.3f}" for s in STAGES)]
    if old:
        ratios = (median(_ratio(a[s], b[s]) for a, b in zip(runs, old)) for s in STAGES)
        lines.append(f"{'  ratio':28}" + "".join(f"{ratio:9.3f}" for ratio in ratios))
    return "\n".join(lines)


def _ratio(seconds: float, old: float) -> float:
    return seconds / old if old else nan  # what was not verified has no such stage


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3, help="fresh processes of each")
    parser.add_argument("--of", default="effort,walk", help=f"some of {', '.join(RUNS)}, or all")
    parser.add_argument("--old", type=Path, help="the directory of an older checkout")
    given = parser.parse_args(arguments)
    names = list(RUNS) if given.of == "all" else given.of.split(",")
    if not set(names) <= set(RUNS):
        parser.error(f"of: expected some of {', '.join(RUNS)}, or all, got {given.of!r}")
    here = Path(ocp.__file__).parent.parent
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a second run finds what the first compiled
    for name in names:
        if "compiled" in name:
            run(here, RUNS[name])
    known: dict[str, list[dict[str, float]]] = {name: [] for name in ("old", *names)}
    header = f"{'':28}" + "".join(f"{stage:>9}" for stage in STAGES)
    print("Runs as they end", header, sep="\n", flush=True)
    for _ in range(given.runs):
        if given.old:
            known["old"].append(run(given.old, ()))
            print(shown("old", known["old"][-1:], ()), flush=True)
        for name in names:
            known[name].append(run(here, RUNS[name]))
            print(shown(name, known[name][-1:], known["old"][-1:]), flush=True)
    print("Medians", header, sep="\n")
    if given.old:
        print(shown("old", known["old"], ()))
    for name in names:
        print(shown(name, known[name], known["old"]))


if __name__ == "__main__":
    main()
