"""Scalar graphs as machine code without a compiler, four instants at once.

Every instruction of CasADi's virtual machine becomes one or two of the processor's, x86-64 with or
without AVX, or AArch64. Results have the same bits, ten to thirty times sooner, and fifty thousand
instructions are ready within a tenth of a second. Where nothing of this can be had, CasADi's
virtual machine evaluates graphs.
"""

from ocp.codegen.assembler.executable_memory import CodeMemory, NoMachineCode
from ocp.codegen.assembler.library import assemble_function, assemble_map, unsupported_reason
from ocp.codegen.assembler.this_machine import is_fused, load_function, new_code

__all__ = [
    "CodeMemory",
    "NoMachineCode",
    "assemble_function",
    "assemble_map",
    "is_fused",
    "load_function",
    "new_code",
    "unsupported_reason",
]
