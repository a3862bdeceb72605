"""Marks for cells whose settings have come to mean another problem than the one they solved.

A file notes for the settings of its cells what these meant when they were last asked for: the
digest of the problem as built, of own functions, and the package's version. A cell that solved
something else is outdated. It stays in the file, and counts again as soon as its settings mean what
they did.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ocp.studies.store.cell_specification import open_statement, parameters
from ocp.studies.store.database import Ledger
from ocp.studies.store.digests import problem_digest
from ocp.studies.store.function_addresses import resolve
from ocp.studies.store.row_format import DAMAGED, OUTDATED, Cell, identity, settings_key

UNKNOWN = ""  # of settings not asked for since their problem has changed
WORDS = "its settings have meant another problem, own function or version since"


@dataclass(slots=True)
class Meanings:
    """What the settings of a file's cells mean, {key: digest}: those `stated` there, which of them
    were `asked` for through this ledger, and problems whose other cells were `checked`."""

    stated: dict[str, str]
    asked: set[str] = field(default_factory=set)
    checked: set[str] = field(default_factory=set)


def enter_cells(ledger: Ledger, cells: Iterable[Cell]) -> None:
    """Enter cells in a file as pending, unless they are there, and note what their settings mean.

    Where their problem has changed, all that the file holds of it and that is not asked for now is
    outdated. The ledger's notes say of how many cells it is.
    """
    planned = list(cells)
    ledger.plan(planned)
    if ledger.meanings is None:
        ledger.meanings = Meanings(ledger.stated_digests())
    known: Meanings = ledger.meanings
    new = {settings_key(one.content): _digest(one) for one in planned}
    known.asked |= new.keys()
    moved = {one.content["problem"] for one in planned if _is_otherwise(one, known.stated)}
    fresh = {one.content["problem"]: one for one in planned}.keys() - known.checked
    if moved or fresh:
        everything = list(ledger.cells().values())
        for problem in fresh - moved:
            moved |= {problem} if _has_changed(problem, everything, known) else set()
        known.checked |= fresh
        others = [one for one in everything if one.content.get("problem") in moved]
        keys = [settings_key(one.content) for one in others]
        new |= {key: UNKNOWN for key in keys if key not in known.asked}
    changed = {key: each for key, each in new.items() if known.stated.get(key) != each}
    if changed:
        ledger.note_digests(changed)
        known.stated |= changed
    if moved:
        count = sum(one.status == OUTDATED for one in mark_outdated(ledger).values())
        ledger.notes.append(
            f"{ledger.path}: the problem, an own function or the version has changed: {count} of "
            "its cells are outdated, and so marked"
        )


def _has_changed(problem: str, cells: Sequence[Cell], known: Meanings) -> bool:
    """Tell whether the last cell of a problem that is not asked for now would be stated otherwise
    today."""
    others = [
        one
        for one in cells
        if one.content.get("problem") == problem
        and settings_key(one.content) not in known.asked
        and known.stated.get(settings_key(one.content)) == _digest(one)
    ]
    if not others:
        return False
    data = others[-1].content
    function = resolve(problem)  # of a cell that is asked for now
    return data["stated"]["problem"] != problem_digest(
        lambda: open_statement(data, lambda _: function, parameters(data)), function
    )


def mark_outdated(ledger: Ledger) -> dict[str, Cell]:
    """Return {id: Cell} of all cells of a file, those that are outdated with that status."""
    meant = ledger.stated_digests()
    return {key: _mark(one, meant) for key, one in ledger.cells().items()}


def _mark(one: Cell, meant: dict[str, str]) -> Cell:
    if one.status == DAMAGED or meant.get(settings_key(one.content)) in (None, _digest(one)):
        return one
    return replace(one, status=OUTDATED, reason="; ".join(filter(None, (WORDS, one.reason))))


def _is_otherwise(one: Cell, meant: dict[str, str]) -> bool:
    """Tell whether a cell's settings are known to have meant something else."""
    return meant.get(settings_key(one.content)) not in (None, UNKNOWN, _digest(one))


def _digest(one: Cell) -> str:
    """Return the digest of what a cell's settings meant."""
    return identity({"stated": one.content.get("stated")})
