"""Differences between two problems stated as plain data."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ocp.storage.single_phase_data import Data, Statement
from ocp.transcription.kernels.function_tapes import Tape, same_function

ROUNDING = 1e-9  # relative: within which numbers of two machines are the same
SHOWN = 3  # differences that an error lists


def differences(first: Statement, second: Statement) -> list[str]:
    """Return the differences between two statements, by name; [] if there are none."""
    if first.fingerprint == second.fingerprint:
        return []
    return list(_differences("", _by_name(first.requirements), _by_name(second.requirements)))


def difference_words(different: Sequence[str]) -> str:
    """Return differences as a line, the first ones if they are many."""
    rest = len(different) - SHOWN
    return "; ".join(different[:SHOWN]) + (f"; and {rest} more" if rest > 0 else "")


def _by_name(asked: Data) -> Data:
    """Return a statement by names in place of numbers: links by their joints, and so on."""
    phases = {each["name"]: _phase(asked, each) for each in asked["phases"]}
    if "" in phases:
        return phases[""] | {"missing": asked["missing"]}
    named = {f"phase {name!r}": phase for name, phase in phases.items()}
    joining = {
        f"{kind} {each['name']!r}": each
        for kind in ("link", "constraint")
        for each in asked[f"{kind}s"]
    }
    return named | joining | {key: asked[key] for key in ("symmetry", "missing")}


def _phase(whole: Data, asked: Data) -> Data:
    """Return a phase's statement by name; its tree is the shared one unless it has its own."""
    tree = whole["tree"] if asked["tree"] is None else asked["tree"]
    joints = [joint["name"] for joint in tree["joints"]]
    named = {f"link {name!r}": link for name, link in zip(joints, tree["links"])}
    for kind, entries in (
        ("joint", tree["joints"]),
        ("point", tree["points"]),
        ("loop", tree["loops"]),
        ("stay", tree.get("stays", ())),
        ("element", tree.get("elements", ())),
        ("constraint", asked["constraints"]),
        ("objective", asked["objective"]),
    ):
        named |= {f"{kind} {entry['name']!r}": entry for entry in entries}
    loads = {f"load {k + 1}": load for k, load in enumerate(asked["loads"])}
    rest = {key: asked[key] for key in ("duration", "ground", "symmetry")}
    return named | loads | rest | {"gravity": tree["gravity"], "order of joints": joints}


def _differences(where: str, one: object, other: object) -> Iterator[str]:
    """Yield the places where two values of data differ, with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            place = f"{where}: {key}" if where else key
            if key not in one or key not in other:
                there, wanted = ("there", "none") if key in one else ("not there", "it")
                yield f"{place}: {there}, expected {wanted}"
            else:
                yield from _differences(place, one[key], other[key])
    elif isinstance(one, Tape) and isinstance(other, Tape):
        if not same_function(one, other):
            yield f"{where}: another function"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for row, pair in enumerate(zip(one, other)):
            yield from _differences(f"{where}[{row}]", *pair)
    elif not _same(one, other):
        yield f"{where}: {_short(one)}, expected {_short(other)}"


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same but for rounding."""
    numbers = [
        isinstance(each, (int, float)) and not isinstance(each, bool) for each in (one, other)
    ]
    if all(numbers):
        return bool(np.isclose(one, other, rtol=ROUNDING, atol=1e-12))
    return bool(one == other)


def _short(value: object) -> str:
    text = f"{value:.9g}" if isinstance(value, float) else f"{value}"
    return text if len(text) <= 60 else f"{text[:60]}..."
