"""Settings of a transcription: method, dynamics, derivatives and kernels."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from ocp.dynamics import Formulation, derivatives_of, formulation_of
from ocp.mechanics.values.validation import positive_integer
from ocp.problem.statement import Problem
from ocp.spelling import suggest_fields, suggestion
from ocp.transcription.kernels.backends import ASSEMBLED, COMPILED, VIRTUAL
from ocp.transcription.methods import METHODS, Method, Spline, method_of, on_its_mesh

KERNELS = "auto", ASSEMBLED, COMPILED, VIRTUAL


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """How a problem becomes an NLP.

    `method`: a Method, as Spline(), HermiteSimpson(), Radau() or Integrated(), or its name.

    `dynamics`: a Formulation or its name; "auto" is newton_euler, for flexible links book.

    `derivatives` of the torques, where not left to the solver always of kernels of one instant,
    assembled sparsely and handed to the solver:

    - "recursive": by the formulation's own recursion, as the composite one in the ground frame
    - "published": the first ones by the recursion published with it
    - "ad": by automatic differentiation
    - "solver": all left to the solver's front end, for comparison
    - "auto": recursive where the formulation has one, else ad, and for four coordinates and fewer

    `kernels`: what evaluates these

    - "assembled": machine code that is made here, on x86-64 and AArch64, of all functions
    - "compiled": machine code, where the system has a C compiler
    - "virtual": CasADi's virtual machine, by so many `threads`
    - "auto": assembled where that can be had and pays, but for four coordinates and fewer

    What cannot be had is left to the virtual machine, and the Solution's statistics say why. Raises
    ValueError naming what is wrong.
    """

    method: Method = field(default_factory=Spline)
    dynamics: Formulation | str = "auto"
    derivatives: str = "auto"
    kernels: str = "auto"
    threads: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.method, str):
            if self.method not in METHODS:
                raise ValueError(
                    f"method: expected one of {', '.join(METHODS)}, got {self.method!r}"
                    f"{suggestion(self.method, METHODS)}"
                )
            object.__setattr__(self, "method", METHODS[self.method]())
        if not isinstance(self.method, Method):
            raise ValueError(f"method: expected a Method or its name, got {self.method!r}")
        object.__setattr__(self, "dynamics", formulation_of(self.dynamics))
        if self.kernels not in KERNELS:
            raise ValueError(
                f"kernels: expected one of {', '.join(KERNELS)}, got {self.kernels!r}"
                f"{suggestion(self.kernels, KERNELS)}"
            )
        object.__setattr__(self, "threads", positive_integer("threads", self.threads))
        derivatives_of(self.dynamics, self.derivatives)  # refuses what no tree could change
        if self.kernels in ("assembled", "compiled") and self.derivatives == "solver":
            raise ValueError(
                f"kernels {self.kernels!r}: a solver cannot differentiate machine code; "
                "use derivatives 'recursive' or 'ad'"
            )


def transcription_of(settings: Mapping) -> Transcription:
    """Return the Transcription of settings by name, those of its method among them, as flags and
    files hold them: {"method": "radau", "order": 4, "derivatives": "ad"}; raise ValueError naming
    one that the method does not have."""
    general = {entry.name for entry in fields(Transcription)} - {"method"}
    method = settings.get("method", Spline.name)
    own = {key: value for key, value in settings.items() if key not in general | {"method"}}
    if isinstance(method, str):
        method = method_of(method, own)
    elif own:
        raise ValueError(f"{', '.join(own)}: settings of a method that is stated whole")
    shared = {key: value for key, value in settings.items() if key in general}
    return Transcription(method=method, **shared)


def settings_of_parts(problem: Problem, transcription: Transcription) -> dict[str, Transcription]:
    """Return the settings of each phase: one that states a Mesh is collocated on that, whatever the
    method of the others."""
    if problem.single_phase:
        return {"": transcription}
    return {
        name: replace(transcription, method=on_its_mesh(transcription.method, part.motion))
        for name, part in problem.parts.items()
    }


def stated_parts(problem: Problem, transcription: Transcription) -> list[tuple]:
    """Return (problem, transcription) of each phase as it is solved: on the basis that its method
    gives it."""
    settings = settings_of_parts(problem, transcription)
    return [
        (settings[name].method.with_basis(part), settings[name])
        for name, part in problem.parts.items()
    ]


def settings_of(transcription: Transcription) -> dict:
    """Return the settings by name, as `transcription_of` takes them; the dynamics by its name."""
    general = {entry.name: getattr(transcription, entry.name) for entry in fields(Transcription)}
    method = transcription.method
    own = {entry.name: getattr(method, entry.name) for entry in fields(method)}
    chosen = transcription.dynamics
    name = chosen.name if isinstance(chosen, Formulation) else chosen
    return general | {"method": method.name, "dynamics": name} | own
