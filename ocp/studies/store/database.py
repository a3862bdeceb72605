"""The file of a study: one SQLite data base, a row per cell, written as cells finish.

Every cell is one transaction in write-ahead mode: whatever ends the program, finished cells stay,
and others may read, or share the work, meanwhile. The file is data: a schema other than this one is
refused before anything is read, and each row is read on its own, so that a damaged one costs no
other. The only file of `ocp` that speaks SQL.
"""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ocp.studies.store.argument_flags import Keywords
from ocp.studies.store.cell_leases import LEASE, is_alive
from ocp.studies.store.row_format import (
    ARCHIVE,
    COLUMNS,
    DAMAGED,
    TEXT,
    Cell,
    Row,
    StudyFileError,
    checksum,
    damaged_cell,
    finished_row,
    is_settled,
    pending_row,
    row_of,
)

PATIENCE = 20.0  # s: how long a locked file is waited for
FORMAT = (0x6F637073, 3)  # "ocps", and the version of the tables
SCHEMA = (
    "CREATE TABLE cells (id TEXT PRIMARY KEY, place INTEGER NOT NULL, parameters TEXT NOT NULL, "
    "content TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, objective REAL, "
    "duration REAL, seconds REAL, terms TEXT NOT NULL, measured TEXT NOT NULL, "
    "statistics TEXT NOT NULL, finished TEXT NOT NULL, archive TEXT NOT NULL, "
    "digest TEXT NOT NULL)",
    "CREATE TABLE solutions (cell TEXT PRIMARY KEY, archive BLOB NOT NULL)",
    "CREATE TABLE claims (cell TEXT PRIMARY KEY, owner TEXT NOT NULL, since REAL NOT NULL, "
    "until REAL NOT NULL)",
    "CREATE TABLE stated (settings TEXT PRIMARY KEY, digest TEXT NOT NULL)",
)
MARKS = (f"PRAGMA application_id = {FORMAT[0]}", f"PRAGMA user_version = {FORMAT[1]}")
NOTHING: tuple[set, tuple[int, int]] = (set(), (0, 0))
GUARDS = ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "cache_size = -8000")
LENGTH, ATTACHED = 0, 7  # SQLITE_LIMIT_...: bytes of a row, other files at a time
ROW, CELLS = 100, 10**6  # bytes of a cell, which has more; cells of a study, which has fewer
ROWS = f"{', '.join(COLUMNS)}, digest"
CHANGES = ", ".join(f"{name} = ?" for name in (*COLUMNS, "digest"))
BLANKS = ", ".join("?" * (len(COLUMNS) + 1))
WORDS = (
    ("locked", "is locked by another program"),
    ("full", "cannot be written: no room on the disk"),
    ("not a database", "is not a study file, or is damaged"),
    ("malformed", "is damaged"),
    ("unable to open", "cannot be opened"),
    ("readonly", "may not be written"),
)


class Ledger:
    """An open study file; raises StudyFileError, also if anything but a study is in it.

    `notes`: what was wrong with it, and was put right.
    """

    def __init__(self, path: str | Path, readonly: bool = False) -> None:
        self.path, self.readonly = Path(path), readonly
        self.notes: list[str] = []
        self.meanings: Any = None  # what settings mean, once cells are entered
        self._open()

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
        with named_errors(self.path), self._transaction() as connection:
            rows = [pending_row(cell, k) for k, cell in enumerate(cells, self._next_place())]
            connection.executemany(f"INSERT OR IGNORE INTO cells VALUES ({BLANKS})", rows)

    def finish(self, cell: Cell, result: Keywords) -> None:
        """Write the result of a cell, {field: value} and the `archive` of its solution.

        A cell that somebody else has solved meanwhile stays as it is.
        """
        with named_errors(self.path), self._transaction() as connection:
            before, place = self.cell(cell.id), self._place(cell.id)
            if before is not None and before.solved:
                return
            if before is not None and before.status != DAMAGED:
                cell = before
            row = finished_row(cell, place, result)
            changed = connection.execute(f"UPDATE cells SET {CHANGES} WHERE id = ?", (*row, row[0]))
            if changed.rowcount == 0:
                connection.execute(f"INSERT INTO cells VALUES ({BLANKS})", row)
            connection.execute("DELETE FROM solutions WHERE cell = ?", (cell.id,))
            connection.execute("DELETE FROM claims WHERE cell = ?", (cell.id,))
            if row[COLUMNS.index("archive")]:
                pair = (cell.id, result["archive"])
                connection.execute("INSERT INTO solutions VALUES (?, ?)", pair)

    def note_digests(self, digests: Mapping[str, str]) -> None:
        """Note {key of settings: digest of what they mean}, in place of what they meant before."""
        with named_errors(self.path), self._transaction() as connection:
            rows = list(digests.items())
            connection.executemany("INSERT OR REPLACE INTO stated VALUES (?, ?)", rows)

    def stated_digests(self) -> dict[str, str]:
        """Return {key of settings: digest of what they meant when last asked for}, none if torn."""
        query = "SELECT settings, digest FROM stated WHERE length(digest) < 99 LIMIT ?"
        try:
            return dict(self.connection.execute(query, (self._last_row("stated"),)).fetchall())
        except sqlite3.Error as error:
            self._refuse_locked(error)
            return {}

    def cells(self) -> dict[str, Cell]:
        """Return {id: Cell} of all cells, in the order in which they were first asked for.

        Those that cannot be believed have the status "damaged", with the reason.
        """
        return {key: row.cell for key, row in self.rows().items()}

    def rows(self) -> dict[str, Row]:
        """Return {id: row} of all rows, each read on its own, in their order.

        Raises StudyFileError where they are longer than their file, whose pages then are shared.
        """
        rows: list[Row] = []
        room = 2 * self._size() + TEXT
        for number in range(1, self._last_row("cells") + 1):
            row = self._row("rowid", number)
            if row is None or (rows and rows[-1].nameless and row.nameless):
                continue  # what follows a torn page is one damage
            rows.append(row)
            room -= row.length
            if room < 0:
                raise StudyFileError(f"{self.path}: is damaged: its cells are longer than itself")
        sound = sorted((row for row in rows if row.sound), key=lambda row: row.place)
        known = {row.cell.id: row for row in sound}
        for number, row in enumerate(rows, start=1):
            if not row.sound:
                known[f"row {number}" if row.cell.id in known else row.cell.id] = row
        return known

    def cell(self, key: str) -> Cell | None:
        """Return the Cell of an id, None if there is none."""
        row = self._row("id", key)
        return None if row is None else row.cell

    def archive(self, key: str) -> bytes | None:
        """Return the bytes of a cell's solution file, None if it has none.

        Raises StudyFileError naming the cell whose solution is damaged.
        """
        with named_errors(self.path, f"cell {key}: its solution "):
            row = self._one("SELECT archive FROM cells WHERE id = ?", key)
            if row is None or row[0] == "":
                return None
            pair = self._one("SELECT archive FROM solutions WHERE cell = ?", key)
        archive = None if pair is None else pair[0]
        if not isinstance(archive, bytes) or checksum(archive) != row[0]:
            raise StudyFileError(f"{self.path}: cell {key}: its solution is damaged")
        return archive

    def solutions(self) -> Iterator[tuple[str, bytes]]:
        """Yield cell and archive of all rows of solutions that can be read, each on its own."""
        for number in range(1, self._last_row("solutions") + 1):
            try:
                row = self._one("SELECT cell, archive FROM solutions WHERE rowid = ?", number)
            except sqlite3.Error:
                row = None
            if row is not None and isinstance(row[0], str) and isinstance(row[1], bytes):
                yield row

    def is_whole(self) -> bool:
        """Tell whether the pages of the file hang together."""
        try:
            return self._one("PRAGMA integrity_check(1)")[0] == "ok"
        except sqlite3.Error as error:
            self._refuse_locked(error)
            return False

    def reserve(self) -> None:
        """Raise StudyFileError if anybody else has the file open."""
        with named_errors(self.path):
            self.connection.execute("PRAGMA journal_mode = DELETE")

    def forget(self, cells: Iterable[Cell]) -> list[Cell]:
        """Make those of some cells pending again of which row or solution is damaged; return them.

        All that the file says of them is then what is said here.
        """
        gone = [cell for cell in cells if not self._is_sound(cell.id)]
        for cell in gone:
            with named_errors(self.path), self._transaction() as connection:
                row = pending_row(cell, self._place(cell.id))
                connection.execute(f"UPDATE cells SET {CHANGES} WHERE id = ?", (*row, cell.id))
        return gone

    def claim(self, key: str, owner: str, stale: str = "") -> Cell | None:
        """Claim a cell; return it as it is in the file, or None where another has claimed it.

        One that is settled since its result of the time `stale` needs no claim, and gets none. A
        claim lasts until its lease is over, or its process is.
        """
        with named_errors(self.path):
            if self._is_taken(key, owner):
                return None
            with self._transaction() as connection:
                cell = self.cell(key)
                if self._is_taken(key, owner):
                    return None
                if cell is None or not is_settled(cell, stale):
                    now = time.time()
                    row = (key, owner, now, now + LEASE)
                    connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", row)
        return damaged_cell(key, "is not in the file") if cell is None else cell

    def release(self, owner: str) -> None:
        """Give up all claims of an owner."""
        with named_errors(self.path):
            self.connection.execute("PRAGMA busy_timeout = 500")
            self.connection.execute("DELETE FROM claims WHERE owner = ?", (owner,))

    def _is_taken(self, key: str, owner: str) -> bool:
        row = self._one("SELECT owner, until FROM claims WHERE cell = ?", key)
        if row is None or row[0] == owner:
            return False
        other, until = row
        sound = isinstance(other, str) and isinstance(until, float)
        now = time.time()
        return sound and now < until <= now + 2 * LEASE and is_alive(other)

    def _open(self) -> None:
        """Open the file, and make the tables of a new one or check that they are a study's."""
        with named_errors(self.path):
            self.connection = _connect(self.path, self.readonly)
        try:
            with named_errors(self.path):
                self._begin()
        except BaseException:
            self.connection.close()
            raise

    def _begin(self) -> None:
        connection = self.connection
        for guard in GUARDS:
            connection.execute(f"PRAGMA {guard}")
        if not self.readonly and self._schema() == NOTHING:
            with self._transaction():  # in which no other process makes them too
                for statement in (*SCHEMA, *MARKS) if self._schema() == NOTHING else ():
                    connection.execute(statement)
        schema, (mark, version) = self._schema()
        if mark == FORMAT[0] and version != FORMAT[1]:
            words = f"is not a study file of this program's format {FORMAT[1]}, got {version}"
            raise StudyFileError(f"{self.path}: {words}: solve again into another file")
        if (schema, mark) != (set(SCHEMA), FORMAT[0]):
            raise StudyFileError(f"{self.path}: is not a study file of this program")
        if not self.readonly:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")

    def _schema(self) -> tuple[set[object], tuple[int, int]]:
        """Return all statements that make what is in the file, and its marks."""
        rows = self.connection.execute(
            "SELECT type, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL) "
            f"LIMIT {len(SCHEMA) + 1}"
        ).fetchall()
        (mark,), (version,) = map(self._one, ("PRAGMA application_id", "PRAGMA user_version"))
        return {sql if kind == "table" else (kind, sql) for kind, sql in rows}, (mark, version)

    def _row(self, column: str, value: object) -> Row | None:
        """Return the row where a column has a value, None if there is none."""
        row: tuple = ()
        try:
            row = self._one(f"SELECT {ROWS} FROM cells WHERE {column} = ?", value)
            if row is None:
                return None
            return row_of(row)
        except (sqlite3.Error, ValueError) as error:
            self._refuse_locked(error)
            names = isinstance(row, tuple) and row and isinstance(row[0], str) and len(row[0]) == 32
            key = row[0] if names else str(value) if column == "id" else f"row {value}"
            cell = damaged_cell(key, f"{self.path}: cell {key}: is damaged: {error}")
            return Row(place=0, cell=cell, archive="")

    def _is_sound(self, key: str) -> bool:
        """Tell whether a cell, and its solution if it has one, can be believed."""
        cell = self.cell(key)
        try:
            return cell is not None and cell.status != DAMAGED and self.archive(key) != b""
        except StudyFileError:
            return False

    def _refuse_locked(self, error: Exception) -> None:
        if "locked" in str(error):
            raise StudyFileError(f"{self.path}: {_words(error)}") from None

    def _size(self) -> int:
        """Return the bytes of the file, and of what is on its way into it."""
        beside = self.path.with_name(self.path.name + "-wal")
        sizes = [os.path.getsize(path) for path in (self.path, beside) if path.exists()]
        return sum(sizes)

    def _last_row(self, name: str) -> int:
        """Return a number that no row's of a table exceeds, nor what the file has room for."""
        most = min(self._size() // ROW + 1, CELLS)
        try:
            row = self.connection.execute(f"SELECT MAX(rowid) FROM {name}").fetchone()
        except sqlite3.Error as error:
            self._refuse_locked(error)
            return most
        return min(row[0] or 0, most) if isinstance(row[0], (int, type(None))) else most

    def _next_place(self) -> int:
        (place,) = self.connection.execute("SELECT MAX(place) FROM cells").fetchone()
        return place + 1 if isinstance(place, int) and place < 2**62 else 1

    def _place(self, key: str) -> int:
        row = self._one("SELECT place FROM cells WHERE id = ?", key)
        return row[0] if row is not None and isinstance(row[0], int) else self._next_place()

    def _one(self, query: str, *values: object) -> tuple:
        return self.connection.execute(query, values).fetchone()

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


def renew(path: Path, owner: str) -> None:
    """Renew the lease of all claims of an owner, from any thread."""
    with named_errors(path):
        connection = _connect(path, readonly=False)
        try:
            until = time.time() + LEASE
            connection.execute("UPDATE claims SET until = ? WHERE owner = ?", (until, owner))
        finally:
            connection.close()


@contextmanager
def named_errors(path: Path, what: str = "") -> Iterator[None]:
    """Turn SQLite's errors into StudyFileErrors that name the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise StudyFileError(f"{path}: {what}{_words(error)}") from None


def _words(error: Exception) -> str:
    words = next((ours for theirs, ours in WORDS if theirs in str(error)), "cannot be used")
    return f"{words} ({error})"


def _connect(path: Path, readonly: bool) -> sqlite3.Connection:
    if readonly and not path.is_file():
        raise StudyFileError(f"{path}: there is no such file")
    if not path.parent.is_dir():
        raise StudyFileError(f"{path}: folder {path.parent} does not exist")
    if path.exists() and not path.is_file():
        raise StudyFileError(f"{path}: cannot be opened: it is no regular file")
    where = f"file:{quote(str(path.resolve()))}?mode={'ro' if readonly else 'rwc'}"
    connection = sqlite3.connect(where, uri=True, timeout=PATIENCE, isolation_level=None)
    limit = getattr(connection, "setlimit", None)  # since Python 3.11
    if limit is not None:
        limit(LENGTH, ARCHIVE + 4 * TEXT)
        limit(ATTACHED, 0)
    return connection
