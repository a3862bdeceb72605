"""From a problem to a nonlinear program: methods, variables, kernels, sparse derivatives, laws."""

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
from ocp.transcription.transcribe import (
    Transcribed,
    Transcription,
    settings_of,
    transcribe,
    transcription_of,
)

__all__ = [
    "METHODS",
    "Collocation",
    "HermiteSimpson",
    "Integrated",
    "Method",
    "Multipliers",
    "Radau",
    "Spline",
    "Transcribed",
    "Transcription",
    "setting",
    "settings_of",
    "transcribe",
    "transcription_of",
]
