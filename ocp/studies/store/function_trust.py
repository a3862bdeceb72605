"""Trust in functions that a study file names: only those that its reader hands over.

A file names functions by where they are. They are never looked up there: a name stands for the
function of the same name that the reader trusts, or for nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ocp.dynamics import Formulation
from ocp.dynamics.catalogue import is_named
from ocp.studies.store.argument_flags import Arguments
from ocp.studies.store.cell_specification import Content
from ocp.studies.store.function_addresses import address, bound_address, known_by, resolve
from ocp.studies.task import Task
from ocp.transcription.transcription_methods import Method
from ocp.transcription.transcription_settings import Transcription


@dataclass(frozen=True, slots=True)
class Trust:
    """Functions, formulations and transcription methods by what they are `known` by."""

    known: Arguments = field(default_factory=lambda: MappingProxyType({}))

    def __bool__(self) -> bool:
        return bool(self.known)

    def find(self, text: str) -> Any:
        """Return the value that a name of a file stands for; raise ValueError where it is not
        trusted."""
        name = known_by(text)
        if name not in self.known:
            trusted = ", ".join(self.known) or "nothing"
            raise ValueError(
                f"{name}: is named by the file and not trusted, which {trusted} is: hand it over, "
                "open_study(path, trust=...)"
            )
        return self.known[name]


def trust_in(values: Any) -> Trust:
    """Return the Trust in a Task, function, Formulation, Method or Transcription.

    Or in several of them. Raises ValueError naming what no file could name.
    """
    several = isinstance(values, Iterable) and not isinstance(values, type)
    parts = [part for value in (values if several else [values]) for part in _parts(value)]
    return Trust({known_by(_address(part)): part for part in parts})


def trust_of_contents(contents: Iterable[Content]) -> Trust:
    """Return the Trust in what the contents of a sweep name, which this process has made itself."""
    names = {name: None for data in contents for name in _names(data)}
    return Trust({known_by(name): resolve(name) for name in names})


def _parts(value: object) -> tuple[object, ...]:
    """Return the parts of a value that a file may name."""
    if isinstance(value, Task):
        return (value.problem,)
    if isinstance(value, Transcription):
        own = isinstance(value.dynamics, Formulation) and not is_named(value.dynamics)
        return (value.dynamics, type(value.method)) if own else (type(value.method),)
    return (type(value),) if isinstance(value, Method) else (value,)


def _address(value: object) -> str:
    place = None if hasattr(value, "__qualname__") else bound_address(value)
    return address(value) if place is None else place


def _names(data: Content) -> tuple[str, ...]:
    """Return the addresses that loading a solution asks for."""
    settings = data["transcription"]
    own = (settings["dynamics"], settings["method"])
    return (data["problem"], *(name for name in own if ":" in name))
