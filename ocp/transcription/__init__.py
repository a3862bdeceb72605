"""From a problem to a nonlinear program: methods, variables, kernels, sparse derivatives, laws."""

from ocp.codegen.assembler import assemble_function
from ocp.codegen.compiler.compiled_functions import compile_function
from ocp.codegen.function_map import map_function
from ocp.transcription.kernels.row_values import RowValues, row_values
from ocp.transcription.laws.dependent_curves import with_dependent_curves
from ocp.transcription.laws.transition_laws import mirrors_torques
from ocp.transcription.shooting import integrate_passive
from ocp.transcription.transcribe import Transcribed, transcribe
from ocp.transcription.transcribe_phase import TranscribedPhase, transcribe_phase
from ocp.transcription.transcription_methods import (
    METHODS,
    Collocation,
    HermiteSimpson,
    Integrated,
    Method,
    Radau,
    Spline,
    method_setting,
)
from ocp.transcription.transcription_settings import (
    KERNELS,
    Transcription,
    settings_of,
    transcription_of,
)
from ocp.transcription.variables.named_multipliers import Multipliers

__all__ = [
    "KERNELS",
    "METHODS",
    "Collocation",
    "HermiteSimpson",
    "Integrated",
    "Method",
    "Multipliers",
    "Radau",
    "RowValues",
    "Spline",
    "Transcribed",
    "TranscribedPhase",
    "Transcription",
    "assemble_function",
    "compile_function",
    "integrate_passive",
    "map_function",
    "method_setting",
    "mirrors_torques",
    "row_values",
    "settings_of",
    "transcribe",
    "transcribe_phase",
    "transcription_of",
    "with_dependent_curves",
]
