"""Pictures of the gallery that come with the package: `python -m ocp.cli.book.pictures [NAME]`.

Each problem named, or each of all, is solved anew, and its small picture replaced.
"""

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ocp.cli.commands.list_problems import tasks, topic_of
from ocp.plots import plot_snapshots
from ocp.solution.solution import Solution
from ocp.solvers import Solver

FOLDER = Path(__file__).parent / "pictures"  # a folder for each topic
SIZE = 460, 345  # at most, in dots
SNAPSHOTS = 4
QUALITY = 82  # of the JPEG
PAPER = 250  # what is lighter is border


def gallery_pictures() -> dict[str, Path]:
    """Return {problem: its picture} of all that come with the package."""
    return {path.stem: path for path in sorted(FOLDER.glob("*/*.jpg"))}


def draw(solution: Solution, path: Path) -> None:
    """Write a small picture of a solution: snapshots, without axes and words."""
    from PIL import Image

    page = io.BytesIO()
    figure = plot_snapshots(solution, count=SNAPSHOTS)
    for axes in figure.axes:
        axes.set_title("")
        axes.set_axis_off()
    figure.savefig(page, format="png", dpi=160)
    picture = Image.open(page).convert("RGB")
    rows, columns = np.nonzero(np.asarray(picture).min(axis=2) < PAPER)
    picture = picture.crop((columns.min(), rows.min(), columns.max() + 1, rows.max() + 1))
    picture.thumbnail(SIZE)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, quality=QUALITY, optimize=True)


def main(names: Sequence[str]) -> None:
    """Solve problems and replace their pictures; all of the gallery where none is named."""
    known = tasks()
    for name in names or known:
        task, topic = known[name], topic_of(name)
        solution = task.method(task.problem(), task.transcription, Solver()).require(coarse=True)
        draw(solution, FOLDER / topic / f"{name}.jpg")


if __name__ == "__main__":
    main(sys.argv[1:])
