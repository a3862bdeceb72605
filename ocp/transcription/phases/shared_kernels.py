"""Kernels shared by the phases of a problem: alike graphs are built once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ocp.transcription.kernels.instant_symbols import Backend, PendingKernel
from ocp.transcription.kernels.kernels import as_built


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SharedKernels:
    """What finishes kernels, unless one that follows from the same has been: then it gives that.

    Phases of one motion mostly ask for the same of the same tree: they differ in bounds, and in the
    instants at which these hold, which are no part of a graph. `differentiated` says by what
    inverse dynamics is differentiated; `backend`, if given, makes machine code; `made` are the
    kernels of all phases.
    """

    differentiated: str = ""
    backend: Backend | None = None
    made: dict[tuple[str, str, str], PendingKernel] = field(default_factory=dict)

    @property
    def scalar(self) -> bool:
        """Whether all graphs are to be scalar ones."""
        return self.backend is not None and self.backend.scalar

    def __call__(self, name: str, build: Callable, follows: Callable[[], str]) -> PendingKernel:
        """Return the getter of the function of a Graph of that name, and the Graph's pattern, as a
        Finish does."""
        key = name, self.differentiated, follows()
        if key not in self.made:
            backend = self.backend or as_built
            self.made[key] = backend(name, build, lambda: key[2])
        return self.made[key]
