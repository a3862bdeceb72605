"""Answers of OpenSim, from a child process."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "opensim_muscles.py"
MODELS = Path(__file__).parent / "opensim_models.py"
# A folder of tests has the same name, and no origin
needs_opensim = pytest.mark.skipif(
    getattr(importlib.util.find_spec("opensim"), "origin", None) is None,
    reason="needs the extra `opensim`",
)


def opensim_answers(script=SCRIPT, **requests):
    """{name: answer} of a script's functions, those of `opensim_muscles.py`, to requests of the
    same names."""
    done = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps(requests),
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
