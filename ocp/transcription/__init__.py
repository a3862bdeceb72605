"""From a problem to a nonlinear program: methods, variables, kernels, sparse derivatives, laws."""

from ocp.codegen.assembler import assemble_function
from ocp.codegen.compiler.compiled import compile_function
from ocp.codegen.compiler.instruction_grouping import group_instructions
from ocp.codegen.mapped import map_function
from ocp.transcription.kernels.row_values import Asked, asked
from ocp.transcription.methods import (
    METHODS,
    Collocation,
    HermiteSimpson,
    Integrated,
    Method,
    Radau,
    Spline,
    setting,
)
from ocp.transcription.shooting import followed
from ocp.transcription.transcribe import (
    KERNELS,
    Transcribed,
    Transcription,
    settings_of,
    transcribe,
    transcription_of,
)
from ocp.transcription.variables.multipliers import Multipliers

__all__ = [
    "KERNELS",
    "METHODS",
    "Asked",
    "Collocation",
    "HermiteSimpson",
    "Integrated",
    "Method",
    "Multipliers",
    "Radau",
    "Spline",
    "Transcribed",
    "Transcription",
    "asked",
    "assemble_function",
    "compile_function",
    "followed",
    "group_instructions",
    "map_function",
    "setting",
    "settings_of",
    "transcribe",
    "transcription_of",
]
