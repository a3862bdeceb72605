"""Filter of a line search and its acceptance tests (Waechter & Biegler 2006, section 2.3)."""

from dataclasses import dataclass, field

import numpy as np

LESS_THETA, LESS_PHI = 1e-5, 1e-8  # gamma of both
ARMIJO = 1e-8  # eta of the decrease
SWITCH, S_THETA, S_PHI = 1.0, 1.1, 2.3  # equation 19
SHORTEST = 0.05  # gamma of the least length, equation 23
LARGEST, SMALL = 1e4, 1e-4  # violations beside the first one
ROUNDING = 10 * np.finfo(float).eps


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Violation `theta` and barrier function `phi` of a point; variables `v` of a trial."""

    theta: float
    phi: float
    v: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)


def rounding(phi: float) -> float:
    """Return the error that rounding makes in a barrier function, of terms near 1 or larger as f is
    scaled."""
    return ROUNDING * max(1.0, abs(phi))


class Filter:
    """Pairs of violation and barrier function that later points must improve on in one."""

    def __init__(self) -> None:
        self.pairs: list[tuple[float, float]] = []
        self.largest, self.small = np.inf, 0.0

    def begin(self, theta: float) -> None:
        """Set the limits of the violation from that of the first point."""
        self.largest, self.small = LARGEST * max(1.0, theta), SMALL * max(1.0, theta)

    def add(self, theta: float, phi: float) -> None:
        """Add a point with its margins."""
        pair = (1 - LESS_THETA) * theta, phi - LESS_PHI * theta
        self.pairs = [each for each in self.pairs if each[0] < pair[0] or each[1] < pair[1]]
        self.pairs.append(pair)

    def admits(self, trial: Trial) -> bool:
        """Tell whether the filter accepts a trial."""
        if not trial.theta <= self.largest or not np.isfinite(trial.phi):
            return False
        return all(
            bool(trial.theta <= theta or trial.phi <= phi + rounding(phi))
            for theta, phi in self.pairs
        )

    def switches(self, here: Trial, slope: float, length: float) -> bool:
        """Tell whether a step must lower the barrier function: switching condition (19)."""
        if slope >= 0 or here.theta > self.small:
            return False
        return bool(length * (-slope) ** S_PHI > SWITCH * here.theta**S_THETA)

    def armijo(self, here: Trial, trial: Trial, slope: float, length: float) -> bool:
        """Tell whether it lowers it enough: Armijo condition (20)."""
        gain = trial.phi - here.phi - rounding(here.phi)
        return bool(gain <= ARMIJO * length * slope)

    def least_length(self, here: Trial, slope: float) -> float:
        """Return the step length at which the line search gives up (equation 23)."""
        least = LESS_THETA
        if slope < 0:
            least = min(least, LESS_PHI * here.theta / -slope)
            if here.theta <= self.small:
                least = min(least, SWITCH * here.theta**S_THETA / (-slope) ** S_PHI)
        return max(SHORTEST * least, 1e-14)


def is_sufficient(here: Trial, trial: Trial, slope: float, length: float, kept: Filter) -> bool:
    """Tell whether a trial improves enough on the point before it (equations 18 and 20)."""
    if kept.switches(here, slope, length):
        return kept.armijo(here, trial, slope, length)
    phi = trial.phi - rounding(here.phi)
    nearer = trial.theta <= (1 - LESS_THETA) * here.theta
    return bool(nearer or phi <= here.phi - LESS_PHI * here.theta)
