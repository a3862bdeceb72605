"""List what runs as `python -m problems.NAME`."""

import sys

from ocp.cli import exit_status, first_line, modules
from ocp.studies import align_columns


def run() -> int:
    """Print the list and return the exit status."""
    rows = [
        (f"python -m problems.{name}", first_line(module)) for name, module in modules().items()
    ]
    print(align_columns(rows))
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(run))
