"""Rows in a JSON file, each measured in a process of its own and kept as soon as it is known, so
that a run that was interrupted goes on."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]
LIMIT = 600.0  # s: after which a row is given up
KEPT = 3.0  # s that a process has to end once it has sent its row


def stored(path: Path) -> dict[str, Row]:
    """Return {name: row} of a file, nothing where there is none.

    Raises ValueError for a file of anything else.
    """
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{path}: is no file of rows") from None
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise ValueError(f"{path}: is no file of rows")
    return rows


def kept(path: Path, name: str, row: Row) -> dict[str, Row]:
    """Add a row to a file, which is never seen half written, and return all of its rows."""
    rows = stored(path) | {name: row}
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    os.replace(aside, path)
    return rows


def filled(
    path: Path,
    wanted: Iterable[str],
    measure: Callable[[str], Row],
    seen: Callable[[str, Row], Any] | None = None,
    limit: float = LIMIT,
) -> Mapping[str, Row]:
    """Return all rows of a file once those that are `wanted` are in it.

    What is missing is measured by `measure`(name), a function of a module, in a process of its own;
    one that takes longer than `limit` (s) or dies is a row that says so, `failed`. `seen`(name,
    row) is told of each.
    """
    rows = stored(path)
    for name in wanted:
        if name in rows:
            continue
        row = alone(measure, name, limit)
        rows = kept(path, name, row)
        if seen is not None:
            seen(name, row)
    return rows


def alone(measure: Callable[[str], Row], name: str, limit: float) -> Row:
    """Return measure(name) from a process of its own, or {"failed": why}."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(theirs, measure, name))
    process.start()
    theirs.close()
    try:
        row: Row = ours.recv() if ours.poll(limit) else {"failed": f"longer than {limit:g} s"}
    except EOFError:
        row = {"failed": "its process died"}
    finally:
        ours.close()
        process.join(KEPT)
        if process.is_alive():
            process.kill()
            process.join()
    return row


def _send(pipe: Any, measure: Callable[[str], Row], name: str) -> None:
    try:
        pipe.send(measure(name))
    except Exception as error:  # a row that fails costs no other
        pipe.send({"failed": f"{type(error).__name__}: {error}"})
