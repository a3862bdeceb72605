"""Measured gait beside which a predicted one is laid: mean curves over the gait cycle.

The folder data holds the files and says, in its README, where they come from and what was changed.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp.mechanics import freeze

Curve = tuple[float, ...]  # (N,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normative:
    """One source of measured curves over the gait cycle.

    `percent` (N,) of the gait cycle from heel strike; `curves` {quantity: (mean (N,), standard
    deviation (N,) or None)}. The unit ends a quantity's name: deg, BW (body weights) or Nm_kg.
    `speed` (m/s) and `stride_time` (s) are None where they are not stated; `caveats` say what the
    numbers are not.
    """

    name: str
    percent: Curve
    curves: Mapping[str, tuple[Curve, Curve | None]]
    subjects: str
    speed: float | None
    stride_time: float | None
    source: str
    licence: str
    caveats: tuple[str, ...]

    def mean(self, quantity: str, percent: np.ndarray) -> np.ndarray:
        """Return the mean of a quantity at other percentages (M,), straight between its samples.

        Raises ValueError for a quantity that was not measured.
        """
        return self._at(self._curve(quantity)[0], percent)

    def spread(self, quantity: str, percent: np.ndarray) -> np.ndarray | None:
        """Return its standard deviation (M,) likewise, or None where it is not known."""
        deviation = self._curve(quantity)[1]
        return None if deviation is None else self._at(deviation, percent)

    def _curve(self, quantity: str) -> tuple[Curve, Curve | None]:
        if quantity not in self.curves:
            raise ValueError(
                f"normative {self.name!r}: unknown quantity {quantity!r}; "
                f"it has {', '.join(self.curves)}"
            )
        return self.curves[quantity]

    def _at(self, values: Curve, percent: np.ndarray) -> np.ndarray:
        percent = np.asarray(percent, dtype=float)
        within = np.where(percent == 100.0, percent, np.mod(percent, 100.0))
        samples = self.percent
        if samples[-1] < 100.0:  # the cycle begins anew
            samples, values = (*samples, 100.0), (*values, values[0])
        return np.interp(within, samples, values)


SOURCES: dict[str, dict[str, Any]] = {
    "winter": {
        "subjects": "adults, natural cadence group",
        "speed": 1.325,
        "stride_time": 1.14,
        "licence": "Apache-2.0 (carrier)",
        "source": "Winter 1991, as carried by mad-lab-fau/BioMAC-Sim-Toolbox, Winter_normal.mat",
        "caveats": (
            "standard deviations are raised to a floor of 0.05 BW or 2.87 deg: "
            "there they are no measured spread",
            "steps of 0.755 m at 1.325 m/s, longer and faster than 0.6 m at 1.2 m/s",
        ),
    },
    "fukuchi": {
        "subjects": "42 adults, both legs",
        "speed": None,
        "stride_time": None,
        "licence": "CC BY 4.0 (data set; the carrier states none)",
        "source": "Fukuchi, Fukuchi & Duarte 2018 (PeerJ 6:e4640), "
        "averaged by BartWil/forfun, gait3d.js",
        "caveats": (
            "self-selected comfortable speed, near 1.2 m/s but not stated",
            "means at second hand, without spread",
        ),
    },
    "falisse": {
        "subjects": "1 adult of 62 kg, right leg, 11 trials",
        "speed": 1.3,
        "stride_time": 1.38 / 1.3,
        "licence": "MIT (carrier)",
        "source": "Falisse et al. 2019, antoinefalisse/3dpredictsim, ExperimentalData.mat",
        "caveats": (
            "one person: the deviation is between trials",
            "pelvis tilt is positive backward, grf_right to the right",
        ),
    },
}


@cache
def normative(name: str) -> Normative:
    """Return the Normative record "winter", "fukuchi" or "falisse"; raise ValueError for others."""
    if name not in SOURCES:
        raise ValueError(f"normative: expected one of {', '.join(SOURCES)}, got {name!r}")
    text = (Path(__file__).parent / "data" / f"{name}.csv").read_text(encoding="utf-8")
    return _read(name, text, SOURCES[name])


def normative_file(path: str | Path) -> Normative:
    """Return the Normative record of a file of one's own, named after it.

    It is a table by commas with a heading: gait_cycle_pct, then each quantity as name_mean and, if
    known, name_sd, with units and signs as the folder data has them. Raises ValueError naming the
    file and what is wrong with it, OSError where it cannot be read.
    """
    given = Path(path)
    about = {
        "subjects": f"as in {given.name}",
        "speed": None,
        "stride_time": None,
        "source": given.name,
        "licence": "not known here",
        "caveats": ("a file of the user's own",),
    }
    try:
        return _read(given.stem, given.read_text(encoding="utf-8"), about)
    except (ValueError, KeyError) as error:
        raise ValueError(f"norms: {given.name}: expected columns of numbers: {error}") from None


def _read(name: str, text: str, about: dict[str, Any]) -> Normative:
    """Return the Normative record of a table."""
    header, *rows = csv.reader(text.splitlines())
    columns = {
        column: freeze(values) for column, values in zip(header, np.array(rows, dtype=float).T)
    }
    quantities = [column.removesuffix("_mean") for column in header if column.endswith("_mean")]
    if "gait_cycle_pct" not in columns or not quantities:
        raise ValueError("no gait_cycle_pct and no name_mean")
    curves = {
        quantity: (columns[f"{quantity}_mean"], columns.get(f"{quantity}_sd"))
        for quantity in quantities
    }
    return Normative(
        name=name, percent=columns["gait_cycle_pct"], curves=MappingProxyType(curves), **about
    )
