"""The file of a study: one SQLite data base, a row per cell, written as cells finish.

Every cell is one transaction in write-ahead mode: whatever ends the program, finished cells stay,
and others may read meanwhile. The only file of `ocp` that speaks SQL.
"""

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

PATIENCE = 20.0  # s: how long a locked file is waited for
FORMAT = (0x6F637073, 1)  # "ocps", and the version of the tables
SCHEMA = """
CREATE TABLE cells (
    id TEXT PRIMARY KEY, place INTEGER NOT NULL, parameters TEXT NOT NULL, content TEXT NOT NULL,
    status TEXT NOT NULL, reason TEXT NOT NULL, objective REAL, duration REAL, seconds REAL,
    terms TEXT NOT NULL, measured TEXT NOT NULL, statistics TEXT NOT NULL, finished TEXT NOT NULL);
CREATE TABLE solutions (cell TEXT PRIMARY KEY, archive BLOB NOT NULL);
"""
STRUCTURED = ("parameters", "content", "terms", "measured", "statistics")
FIELDS = ("status", "reason", "objective", "duration", "seconds", "terms", "measured", "statistics")
WORDS = (
    ("locked", "is locked by another program"),
    ("full", "cannot be written: no room on the disk"),
    ("not a database", "is not a study file, or is damaged"),
    ("malformed", "is damaged"),
    ("unable to open", "cannot be opened"),
    ("readonly", "may not be written"),
)
SOLVED, FAILED, PENDING = "solved", "failed", "pending"


class StudyFileError(OSError):
    """Raised when a study's file cannot be read or written; the message names it and says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a study: its `parameters` and what came of it.

    `id` is a hash of all that it depends on, its `content`. `status` is "solved", "failed" or
    "pending", `reason` says why it failed; `terms` of the objective {name: value}, numbers
    `measured` of the solution, `statistics`; `duration` and the `seconds` that it took (s). The
    solution itself stays in the file.
    """

    id: str
    parameters: dict[str, Any]
    content: dict[str, Any]
    status: str = PENDING
    reason: str = ""
    objective: float | None = None
    duration: float | None = None
    seconds: float | None = None
    terms: dict[str, Any] = field(default_factory=dict)
    measured: dict[str, Any] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)

    @property
    def solved(self) -> bool:
        """Tell whether it was solved."""
        return self.status == SOLVED


class Ledger:
    """An open study file; raises StudyFileError, also if anything but a study is in it."""

    def __init__(self, path: str | Path, readonly: bool = False) -> None:
        self.path, self.readonly = Path(path), readonly
        with _named(self.path):
            self.connection = _connect(self.path, readonly)
        try:
            with _named(self.path):
                self._begin()
        except BaseException:
            self.connection.close()
            raise

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, leaving nothing beside it unless somebody reads it right now."""
        try:
            if not self.readonly:
                self.connection.execute("PRAGMA busy_timeout = 0")
                self.connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:  # it stays in write-ahead mode, which is as good
            pass
        finally:
            self.connection.close()

    def plan(self, cells: Iterable[Cell]) -> None:
        """Enter cells that are not there yet as pending, in one transaction."""
        with _named(self.path), self._transaction() as connection:
            (place,) = connection.execute("SELECT COALESCE(MAX(place), 0) FROM cells").fetchone()
            rows = [
                (cell.id, place + k, _json(cell.parameters), _json(cell.content), PENDING)
                for k, cell in enumerate(cells, start=1)
            ]
            connection.executemany(
                "INSERT OR IGNORE INTO cells "
                "VALUES (?, ?, ?, ?, ?, '', NULL, NULL, NULL, '{}', '{}', '{}', '')",
                rows,
            )

    def finish(self, key: str, result: Mapping[str, Any]) -> None:
        """Write what came of a cell, {field: value} and the `archive` of its solution."""
        values = [
            _json(result[name]) if isinstance(result[name], dict) else result[name]
            for name in FIELDS
        ]
        stamp = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with _named(self.path), self._transaction() as connection:
            updates = ", ".join(f"{name} = ?" for name in FIELDS)
            connection.execute(
                f"UPDATE cells SET {updates}, finished = ? WHERE id = ?",
                (*values, stamp, key),
            )
            connection.execute("DELETE FROM solutions WHERE cell = ?", (key,))
            if result["archive"] is not None:
                connection.execute("INSERT INTO solutions VALUES (?, ?)", (key, result["archive"]))

    def cells(self) -> dict[str, Cell]:
        """Return {id: Cell} of all cells, in the order in which they were first asked for."""
        with _named(self.path):
            rows = self.connection.execute(
                f"SELECT id, parameters, content, {', '.join(FIELDS)} FROM cells ORDER BY place, id"
            ).fetchall()
        return {row[0]: _cell(row) for row in rows}

    def archive(self, key: str) -> bytes | None:
        """Return the bytes of a cell's solution file, None if it has none."""
        with _named(self.path):
            row = self.connection.execute(
                "SELECT archive FROM solutions WHERE cell = ?", (key,)
            ).fetchone()
        return None if row is None else row[0]

    def _begin(self) -> None:
        """Make the tables of a new file, or check that they are a study's; take in rescued ones."""
        connection = self.connection
        marks = tuple(
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if tables == 0 and not self.readonly:
            with self._transaction():
                _make_tables(connection)
        elif marks != FORMAT:
            raise StudyFileError(f"{self.path}: is not a study file of this program")
        if not self.readonly:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            _take_in(self)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


class Outbox:
    """Results on their way into a Ledger; `trouble` is why it does not take them now, or None."""

    def __init__(self, ledger: Ledger, cells: Iterable[Cell]) -> None:
        self.ledger, self.cells = ledger, cells
        self.waiting: dict[str, Mapping[str, Any]] = {}
        self.trouble: StudyFileError | None = None

    def send(self, key: str, result: Mapping[str, Any]) -> None:
        """Write a result, or keep it where there is trouble."""
        self.waiting[key] = result
        if self.trouble is None:
            self.flush()

    def flush(self) -> None:
        """Write all that waits."""
        try:
            for key in list(self.waiting):
                self.ledger.finish(key, self.waiting[key])
                del self.waiting[key]
            self.trouble = None
        except StudyFileError as error:
            self.trouble = error

    def rescue(self) -> None:
        """Keep what waits in a file of its own, and raise StudyFileError to say so.

        The ledger takes that in when it is opened again.
        """
        if self.waiting and not self.trouble:  # something else, like Ctrl-C, came between
            self.flush()
        if not self.waiting:
            return
        path = _rescue_path(self.ledger.path)
        count = f"{len(self.waiting)} finished cell{'s' if len(self.waiting) > 1 else ''}"
        try:
            with Ledger(path) as other:
                other.plan([cell for cell in self.cells if cell.id in self.waiting])
                for key, result in self.waiting.items():
                    other.finish(key, result)
        except OSError as another:
            raise StudyFileError(
                f"{self.trouble}; {count} could not be kept elsewhere either: {another}"
            ) from None
        raise StudyFileError(
            f"{self.trouble}; {count} that it did not take are in {path}, from where the same "
            "command fetches them"
        ) from None


def _take_in(ledger: Ledger) -> None:
    """Fetch what was rescued before, and remove that file."""
    path = _rescue_path(ledger.path)
    if path == ledger.path or not path.is_file():
        return
    with Ledger(path) as other:
        cells = other.cells().values()
        ledger.plan(cells)
        for cell in cells:
            if cell.status != PENDING:
                result = {name: getattr(cell, name) for name in FIELDS}
                ledger.finish(cell.id, result | {"archive": other.archive(cell.id)})
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _connect(path: Path, readonly: bool) -> sqlite3.Connection:
    if readonly and not path.is_file():
        raise StudyFileError(f"{path}: there is no such file")
    if not path.parent.is_dir():
        raise StudyFileError(f"{path}: folder {path.parent} does not exist")
    where = f"file:{quote(str(path.resolve()))}?mode={'ro' if readonly else 'rwc'}"
    return sqlite3.connect(where, uri=True, timeout=PATIENCE, isolation_level=None)


def _rescue_path(path: Path) -> Path:
    mark = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()).resolve() / f"ocp-rescued-{mark}.sqlite"


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into StudyFileErrors that name the file."""
    try:
        yield
    except sqlite3.Error as error:
        words = next((ours for theirs, ours in WORDS if theirs in str(error)), "cannot be used")
        raise StudyFileError(f"{path}: {words} ({error})") from None


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process has made them meanwhile."""
    if connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (0,):
        for statement in filter(str.strip, SCHEMA.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {FORMAT[0]}")
        connection.execute(f"PRAGMA user_version = {FORMAT[1]}")


def _cell(row: Sequence[Any]) -> Cell:
    """Return the Cell of a row: id, parameters, content and the fields."""
    names = ("id", "parameters", "content", *FIELDS)
    values = (json.loads(value) if name in STRUCTURED else value for name, value in zip(names, row))
    return Cell(**dict(zip(names, values)))


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
