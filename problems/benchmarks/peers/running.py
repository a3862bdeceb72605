"""Run every setting of every system in processes of their own, by turns, and keep what they say."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import ocp
from ocp.problems.benchmarks.peers.check import checked
from ocp.problems.benchmarks.peers.tasks import MOTIONS, SYSTEMS
from ocp.problems.benchmarks.peers.ways import WAYS

REPEATS = 3  # runs within a process
LIMIT = 120  # s of processor time of a process
LONGEST = 20 * LIMIT  # s that it may take beside other work
START = "RESULT "
MISSING = "is not installed: pip install 'ocp-motion[peers]'"
# systems that want versions of their own: the variable that names the Python that has them, and how
OWN = {"crocoddyl": ("CROCODDYL_PYTHON", "pip install crocoddyl pin==4.0.0 mim_solvers")}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One setting of one system: what each process said, or the `refusal` of the last one."""

    task: str
    system: str
    way: str
    size: float
    settings: dict[str, Any]
    runs: list[dict[str, Any]] = field(default_factory=list)
    refusal: str = ""

    @property
    def seconds(self) -> float:
        """Median processor time of building and solving but for a process's first (s)."""
        return float(np.median([s for run in self.runs for s in run["seconds"][1:]]))

    @property
    def cold(self) -> float:
        """Median processor time of a process that starts, imports, builds and solves (s)."""
        return float(np.median([run["cold"] for run in self.runs]))

    @property
    def beyond(self) -> float:
        """How far limits are exceeded, as a part of them."""
        return self.runs[-1]["check"]["beyond"]

    @property
    def error(self) -> float:
        """Distance of what is minimised from the reference in the task's unit, or infinity."""
        task, run = MOTIONS[self.task], self.runs[-1]
        if not run["success"] or not run["check"]["missed"] <= task.near:
            return np.inf
        value = run["check"][task.check] if task.check else run["objective"]
        return abs(value - task.reference) / task.scale


def planned(tasks: Iterable[str], systems: Iterable[str]) -> list[Row]:
    """Return rows without runs, those of systems that are not installed refused."""
    tasks, systems = set(tasks), set(systems)
    return [
        Row(
            task=way.task,
            system=way.system,
            way=way.name,
            size=size,
            settings=settings,
            refusal="" if installed(way.system) else missing(way.system),
        )
        for way in WAYS
        if way.task in tasks and way.system in systems
        for size, settings in way.rows()
    ]


def installed(system: str) -> bool:
    """Whether a system's module can be found, or it has a Python of its own."""
    return system_python(system) != sys.executable or find_spec(SYSTEMS[system]) is not None


def missing(system: str) -> str:
    """Return the words on a system that is not installed."""
    if system not in OWN:
        return f"{system} {MISSING}"
    variable, command = OWN[system]
    return f"{system} is not installed: {command} in a Python of its own, named by ${variable}"


def system_python(system: str) -> str:
    """Return the Python that runs a system: this one, or that of its own environment."""
    return os.environ.get(OWN[system][0], sys.executable) if system in OWN else sys.executable


def run(rows: Sequence[Row], rounds: int, file: Path, tell: Callable[[str], None]) -> list[Row]:
    """Return the rows after so many rounds, in each of which they come by turns.

    `file` (JSON) has what was run before, which is not run again, and is written after every run.
    """
    done = {_key(row): row for row in kept(file)}
    rows = [done.get(_key(row), row) if not row.refusal else row for row in rows]
    for number in range(rounds):
        for k, row in enumerate(rows):
            if row.refusal or len(row.runs) > number:
                continue
            rows[k] = done[_key(row)] = _once(row)
            tell(_said(rows[k]))
            keep(done.values(), file)
    return rows


def kept(file: Path) -> Iterator[Row]:
    """Yield the rows of a file, if there is one."""
    if file.exists():
        for entry in json.loads(file.read_text()):
            yield Row(**entry)


def keep(rows: Iterable[Row], file: Path) -> None:
    """Write rows into a file, at once."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    new.replace(file)


def _key(row: Row) -> tuple[str, ...]:
    return row.task, row.system, row.way, json.dumps(row.settings, sort_keys=True)


def _once(row: Row) -> Row:
    """Return the row with another run, its motion checked and then forgotten."""
    moves = row.task in MOTIONS
    try:
        result = child(
            f"by_{row.system}",
            row.task if moves else "dynamics",
            row.settings,
            REPEATS if moves else 1,
        )
    except RuntimeError as error:
        return replace(row, refusal=str(error))
    if moves:
        t, tau = np.array(result.pop("t")), np.array(result.pop("tau"))
        result["check"] = checked(row.task, t, tau)
    return replace(row, runs=[*row.runs, result])


def child(module: str, task: str, settings: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Return the output of a process that runs a task of a module; raise RuntimeError with its last
    lines."""
    here = Path(__file__).parent
    home = str(Path(ocp.__file__).parent.parent)
    python = system_python(module.rpartition(".")[2].removeprefix("by_"))
    command = [python, str(here / "child.py"), module, task]
    with tempfile.TemporaryDirectory() as folder:  # some systems write files where they run
        try:
            result = subprocess.run(
                [*command, json.dumps(settings), str(repeats), str(LIMIT)],
                env=os.environ | ONE_THREAD | {"PYTHONPATH": home},
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST,
            )
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"has not ended within {LONGEST} s") from None
    lines = [line for line in result.stdout.splitlines() if line.startswith(START)]
    if lines:
        return json.loads(lines[-1].removeprefix(START))
    if result.returncode < 0:
        raise RuntimeError(f"not solved {repeats} times in {LIMIT} s of processor time")
    raise RuntimeError((result.stderr.strip().splitlines() or ["no answer"])[-1])


def _said(row: Row) -> str:
    name = f"{row.task}: {row.system}, {row.way}, {row.size}"
    if row.refusal:
        return f"{name}: {row.refusal}"
    if row.task in MOTIONS:
        return f"{name}: error {row.error:.1e}, {row.seconds:.3f} s"
    return f"{name}: {row.runs[-1]['microseconds']}"
