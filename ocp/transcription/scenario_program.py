"""One program of several scenarios: the same statement at several values of its parameters.

Scenarios share the motion, or the torques of drives, or the feedback that these follow from
(`ocp.transcription.shared_feedback`). What else is unknown, and rows that depend on it or on the
values that differ, each scenario has for itself; rows of the motion alone count once:

    x = [shared | own of scenario 1 | own of scenario 2 | ... | levels of the objective | gains]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import Parameter
from ocp.solvers.concatenate import Member, concatenate
from ocp.solvers.minimize import Outcome
from ocp.solvers.nlp import (
    NLP,
    gradient_function,
    graph_of,
    hessian_function,
    jacobian_function,
    with_rows,
)
from ocp.transcription.shared_feedback import feedback_part, feedback_rows, feedback_shape
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.variables.layout import motion_size

MEAN, WORST, SPREAD = OBJECTIVES = ("mean", "worst", "spread")
MOTION, TORQUES, FEEDBACK = SHARES = ("motion", "torques", "feedback")
LEAST = 1e-8  # of the mean's size: a spread below is smoothed


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScenarioProgram:
    """The program of all scenarios, and the way back from its variables.

    Attributes:
        programs: of each scenario as if it were alone.
        columns: places in x of the variables of each.
        rows: those of each program that stand in g, in order.
        starts: where these begin in g.
        levels: places in x of the levels of the objectives.
        gains: places in x of the gains that are shared (nodes, drives, state), if these are.
        nlp: the program.
    """

    programs: tuple[Transcribed, ...]
    columns: tuple[np.ndarray, ...]
    rows: tuple[np.ndarray, ...]
    starts: tuple[int, ...]
    levels: np.ndarray
    gains: np.ndarray | None
    nlp: NLP

    def __repr__(self) -> str:
        size, rows = len(self.nlp.lower), len(self.nlp.g_lower)
        return f"ScenarioProgram({len(self.programs)} scenarios, {size} variables, {rows} rows)"

    def join(self, own: Sequence[np.ndarray]) -> np.ndarray:
        """Return x from the variables of every scenario, the first one's where they are shared."""
        x = np.zeros(len(self.nlp.lower))
        for columns, values in zip(reversed(self.columns), reversed(own)):
            x[columns] = values
        costs = [float(each.nlp.objective(x[at])) for each, at in zip(self.programs, self.columns)]
        x[self.levels] = max(costs) if len(self.levels) == 1 else costs[: len(self.levels)]
        return x

    def outcomes(self, outcome: Outcome) -> tuple[Outcome, ...]:
        """Return the share of every scenario in an outcome, with its own objective."""
        shares = []
        for program, columns, rows, first in zip(
            self.programs, self.columns, self.rows, self.starts
        ):
            x, multipliers = outcome.x[columns], np.zeros(len(program.nlp.g_lower))
            multipliers[rows] = outcome.g_multipliers[first : first + len(rows)]
            shares.append(
                replace(
                    outcome,
                    x=x,
                    f=float(program.nlp.objective(x)),
                    g=np.array(program.nlp.constraints(x)).ravel(),
                    x_multipliers=outcome.x_multipliers[columns],
                    g_multipliers=multipliers,
                    history=(),
                )
            )
        return tuple(shares)


def scenario_program(
    programs: Sequence[Transcribed],
    own: np.ndarray,
    apart: np.ndarray,
    weights: Sequence[float],
    *,
    objective: str,
    spread: float,
    share: str = MOTION,
) -> ScenarioProgram:
    """Return the program of several scenarios.

    Args:
        programs: of each scenario as if it were alone, all on the same graphs.
        own: which of their variables each has for itself (variables,), as `own_columns` tells.
        apart: their rows that depend on these (k,), as `own_rows` tells.
        weights: of the scenarios, of sum one.
        objective: the "mean", the "worst" or the mean and its "spread".
        spread: standard deviations beside the mean.
        share: of SHARES, as `own` has it.
    """
    columns, size = _joint_columns(own, len(programs))
    count = {MEAN: 0, WORST: 1, SPREAD: len(programs)}[objective]
    levels = size + np.arange(count)
    first = programs[0].nlp
    alike = np.ones(len(first.g_lower), dtype=bool)
    alike[apart] = False
    lowest = np.max([each.nlp.g_lower for each in programs], axis=0)
    highest = np.min([each.nlp.g_upper for each in programs], axis=0)
    whole = replace(  # rows of the motion alone stand once, within the bounds of all
        first,
        g_lower=np.where(alike, lowest, first.g_lower),
        g_upper=np.where(alike, highest, first.g_upper),
        made={},
    )
    rows = [np.arange(len(alike)), *(apart for _ in programs[1:])]
    fewer = with_rows(first, apart)
    nlps = [whole, *(with_bounds_of(fewer, each.nlp, apart) for each in programs[1:])]
    counts = {MEAN: [None], WORST: levels.tolist(), SPREAD: levels.tolist()}[objective]
    bounding = counts * (len(programs) if len(counts) == 1 else 1)
    members = [
        Member(nlp=nlp, columns=at, weight=weight, level=level, equal=objective == SPREAD)
        for nlp, at, weight, level in zip(nlps, columns, weights, bounding)
    ]
    starts = np.cumsum([0, *(each.rows for each in members)]).tolist()
    if count:
        members.append(Member(nlp=_of_levels(weights, objective, spread), columns=levels))
    whole_size, gains = size + count, None
    if share == FEEDBACK:
        part = feedback_part(programs[0])
        shape = feedback_shape(part)
        gains = whole_size + np.arange(np.prod(shape)).reshape(shape)
        whole_size += gains.size
        tied = feedback_rows(part, columns, whole_size - gains.size)
        members.append(Member(nlp=tied, columns=np.arange(whole_size)))
    return ScenarioProgram(
        programs=tuple(programs),
        columns=tuple(columns),
        rows=tuple(rows),
        starts=tuple(starts[: len(programs)]),
        levels=levels,
        gains=gains,
        nlp=concatenate(members, whole_size),
    )


def own_columns(
    base: Transcribed, values: Sequence[Mapping[Parameter, float]], share: str
) -> np.ndarray:
    """Return which variables (variables,) of a program each scenario has for itself.

    Raises ValueError where torques are shared that are no variables.
    """
    own = np.full(base.layout.size, share != MOTION)
    for part, columns in zip(base.parts, base.columns):
        place = part.layout.place
        if share == MOTION:
            own[columns[place[place >= 0]]] = True
            continue
        duration = motion_size(part.problem) - part.problem.tree.dof * part.problem.motion.points
        own[columns[:duration]] = False
        if share == FEEDBACK:
            feedback_part(base)
            continue
        if not part.layout.lifts:
            raise ValueError(
                "scenarios: share: torques are no variables of this program; state contacts or a "
                "method that has them, as Radau, or share the motion"
            )
        tree = part.problem.tree
        drives = [k for k, row in enumerate(structure(tree).drives) if row not in tree.states]
        torques = place[drives]
        own[columns[torques[torques >= 0]]] = False
    for impulse in base.layout.impulses.values():
        own[impulse] = True
    for each, place in base.layout.places.items():
        own[place] = len({one[each] for one in values}) > 1
    return own


def own_rows(nlp: NLP, own: np.ndarray) -> np.ndarray:
    """Return the rows (k,) that depend on what each scenario has for itself."""
    row, column = map(np.array, graph_of(nlp.constraints).jac_sparsity(0, 0).get_triplet())
    return np.unique(row[own[column]]).astype(int)


def with_bounds_of(fewer: NLP, nlp: NLP, rows: np.ndarray) -> NLP:
    """Return a program of some rows with the bounds of another one, on the same graphs."""
    g_lower, g_upper = nlp.g_lower[rows], nlp.g_upper[rows]
    return replace(fewer, lower=nlp.lower, upper=nlp.upper, g_lower=g_lower, g_upper=g_upper)


def _joint_columns(own: np.ndarray, count: int) -> tuple[list[np.ndarray], int]:
    """Return the places of each scenario's variables in x, and their number."""
    shared, alone = int(np.sum(~own)), int(np.sum(own))
    columns = []
    for k in range(count):
        places = np.empty(len(own), dtype=int)
        places[~own] = np.arange(shared)
        places[own] = shared + k * alone + np.arange(alone)
        columns.append(places)
    return columns, shared + count * alone


def _of_levels(weights: Sequence[float], objective: str, spread: float) -> NLP:
    """Return the program of the levels alone: the least worst one, or their mean and spread."""
    count = 1 if objective == WORST else len(weights)
    x, p = ca.MX.sym("x", count), ca.MX.sym("p", 0)
    if objective == WORST:
        f = x[0]
    else:
        share = ca.DM(list(weights))
        mean = ca.dot(share, x)
        variance = ca.dot(share, (x - mean) ** 2)
        f = mean + spread * ca.sqrt(variance + (LEAST * ca.fmax(1.0, ca.fabs(mean))) ** 2)
    curvature = ca.hessian(f, x)[0]
    bends = ca.Function("curvature", [x], [ca.triu(curvature)])
    free, none = np.full(count, np.inf), np.empty(0)
    rows, slopes = ca.MX(0, 1), ca.MX(0, count)
    return NLP(
        lower=-free,
        upper=free,
        g_lower=none,
        g_upper=none,
        objective=ca.Function("f", [x], [f], ["x"], ["f"]),
        constraints=ca.Function("g", [x], [rows], ["x"], ["g"]),
        gradient=gradient_function(x, p, f, ca.gradient(f, x)),
        jacobian=jacobian_function(x, p, rows, slopes),
        hessian=lambda kind: hessian_function(
            count, 0, lambda x, p, lam_f, lam_g: lam_f * bends(x)
        ),
    )
