"""Remarks of a reader on a file: what was repaired, left out or not found."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

Remarks: TypeAlias = Mapping[str, Sequence[str]]  # what there is to say, by its kind
SHOWN = 4  # of a kind


class ModelWarning(UserWarning):
    """A file of a model was read, but not all of it as it stands."""


def merge_remarks(parts: Iterable[Remarks]) -> Remarks:
    """Return the remarks of several parts of a file, kinds in the order of their first one."""
    known: dict[str, list[str]] = {}
    for part in parts:
        for kind, ones in part.items():
            known.setdefault(kind, []).extend(ones)
    return known


def warn_of_remarks(file: str, remarks: Remarks) -> None:
    """Warn of what was not taken as it stands: a ModelWarning for each kind."""
    for kind, ones in remarks.items():
        if ones:
            rest = f", and {len(ones) - SHOWN} more" if len(ones) > SHOWN else ""
            shown = "; ".join(ones[:SHOWN])
            warnings.warn(f"{file}: {kind}: {shown}{rest}", ModelWarning, stacklevel=3)
