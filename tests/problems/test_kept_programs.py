"""Programs from kept machine code after random edits of sources and numbers."""

import os
import subprocess
import sys

import pytest

from ocp.codegen.assembler import LIBRARIES, unsupported_reason


@pytest.mark.skipif(
    bool(unsupported_reason()) or not LIBRARIES, reason="machine code is not kept here"
)
@pytest.mark.commands
def test_no_edit_of_a_problem_finds_a_stale_program():
    """In a process of its own, where results are kept."""
    command = [sys.executable, "-m", "ocp.problems.benchmarks.solvers.kept_programs"]
    ran = subprocess.run(
        [*command, "--edits", "12", "--seed", "3"],
        env=os.environ | {"OCP_KEPT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "12 edits: 0 stale programs" in ran.stdout
