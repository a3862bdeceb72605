"""Scalar graphs as x86-64 machine code without a compiler, four instants at once.

Every instruction of CasADi's virtual machine becomes one or two of the processor's. Results have
the same bits, ten to thirty times sooner, and fifty thousand instructions are ready within a tenth
of a second. It needs Linux and AVX; elsewhere CasADi's virtual machine evaluates graphs.
"""

from ocp.codegen.assembler.elf import NAME, NoMachineCode, elf_image, load_function, load_image
from ocp.codegen.assembler.library import assemble_function, assemble_map, unsupported_reason

__all__ = [
    "NAME",
    "NoMachineCode",
    "assemble_function",
    "assemble_map",
    "elf_image",
    "load_function",
    "load_image",
    "unsupported_reason",
]
