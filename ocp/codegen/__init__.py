"""Machine code for CasADi functions, assembled here or compiled from C; it knows no mechanics."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.codegen.assembler import NoMachineCode, assemble_function
    from ocp.codegen.compiler.compiled_functions import compile_function
    from ocp.codegen.compiler.shared_library import NoCompiler
    from ocp.codegen.function_map import map_function
    from ocp.codegen.kept_results import is_kept

__all__ = [
    "NoCompiler",
    "NoMachineCode",
    "assemble_function",
    "compile_function",
    "is_kept",
    "map_function",
]

__getattr__, __dir__ = lazy_names(__name__)
