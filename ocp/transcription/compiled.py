"""Kernels as machine code: C that CasADi generates, compiled and kept.

A scalar graph is folded and not optimized: it compiles five times sooner than by -O1, and takes a
tenth longer.
"""

import casadi as ca

from ocp.solvers.machine_code import load_compiled
from ocp.transcription.folding import folded

PLAIN = ("-O0", "-fPIC", "-shared")
OPTIMIZED = ("-O1", "-fPIC", "-shared")


def compile_function(function: ca.Function) -> ca.Function:
    """Return the function as loaded machine code.

    Raises NoCompiler with the reason if that cannot be had.
    """
    name = function.name()
    scalar = function.is_a("SXFunction") and function.n_out() == 1
    text = generate(function)
    return load_compiled(
        name,
        {"kernel.c": folded(text) if scalar else text},
        lambda library: ca.external(name, str(library)),
        flags=PLAIN if scalar else OPTIMIZED,
        versions=(ca.CasadiMeta.version(),),
    )


def generate(function: ca.Function) -> str:
    """Return the C text of a function."""
    generator = ca.CodeGenerator(function.name())
    generator.add(function)
    return generator.dump()
