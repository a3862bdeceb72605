"""The `ocp lab` command: from a folder of a gait laboratory's files to a report."""

import argparse
import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ocp.cli.exit_status import DONE, FAILED, REFUSED, refuse
from ocp.cli.flags import read_line
from ocp.studies.store.function_addresses import GALLERY


def command(arguments: Sequence[str]) -> int:
    """Analyse the trials of a folder and write the report.

    Status 0: all trials are analysed; 1: one is refused; 2: bad arguments, or no static trial.
    """
    flags = read_line(_parser(), arguments)
    wing = importlib.import_module(f"{GALLERY}.lab")
    asked = {name: value for name, value in vars(flags).items() if name not in ("folder", "out")}
    try:
        asked["emg"] = tuple(_column(text) for text in flags.emg)
        page = wing.lab(flags.folder, wing.LabSettings(**asked), flags.out)
    except REFUSED as error:
        return refuse("ocp lab", error)
    status = DONE
    for path in sorted(Path(page).parent.glob("*.json")):
        answer = json.loads(path.read_text(encoding="utf-8"))
        if "refused" in answer:
            print(f"{path.stem}: refused: {answer['refused']}")
            status = FAILED
            continue
        print(f"{path.stem}: {len(answer['cycles'])} strides, {len(answer['doubts'])} doubts")
        for doubt in answer["doubts"]:
            print(f"  doubt: {doubt}")
        if "tracked" in answer:
            print(f"  {_told_tracking(answer['tracked'])}")
    print(page)
    return status


def _told_tracking(answer: Mapping[str, object]) -> str:
    """Return in words which part of a trial was tracked and its certificate, or why none is."""
    if "refused" in answer:
        return f"not tracked: {answer['refused']}"
    return f"tracked {answer['told']}: {answer['certificate']}"


def _column(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the column of electromyograms, and its muscles, of COLUMN=MUSCLE+MUSCLE.

    Raises ValueError for a text without a column.
    """
    column, equals, muscles = text.partition("=")
    if not column or not equals:
        raise ValueError(f"--emg: expected COLUMN=MUSCLE+MUSCLE, got {text!r}")
    return column, tuple(name for name in muscles.split("+") if name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ocp lab", description=__doc__, allow_abbrev=False)
    words = "of .c3d files, or .trc files with NAME_grf.mot beside them; one of them static"
    parser.add_argument("folder", metavar="FOLDER", help=words)
    words = "of the person (kg; default: as the plates of the static trial bear)"
    parser.add_argument("--mass", type=float, metavar="KG", help=words)
    words = "of the person (m; default: as the legs tell)"
    parser.add_argument("--stature", type=float, metavar="M", help=words)
    words = "scaled model of the person (.osim) with markers, in place of a static trial"
    parser.add_argument("--model", metavar="FILE", help=words)
    parser.add_argument("--sex", default="male", choices=("male", "female"))
    words = "name of the marker set (default: recognised)"
    parser.add_argument("--markers", dest="table", default="", metavar="SET", help=words)
    words = "the laboratory's upward axis: x, y or z (default: recognised)"
    parser.add_argument("--up", default="", metavar="AXIS", help=words)
    words = "above which motion is noise (Hz; default: 8)"
    parser.add_argument("--cutoff", type=float, default=argparse.SUPPRESS, metavar="HZ", help=words)
    words = "trial in which thighs swing to all sides (default: named so, if there is one)"
    parser.add_argument("--functional", default="", metavar="TRIAL", help=words)
    words = "muscles of a column of NAME_emg.sto, if named otherwise; none leaves it out"
    parser.add_argument(
        "--emg", action="append", default=[], metavar="COLUMN=MUSCLE+MUSCLE", help=words
    )
    words = "track markers and plates by a dynamic motion with a certificate (NAME_tracked.npz)"
    parser.add_argument("--track", action="store_true", help=words)
    words = "folder of what is written (default: lab in FOLDER)"
    parser.add_argument("--out", metavar="DIR", help=words)
    return parser
