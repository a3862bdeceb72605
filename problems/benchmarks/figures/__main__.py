"""Draw every figure of the five papers that has data from our solutions, a page each."""

import argparse
import sys
import time
from collections.abc import Sequence

from ocp.cli import DONE, exit_status, refuse
from ocp.problems.benchmarks.figures import PAGES, chosen, write_pages


def run(arguments: Sequence[str] | None = None) -> int:
    """Draw the pages of a command line, say their place, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.benchmarks.figures",
        description=__doc__,
        epilog=f"pages: {', '.join(PAGES)}",
        allow_abbrev=False,
    )
    parser.add_argument(
        "directory", nargs="?", default="figures", metavar="DIR", help="where to (default: figures)"
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="pages, or beginnings such as xiang"
    )
    flags = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        pages = chosen(flags.only)
        for page, ours in write_pages(pages, flags.directory):
            print(f"{page.name:<22}{ours}")
    except (ValueError, OSError) as error:
        return refuse("figures", error)
    seconds = time.perf_counter() - start
    print(f"{len(pages)} pages and index.md in {flags.directory}, {seconds:.0f} s")
    return DONE


if __name__ == "__main__":
    sys.exit(exit_status(run))
