"""Graphs written as C99 have the results of CasADi's virtual machine to the last bit."""

import ctypes
import subprocess

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed
from random_graphs import BINARY, UNARY, drawn, graph, same
from refusals import refused

from ocp.codegen.c_source import c_function, c_number, c_prototype
from ocp.codegen.compiler.shared_library import find_compiler

WARNINGS = "-std=c99 -O1 -Wall -Wextra -pedantic -Werror"
STRICT = [*WARNINGS.split(), "-ffp-contract=off", "-fPIC", "-shared"]


def built(folder, functions):
    """Return the library of functions that are written as C, without a warning."""
    texts = ["#include <math.h>"]
    for name, function in functions.items():
        texts += [f"{c_prototype(function, name)};", c_function(function, name)]
    (folder / "graphs.c").write_text("\n".join(texts))
    command = [find_compiler(), *STRICT, "graphs.c", "-o", "graphs.so", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return ctypes.CDLL(str(folder / "graphs.so"))


def called(library, name, function, inputs):
    """Return the results of a function of a library."""
    given = [np.ascontiguousarray(each, dtype=float) for each in inputs]
    found = [np.full(function.numel_out(k), np.nan) for k in range(function.n_out())]
    getattr(library, name)(*(ctypes.c_void_p(each.ctypes.data) for each in [*given, *found]))
    return found


def everything():
    """A graph of every operation that is written."""
    numbers = np.random.default_rng(4)
    names = [*UNARY, *BINARY] * 4
    numbers.shuffle(names)
    return graph(numbers, len(names), iter(names).__next__)


@compiler_needed
def test_results_are_those_of_the_virtual_machine(tmp_path):
    functions = {"all": everything(), **{f"drawn{seed}": drawn(seed, 150) for seed in range(12)}}
    library = built(tmp_path, functions)
    numbers = np.random.default_rng(8)
    for name, function in functions.items():
        for inputs in (
            [numbers.normal(size=7), numbers.normal(size=3)],
            [
                np.array([0.0, -0.0, 1.0, np.inf, np.nan, -2.0, 1e300]),
                np.array([-np.inf, 0.5, 3.0]),
            ],
        ):
            expected = [np.array(each).ravel("F") for each in function.call(inputs)]
            assert same(called(library, name, function, inputs), expected)


@compiler_needed
def test_matrices_stand_column_by_column(tmp_path):
    x, unused = ca.SX.sym("x", 2, 3), ca.SX.sym("unused")
    function = ca.Function("f", [x, unused], [2 * x, ca.SX(0, 1)], ["x", "unused"], ["y", "none"])
    library = built(tmp_path, {"doubled": function})
    found = called(library, "doubled", function, [np.arange(6.0), [0.0]])
    assert found[0].tolist() == [0, 2, 4, 6, 8, 10] and found[1].size == 0


@pytest.mark.parametrize("number", [0.1, -0.0, 5e-324, -1e300, 3.0])
def test_a_number_reads_back_the_same(number):
    text = c_number(number).strip("()")
    assert float(text) == number and np.signbit(float(text)) == np.signbit(number)
    assert "." in text or "e" in text


def test_what_c_cannot_say_is_refused():
    x = ca.SX.sym("x", 2)
    sparse = ca.Function("f", [x], [ca.diag(x)], ["x"], ["y"])
    with refused("f: y is sparse; C functions take dense matrices"):
        c_function(sparse, "f")
    with refused("'double' is no name of a C function or pointer"):
        c_function(ca.Function("f", [x], [x], ["x"], ["y"]), "double")
