"""Scalar graphs as machine code without a compiler, four instants at once.

Every instruction of CasADi's virtual machine becomes one or two of the processor's, x86-64 with or
without AVX, or AArch64. Results have the same bits, ten to thirty times sooner, and fifty thousand
instructions are ready within a tenth of a second. Where nothing of this can be had, CasADi's
virtual machine evaluates graphs.
"""

from ocp.codegen.assembler.assembled_functions import (
    assemble_function,
    assemble_map,
    map_code,
    self_test_reason,
    unsupported_reason,
)
from ocp.codegen.assembler.executable_memory import CodeMemory, NoMachineCode
from ocp.codegen.assembler.this_machine import (
    LIBRARIES,
    image_of,
    is_fused,
    load_function,
    load_image_of,
    new_code,
)

__all__ = [
    "LIBRARIES",
    "CodeMemory",
    "NoMachineCode",
    "assemble_function",
    "assemble_map",
    "image_of",
    "is_fused",
    "load_function",
    "load_image_of",
    "map_code",
    "new_code",
    "self_test_reason",
    "unsupported_reason",
]
