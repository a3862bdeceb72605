"""Scalar graphs as machine code without a compiler: every instruction of CasADi's virtual machine
becomes one or two of the processor's, for four instants at once.

The results are the same to the last bit, ten to thirty times sooner, and a graph of fifty thousand
instructions is ready within a tenth of a second. It is made for x86-64 with AVX and Linux;
elsewhere CasADi's virtual machine evaluates graphs.
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
