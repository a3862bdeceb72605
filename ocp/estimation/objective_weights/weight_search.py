"""Search for the weights with which optimal motions are nearest to measured ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ocp.estimation.objective_weights.inverse_optimality import Stationarity, stationarity
from ocp.estimation.objective_weights.measured_curves import MeasuredCurves
from ocp.solution.solution import Solution
from ocp.solvers.least_squares import LeastSquaresResult, least_squares
from ocp.solvers.nlp import Option
from ocp.solvers.optimum.central_path import path_slopes
from ocp.solvers.optimum.nearest_point import nearest_point
from ocp.solving.plan import Plan
from ocp.solving.solved_optimum import solved_point, solved_program
from ocp.solving.starts.warm_start import Guesses, start_phase
from ocp.transcription.parameters.parameter_derivatives import labels
from ocp.transcription.transcribe_phase import TranscribedPhase

FACTOR = "objective_weight_{}"  # of the parameters that stand for weights, by their number
RANGE = 1e6  # factor by which a weight may differ from the statement's
WORTH = 1e-3  # of chi-square: a step that promises less moves weights by 3 % of their errors
PRECISE = 1e-7  # of a curve's size, as far as optima are known: what residuals are worth no step
SECANTS = 5  # rounds of slopes by secants
STILL = 0.1  # standard errors: a step by secants that is worth no other round
SHARES = 1.0, 0.5, 0.25, 0.1  # of such a step, of which the first is taken that comes nearer
LATE = 0.02  # of a duration: by which a recording may differ from the problem's


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptimalMotion:
    """A motion at some weights: its `solution`, weighted residuals (M,) and their derivatives
    (M, k) by logarithms of the weights; `active` sides of inequalities, of variables and rows: -1,
    0 or 1; `weak` constraints about to change, and `reach` (k,), by how much each logarithm may
    change until the active set does, to first order.
    """

    solution: Solution
    residuals: np.ndarray
    slopes: np.ndarray
    active: np.ndarray
    weak: tuple[str, ...]
    reach: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Trial:
    """A measured motion: its `curves`, and the computed one `whole` where it is such; `names` of
    the terms sought, `values` of the plan's other parameters, and the `guess` of the first solve.

    The last two optimal motions are kept in `found`, in `nearest` the one that came nearest to
    what was measured, and the active set of the first.
    """

    plan: Plan
    names: tuple[str, ...]
    values: Mapping[str, float]
    curves: MeasuredCurves
    whole: Solution | None
    guess: Guesses
    found: dict[bytes, OptimalMotion] = field(default_factory=dict)
    nearest: list[OptimalMotion] = field(default_factory=list)
    first_active: list[np.ndarray] = field(default_factory=list)

    @cached_property
    def residual_function(self) -> ca.Function:
        """The Function x -> (r, dr/dx) of the curves.

        Raises ValueError for a recording of another duration than the problem's.
        """
        part = self.program
        lower, upper = part.problem.duration
        if lower == upper and abs(self.curves.time - lower) > LATE * lower:
            raise ValueError(
                f"{self.curves.name}: lasts {self.curves.time:.4g} s, the problem {lower:.4g} s"
            )
        return self.curves.residuals(part)

    @property
    def program(self) -> TranscribedPhase:
        """The program at the weights of the statement."""
        factors = self.factors(np.zeros(len(self.names)))
        return self.plan.at({**self.values, **factors}).parts[0]

    def factors(self, logs: np.ndarray) -> dict[str, float]:
        """Return {parameter: factor} of weights by their logarithms (k,)."""
        return {FACTOR.format(k): float(np.exp(log)) for k, log in enumerate(logs)}

    def columns(self, program: TranscribedPhase) -> list[int]:
        """Return the places in x of the factors of weights."""
        own = {each.name: k for k, each in enumerate(program.parameters)}
        first = program.layout.parameters.start
        return [first + own[FACTOR.format(k)] for k in range(len(self.names))]

    def at(self, logs: np.ndarray) -> OptimalMotion:
        """Return the optimal motion at logarithms of weights (k,).

        Raises ValueError where there is no strict optimum.
        """
        key = logs.tobytes()
        if key not in self.found:
            motion = self._solve(logs)
            for oldest in list(self.found)[:-1]:
                del self.found[oldest]
            self.found[key] = motion
            self.first_active[:] = self.first_active or [motion.active]
        return self.found[key]

    def solve(self, logs: np.ndarray) -> Solution:
        """Return the Solution at logarithms of weights (k,), begun at the nearest motion so far, or
        where that fails as the first one.

        Not at the last motion: of weights that were tried and given up it may be another local
        optimum than those of the search, and so would all that begin there.
        """
        options: dict[str, Option] = {**self.values, **self.factors(logs), "check_mesh": False}
        for begin in (*(each.solution for each in self.nearest), self.guess):
            solution = self.plan.solve(begin, **options)
            if solution.success:
                break
        return solution

    def solved_residuals(self, logs: np.ndarray) -> np.ndarray:
        """Return the residuals (M,) as a solve leaves them; raise ValueError where it fails."""
        solution = self.solve(logs)
        x = start_phase(solved_program(solution), solution).x
        return np.array(self.residual_function(x)[0]).ravel()

    def _solve(self, logs: np.ndarray) -> OptimalMotion:
        solution = self.solve(logs)
        program = solved_program(solution)
        point, nlp = solved_point(program, solution), program.with_parameter_slopes.nlp
        slopes = path_slopes(nlp, point, self.columns(program), labels(program))
        off, by_x = self.residual_function(point.x)
        return OptimalMotion(
            solution=solution,
            residuals=np.array(off).ravel(),
            slopes=np.array(by_x @ ca.DM(slopes.x)) * np.exp(logs),
            active=slopes.sides,
            weak=slopes.weak,
            reach=slopes.reach / np.exp(logs),
        )

    def changes(self, motion: OptimalMotion) -> int:
        """Return the number of bounds active at a motion but not at the first one, or the other way
        round."""
        return int(np.count_nonzero(motion.active != self.first_active[0]))

    def whole_variables(self) -> np.ndarray | None:
        """Return the variables of the motion: computed, or nearest to the recording; None where
        no such motion is found."""
        program = self.program
        if self.whole is None:
            begin = start_phase(program, self.at(np.zeros(len(self.names))).solution).x
            solver = self.plan.solver
            return nearest_point(program.nlp, self.residual_function, begin, solver)
        x = start_phase(program, self.whole).x
        x[program.layout.parameters] = list(program.layout.values.values())
        return x


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSearch:
    """The search over trials; `complete` where all deviations are given."""

    trials: tuple[Trial, ...]
    complete: bool
    iterations: int
    least: list[float] = field(init=False, default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The terms sought."""
        return self.trials[0].names

    @property
    def count(self) -> float:
        """Number of independent measurements."""
        return sum(trial.curves.count for trial in self.trials)

    def stack(self, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals (M,) and slopes (M, k); raise ValueError where a motion is not found."""
        motions = [trial.at(logs) for trial in self.trials]
        off = np.concatenate([each.residuals for each in motions])
        if not self.least or off @ off < self.least[0]:
            self.least[:] = [float(off @ off)]
            for trial, motion in zip(self.trials, motions):
                trial.nearest[:] = [motion]
        return off, np.concatenate([each.slopes for each in motions])

    def residuals(self, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals (M,) and slopes (M, k), infinite where a motion is not found: the step
        there is damped."""
        try:
            return self.stack(logs)
        except ValueError:
            size = sum(trial.residual_function.size1_out(0) for trial in self.trials)
            return np.full(size, np.inf), np.zeros((size, len(logs)))

    def by_conditions(self) -> Stationarity | None:
        """Return weights by the first-order conditions of the motions that are whole."""
        programs, points = [], []
        for trial in self.trials:
            x = trial.whole_variables()
            if x is not None:
                programs.append(trial.program.with_parameter_slopes.nlp)
                points.append(x)
        columns = self.trials[0].columns(self.trials[0].program)
        return stationarity(programs, points, columns) if programs else None

    def better_start(self, inverse: Stationarity | None) -> np.ndarray:
        """Return the logarithms of the statement's weights, or of those by the first-order
        conditions where these leave none at nought, as noise does, and motions are nearer with
        them."""
        logs = np.zeros(len(self.names))
        if inverse is None or not (inverse.weights > 1 / RANGE).all():
            return logs
        before, _ = self.stack(logs)
        other = np.log(np.clip(inverse.weights, 1 / RANGE, RANGE))
        there, _ = self.residuals(other)
        return other if there @ there < before @ before else logs

    def secants(self, logs: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """Return slopes (M, k) by differences over one standard error to both sides, along the
        axes of the ellipsoid of errors; raise ValueError where a motion is not found."""
        variances, axes = np.linalg.eigh(covariance)
        moves = axes * np.sqrt(variances)
        ends = [(self._solve_all(logs + move), self._solve_all(logs - move)) for move in moves.T]
        columns = [(ahead - behind) / 2 for ahead, behind in ends]
        return np.column_stack(columns) @ np.linalg.inv(moves)

    def _solve_all(self, logs: np.ndarray) -> np.ndarray:
        return np.concatenate([trial.solved_residuals(logs) for trial in self.trials])

    def settle(self, least: LeastSquaresResult) -> LeastSquaresResult:
        """Return the least squares with steps by secants, and these as slopes, where the active
        set changes within the errors: each set has slopes of its own, true no farther than it.

        Raises ValueError where a motion is not found.
        """
        for _ in range(SECANTS):
            covariance = np.linalg.inv(least.slopes.T @ least.slopes)
            slopes = self.secants(least.x, covariance)
            step = -np.linalg.lstsq(slopes, least.residuals, rcond=None)[0]
            least = replace(least, slopes=slopes)
            if np.linalg.norm(slopes @ step) <= STILL:
                break
            before = least.residuals @ least.residuals
            for share in SHARES:
                there, _ = self.residuals(least.x + share * step)
                if there @ there < before:
                    least = replace(least, x=least.x + share * step, residuals=there)
                    break
            else:
                break
        return least

    def run(self, logs: np.ndarray) -> LeastSquaresResult:
        """Return the least squares from a start (k,) on."""
        most = np.full(len(logs), np.log(RANGE))
        return least_squares(
            self.residuals,
            logs,
            (-most, most),
            np.ones(len(logs)),
            iterations=self.iterations,
            enough=WORTH if self.complete else self.count * PRECISE**2,
        )
