"""Trials of a folder: files that belong together, one of them the static trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ocp import Series
from ocp.interchange import Table, markers, read_table, wrenches
from ocp.problems.lab.laboratory_axes import present, recognise_axes
from ocp.problems.lab.marker_sets import MarkerTable, recognise
from ocp.problems.lab.measured_person import check_still
from ocp.problems.lab.muscles.electromyograms import Columns, electromyograms
from ocp.spelling import suggestion

STATIC = ("static", "calibration", "_cal", "standing")
FUNCTIONAL = ("functional", "star_arc", "stararc")
FORCES = ("_grf", "_forces", "_force", "")
EMG = ("_emg",)
ENDINGS = (".mot", ".sto", ".csv")
GRAVITY = 9.81  # m/s2


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One recording: its markers' file, that of its plates, which may be the same or None, and that
    of envelopes of its electromyograms, or None."""

    name: str
    markers: Path
    forces: Path | None
    emg: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files, each once."""
        return tuple(dict.fromkeys(path for path in (self.markers, self.forces, self.emg) if path))

    def read(self) -> tuple[Series, Series | None]:
        """Return the markers, and the wrenches of the plates where there are any."""
        table = read_table(self.markers)
        if self.forces is None:
            return markers(table), None
        if self.forces == self.markers:
            return markers(table), wrenches(table) if _has_plates(table) else None
        return markers(table), wrenches(read_table(self.forces))

    def read_emg(self, columns: Columns) -> Series | None:
        """Return the envelopes of electromyograms, None where there are none; `columns` {column:
        muscles} as `electromyograms` takes them."""
        return None if self.emg is None else electromyograms(read_table(self.emg), columns)


def trials(folder: str | Path) -> tuple[Trial, ...]:
    """Return the trials of a folder, by name.

    A .c3d has markers and plates; beside NAME.trc the plates' file is NAME_grf, NAME_forces or
    NAME with the ending .mot, .sto or .csv. Beside both, envelopes are in NAME_emg.

    Raises ValueError where there are none.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ValueError(f"{place}: no such folder")
    found = [
        Trial(name=path.stem, markers=path, forces=path, emg=_beside(path, EMG))
        for path in place.glob("*.c3d")
    ]
    found += [
        Trial(
            name=path.stem,
            markers=path,
            forces=_beside(path, FORCES),
            emg=_beside(path, EMG),
        )
        for path in place.glob("*.trc")
    ]
    if not found:
        raise ValueError(f"{place}: expected trials in .c3d or .trc files, got none")
    return tuple(sorted(found, key=lambda trial: trial.name))


def named_static(found: tuple[Trial, ...]) -> Trial | None:
    """Return the trial whose name says that it is static, None where there is none."""
    named = (each for each in found if any(word in each.name.lower() for word in STATIC))
    return next(named, None)


def functional_trial(found: tuple[Trial, ...], name: str = "") -> Trial | None:
    """Return the trial in which thighs swing: of this name, or whose name says so; None where there
    is none.

    Raises ValueError for a name of no trial.
    """
    if name:
        known = {each.name: each for each in found}
        if name not in known:
            raise ValueError(
                f"functional: no trial {name!r}{suggestion(name, known)}; they are "
                f"{', '.join(known)}"
            )
        return known[name]
    named = (each for each in found if any(word in each.name.lower() for word in FUNCTIONAL))
    return next(named, None)


def static_trial(found: tuple[Trial, ...], table: MarkerTable = "", up: str = "") -> Trial:
    """Return the static trial: the one whose name says so, or the first in which nobody moves.

    Raises ValueError where there is none.
    """
    named = named_static(found)
    if named is not None:
        return named
    for trial in found:
        try:
            seen, _ = present(trial.read()[0])
            known = recognise(seen.values, seen.source, table)
            recognise_axes(seen, known, up)
            check_still(seen, known)
        except ValueError:
            continue
        return trial
    raise ValueError(
        f"{found[0].markers.parent}: no static trial: none of {', '.join(t.name for t in found)} "
        f"is named {' or '.join(STATIC)}, and in none somebody stands still"
    )


def body_mass(seen: Series, forces: Series | None, vertical: np.ndarray) -> float:
    """Return the mass (kg) of one who stands on plates during a static trial.

    Raises ValueError where there are no plates or nobody stands on them.
    """
    total = 0.0
    if forces is not None:
        total = sum(float(np.nanmean(vertical @ rows[3:])) for rows in forces.values.values())
    if total < 10 * GRAVITY:
        raise ValueError(f"{seen.source}: no plate has the weight: give the mass (--mass, kg)")
    return total / GRAVITY


def _beside(path: Path, tails: Sequence[str]) -> Path | None:
    """Return the first file beside another whose name goes on with one of the tails."""
    places = (path.with_name(path.stem + tail + end) for tail in tails for end in ENDINGS)
    return next(filter(Path.is_file, places), None)


def _has_plates(table: Table) -> bool:
    return any(label.endswith("_vx") for label in table.labels)
