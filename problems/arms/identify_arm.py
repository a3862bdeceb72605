"""The ten inertial base parameters of a planar arm, and the friction of its joints, from torques.

The arm's motors are measured while it follows a seeded motion that tells much of them: a Fourier
series in each joint (Swevers et al. 1997), that one of some draws whose errors are least. What was
measured is simulated: exact torques of the true arm, and noise. The parameters sought are all
sixteen of mass, centre and inertia of four links; the torques determine ten combinations of them.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import erfc, exp, gamma, sqrt
from typing import Any

import casadi as ca
import numpy as np

from ocp import BSpline, Fit, Instant, Parameter, Problem, Recording, effort, fit, noisy, predict
from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.models.arms.planar_arm import BODIES, NAMES, base_parameters, open_bodies, planar_arm
from ocp.studies import markdown

GUESS = 1.25  # times the true inertial numbers: where the search starts [assumed]
VISCOUS = (1.2, 0.8, 0.4, 0.2)  # N m s/rad, true [assumed]
DRY = (2.0, 1.5, 0.6, 0.3)  # N m, true [assumed]
HARMONICS = 5  # of a joint's motion
PERIOD, RATE = 10.0, 200.0  # s, and samples in a second
MOST = (1.5, 2.5, 10.0)  # rad, rad/s, rad/s2: the motion's angles, rates and accelerations
MISSES = 0.0455  # of estimates that miss by more than two standard errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The open problem, its parameters' true values by name, and the base parameters."""

    problem: Problem
    truth: Mapping[str, float]
    base: Mapping[str, Any]


def statement() -> Statement:
    """Return the arm with open bodies and open friction, whose output is what its motors give."""
    bodies = open_bodies(GUESS)
    viscous = [Parameter(f"{name}_viscous", 0.0, lower=0.0) for name in NAMES]
    dry = [Parameter(f"{name}_dry", 0.0, "N m", lower=0.0) for name in NAMES]

    def motors(at: Instant) -> ca.SX:
        return at.tau + ca.vertcat(*viscous) * at.qd + ca.vertcat(*dry) * ca.sign(at.qd)

    problem = Problem(
        tree=planar_arm(bodies),
        motion=BSpline(points=12),
        duration=PERIOD,
        objective=effort(),
        outputs={"motors": motors},
    )
    truth = {
        getattr(body, what).name: getattr(true, what)
        for body, true in zip(bodies, BODIES)
        for what in ("mass", "ahead", "left", "inertia")
    }
    truth |= {each.name: value for each, value in zip(viscous, VISCOUS)}
    truth |= {each.name: value for each, value in zip(dry, DRY)}
    return Statement(problem=problem, truth=truth, base=base_parameters(bodies))


def excitation(seed: int, rate: float = RATE) -> Recording:
    """Return a periodic motion of random harmonics, as large as MOST lets it be.

    It is sampled `rate` times in a second.
    """
    rng = np.random.default_rng(seed)
    t = np.arange(int(PERIOD * rate) + 1) / rate
    speeds = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)[:, None]
    phases = speeds * t
    a, b = rng.standard_normal((2, len(NAMES), HARMONICS, 1)) / speeds
    curves = (
        np.sum(a * np.sin(phases) + b * np.cos(phases), axis=1),
        np.sum(speeds * (a * np.cos(phases) - b * np.sin(phases)), axis=1),
        np.sum(-(speeds**2) * (a * np.sin(phases) + b * np.cos(phases)), axis=1),
    )
    peaks = [np.abs(curve).max(axis=1) for curve in curves]
    scale = np.min([most / peak for most, peak in zip(MOST, peaks)], axis=0)[:, None]
    q, qd, qdd = (scale * curve for curve in curves)
    return Recording(t=t, q=q, qd=qd, qdd=qdd, outputs={}, name=f"excitation {seed}")


def measurable(stated: Statement, motion: Recording, noise: float, bandwidth: float) -> Recording:
    """Return the exact torques of the true arm along a motion, with the deviation that their
    noise will have (N m), white up to a bandwidth (Hz)."""
    return replace(
        motion,
        outputs=predict(stated.problem, motion, stated.truth, outputs=("motors",)),
        deviations={"motors": noise},
        bandwidth=bandwidth,
    )


def identified(stated: Statement, recording: Recording) -> Fit:
    """Return the parameters found from a recording, which tells angles and torques alone."""
    return fit(stated.problem, [recording], free=tuple(stated.truth))


def planned(
    stated: Statement, draws: int, noise: float, bandwidth: float, rate: float = RATE
) -> Recording:
    """Return the motion, with exact torques, whose base parameters will have the least errors.

    Of so many draws it is that of least determinant of their covariance.
    """
    motions = (excitation(seed, rate) for seed in range(draws))
    exact = [measurable(stated, motion, noise, bandwidth) for motion in motions]
    return min(exact, key=lambda each: uncertainty(stated, identified(stated, each)))


def uncertainty(stated: Statement, answer: Fit) -> float:
    """Return the logarithm of the determinant of the base parameters' covariance."""
    _, covariance = answer.estimate(list(stated.base.values()))
    return float(np.linalg.slogdet(covariance)[1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What a seeded trial said of base parameters or friction: by how many of their own standard
    errors they are off (k,), these `errors` (k,), and how probable it is that true ones are so far
    off together or farther."""

    off: np.ndarray
    errors: np.ndarray
    probability: float


def outcome(stated: Statement, answer: Fit, names: Sequence[str]) -> Outcome:
    """Return the errors of the parameters of these names.

    Raises ValueError for one that was not determined, or leans on a bound.
    """
    known = {each.name: each for each in answer.free}
    wanted = {**known, **stated.base}
    values, covariance = answer.estimate([wanted[name] for name in names])
    away = values - np.array([true_values(stated)[name] for name in names])
    errors = np.sqrt(np.diag(covariance))
    for name, error in zip(names, errors):
        if not 0 < error < np.inf:
            raise ValueError(f"{name}: the torques do not tell it, or it leans on its bound")
    return Outcome(
        off=away / errors,
        errors=errors,
        probability=beyond(float(away @ np.linalg.solve(covariance, away)), len(names)),
    )


def true_values(stated: Statement) -> dict[str, float]:
    """Return {name: value} of all parameters and base parameters of the true arm."""
    return {**stated.truth, **base_parameters(BODIES)}


def beyond(square: float, count: int) -> float:
    """Return the probability that a sum of so many squared normal deviates is larger.

    With h = x/2 it is sum_k exp(-h) h^k / Gamma(k + 1), of k from 0 or 1/2 in steps of 1 to below
    count/2, and for odd numbers erfc(sqrt(h)) more.
    """
    half, odd = square / 2, count % 2
    total = erfc(sqrt(half)) if odd else 0.0
    for k in range(count // 2):
        total += exp(-half) * half ** (k + odd / 2) / gamma(k + 1 + odd / 2)
    return total


def table(stated: Statement, names: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """Return the table of parameters over all trials as text."""
    off = np.array([each.off for each in outcomes])
    errors = np.mean([each.errors for each in outcomes], axis=0)
    truth = true_values(stated)
    rows = [
        (
            name,
            f"{truth[name]:.6g}",
            f"{error:.2g}",
            f"{np.sqrt(np.mean(column**2)):.2f}",
            f"{(np.abs(column) <= 2).sum()}",
        )
        for name, error, column in zip(names, errors, off.T)
    ]
    header = ("parameter", "true", "standard error", "scatter / it", "within two of it")
    return markdown("", header, rows).strip()


def summary(what: str, outcomes: Sequence[Outcome]) -> str:
    """Return in words how many estimates, and how many trials, are within two standard errors."""
    within = np.array([np.abs(each.off) <= 2 for each in outcomes])
    count, size = within.shape
    joint = sum(each.probability >= MISSES for each in outcomes)
    alone = (1 - MISSES) ** size
    return (
        f"{what}: {within.sum()} of {within.size} within two standard errors "
        f"(expected {(1 - MISSES) * within.size:.0f}); all {size} of them in "
        f"{within.all(axis=1).sum()} of {count} trials (expected, were they independent, "
        f"{alone * count:.1f}); within the ellipsoid that true ones leave as rarely in {joint} of "
        f"{count} (expected {(1 - MISSES) * count:.1f})"
    )


def run(arguments: Sequence[str] | None = None) -> int:
    """Print what trials find, and how often that is true, and return the exit status."""
    flags = _parser().parse_args(arguments)
    stated = statement()
    try:
        for name in ("trials", "draws"):
            if getattr(flags, name) < 1:
                raise ValueError(f"--{name}: expected at least 1, got {getattr(flags, name)}")
        if not flags.rate >= 10:
            raise ValueError(f"--rate: expected at least 10 samples in a second, got {flags.rate}")
        motion = planned(stated, flags.draws, flags.noise, flags.bandwidth, flags.rate)
        angles_alone = replace(motion, qd=None, qdd=None, encoder=flags.encoder or None)
        seeds = range(flags.seed, flags.seed + flags.trials)
        recordings = [noisy(angles_alone, seed) for seed in seeds]
    except ValueError as error:
        return refuse("identify_arm", error)
    if flags.exact:
        recordings = [replace(each, encoder=None) for each in recordings]
    answers = [identified(stated, each) for each in recordings]
    print(f"{motion.name}, the best of {flags.draws}; the first of {flags.trials} trials:\n")
    print(answers[0], end="\n\n")
    friction = [f"{name}_{kind}" for name in NAMES for kind in ("viscous", "dry")]
    try:
        for what, names in (("base parameters", list(stated.base)), ("friction", friction)):
            outcomes = [outcome(stated, answer, names) for answer in answers]
            print(table(stated, names, outcomes), summary(what, outcomes), sep="\n\n", end="\n\n")
    except ValueError as error:
        print(f"identify_arm: {error}", file=sys.stderr)
        return FAILED
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m problems.identify_arm", description=__doc__, allow_abbrev=False
    )
    count: dict = {"type": int, "metavar": "N"}
    size: dict = {"type": float, "metavar": "X"}
    parser.add_argument("--trials", default=20, help="seeded trials (default: 20)", **count)
    parser.add_argument("--seed", default=0, help="of the first (default: 0)", **count)
    parser.add_argument("--draws", default=10, help="motions to choose from (10)", **count)
    parser.add_argument("--noise", default=0.2, help="of the torques (0.2 N m)", **size)
    parser.add_argument("--bandwidth", default=50.0, help="of that noise (50 Hz)", **size)
    parser.add_argument("--rate", default=RATE, help="samples in a second (200)", **size)
    parser.add_argument("--encoder", default=0.0, help="noise of the angles (0 rad)", **size)
    parser.add_argument("--exact", action="store_true", help="take noisy angles as exact ones")
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
