"""Weights of a reach, or of walks, found again from the motions that are optimal with them.

The reach is of two links whose torques are at their limits, the planar walk of a biped of five
links on point feet, the walk that of the human, with all terms of its cost.

The motions are predicted with weights that a seed draws about those of the statement, by a factor
of exp(0.4) [assumed], and sampled 51 times, exactly and with noise on all coordinates. The search
begins at the statement's own weights, and from noisy curves, to save time, at those found from
exact ones. One term keeps its weight, which gives the scale.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic

import numpy as np

from ocp import (
    BSpline,
    Ground,
    Guess,
    Objective,
    ObjectiveFit,
    Problem,
    Recording,
    Solution,
    Solver,
    Transcription,
    at_end,
    at_start,
    duration,
    effort,
    friction,
    identify_objective,
    jerk,
    joint_limits,
    mirror_symmetry,
    point_contact,
    smoothness,
    solve,
    squares,
    torque_limits,
    torque_rate,
    unilateral,
)
from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.mechanics import nominal
from ocp.models.arms.two_link import two_link
from ocp.models.walkers.five_link import five_link
from ocp.problems.arms.identify_arm import MISSES
from ocp.problems.gait.kept_trials import KeptTrials, errors_of, failure, trials_table
from ocp.problems.gait.solve_step import closely, walk
from ocp.problems.gait.statement.step import problem as step
from ocp.problems.gait.walks_at_speeds import judge_speeds, speeds_table
from ocp.problems.hopping.biped_walk import DRIVEN, EXCHANGED, swing
from ocp.storage import check_writable

SPREAD = 0.4  # standard deviation of the logarithms of true weights over the statement's
SAMPLES = 51
ANGLE, PLACE = 0.01, 0.002  # rad and m: noise of angles, as of markers' kinematics, and of places
SCALE = {
    "reach": "duration",
    "planar": "effort",
    "walk": "excitation",
}  # terms that keep their weights
STRIDING = np.array(  # m and rad: waypoints of the planar walk from which it is found
    [
        [-0.2, 0.0, 0.25],
        [0.75, 0.78, 0.75],
        [0.0, 0.0, 0.0],
        [0.3, 0.0, -0.3],
        [-0.1, -0.1, -0.1],
        [-0.3, 0.2, 0.3],
        [-0.1, -0.7, -0.1],
    ]
)
EXACT = 0.01  # that a weight may be off which is found from exact curves


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem at weights that are not the true ones, its factors {term: true over stated}, the
    motion that is optimal with the true ones, and how problems are solved, from a `guess` on."""

    problem: Problem
    factors: dict[str, float]
    motion: Solution
    guess: Solution
    transcription: Transcription
    solver: Solver

    @property
    def sought(self) -> tuple[str, ...]:
        """The terms whose weights are sought."""
        return tuple(name for name, factor in self.factors.items() if factor != 1.0)

    def identify(
        self, motions: Sequence[Recording | Solution], *, secants: bool = True
    ) -> ObjectiveFit:
        """Return the weights found from motions."""
        return identify_objective(
            self.problem,
            motions,
            self.sought,
            guess=self.guess,
            transcription=self.transcription,
            solver=self.solver,
            secants=secants,
        )

    def off(self, found: ObjectiveFit) -> np.ndarray:
        """Return the logarithms of weights found over true ones (k,)."""
        true = {t.name: w * self.factors[t.name] for w, t in self.problem.objective.terms}
        return np.array([np.log(found.weights[name] / true[name]) for name in found.terms])


def reach() -> Problem:
    """Return a reach of two links in free time that spares time, effort, jerk and rates of
    torques."""
    arm = two_link(torque=1.6)
    return Problem(
        tree=arm,
        motion=BSpline(points=12),
        duration=(0.3, 3.0),
        objective=duration() + 0.05 * effort() + 1e-5 * jerk() + 2e-3 * torque_rate(),
        constraints=(
            at_start(arm, q=(0.0, -2.0), qd=0.0, qdd=0.0),
            at_end(arm, q=(1.2, -0.9), qd=0.0, qdd=0.0),
            torque_limits(arm),
        ),
    )


def planar() -> Problem:
    """Return a step of a planar biped of five links that lands without a blow and spares torques of
    hips and knees, accelerations, rates of torques, and leans of the torso."""
    biped = five_link(torque=100.0)
    up, (hips, knees) = (0.0, 1.0, 0.0), (DRIVEN[::2], DRIVEN[1::2])
    ground = Ground(feet=(point_contact(biped, "left foot", normal=up),), normal=up)
    ((_, knee),) = effort(biped, knees).terms
    return Problem(
        tree=biped,
        motion=BSpline(points=20, degree=5),
        duration=0.7,
        ground=ground,
        symmetry=mirror_symmetry(biped, EXCHANGED, (1.0,) * 7, shift={"x": 0.45}, qdd=False),
        objective=1e-3 * effort(biped, hips)
        + Objective(terms=((1e-3, replace(knee, name="knee_effort")),))
        + 0.3 * smoothness(biped, DRIVEN, turn=30.0)
        + 1e-6 * torque_rate(biped, DRIVEN)
        + 30.0 * squares("lean", lambda at: at.q[2]),
        constraints=(
            joint_limits(biped),
            torque_limits(biped),
            unilateral(biped, ground),
            friction(biped, ground, coefficient=0.6),
            swing("right foot", 0.45, 0.0, 0.04),
        ),
    )


def statement(name: str, seed: int) -> tuple[Problem, dict[str, float]]:
    """Return the reach or a walk, and {term: true weight over the stated one} of a seed."""
    stated = {"reach": reach, "planar": planar, "walk": step}[name]()
    rng = np.random.default_rng(seed)
    terms = stated.objective.terms
    drawn = {term.name: float(np.exp(SPREAD * rng.standard_normal())) for _, term in terms}
    return stated, drawn | {SCALE[name]: 1.0}


def case(name: str, seed: int) -> Case:
    """Return the reach or a walk with true weights of a seed."""
    stated, factors = statement(name, seed)
    terms = stated.objective.terms
    true = Objective(terms=tuple((weight * factors[term.name], term) for weight, term in terms))
    transcription, solver = Transcription(), Solver(options={"tol": 1e-10})
    solved: Callable = _solve_plainly
    if name == "walk":
        solved, transcription = walk, closely(stated, transcription)
        solver = Solver(plugin="structured", options={"tol": 1e-8})  # as exactly as all others
    begin = Guess(q=STRIDING) if name == "planar" else None
    guess = solved(stated, Transcription(), Solver(), guess=begin).require(coarse=True)
    motion = solved(replace(stated, objective=true), transcription, solver, guess=guess)
    return Case(
        problem=stated,
        factors=factors,
        motion=motion.require(coarse=True),
        guess=guess,
        transcription=transcription,
        solver=solver,
    )


def _solve_plainly(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    guess: Guess | Solution | None = None,
) -> Solution:
    return solve(problem, transcription, solver, guess=guess)


def recorded(motion: Solution, seed: int | None = None) -> Recording:
    """Return the coordinates of a motion, exact, or with the noise of a seed."""
    t = motion.times(SAMPLES)
    q = motion.q(t)
    if seed is None:
        return Recording(t=t, q=q, name="exact")
    sizes = np.array(
        [PLACE if joint.kind == "prismatic" else ANGLE for joint in motion.problem.tree.moving]
    )
    noise = sizes[:, None] * np.random.default_rng(seed).standard_normal(q.shape)
    return Recording(t=t, q=q + noise, encoder=sizes, name=f"noise {seed}")


def run(arguments: Sequence[str] | None = None) -> int:
    """Print what trials find, and return the exit status: whether exact curves give all weights
    within 1 %, and noisy ones within their errors in 19 of 20."""
    flags = _parser().parse_args(arguments)
    stated, factors = statement(flags.what, flags.seed)
    sought = [name for name, factor in factors.items() if factor != 1.0]
    about = f"{flags.what}, true weights of seed {flags.seed}, by " + (
        "derivatives" if flags.slopes else "differences"
    )
    try:
        _check(flags)
        kept = KeptTrials.read(flags.file, about)
    except (ValueError, OSError) as error:
        return refuse("identify_weights", error)
    print(f"{flags.what}: {len(sought)} weights, {SCALE[flags.what]} keeps its own")
    _find(kept, flags)
    known = {term.name: float(nominal(weight)) for weight, term in stated.objective.terms}
    print(trials_table(sought, known, factors, kept))
    done = [kept.trials[seed] for seed in range(flags.trials) if seed in kept.trials]
    near, size = sum(int(each.near.sum()) for each in done), len(done) * len(sought)
    words = f"within two of their errors: {near} of {size} weights"
    print(f"{words} ({(1 - MISSES) * size:.0f} are expected)")
    largest = float(np.abs(np.expm1(kept.exact["exact"])).max())
    count = sum(each.inside for each in done)
    print(f"largest error from exact curves: {100 * largest:.2g} %")
    print(f"within the ellipsoid of their errors: {count} of {len(done)} trials")
    if len(done) < flags.trials:
        print(f"{len(done)} of {flags.trials} trials are done: the same command goes on")
    if flags.speeds:
        seeds = [seed for seed in range(flags.trials) if seed in kept.trials]
        judge_speeds(kept, factors, sought, flags.speeds, seeds)
        print(speeds_table(kept, flags.speeds, seeds))
    enough = largest <= EXACT and count >= int(0.95 * flags.trials)
    return DONE if enough else FAILED


def _check(flags: argparse.Namespace) -> None:
    """Raise ValueError for numbers of no sense."""
    if flags.trials < 1:
        raise ValueError(f"--trials: expected at least 1, got {flags.trials}")
    if flags.speeds and flags.what != "walk":
        raise ValueError(f"--speeds: of the walk alone, not of {flags.what}")
    if flags.file is not None:
        check_writable(flags.file)


def _find(kept: KeptTrials, flags: argparse.Namespace) -> None:
    """Find the weights of the trials that are not kept yet, until time is over."""
    end = monotonic() + flags.seconds
    left = [seed for seed in range(flags.trials) if seed not in kept.trials]
    if not left and kept.exact:
        return
    this = case(flags.what, flags.seed)
    exact = this.identify([recorded(this.motion)])
    _tell("exact", this, exact)
    if not kept.exact:
        true = {t.name: w * this.factors[t.name] for w, t in this.problem.objective.terms}
        by = this.identify([this.motion]).inverse
        conditions = None if by is None else [by[n] / true[n] - 1 for n in exact.terms]
        kept.exact = {"exact": this.off(exact).tolist(), "conditions": conditions}
        kept.save()
    near = replace(this, problem=exact.problem, guess=exact.solutions[0])
    for seed in left:
        if monotonic() > end:
            return
        try:
            found = near.identify([recorded(this.motion, seed)], secants=not flags.slopes)
        except ValueError as error:
            kept.trials[seed] = failure(len(this.sought), error)
        else:
            kept.trials[seed] = errors_of(this.off(found), found)
            _tell(f"noise {seed}", this, found)
        kept.save()


def _tell(what: str, this: Case, found: ObjectiveFit) -> None:
    """Print how a fit ended, at once."""
    off = np.abs(np.expm1(this.off(found))).max()
    words = f"{what}: {found.iterations} iterations, {found.status}, {sum(found.changes)} active"
    print(f"{words} bounds changed, largest error {100 * off:.2g} %", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m problems.identify_weights", description=__doc__, allow_abbrev=False
    )
    words = "the reach (default), the planar walk, or the walk of the human"
    parser.add_argument("what", nargs="?", default="reach", choices=tuple(SCALE), help=words)
    count: dict = {"type": int, "metavar": "N"}
    parser.add_argument("--trials", default=20, help="with noise (default: 20)", **count)
    parser.add_argument("--seed", default=0, help="of the true weights (default: 0)", **count)
    words = "that keeps what is found: the same command goes on from there"
    parser.add_argument("--file", metavar="FILE.json", help=words)
    words = "begin no trial after so long (s; default: none)"
    parser.add_argument("--seconds", type=float, default=inf, metavar="S", help=words)
    words = "speeds (m/s) at which walks by the weights found are laid beside the true ones"
    parser.add_argument("--speeds", type=float, nargs="+", default=[], metavar="V", help=words)
    words = "errors by derivatives alone, also where active sets change within them"
    parser.add_argument("--slopes", action="store_true", help=words)
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
