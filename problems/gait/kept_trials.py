"""Trials of identified weights, kept in a file so that a command may go on, and their table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ocp import ObjectiveFit
from ocp.problems.arms.identify_arm import MISSES, beyond
from ocp.storage import plain, write
from ocp.studies import markdown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightErrors:
    """How far weights found from a trial are from the true ones.

    Attributes:
        off: logarithms of weights found over true ones (k,); nan where none were found.
        covariance: of these (k, k), as the fit says.
        misfit: of the fit, 1 where all is as noise.
        status: how the fit ended.
    """

    off: np.ndarray
    covariance: np.ndarray
    misfit: float
    status: str

    @property
    def deviations(self) -> np.ndarray:
        """Standard errors (k,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def inside(self) -> bool:
        """Whether true weights are within the ellipsoid that 95 % of true ones are in."""
        if not np.isfinite(self.off).all():
            return False
        square = float(self.off @ np.linalg.solve(self.covariance, self.off))
        return beyond(square, len(self.off)) >= MISSES

    @property
    def near(self) -> np.ndarray:
        """Which weights (k,) are within two of their standard errors."""
        return np.abs(self.off) <= 2 * self.deviations


def errors_of(off: np.ndarray, found: ObjectiveFit) -> WeightErrors:
    """Return the errors of a fit whose logarithms over true weights are `off` (k,)."""
    misfit = np.nan if found.misfit is None else found.misfit
    return WeightErrors(
        off=off, covariance=found.covariance, misfit=float(misfit), status=found.status
    )


def failure(count: int, error: Exception) -> WeightErrors:
    """Return the errors of a fit of `count` weights that ended by an error."""
    return WeightErrors(
        off=np.full(count, np.nan), covariance=np.eye(count), misfit=np.nan, status=str(error)
    )


@dataclass(kw_only=True)
class KeptTrials:
    """What is known of a search for weights, in a file if there is one.

    Attributes:
        path: of the file, None to keep nothing.
        about: what the file must be about.
        exact: from exact curves, and by first-order conditions {"exact" and "conditions"}.
        trials: {seed: its WeightErrors}.
        speeds: {speed, trial: distances of a walk from the true one}.
    """

    path: Path | None
    about: str
    exact: dict[str, Any] = field(default_factory=dict)
    trials: dict[int, WeightErrors] = field(default_factory=dict)
    speeds: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | None, about: str) -> "KeptTrials":
        """Return the trials of a file, none where there is no file.

        Raises:
            ValueError: the file is about another search.
        """
        place = None if path is None else Path(path)
        kept = cls(path=place, about=about)
        if place is None or not place.is_file():
            return kept
        data = json.loads(place.read_text(encoding="utf-8"))
        if data.get("about") != about:
            raise ValueError(f"{place}: is about {data.get('about')!r}, not {about!r}")
        kept.exact, kept.speeds = data["exact"], data["speeds"]
        for seed, each in data["trials"].items():
            arrays = {name: np.array(each[name], dtype=float) for name in ("off", "covariance")}
            misfit = np.nan if each["misfit"] is None else each["misfit"]
            kept.trials[int(seed)] = WeightErrors(**arrays, misfit=misfit, status=each["status"])
        return kept

    def save(self) -> None:
        """Write the file."""
        if self.path is None:
            return
        trials = {
            seed: {
                "off": each.off,
                "covariance": each.covariance,
                "misfit": each.misfit,
                "status": each.status,
            }
            for seed, each in self.trials.items()
        }
        data = {"about": self.about, "exact": self.exact, "trials": trials, "speeds": self.speeds}
        write(self.path, json.dumps(plain(data, null=True), indent=1))


def trials_table(
    names: Sequence[str],
    stated: Mapping[str, float],
    factors: Mapping[str, float],
    kept: KeptTrials,
) -> str:
    """Return the table of the weights: true, by the first-order conditions of the computed motion,
    from exact curves, and from noisy ones.

    Args:
        names: of the terms sought.
        stated: {term: weight} of the statement.
        factors: {term: true weight over that}.
        kept: what was found.
    """
    found = [each for each in kept.trials.values() if np.isfinite(each.off).all()]
    off = np.array([each.off for each in found]).reshape(-1, len(names))
    deviations = np.array([each.deviations for each in found]).reshape(-1, len(names))
    rows = []
    for k, name in enumerate(names):
        noisy: tuple[str, ...] = ("", "", "")
        if len(found):
            scatter = np.sqrt(np.mean((off[:, k] / deviations[:, k]) ** 2))
            near = sum(bool(each.near[k]) for each in found)
            noisy = f"{deviations[:, k].mean():.2g}", f"{scatter:.2f}", str(near)
        by = kept.exact["conditions"]
        rows.append(
            (
                name,
                f"{stated[name]:.4g}",
                f"{stated[name] * factors[name]:.6g}",
                "" if by is None else f"{by[k]:.1e}",
                f"{np.expm1(kept.exact['exact'][k]):.1e}",
                *noisy,
            )
        )
    header = ("term", "stated", "true", "by conditions, off", "exact, off")
    more = ("standard error", "scatter / it", f"within two of it, of {len(found)}")
    return markdown("", (*header, *more), rows).strip()
