"""Suggestions for misspelt names: in messages, and for keywords of records."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

ALIKE = 0.65  # least similarity of a suggestion, as difflib measures it: two letters of three

Record = TypeVar("Record", bound=type)


def suggestion(word: object, names: Iterable[str]) -> str:
    """Return " (did you mean 'NAME'?)" for the one of the names that is most like a word, or
    nothing where none is."""
    from difflib import get_close_matches  # which only errors need

    known = {name.lower(): name for name in names}
    near = get_close_matches(str(word).lower(), known, n=1, cutoff=ALIKE)
    return f" (did you mean {known[near[0]]!r}?)" if near else ""


class Unknown(KeyError):
    """Raised by `Named` for a name that it does not have; the message says which it has."""

    def __str__(self) -> str:  # which a KeyError shows in quotes
        return str(self.args[0])


class Named(dict):
    """Entries by name, of which a missing one is told with the name that is most like it; `what`
    they are begins the message."""

    def __init__(self, what: str, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self.what = what

    def __missing__(self, name: Any) -> Any:
        known = ", ".join(map(str, self)) or "none"
        raise Unknown(f"{self.what}: no {name!r}{suggestion(name, self)}; they are of {known}")


def suggest_fields(record: Record) -> Record:
    """Let a record answer an unknown keyword with the field that is most like it; a decorator of
    dataclasses.

    Raises TypeError then, naming the record, the keyword and the fields.
    """
    made = vars(record)["__init__"]
    names = tuple(each.name for each in fields(record) if each.init)

    @wraps(made)
    def make(self, *values, **keywords):
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
