"""Compiled kernels at several instants at once: the same bits as one instant after another, and
done without where a compiler has no vectors."""

import os
import stat

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed

from ocp.codegen.compiler import compiled_functions, shared_library
from ocp.codegen.compiler.compiled_functions import begin_compile, compile_function, generate_c
from ocp.codegen.compiler.shared_library import find_compiler
from ocp.codegen.compiler.simd import vectorize
from ocp.codegen.function_map import BATCHED
from ocp.transcription import map_function
from ocp.transcription.kernels.kernels import Graph

COUNTS = (1, 2, 3, 4, 5, 8, 25)
ONE = (
    *(ca.sin, ca.cos, ca.tan, ca.atan, ca.sinh, ca.cosh, ca.tanh, ca.asinh, ca.exp, ca.erf),
    *(ca.fabs, ca.sign, ca.floor, ca.ceil, ca.logic_not),
    *(lambda a: -a, lambda a: a * a, lambda a: 1 / (2 + a * a), lambda a: 2 * a, lambda a: a - 0.5),
    *(lambda a: ca.sqrt(a * a), lambda a: ca.log(1 + ca.fabs(a)), lambda a: ca.asin(ca.sin(a))),
    *(lambda a: ca.acos(ca.cos(a)), lambda a: ca.log1p(ca.fabs(a)), lambda a: ca.expm1(a)),
)
TWO = (
    *(lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b),
    *(ca.atan2, ca.fmin, ca.fmax, ca.fmod, ca.copysign, ca.hypot, ca.logic_and, ca.logic_or),
    *(lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a == b, lambda a, b: a != b),
    *(lambda a, b: ca.if_else(a < b, a, 2 * b), lambda a, b: ca.fabs(a) ** b),
)


def everything(seed):
    """A function of three columns, one of no rows, and two results, of every operation on values
    drawn at random; some results are numbers, others inputs."""
    choice = np.random.default_rng(seed)
    x, y, nothing = ca.SX.sym("x", 3), ca.SX.sym("y", 2), ca.SX.sym("nothing", 0)
    known = [*ca.vertsplit(x), *ca.vertsplit(y), ca.SX(0.25), ca.SX(-1.5), ca.SX.inf(1)]
    every = [(1, each) for each in ONE] + [(2, each) for each in TWO]
    for place in choice.permutation(np.tile(np.arange(len(every)), 6)):
        number, operation = every[place]
        made = operation(*(known[choice.integers(len(known))] for _ in range(number)))
        known.append(made if place % 2 else ca.fmax(ca.fmin(made, 3), -3))
    first = ca.vertcat(*known[3:12], ca.densify(ca.SX(1, 1)), *known[-120:])
    second = ca.densify(ca.vertcat(ca.SX(0), *known[40:60:3]))
    return ca.Function("everything", [x, nothing, y], [first, second])


def bits(values):
    """The bits of numbers; which NaN one is does not count."""
    numbers = np.array(values)
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)


def same(one, other):
    """Tell whether two functions gave the same bits."""
    return all(np.array_equal(bits(a), bits(b)) for a, b in zip(one, other))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OCP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def at_once(function):
    """The function as machine code of several instants at once."""
    made = begin_compile(function.name(), lambda: Graph(function)).result()
    assert made.class_name() == "External" and made in BATCHED
    return made


@compiler_needed
@pytest.mark.parametrize("seed", [1, 2])
def test_instants_at_once_have_the_bits_of_one_after_the_other(cache, seed):
    """Also the last ones, of which there are fewer than are evaluated at once; the virtual machine
    gives these numbers too, where the lesser one of 0 and -0 may be either."""
    function, drawn = everything(seed), np.random.default_rng(seed)
    made, machine_code_of_one = at_once(function), compile_function(function)
    for count in COUNTS:
        x, y = drawn.normal(size=(3, count)), drawn.normal(size=(2, count))
        inputs = [ca.DM(x), ca.DM(0, count), ca.DM(y)]
        values = map_function(made, count).call(inputs)
        assert same(values, machine_code_of_one.map(count).call(inputs))
        for one, other in zip(values, function.map(count).call(inputs)):
            assert np.array_equal(np.array(one), np.array(other), equal_nan=True)
        alone = [ca.DM(x[:, 0]), ca.DM(0, 1), ca.DM(y[:, 0])]
        assert same(made.call(alone), machine_code_of_one.call(alone))


@compiler_needed
def test_what_is_asked_for_in_turn_is_for_its_own_number_of_instants(cache):
    function = everything(1)
    made = at_once(function)
    functions = {count: map_function(made, count) for count in (7, 3, 12)}
    for count, each in functions.items():
        inputs = [ca.DM.ones(3, count), ca.DM(0, count), 0.5 * ca.DM.ones(2, count)]
        assert same(each.call(inputs), function.map(count).call(inputs))


def test_sparse_results_and_graphs_of_matrices_are_not_written_for_several_instants():
    x, y = ca.SX.sym("x", 3), ca.MX.sym("y", 3)
    dense = ca.Function("dense", [x], [ca.sin(x)])
    assert "vector_size" in vectorize(generate_c(dense), dense)
    for function in (
        ca.Function("sparse", [x], [ca.diag(x)]),
        ca.Function("matrices", [y], [ca.DM.ones(3, 3) @ ca.sin(y)]),
    ):
        assert vectorize(generate_c(function), function) is None


@compiler_needed
def test_a_function_by_itself_is_compiled_for_one_instant(cache):
    assert compile_function(everything(1)) not in BATCHED


@pytest.fixture
def without_vectors(tmp_path, monkeypatch):
    """A compiler that does not know vectors."""
    script = tmp_path / "old_cc"
    refused = "echo '-march: unknown' >&2; exit 1"
    script.write_text(
        f"#!/bin/sh\ncase $* in *--version*) echo old; exit;; *march*) {refused};; esac\n"
        f'exec {find_compiler()} "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setattr(compiled_functions, "processor", lambda: "some")


@compiler_needed
@pytest.mark.skipif(os.name != "posix", reason="a compiler that is a shell script")
def test_a_compiler_that_refuses_vectors_compiles_for_one_instant(cache, without_vectors):
    function = everything(1)
    inputs = [np.ones((3, 5)), ca.DM(0, 5), np.ones((2, 5))]
    for _ in range(2):  # the second time from the cache
        begun = begin_compile("everything", lambda: Graph(function))
        made = begun.result()
        assert made.class_name() == "External" and made not in BATCHED
        assert same(map_function(made, 5).call(inputs), function.map(5).call(inputs))
    assert begun.function is None and len(list(cache.glob("*.so"))) == 1


@compiler_needed
def test_libraries_for_this_very_processor_are_known_by_it(cache, monkeypatch):
    """Since one of another may know fewer instructions."""
    function = ca.Function("one", [ca.SX.sym("x")], [1])
    monkeypatch.setattr(compiled_functions, "processor", lambda: "some")
    for words in ("flags: avx2", "flags: avx512f", "flags: avx2"):
        monkeypatch.setattr(shared_library, "processor", words.strip)
        begin_compile("one", lambda: Graph(function)).result()
    assert len(list(cache.glob("*.so"))) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("processor\t: 0\nmodel name\t: A\ncpu MHz\t: 1\nflags\t: avx\n\nflags\t: none\n", True),
        ("CPU part\t: 0xd0c\nFeatures\t: sve\n", True),
        ("Processor\t: unknown\n", False),
        (None, False),
    ],
)
def test_a_processor_is_what_its_system_says_of_it(text, told, tmp_path, monkeypatch):
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(shared_library, "PROCESSOR", tmp_path / "cpuinfo")
    shared_library.processor.cache_clear()
    words = shared_library.processor()
    shared_library.processor.cache_clear()
    assert bool(words) is told
    assert "MHz" not in words and "none" not in words
