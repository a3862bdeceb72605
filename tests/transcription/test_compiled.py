"""Compiled kernels: the same numbers, kept on disk, shared by concurrent runs, and done without
where there is no compiler."""

import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from ocp.problems.two_link_lift import problem as lift

from ocp import Transcription, solve
from ocp.transcription.compiled import NoCompiler, compile_function, find_compiler

ROOT = Path(__file__).parents[2]


def has_compiler():
    try:
        find_compiler()
    except NoCompiler:
        return False
    return True


compiler_needed = pytest.mark.skipif(not has_compiler(), reason="this machine has no C compiler")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OCP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def pendulum():
    x = ca.SX.sym("x", 2)
    return ca.Function("pendulum", [x], [ca.vertcat(x[1], -ca.sin(x[0]))])


@compiler_needed
def test_machine_code_gives_the_same_numbers(cache):
    function = pendulum()
    compiled, x = compile_function(function), np.array([0.3, -1.2])
    assert np.array_equal(np.array(compiled(x)), np.array(function(x)))
    assert np.allclose(
        np.array(compiled.map(3)(np.outer(x, [1, 2, 3]))),
        np.array(function.map(3)(np.outer(x, [1, 2, 3]))),
        rtol=1e-15,
    )


@compiler_needed
def test_a_kernel_is_compiled_once_and_found_by_content(cache):
    compile_function(pendulum())
    (library,) = cache.glob("*.so")
    before = library.stat().st_mtime_ns
    compile_function(pendulum())
    assert (
        [library.stat().st_mtime_ns]
        == [path.stat().st_mtime_ns for path in cache.glob("*.so")]
        == [before]
    )
    x = ca.SX.sym("x", 2)
    compile_function(ca.Function("pendulum", [x], [ca.vertcat(x[1], -ca.cos(x[0]))]))
    assert len(list(cache.glob("*.so"))) == 2 and not [
        path for path in cache.iterdir() if path.suffix != ".so"
    ]


@compiler_needed
def test_concurrent_runs_share_the_cache(cache):
    command = [
        sys.executable,
        "-m",
        "problems.two_link_lift",
        "--points",
        "6",
        "--compiled",
        "--quiet",
    ]
    runs = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"OCP_CACHE": str(cache)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    lines = [run.communicate(timeout=120)[0].split(" iterations")[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0] and lines[0] == lines[1]
    assert not [path for path in cache.iterdir() if path.suffix != ".so"]


@compiler_needed
def test_a_solve_with_compiled_kernels_is_the_same(cache):
    plain, compiled = (
        solve(lift(points=8), Transcription(compiled=flag)).require() for flag in (False, True)
    )
    assert compiled.objective == pytest.approx(plain.objective, rel=1e-10)
    assert (
        compiled.statistics["kernels"] == "compiled"
        and plain.statistics["kernels"] == "virtual machine"
    )


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"PATH": "/nonexistent", "CC": ""}, "no C compiler found (looked for cc, gcc, clang)"),
        ({"CC": "no-such-compiler"}, "no C compiler found"),
        ({"CC": "false"}, "false failed: no message"),
        ({"OCP_CACHE": "/proc/nowhere"}, "cannot compile in /proc/nowhere"),
    ],
)
def test_without_a_compiler_the_virtual_machine_runs_and_a_line_says_so(
    variables, reason, cache, monkeypatch
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    solution = solve(lift(points=8), Transcription(compiled=True)).require()
    assert (
        solution.statistics["kernels"].startswith("virtual machine: ")
        and reason in solution.statistics["kernels"]
    )
