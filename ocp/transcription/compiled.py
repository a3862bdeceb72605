"""Kernels as machine code: C that CasADi generates, compiled and kept.

-O1 is as fast as -O3 on such straight-line code and compiles ten times sooner.
"""

import casadi as ca

from ocp.solvers.machine_code import load_compiled

FLAGS = ("-O1", "-fPIC", "-shared")


def compile_function(function: ca.Function) -> ca.Function:
    """Return the function as loaded machine code.

    Raises NoCompiler with the reason if that cannot be had.
    """
    name = function.name()
    return load_compiled(
        name,
        {"kernel.c": generate(function)},
        lambda library: ca.external(name, str(library)),
        flags=FLAGS,
        versions=(ca.CasadiMeta.version(),),
    )


def generate(function: ca.Function) -> str:
    """Return the C text of a function."""
    generator = ca.CodeGenerator(function.name())
    generator.add(function)
    return generator.dump()
