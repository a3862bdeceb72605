"""Solved program kept with its solution for certificates, without the solver's derivatives."""

from dataclasses import replace

from ocp.problem.statement import Problem
from ocp.solvers.nlp import Option
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcription_settings import Transcription

OWN: dict[str, Option] = {"gradient": None, "jacobian": None, "hessian": None, "made": {}}


class KeptProgram:
    """A `program` that the solver's front end can differentiate. Pickled or deeply copied it is
    None: the program is transcribed again where it is needed.
    """

    __slots__ = ("program",)

    def __init__(self, program: Transcribed) -> None:
        self.program = program

    def of(self, problem: Problem, transcription: Transcription) -> Transcribed | None:
        """Return the program where it is that of the very same problem and transcription."""
        known = self.program
        same = known.problem is problem and known.transcription is transcription
        return known if same else None

    def __reduce__(self) -> tuple:
        return type(None), ()


def kept_program(program: Transcribed) -> KeptProgram | None:
    """Return the KeptProgram of a solved one, without the solver's derivatives.

    None for one with open parameters or left-out rows, and for compiled kernels, which have no
    other derivatives than their own.
    """
    compiled = program.transcription.kernels == "compiled"
    if program.parameters or compiled or not all(part.whole for part in program.parts):
        return None
    nothing: dict[str, Option] = {
        "open_groups": (),
        "groups": (),
        "objective_blocks": (),
        "bound_owners": {},
        "made": {},
    }
    parts = tuple(replace(part, nlp=replace(part.nlp, **OWN), **nothing) for part in program.parts)
    nlp = replace(program.nlp, **OWN) if program.link_nlp else parts[0].nlp
    return KeptProgram(replace(program, parts=parts, nlp=nlp, made={}))
