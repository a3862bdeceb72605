"""Compiled kernels: the same numbers, kept on disk, shared by concurrent runs, and done without
where there is no compiler."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed, whole_program

from ocp import Transcription, solve
from ocp.cli.commands.run import run_task
from ocp.codegen.compiler import shared_library
from ocp.codegen.compiler.compiled_functions import compile_function, generate_c
from ocp.codegen.compiler.statement_folding import fold_statements
from ocp.dynamics import FORMULATIONS
from ocp.problems.arms.two_link_lift import TASK as LIFT
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.solvers import NoCompiler
from ocp.transcription import transcribe_phase
from ocp.transcription.kernels import kernel_backends, kernels
from ocp.transcription.transcribe import transcribe

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OCP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def kept(tmp_path_factory, monkeypatch):
    """A cache that several tests share, so that kernels of the same lift are compiled once."""
    folder = tmp_path_factory.getbasetemp() / "kept"
    monkeypatch.setenv("OCP_CACHE", str(folder))
    return folder


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


def tangle(count):
    """A graph of random operations, conditions and constants, whose values are used once or more
    often."""
    choice, x = np.random.default_rng(5), ca.SX.sym("x", 3)
    known = [*ca.vertsplit(x), ca.SX(-1.5), ca.SX(0.25)]
    for _ in range(count):
        first, second = (known[choice.integers(max(0, len(known) - 40), len(known))] for _ in "ab")
        known.append(
            (
                lambda a, b: a - b,
                lambda a, b: -a * b / 2,
                lambda a, b: ca.sin(a) - (-b),
                lambda a, b: ca.if_else(a < b, ca.fabs(a) / 3, ca.tanh(b)) - -0.5,
                lambda a, b: ca.fmin(a, 2.0) / (2 + ca.cos(b) ** 2),
            )[choice.integers(5)](first, second)
        )
    return ca.Function("tangle", [x], [ca.vertcat(*known[-30:], *known[:40:7])])


@compiler_needed
def test_folded_text_gives_the_same_bits_in_fewer_statements(cache):
    function, x = tangle(600), [0.7, -0.4, 1.3]
    text = generate_c(function)
    assert fold_statements(text).count("\n  a") < 0.6 * text.count("\n  a")
    assert np.array_equal(np.array(compile_function(function)(x)), np.array(function(x)))


@compiler_needed
def test_functions_of_several_results_and_of_matrices_are_machine_code_too(cache):
    x, y = ca.SX.sym("x", 2), ca.MX.sym("y", 2)
    two = ca.Function("two", [x], [ca.sumsqr(x), ca.sin(x)])
    loops = ca.Function("loops", [y], [ca.DM([[1, 2], [3, 4]]) @ ca.sin(y)])
    assert fold_statements(generate_c(two)) != generate_c(two)
    assert fold_statements(generate_c(loops)) == generate_c(loops)
    for function in (two, loops):
        pairs = zip(
            *(each.call([ca.DM([0.3, -0.2])]) for each in (compile_function(function), function))
        )
        assert all(np.allclose(np.array(one), np.array(other), rtol=1e-15) for one, other in pairs)


def numbers(problem, **settings):
    """Jacobian and both Hessians of a problem's program somewhere."""
    nlp = transcribe(problem, Transcription(**settings)).nlp
    x = np.random.default_rng(2).uniform(0.5, 1.0, len(nlp.lower))
    weights = 1.0, np.linspace(-1, 1, len(nlp.g_lower))
    hessians = [nlp.hessian(kind)(x, [], *weights) for kind in ("exact", "gauss-newton")]
    return [np.array(each) for each in (nlp.jacobian(x, [])[1], *hessians)]


@whole_program
def test_kept_kernels_are_taken_without_being_differentiated(kept, monkeypatch):
    monkeypatch.setattr(kernel_backends, "sources", lambda: "these")
    first = numbers(lift(points=6), kernels="compiled")
    monkeypatch.setattr(kernels, "_slope", None)
    monkeypatch.setattr(kernels, "_curvature", None)
    again = numbers(lift(points=6), kernels="compiled")
    assert all(np.array_equal(one, other) for one, other in zip(first, again))


@whole_program
def test_kept_kernels_are_those_of_the_same_numbers(kept, monkeypatch):
    monkeypatch.setattr(kernel_backends, "sources", lambda: "these")
    problem = lift(points=6)
    link = replace(problem.tree.links[0], mass=0.7 * problem.tree.links[0].mass)
    lighter = replace(problem, tree=replace(problem.tree, links=(link, *problem.tree.links[1:])))
    for each in (problem, lighter):
        for one, other in zip(numbers(each, kernels="compiled"), numbers(each)):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max())


@whole_program
def test_kernels_of_an_own_formulation_are_known_by_their_graphs(kept, monkeypatch):
    """Since its derivatives may change where its values do not."""
    monkeypatch.setattr(kernel_backends, "sources", lambda: "these")
    own = replace(FORMULATIONS["newton_euler"], name="mine")
    numbers(lift(points=6), kernels="compiled", dynamics=own)
    monkeypatch.setattr(kernels, "_slope", None)
    with pytest.raises(TypeError, match="not callable"):
        numbers(lift(points=6), kernels="compiled", dynamics=own)


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
    assert len(list(cache.glob("*.so"))) == 2
    assert not [path for path in cache.iterdir() if path.suffix != ".so"]


TOGETHER = """
import casadi as ca
from ocp.codegen.compiler.compiled_functions import compile_function
for count in range(1, 6):
    x = ca.SX.sym("x", count)
    function = compile_function(ca.Function("sines", [x], [ca.sin(x)]))
    print(function.class_name(), function(range(count)))
"""


@pytest.mark.commands
@compiler_needed
def test_concurrent_runs_share_the_cache(cache):
    command = [sys.executable, "-c", TOGETHER]
    settings = {"cwd": ROOT, "env": os.environ | {"OCP_CACHE": str(cache)}, "text": True}
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, **settings) for _ in range(2)]
    texts = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0] and texts[0] == texts[1]
    assert texts[0].count("External") == len([*cache.iterdir()]) == len([*cache.glob("*.so")]) == 5


SLOW = {  # what a compiler does that does not end, as a script
    "--version": "exec sleep 60",
    "has not ended": """[ "$1" = --version ] && exit 0
sleep 60 & echo $! > "$OCP_CACHE/child"
wait""",
}


@pytest.mark.parametrize("words", SLOW)
def test_a_compiler_that_does_not_end_is_given_up(cache, tmp_path, monkeypatch, words):
    script = tmp_path / "slow"
    script.write_text(f"#!/bin/sh\n{SLOW[words]}\n")
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setattr(shared_library, "LONGEST", 0.5)
    monkeypatch.setattr(shared_library, "ANSWERED", 0.5)
    x = ca.SX.sym("x")
    with pytest.raises(NoCompiler, match=f"slow.*{words}.*within 0.5 s"):
        compile_function(ca.Function("slow", [x], [ca.sin(x)]))
    child = cache / "child"
    if child.exists():  # what the compiler had started ends with it
        command = Path(f"/proc/{child.read_text().strip()}/cmdline")
        until = time.monotonic() + 20
        while command.exists() and command.read_bytes() and time.monotonic() < until:
            time.sleep(0.01)
        assert not command.exists() or not command.read_bytes()
    assert not cache.exists() or {path.name for path in cache.iterdir()} <= {"child"}


@whole_program
def test_a_solve_with_compiled_kernels_is_the_same(kept):
    plain, compiled = (
        solve(lift(points=6), Transcription(kernels=flag)).require(coarse=True)
        for flag in ("virtual", "compiled")
    )
    assert compiled.objective == pytest.approx(plain.objective, rel=1e-10)
    assert compiled.statistics["kernels"] == "compiled"
    assert plain.statistics["kernels"] == "virtual machine"
    assert run_task(LIFT, ["--points", "6", "--kernels", "compiled", "--quiet"]) == 0


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
    solution = solve(lift(points=8), Transcription(kernels="compiled")).require()
    assert solution.statistics["kernels"].startswith("virtual machine: ")
    assert reason in solution.statistics["kernels"]


@whole_program
def test_compiled_kernels_are_machine_code_all_of_them(kept):
    """And not the functions that they were made of."""
    assert compile_function(pendulum()).class_name() == "External"
    for flag, kind in (("compiled", {"External"}), ("virtual", {"SXFunction"})):
        transcribed = transcribe_phase(lift(points=6), Transcription(kernels=flag))
        kernels = [part.kernel for part in (*transcribed.groups, *transcribed.objective_blocks)]
        functions = [
            each
            for kernel in kernels
            for each in (kernel.values, kernel.jacobian, kernel.hessian("exact")[0])
        ]
        assert {each.class_name() for each in functions} == kind
        assert len(functions) >= 12


LOADED = """
import casadi as ca
from ocp.codegen.compiler.compiled_functions import compile_function
x = ca.SX.sym("x", 2)
function = compile_function(ca.Function("pendulum", [x], [ca.vertcat(x[1], -ca.sin(x[0]))]))
print(function.class_name(), float(function([0.3, -1.2])[1]))
"""


def loaded_elsewhere(cache):
    """What a process prints that takes the pendulum from the cache."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=ROOT,
        env=os.environ | {"OCP_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.commands
@compiler_needed
@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign", "empty", "linked", "text"])
def test_a_library_that_is_not_as_its_name_says_is_built_anew(cache, damage):
    """One cut short ended the program without a word."""
    compile_function(pendulum())
    (library,) = cache.glob("*.so")
    content = bytearray(library.read_bytes())
    x = ca.SX.sym("x", 2)
    compile_function(ca.Function("pendulum", [x], [7 * x]))
    (other,) = set(cache.glob("*.so")) - {library}
    foreign = other.read_bytes()
    other.unlink()
    library.unlink()
    if damage == "linked":
        (cache.parent / "planted.so").write_bytes(foreign)
        library.symlink_to(cache.parent / "planted.so")
    elif damage == "text":
        text = b"whose name is right"
        (cache / f"{library.stem[:-32]}{shared_library._hash(text)}.so").write_bytes(text)
    else:
        flipped = content.copy()
        flipped[len(content) // 2] ^= 1
        contents = {"cut": content[:4096], "flipped": flipped, "foreign": foreign, "empty": b""}
        library.write_bytes(contents[damage])
    if damage == "cut":  # which would end this process
        code, out, err = loaded_elsewhere(cache)
        assert code == 0 and out.startswith("External -0.295520"), err
    else:
        values = compile_function(pendulum())([0.3, -1.2])
        assert np.allclose(np.array(values).ravel(), [-1.2, -np.sin(0.3)])
    (again,) = cache.glob("*.so")
    assert again.read_bytes() == content and not again.is_symlink()


@compiler_needed
def test_a_library_is_known_by_the_compiler_and_the_machine(cache, monkeypatch):
    compile_function(pendulum())
    for name, value in (("_version", lambda _: "another"), ("machine", lambda: ("another",))):
        monkeypatch.setattr(shared_library, name, value)
        compile_function(pendulum())
        monkeypatch.undo()
        monkeypatch.setenv("OCP_CACHE", str(cache))
    assert len({path.stem.split("_")[1] for path in cache.glob("*.so")}) == 3


posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes of POSIX")


@posix
@compiler_needed
def test_the_folder_is_private(cache):
    compile_function(pendulum())
    assert cache.stat().st_mode & 0o777 == 0o700
    cache.chmod(0o755)
    compile_function(pendulum())
    assert cache.stat().st_mode & 0o777 == 0o700


@posix
@pytest.mark.parametrize("planted", ["written by others", "another's", "a link", "a file"])
def test_a_planted_folder_is_refused_and_kernels_run_without_it(
    planted, cache, tmp_path, monkeypatch
):
    if planted == "a link":
        (tmp_path / "theirs").mkdir()
        cache.symlink_to(tmp_path / "theirs")
    elif planted == "a file":
        cache.write_text("")
    else:
        cache.mkdir()
        cache.chmod(0o777 if planted == "written by others" else 0o700)
    if planted == "another's":
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    words = {
        "written by others": "can be written by other users",
        "another's": "belongs to another user",
        "a link": "is no folder of its own",
        "a file": "cannot compile in",
    }
    with pytest.raises(NoCompiler, match=f"cache.*{words[planted]}|{words[planted]}.*cache"):
        compile_function(pendulum())
    solution = solve(lift(points=6), Transcription(kernels="compiled"))
    assert solution.success and words[planted] in solution.statistics["kernels"]
