"""Graphs of kernels that the phases of a problem have alike, each built once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ocp.transcription.kernels.kernels import Finished, as_built


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SharedKernels:
    """What finishes kernels, unless one that follows from the same has been: then it gives that.

    Phases of one motion mostly ask for the same of the same tree: they differ in bounds, and in the
    instants at which these hold, which are no part of a graph. `differentiated` says by what
    inverse dynamics is differentiated; `finish`, if given, makes machine code; `made` are the
    kernels of all phases.
    """

    differentiated: str = ""
    finish: Callable | None = None
    made: dict[tuple[str, str, str], Finished] = field(default_factory=dict)

    @property
    def scalar(self) -> bool:
        """Whether all graphs are to be scalar ones."""
        return self.finish is not None

    def __call__(self, name: str, build: Callable, follows: Callable[[], str]) -> Finished:
        """Return what gives the function of a Graph of that name, and the Graph's pattern, as a
        Finish does."""
        key = name, self.differentiated, follows()
        if key not in self.made:
            finish = self.finish or as_built
            self.made[key] = finish(name, build, lambda: key[2])
        return self.made[key]
