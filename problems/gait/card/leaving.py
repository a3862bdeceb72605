"""A report card as a file: its data, its table, or its page."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ocp import Solution
from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.report import report_card
from ocp.storage import plain, write

ENDINGS = (".json", ".csv", ".png", ".svg", ".pdf")


def save_card(solution: Solution, path: str | Path, files: Sequence[str | Path] = ()) -> None:
    """Write the report card of a motion: all of it as .json, its curves as .csv, its page as .png,
    .svg or .pdf. `files` are tables of people's curves beside those of the house. Raises ValueError
    for another ending."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: expected a file ending in {', '.join(ENDINGS)}")
    if ending not in (".json", ".csv"):
        from ocp.problems.gait.card.picture import plot_card  # pictures load when one is drawn

        plot_card(solution, path, files=files)
        return
    card = report_card(solution, files)
    if ending == ".json":
        write(path, json.dumps(plain(card, null=True), indent=1) + "\n")
        return
    rows = np.column_stack([PERCENT, *(card["curves"][name] for name in CURVES)])
    header = ",".join(["gait_cycle_pct", *CURVES])
    write(path, "\n".join([header, *(",".join(f"{v:.6g}" for v in row) for row in rows), ""]))
