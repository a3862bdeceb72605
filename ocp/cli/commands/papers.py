"""The papers' printed values beside ours, and their figures drawn anew from our solutions.

Values are computed as they are printed: those of one paper, or of all five. A row that states
within what share ours should lie agrees or is OFF; every other one differs, and says why.
"""

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

from ocp.cli.exit_status import DONE, FAILED, INTERRUPTED, REFUSED, refuse
from ocp.cli.flags import read_line
from ocp.storage.atomic_files import check_writable, write
from ocp.studies.store.function_addresses import GALLERY
from ocp.studies.study_tables import markdown

PAPERS = ("xiang", "hollerbach", "book", "barman", "sohl")
SHORT = 14  # letters of a value that stands in a column
AGREES, OFF, DIFFERS = "agrees", "OFF", "differs"


def command(arguments: Sequence[str]) -> int:
    """Print the values and draw the figures that the command line asks for.

    Status 0: all values agree that should; 1: one does not; 2: bad arguments.
    """
    flags = read_line(_parser(), arguments)
    try:
        if flags.paper and flags.paper not in PAPERS:
            raise ValueError(f"PAPER: expected one of {', '.join(PAPERS)}, got {flags.paper!r}")
        if flags.pages is not None and flags.figures is None:
            raise ValueError("--pages: is a flag of --figures")
        if flags.markdown is not None:
            check_writable(flags.markdown)
        if flags.figures is not None:
            _draw(flags)
        return _print_values(flags)
    except KeyboardInterrupt:
        print("\nocp papers: interrupted", file=sys.stderr)
        return INTERRUPTED
    except REFUSED as error:
        return refuse("ocp papers", error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ocp papers",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = f"one of {', '.join(PAPERS)} (default: all)"
    parser.add_argument("paper", nargs="?", default="", metavar="PAPER", help=words)
    words = "values that take more than half a minute as well"
    parser.add_argument("--all", action="store_true", help=words)
    words = "draw the figures that have data to a folder, with an index of them"
    parser.add_argument("--figures", metavar="DIR", help=words)
    words = "with --figures: these alone, such as barman-4-5"
    parser.add_argument("--pages", nargs="+", metavar="NAME", help=words)
    words = "write the values as a table too"
    parser.add_argument("--markdown", metavar="FILE.md", help=words)
    return parser


def _module(name: str) -> ModuleType:
    """Return a package of the gallery, which stands above this wing."""
    return importlib.import_module(f"{GALLERY}.{name}")


def _print_values(flags: argparse.Namespace) -> int:
    """Compute the rows one by one, print them under their sources, and return the status."""
    published = _module("published")
    every = [*published.rows(flags.paper)]
    chosen = [row for row in every if flags.all or not row.slow]
    verdicts: Counter[str] = Counter()
    table, source = [], ""
    print(f"  {'printed':>{SHORT}}  {'ours':>{SHORT}}")
    for row in chosen:
        if row.source != source:
            source = row.source
            print(f"\n{source}")
        ours = row.ours()
        verdict = DIFFERS if row.within is None else AGREES if row.agrees(ours) else OFF
        verdicts[verdict] += 1
        entries = row.text(ours)
        table.append(entries)
        words = " ".join(filter(None, (verdict, row.difference(ours))))
        for line in _lines(dict(zip(published.HEADER, entries)), words):
            print(line, flush=True)
    if flags.markdown is not None:
        write(flags.markdown, markdown("", published.HEADER, table, padded=False) + "\n")
    stated = verdicts[AGREES] + verdicts[OFF]
    print(f"\n{verdicts[AGREES]} of {stated} agree within what is stated, ", end="")
    print(f"{verdicts[DIFFERS]} differ for reasons that stand below them")
    if late := len(every) - len(chosen):
        print(f"{late} that take more than half a minute are left out; --all computes them")
    return FAILED if verdicts[OFF] else DONE


def _lines(entries: Mapping[str, str], words: str) -> Iterator[str]:
    """Yield a row as it is printed: long values, and what ours is by, on lines of their own."""
    values = {name: entries[name] for name in ("printed", "ours")}
    wide = max(map(len, values.values())) > SHORT
    columns = ("" if wide else value for value in values.values())
    yield "  ".join(["", *(f"{value:>{SHORT}}" for value in columns), f"{words:<16}"]) + (
        f"  {entries['quantity']}"
    )
    if wide:
        yield from (f"    {name:<7}  {value}" for name, value in values.items())
    notes = [f"by {entries['ours by']}".replace("`", ""), entries["remark"]]
    notes += [f"{name} {entries[name]}" for name in ("true optimum", "within") if entries[name]]
    yield f"    {'; '.join(filter(None, notes))}"


def _draw(flags: argparse.Namespace) -> None:
    """Draw the figures that are asked for, and print what ours is of each."""
    figures = _module("benchmarks.figures")
    pages = figures.chosen(flags.pages or ([flags.paper] if flags.paper else []))
    for page, ours in figures.write_pages(pages, flags.figures):
        print(f"{page.name:<22}{ours}", flush=True)
    print(f"{len(pages)} figures and index.md in {flags.figures}")
