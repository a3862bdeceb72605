"""Deliberate faults, one at a time, each of which must make its tests fail.

    python tests/mutants.py [AREA ...] [--only TEXT] [--jobs N] [--seconds S] [--list]

Each `tests/faults/AREA.toml` holds entries

    [[fault]]
    name = "what is wrong, in words"
    file = "ocp/solvers/nlp.py"
    old = "text that occurs exactly once in the file"
    new = "text that takes its place"
    tests = ["tests/solvers/test_nlp.py::test_that_must_fail", ...]

The named tests run once as they are, and must pass; then once for each fault, in a copy of the
tree. Exit status 0: every fault was killed, 1: one survived, could not be applied, or has tests
that fail without it. Needs Python 3.11 (tomllib).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "faults"
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "site")
KILLED, SURVIVED, NOT_APPLIED = "killed", "SURVIVED", "NOT APPLIED"
VERDICTS = {0: SURVIVED, 1: KILLED}  # by pytest's exit status; a timeout kills too, and a signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault: in `file`, below the root, `old` becomes `new`; one of `tests` must then fail."""

    area: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a fault, and why where that is no matter of tests."""

    fault: Fault
    word: str
    reason: str = ""


def faults_of(area: str) -> tuple[Fault, ...]:
    """Return the faults of an area; raise ValueError for an entry that is none."""
    path = FAULTS / f"{area}.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("fault", [])
    faults = []
    for place, entry in enumerate(entries, 1):
        if {*entry} != {"name", "file", "old", "new", "tests"} or not entry["tests"]:
            raise ValueError(f"{path.name}, fault {place}: expected name, file, old, new, tests")
        tests = tuple(entry["tests"])
        faults.append(Fault(area=area, **{**entry, "tests": tests}))
    return tuple(faults)


def copy_of_the_tree(folder: Path) -> Path:
    """Copy the tree into a folder and return the copy."""
    copy = folder / "tree"
    # links stay links: `ocp/problems` must lead to the copy that gets the fault
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
    return copy


def apply(fault: Fault, tree: Path) -> str:
    """Apply a fault to a tree; return why it cannot be applied, or nothing."""
    path = tree / fault.file
    if not path.is_file():
        return f"there is no {fault.file}"
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        return f"`old` occurs {text.count(fault.old)} times in {fault.file}"
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    return ""


def run_tests(tree: Path, tests: Sequence[str], seconds: float) -> tuple[int, str]:
    """Return pytest's exit status and its last lines; a run that does not end in time fails."""
    every = ["-x", "-q", "-m", "", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *every, *tests]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            timeout=seconds,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return 1, f"not done after {seconds:g} s"
    return done.returncode, "\n".join(done.stdout.strip().splitlines()[-12:])


def judge(seconds: float, fault: Fault) -> Verdict:
    """Apply a fault to a copy of the tree, run its tests, and return the Verdict."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        tree = copy_of_the_tree(Path(folder))
        reason = apply(fault, tree)
        if reason:
            return Verdict(fault=fault, word=NOT_APPLIED, reason=reason)
        status, said = run_tests(tree, fault.tests, seconds)
    word = KILLED if status < 0 else VERDICTS.get(status, NOT_APPLIED)  # as by a crash
    return Verdict(fault=fault, word=word, reason=said if word == NOT_APPLIED else "")


def sound(faults: Sequence[Fault], seconds: float) -> bool:
    """Run the named tests without any fault; tell whether all pass, and print those that do not."""
    tests = tuple(dict.fromkeys(test for fault in faults for test in fault.tests))
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        tree = copy_of_the_tree(Path(folder))
        status, said = run_tests(tree, tests, seconds * max(1, len(tests) / 4))
    if status:
        print(f"the tests fail without a fault:\n{said}", flush=True)
    return status == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    areas = sorted(path.stem for path in FAULTS.glob("*.toml"))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("area", nargs="*", help=f"of {', '.join(areas)}; all, if none is named")
    parser.add_argument("--only", default="", help="faults whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1, help="faults tried at once (default: 1)")
    parser.add_argument("--seconds", type=float, default=300, help="of one fault (default: 300)")
    parser.add_argument("--list", action="store_true", help="list the faults and end")
    flags = parser.parse_args(arguments)
    if not {*flags.area} <= {*areas}:
        parser.error(f"expected areas of {', '.join(areas)}, got {' '.join(flags.area)}")
    chosen = (fault for area in flags.area or areas for fault in faults_of(area))
    faults = [fault for fault in chosen if flags.only in fault.name]
    if not faults:
        parser.error(f"--only: no fault's name holds {flags.only!r}")
    if flags.list:
        print("\n".join(f"{fault.area}: {fault.name} ({fault.file})" for fault in faults))
        return 0
    if not sound(faults, flags.seconds):
        return 1
    with ThreadPoolExecutor(flags.jobs) as pool:
        verdicts = []
        for verdict in pool.map(partial(judge, flags.seconds), faults):
            verdicts.append(verdict)
            print(f"{verdict.word:11}  {verdict.fault.area}: {verdict.fault.name}", flush=True)
            if verdict.reason:
                print(f"    {verdict.reason}", flush=True)
    killed = sum(verdict.word == KILLED for verdict in verdicts)
    print(f"{killed} of {len(verdicts)} faults killed")
    return 0 if killed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
