"""Finished cells that a study's file does not take: kept in a private folder, fetched from there.

The folder is new, with a name that nobody can foresee, and readable by its owner alone; what is
found later counts only in such a folder, and only for a cell that the study still wants.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from glob import escape
from pathlib import Path

from ocp.studies.store.argument_flags import Keywords
from ocp.studies.store.database import Ledger
from ocp.studies.store.row_format import FAILED, SOLVED, Cell, StudyFileError, result_of

NAME, PART = "rescued.sqlite", "part.sqlite"


class Outbox:
    """Results on their way into a Ledger; `trouble` is why it does not take them now, or None."""

    def __init__(self, ledger: Ledger, cells: Mapping[str, Cell]) -> None:
        self.ledger, self.cells = ledger, cells
        self.waiting: dict[str, Keywords] = {}
        self.trouble: StudyFileError | None = None

    def send(self, key: str, result: Keywords) -> None:
        """Write a result, or keep it where there is trouble."""
        self.waiting[key] = result
        if self.trouble is None:
            self.flush()

    def flush(self) -> None:
        """Write all that waits."""
        try:
            for key in list(self.waiting):
                self.ledger.finish(self.cells[key], self.waiting[key])
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
        count = f"{len(self.waiting)} finished cell{'s' if len(self.waiting) > 1 else ''}"
        reasons = []
        for folder, start in _places(self.ledger.path):
            try:
                path = self._keep(folder, start)
                break
            except OSError as error:
                reasons.append(str(error))
        else:
            raise StudyFileError(
                f"{self.trouble}; {count} could not be kept elsewhere either: {'; '.join(reasons)}"
            ) from None
        raise StudyFileError(
            f"{self.trouble}; {count} that it did not take are in {path}, from where the same "
            "command fetches them"
        ) from None

    def _keep(self, folder: Path, start: str) -> Path:
        """Write the waiting rows to a new private folder, whole or not at all, and return the
        file."""
        private = Path(tempfile.mkdtemp(prefix=start, dir=folder))
        try:
            with Ledger(private / PART) as other:
                for key, result in self.waiting.items():
                    other.plan([self.cells[key]])
                    other.finish(self.cells[key], result)
            return (private / PART).rename(private / NAME)
        except BaseException:
            shutil.rmtree(private, ignore_errors=True)
            raise


def recover_results(ledger: Ledger) -> None:
    """Fetch what was rescued before, and remove its folder; notes tell what was not believed."""
    for place, start in _places(ledger.path):
        for folder in sorted(place.glob(f"{escape(start)}*")):
            path = folder / NAME
            if not os.path.lexists(path):
                continue
            if not (_is_private(folder, stat.S_ISDIR) and _is_private(path, stat.S_ISREG)):
                ledger.notes.append(f"{folder}: is no private folder of rescued cells: left alone")
                continue
            try:
                rescued = _rescued_cells(path)
            except StudyFileError as error:
                ledger.notes.append(f"{error}: left alone")
                continue
            for cell, archive in rescued:
                before = ledger.cell(cell.id)  # what the study does not want, or has, is nothing
                if before is not None and not before.solved:
                    ledger.finish(cell, result_of(cell, archive))
            shutil.rmtree(folder, ignore_errors=True)


def _rescued_cells(path: Path) -> list[tuple[Cell, bytes | None]]:
    """Return the cells of a file of rescued ones, solved or failed, with their archives."""
    with Ledger(path, readonly=True) as other:
        done = [cell for cell in other.cells().values() if cell.status in (SOLVED, FAILED)]
        return [(cell, other.archive(cell.id)) for cell in done]


def _places(path: Path) -> tuple[tuple[Path, str], ...]:
    """Return the folders where results are kept, with how the names of private ones begin there."""
    path = path.resolve()
    mark = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    temporary = Path(tempfile.gettempdir()).resolve()
    return (path.parent, f".{path.name}.rescued-"), (temporary, f"ocp-rescued-{mark}-")


def _is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Tell whether a path is of a kind, no link, and nobody's but this user's."""
    try:
        state = path.lstat()
    except OSError:
        return False
    own = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
    folder = stat.S_ISDIR(state.st_mode)
    closed = os.name != "posix" or not folder or not state.st_mode & 0o077
    return own and closed and bool(is_kind(state.st_mode))
