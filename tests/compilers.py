"""Tests that need a C compiler."""

import pytest

from ocp.codegen.compiler.shared_library import find_compiler
from ocp.solvers import NoCompiler


def has_compiler():
    try:
        find_compiler()
    except NoCompiler:
        return False
    return True


compiler_needed = pytest.mark.skipif(not has_compiler(), reason="this machine has no C compiler")


def whole_program(test):
    """Mark a test that starts the compiler for each of the twenty kernels of a program."""
    return pytest.mark.commands(compiler_needed(test))
