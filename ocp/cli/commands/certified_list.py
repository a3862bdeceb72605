"""Rows of `ocp list --solve`: problems solved and certified, printed as they are ready."""

import argparse
import json
from collections.abc import Sequence

from ocp.cli.exit_status import DONE, FAILED
from ocp.storage.atomic_files import check_writable, write
from ocp.studies.comparison.certified_runs import (
    Cases,
    CertifiedRun,
    certified_runs,
    rows_as_csv,
    rows_as_data,
)

HEADER = ("problem", "status", "iterations", "seconds", "certificate")
WIDTHS = (26, 24, 10, 8)  # columns, but of the last
UNKNOWN = "-"


def add_table_flags(group: argparse._ActionsContainer) -> None:
    """Add the flags of a table of problems, which `certify_problems` follows, to a parser or to a
    group of its flags."""

    def add(name: str, kind: type, default: object, metavar: str, words: str) -> None:
        text = words if default is None else f"{words} (default: {default:g})"
        group.add_argument(f"--{name}", type=kind, default=default, metavar=metavar, help=text)

    words = "with their convergence: solve on the next basis too"
    group.add_argument("--converged", action="store_true", help=words)
    add("verify", float, 1e-2, "TOLERANCE", "tolerance of the certificates")
    add("seconds", float, None, "NUMBER", "limit of each problem, its certificate included")
    add("workers", int, 1, "NUMBER", "problems at a time")
    add("csv", str, None, "FILE.csv", "write the rows as comma-separated values")
    add("json", str, None, "FILE.json", "write the rows as JSON")


def certify_problems(names: Sequence[str] | Cases, flags: argparse.Namespace) -> int:
    """Solve and certify problems as flags of a table ask for, and return the exit status.

    `names` are those of problems, or {what a row is called: such a name and the problem's
    arguments}. Files hold the rows that are ready, also of a run that is interrupted.
    """
    makers = {flags.csv: rows_as_csv, flags.json: _as_json}
    files = {path: make for path, make in makers.items() if path is not None}
    for path in files:
        check_writable(path)
    rows: list[CertifiedRun] = []

    def tell(row: CertifiedRun) -> None:
        rows.append(row)
        for path, make in files.items():
            write(path, make(rows))
        for line in row_lines(row, flags.verify):
            print(line, flush=True)

    print(_columns(HEADER), flush=True)
    how = {name: getattr(flags, name) for name in ("converged", "seconds", "workers")}
    certified_runs(names, flags.verify, watch=tell, **how)
    good = sum(row.is_certified for row in rows)
    spent = sum((row.seconds or 0.0) + (row.certificate_seconds or 0.0) for row in rows)
    print(f"\n{good} of {len(rows)} certified to {flags.verify:g}, {spent:.0f} processor seconds")
    print("seconds are the processor's of building and solving, without the certificate's")
    return DONE if good == len(rows) else FAILED


def _as_json(rows: Sequence[CertifiedRun]) -> str:
    return json.dumps(rows_as_data(rows), indent=1) + "\n"


def row_lines(row: CertifiedRun, tolerance: float) -> list[str]:
    """Return a row as it is printed; each further reason, and its convergence, has a line."""
    counts = UNKNOWN if row.iterations is None else str(row.iterations)
    seconds = UNKNOWN if row.seconds is None else f"{row.seconds:.2f}"
    words = f"{row.verdict} to {tolerance:g}" if row.is_certified else row.verdict
    subject = f", {row.certifies}" if row.certifies and row.iterations is not None else ""
    first, *others = row.reasons or ("",)
    verdict = f"{words}{subject}: {first}" if first else f"{words}{subject}"
    head = _columns((row.problem, row.status or UNKNOWN, counts, seconds, verdict))
    if row.convergence:
        others.append(row.convergence)
    return [head, *(_columns(("", "", "", "", each)) for each in others)]


def _columns(entries: Sequence[str]) -> str:
    """Return entries in columns: numbers to the right, words to the left."""
    name, status, iterations, seconds = (
        entry.rjust(width) if k in (2, 3) else entry.ljust(width)
        for k, (entry, width) in enumerate(zip(entries, WIDTHS))
    )
    return f"{name}  {status}  {iterations}  {seconds}  {entries[-1]}".rstrip()
