"""OpenSim Moco in processes of its own, since it brings a CasADi that none can have beside ours."""

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

POLL = 0.2  # s
STOPPERS = "delete_this_to_stop_optimization*"  # files by which Moco's solves are stopped
ALONE = {"OMP_NUM_THREADS": "1", "OPENSIM_MOCO_PARALLEL": "0"}


class Done(NamedTuple):
    """What a command printed, and the processor time (s) that it took."""

    printed: str
    seconds: float


def run(command: Sequence[str], folder: Path, limit: float = float("inf")) -> Done:
    """Run a command in a folder, on one thread; stop solves of Moco's after a `limit` (s)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(
            command, cwd=folder, env=os.environ | ALONE, stdout=output, stderr=subprocess.STDOUT
        )
        begun = time.monotonic()
        while child.poll() is None:
            time.sleep(POLL)
            if time.monotonic() - begun > limit:
                for file in folder.glob(STOPPERS):
                    file.unlink()
        output.seek(0)
        printed = output.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Done(printed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def answer_of(script: str | Path, request: dict, limit: float = float("inf")) -> tuple[dict, float]:
    """Return the answer of a script to a request, and its processor time (s); a word is the name of
    one in this folder.

    Raises RuntimeError with the end of what it printed where it has no answer.
    """
    with tempfile.TemporaryDirectory() as name:
        asked, answer = (Path(name) / file for file in ("asked.json", "answer.json"))
        asked.write_text(json.dumps(request))
        own = isinstance(script, str)
        path = str(Path(__file__).with_name(f"{script}.py") if own else script)
        done = run((sys.executable, path, str(asked), str(answer)), Path(name), limit)
        if not answer.is_file():
            raise RuntimeError(f"{script}: {done.printed.strip()[-500:]}")
        return json.loads(answer.read_text()), done.seconds


def parse_command(
    description: str | None, file: str, arguments: Sequence[str] | None, **option: float
) -> argparse.Namespace:
    """Parse a command's arguments: the `model`, a file of Moco's example, and one more option with
    its default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", type=Path, help=f"Moco's {file}")
    for name, default in option.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    given = parser.parse_args(arguments)
    if given.model is not None and importlib.util.find_spec("opensim") is None:
        parser.error("model: Moco needs the extra `opensim`")
    if given.model is not None and not given.model.is_file():
        parser.error(f"model: expected a file, got {given.model}")
    return given
