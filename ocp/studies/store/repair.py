"""Damaged study files: what can be read of one takes its place, and the file is kept beside it."""

import os
import tempfile
from pathlib import Path

from ocp.studies.store.database import Ledger
from ocp.studies.store.row_format import PENDING, checksum, result_of


def whole(path: str | Path) -> Ledger:
    """Return the open Ledger of a file, mended where its pages do not hang together.

    Its notes say so. Raises StudyFileError naming a file that cannot be opened, or that somebody
    else has open while it is to be mended.
    """
    ledger = Ledger(path)
    try:
        if ledger.is_whole():
            return ledger
        note = _mend(ledger)
    except BaseException:
        ledger.close()
        raise
    ledger = Ledger(path)
    ledger.notes.append(note)
    return ledger


def _mend(ledger: Ledger) -> str:
    """Put what can be read of a damaged file in its place, close it, and say what was done."""
    path = ledger.path
    ledger.reserve()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.mended-")
    os.close(handle)
    mended = Path(name)
    try:
        lost = _copy(ledger, mended)
        kept = Path(tempfile.mkdtemp(dir=path.parent, prefix=f"{path.name}.damaged-"))
        ledger.close()
        path.rename(kept / path.name)
        mended.rename(path)
    except BaseException:
        mended.unlink(missing_ok=True)
        raise
    words = f"{lost} of its cells could not be read" if lost else "all of its cells were read"
    return f"{path}: was damaged and is mended, {words}; as it was: {kept / path.name}"


def _copy(ledger: Ledger, path: Path) -> int:
    """Copy all that is sound to a new file, and return of how many cells something is lost."""
    rows = ledger.rows()
    sound = {key: row for key, row in rows.items() if row.sound}
    done = {key for key, row in sound.items() if row.cell.status == PENDING}
    with Ledger(path) as other:
        other.plan(row.cell for row in sound.values())
        other.note_digests(ledger.stated_digests())
        for key, row in sound.items():
            if key not in done and not row.archive:
                other.finish(row.cell, result_of(row.cell, None))
                done.add(key)
        for key, archive in ledger.solutions():
            if key in sound and checksum(archive) == sound[key].archive:
                other.finish(sound[key].cell, result_of(sound[key].cell, archive))
                done.add(key)
    return len(rows) - len(done)
