"""A cell of a study and the row of a file that holds it: written with a digest, read with distrust.

A row is data alone. One that was damaged, or that somebody else has written, is told by its digest,
by the hash of its content, by its sizes and by its types, before anything is made of it.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from ocp.studies.store.argument_flags import Arguments, Keywords

SOLVED, FAILED, PENDING, DAMAGED = "solved", "failed", "pending", "damaged"
OUTDATED = "outdated"  # a mark, which no row holds
NUMBERS = ("objective", "duration", "seconds")
STRUCTURED = ("parameters", "content", "terms", "measured", "statistics")
FIELDS = ("status", "reason", *NUMBERS, "terms", "measured", "statistics")
COLUMNS = ("id", "place", "parameters", "content", *FIELDS, "finished", "archive")
TEXT, ARCHIVE = 4 * 2**20, 64 * 2**20  # longest text and largest solution of a cell, bytes
ODD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # of data of another shape


class StudyFileError(OSError, ValueError):
    """Raised when a study's file, or a cell of it, cannot be read or written.

    The message names the file and the cell, and says why.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a study: its `parameters` and what came of it.

    `id` is a hash of all that it depends on, its `content`: settings, digests of the problem as it
    was built and of own functions, and the package's version. `status` is "solved", "failed",
    "pending", "damaged" where the file cannot be believed, or "outdated" where the same settings
    were asked for later and have meant something else; `reason` says why it failed; `terms`
    of the objective {name: value}, numbers `measured` of the solution, `statistics`; `duration` and
    the `seconds` that it took (s), and when it was `finished` (UTC). The solution itself stays in
    the file.
    """

    id: str
    parameters: Keywords
    content: Keywords
    status: str = PENDING
    reason: str = ""
    objective: float | None = None
    duration: float | None = None
    seconds: float | None = None
    terms: Keywords = field(default_factory=dict)
    measured: Keywords = field(default_factory=dict)
    statistics: Keywords = field(default_factory=dict)
    finished: str = ""

    @property
    def solved(self) -> bool:
        """Tell whether it was solved."""
        return self.status == SOLVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the cells: its `place` in their order, Cell, and the checksum of its `archive`.

    `length`: of its texts.
    """

    place: int
    cell: Cell
    archive: str
    length: int = 0

    @property
    def sound(self) -> bool:
        """Tell whether it can be believed."""
        return self.cell.status != DAMAGED

    @property
    def nameless(self) -> bool:
        """Tell whether not even the id of its cell can be read."""
        return not self.sound and self.cell.id.startswith("row ")


def identity(content: Arguments) -> str:
    """Return the hash of a content."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def settings_key(content: Arguments) -> str:
    """Return the hash of a content's settings, the same however its problem was stated."""
    return identity({name: content[name] for name in content if name not in ("stated", "after")})


def is_settled(cell: Cell, stale: str = "") -> bool:
    """Tell whether a cell needs no solve: is solved, or has failed since the time `stale`."""
    return cell.solved or (cell.status == FAILED and cell.finished != stale)


def result_of(cell: Cell, archive: bytes | None) -> Keywords:
    """Return the result of a cell in the form that a Ledger takes."""
    names = ("status", "reason", "objective", "duration", "seconds")
    parts = ("terms", "measured", "statistics")
    return {name: getattr(cell, name) for name in names + parts} | {"archive": archive}


def pending_row(cell: Cell, place: int) -> tuple:
    """Return the row of a cell that waits to be solved, with its digest."""
    blank = Cell(id=cell.id, parameters=cell.parameters, content=cell.content)
    return _row(blank, place, {name: getattr(blank, name) for name in FIELDS}, "", b"")


def finished_row(cell: Cell, place: int, result: Keywords) -> tuple:
    """Return the row of a cell with what came of it, with its digest.

    A result too large to be read again becomes a failure that says so.
    """
    stamp = datetime.now(timezone.utc).isoformat(timespec="microseconds")
    sizes = [len(_json(result[name])) for name in STRUCTURED if name in result]
    archive = result["archive"] or b""
    if max(sizes) > TEXT or len(archive) > ARCHIVE:
        reason = f"its record of {max(sizes) + len(archive)} bytes is larger than a study holds"
        result = {name: {} if isinstance(value, dict) else value for name, value in result.items()}
        return _row(cell, place, result | {"status": FAILED, "reason": reason}, stamp, b"")
    return _row(cell, place, result, stamp, archive)


def row_of(row: Sequence) -> Row:
    """Return the Row of what a file holds, COLUMNS and the digest.

    Raises ValueError saying what is odd.
    """
    values = dict(zip(COLUMNS, row))
    _check_types(values)
    if row[-1] != _digest(row[:-1]):
        raise ValueError("its digest does not fit")
    try:
        data = {name: json.loads(values[name]) for name in STRUCTURED}
        fits = identity(data["content"]) == values["id"]
    except ODD as error:
        raise ValueError(f"its content is none of a cell ({type(error).__name__})") from None
    if not fits:
        raise ValueError("its content is not what its id stands for")
    if not all(isinstance(value, dict) for value in data.values()):
        raise ValueError("its data are no mappings")
    numbers = [*data["terms"].values(), *data["measured"].values()]
    if not all(value is None or isinstance(value, (int, float)) for value in numbers):
        raise ValueError("its numbers are none")
    kept = {name: values[name] for name in ("id", *FIELDS, "finished")}
    length = sum(len(value) for value in row if isinstance(value, str))
    cell = Cell(**(kept | data))
    return Row(place=values["place"], cell=cell, archive=values["archive"], length=length)


def damaged_cell(key: str, reason: str) -> Cell:
    """Return the Cell that stands for a row that cannot be believed."""
    return Cell(id=key, parameters={}, content={}, status=DAMAGED, reason=reason)


def checksum(archive: bytes) -> str:
    """Return the checksum of an archive, none of nothing."""
    return hashlib.sha256(archive).hexdigest() if archive else ""


def _row(cell: Cell, place: int, result: Arguments, finished: str, archive: bytes) -> tuple:
    """Return COLUMNS and the digest, in the types that the file gives back."""
    values: Keywords = {name: result[name] for name in FIELDS}
    values |= {name: _number(values[name]) for name in NUMBERS}
    values["reason"] = (
        values["reason"].encode("utf-8", "replace").decode().replace("\0", "")[: TEXT // 4]
    )
    values |= {"id": cell.id, "place": place, "parameters": cell.parameters}
    values |= {"content": cell.content, "finished": finished, "archive": checksum(archive)}
    values |= {name: _json(values[name]) for name in STRUCTURED}
    row = tuple(values[name] for name in COLUMNS)
    return (*row, _digest(row))


def _check_types(values: Arguments) -> None:
    """Raise ValueError unless a row has the types and sizes of one."""
    for name, value in values.items():
        if name == "place":
            fits = isinstance(value, int)
        elif name in NUMBERS:
            fits = value is None or (isinstance(value, float) and math.isfinite(value))
        else:
            fits = isinstance(value, str) and len(value) <= TEXT
        if not fits:
            raise ValueError(f"its {name} is none")
    if values["status"] not in (SOLVED, FAILED, PENDING):
        raise ValueError("its status is none")


def _digest(row: Sequence) -> str:
    return hashlib.sha256(json.dumps(list(row)).encode()).hexdigest()


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False)
