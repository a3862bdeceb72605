"""Tests that need a C compiler."""

import pytest

from ocp.solvers import NoCompiler
from ocp.solvers.machine_code import find_compiler


def has_compiler():
    try:
        find_compiler()
    except NoCompiler:
        return False
    return True


compiler_needed = pytest.mark.skipif(not has_compiler(), reason="this machine has no C compiler")
