"""Suggestions for misspelt names: in messages, and for keywords of records."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import wraps
from typing import NoReturn, TypeVar

ALIKE = 0.65  # least similarity of a suggestion, as difflib measures it: two letters of three

Record = TypeVar("Record", bound=type)


def suggestion(word: object, names: Iterable[str]) -> str:
    """Return " (did you mean 'NAME'?)" for the name most similar to a word but for the dashes of
    flags, "" if none is."""
    from difflib import get_close_matches  # which only errors need

    known = {name.lower().lstrip("-"): name for name in names}
    near = get_close_matches(str(word).lower().lstrip("-"), known, n=1, cutoff=ALIKE)
    return f" (did you mean {known[near[0]]!r}?)" if near else ""


class Unknown(KeyError):
    """Raised by `Named` for an unknown name; the message lists the known ones."""

    def __str__(self) -> str:  # a KeyError would show it in quotes
        return str(self.args[0])


class Named(dict):
    """Entries by name, whose errors suggest the most similar one; `what` begins the message."""

    def __init__(self, what: str, entries: Mapping) -> None:
        super().__init__(entries)
        self.what = what

    def __missing__(self, name: object) -> NoReturn:
        known = ", ".join(map(str, self)) or "none"
        raise Unknown(f"{self.what}: no {name!r}{suggestion(name, self)}; they are of {known}")


def suggest_fields(record: Record) -> Record:
    """Decorate a dataclass: an unknown keyword raises TypeError with the most similar field."""
    made = vars(record)["__init__"]
    names = tuple(each.name for each in fields(record) if each.init)

    @wraps(made)
    def make(self: object, *values: object, **keywords: object) -> None:
        try:
            made(self, *values, **keywords)
        except TypeError:
            odd = next((name for name in keywords if name not in names), None)
            if odd is None:
                raise
            raise TypeError(
                f"{record.__name__}: no field {odd!r}{suggestion(odd, names)}; the fields are "
                f"{', '.join(names)}"
            ) from None

    type.__setattr__(record, "__init__", make)
    return record
