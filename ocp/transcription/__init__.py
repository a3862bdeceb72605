"""From a problem to a nonlinear program: methods, variables, kernels, sparse derivatives, laws."""

from ocp.solvers.assembled import assemble_function
from ocp.transcription.asked import Asked, asked
from ocp.transcription.compiled import compile_function
from ocp.transcription.grouped import group_instructions
from ocp.transcription.instants import mapped
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
from ocp.transcription.multipliers import Multipliers
from ocp.transcription.shooting import followed
from ocp.transcription.transcribe import (
    KERNELS,
    Transcribed,
    Transcription,
    settings_of,
    transcribe,
    transcription_of,
)

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
    "mapped",
    "setting",
    "settings_of",
    "transcribe",
    "transcription_of",
]
