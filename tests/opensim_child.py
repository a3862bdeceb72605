"""Answers of OpenSim's muscle classes, from a child process."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "opensim_muscles.py"
needs_opensim = pytest.mark.skipif(
    importlib.util.find_spec("opensim") is None, reason="needs the extra `opensim`"
)


def opensim_answers(**requests):
    """{name: answer} of the functions of `opensim_muscles.py` to requests of the same names."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input=json.dumps(requests),
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
