"""Two flexible links slew in minimum time, with a bound on how the tip vibrates afterwards.

They move in the horizontal plane from rest to rest. Before and after: the quickest slew of rigid
links, executed by the flexible ones, and the slew planned for these. Executed means that the joints
follow their planned angles, as stiff servos make them, and are held at the goal afterwards, while
the links bend as they must. The residual vibration is the tip's largest distance from its place at
rest in the second after the move.

The bound holds for all that follows: with the joints held no more energy is left than the elastic
and the kinetic one at the end, E, so that the tip, which modes of stiffness K move by J, stays
within sqrt(2 E |J K^-1 J'|). A bang-bang motion would excite every vibration there is: so the
integral of the squared modal accelerations, each times its frequency over the lowest of its link,
is added with a small weight, which rounds the jumps of the torque.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Problem,
    Solution,
    Task,
    Tree,
    Views,
    at_end,
    at_start,
    duration,
    path,
    plot,
    solve,
    squares,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics import Matrix, kinetic_energy, position, potential_energy, structure
from ocp.models.arms.flexible_arm import slewing_arm
from ocp.motion import Basis
from ocp.plots import COLOURS, SMALL, WIDTH, picture, style
from ocp.transcription import integrate_passive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMOOTH = 1e-3  # s4/m2: what the squared modal accelerations weigh beside the duration
RING = 1.0  # s: of ringing after the move
STEP = 4e-4  # s: of Runge-Kutta, 50 in the quickest period of two shapes
FINER = 3  # shapes per link of the arm on which spill-over is looked for
DURATIONS = (0.2, 5.0)  # s
POINTS, DEGREE = 80, 5  # of the spline


def problem(
    shoulder: float = 1.2,
    elbow: float = 0.8,
    residual: float = 0.001,
    torque: float = 1.0,
    modes: int = 2,
    points: int = POINTS,
    deflection: float = 0.1,
    rigid: bool = False,
) -> Problem:
    """`shoulder`, `elbow`: angles turned through (rad); `residual`: bound on the tip's vibration
    after the move (m), 0 for none at all, inf for any; `torque`: multiplies the joints' limits;
    `modes`: shapes per link; `points`: control points per coordinate; `deflection`: bound on each
    link's bending, of its length; `rigid`: plan for rigid links, which the flexible ones execute.
    """
    if not residual >= 0:
        raise ValueError(f"residual: expected at least 0 m, got {residual:g}")
    arm = slewing_arm(bend=modes, torque=torque, rigid=rigid)
    motion = BSpline(points=points, degree=DEGREE)
    return slew(arm, (shoulder, elbow), motion, residual, deflection)


def slew(
    arm: Tree,
    goal: Sequence[float],
    motion: Basis,
    residual: float = inf,
    deflection: float = inf,
) -> Problem:
    """Return the Problem of a slew from angles of zero to the `goal` (2,), rad.

    Of an arm, flexible or rigid, with the bounds of `problem`.
    """
    turned, amplitudes = dict(zip(_driven(arm), goal)), _amplitudes(arm)
    objective, arrival = duration(), at_end(arm, q=turned, qd=dict.fromkeys(turned, 0.0))
    bounds: list[Constraint] = []
    if amplitudes:
        objective += SMOOTH * squares("shaking", _shaking(arm))
        if residual == 0:
            still = dict.fromkeys((arm.moving[row].name for row in amplitudes), 0.0)
            arrival = at_end(arm, q=turned | still, qd=0.0)
        elif residual < inf:
            bounds.append(_little_energy(arm, goal, residual))
        if deflection < inf:
            bounds.append(_little_bending(arm, deflection))
    return Problem(
        tree=arm,
        motion=motion,
        duration=DURATIONS,
        objective=objective,
        constraints=(at_start(arm, q=0.0, qd=0.0), arrival, torque_limits(arm), *bounds),
    )


def _shaking(arm: Tree) -> Any:
    """Return function(Instant): modal accelerations, each times its frequency over the lowest."""
    amplitudes, bending_links = _amplitudes(arm), [link.modes for link in arm.links if link.modes]
    ratios = [modes.frequencies / modes.frequencies[0] for modes in bending_links]
    weights = ca.DM(np.concatenate(ratios))
    return lambda at: at.qdd[amplitudes] * weights


def _little_energy(arm: Tree, goal: Sequence[float], residual: float) -> Constraint:
    """Return the bound on the energy at the end that keeps the tip within `residual` (m)."""
    scale = 2 * sway(arm, goal) / residual**2

    def energy(at: Any) -> Matrix:
        return scale * (kinetic_energy(arm, at.q, at.qd) + potential_energy(arm, at.q))

    return path("residual", energy, upper=1.0, when="end", units="of the energy allowed")


def _little_bending(arm: Tree, deflection: float) -> Constraint:
    """Return the bound on how far each flexible link bends, of its length."""
    return path(
        "deflections",
        lambda at: bending(arm, at.q),
        lower=-deflection,
        upper=deflection,
        labels=arm.flexible,
        units="of the length",
    )


def sway(arm: Tree, goal: Sequence[float]) -> float:
    """Return |J K^-1 J'| (m2/J) at the goal.

    It is the largest squared distance of the tip from its place at rest by 1/2 J of elastic energy.
    """
    at, rows, values = ca.SX.sym("q", arm.dof), _amplitudes(arm), np.zeros(arm.dof)
    values[list(structure(arm).drives)] = goal
    parts = ca.jacobian(position(arm, at, "tip"), at), ca.hessian(potential_energy(arm, at), at)[0]
    lever, stiffness = (part[..., rows] for part in _evaluated(parts, at, values))
    return float(np.linalg.eigvalsh(lever @ np.linalg.solve(stiffness[rows], lever.T))[-1])


def bending(arm: Tree, q: Matrix) -> Matrix:
    """Return each flexible link's shift at its tip across it (flexible links,), of its length."""
    shares = []
    for link, rows in zip(arm.links, arm.amplitude_rows):
        if link.modes is not None:
            length = link.modes.length
            tip = np.array([length, 0.0, 0.0, 1.0])
            shifts = link.modes.at((length, 0.0, 0.0))[: len(rows)] @ tip
            amplitudes = ca.vertcat(*(q[row] for row in rows))
            shares.append(ca.dot(ca.DM(shifts[:, 1] / length), amplitudes))
    return ca.vertcat(*shares)


def executed(plan: Solution, arm: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return times (N,), s, and q (n, N) of the arm whose joints follow the plan.

    From the start to RING after the move; then they are held.
    """
    steps, rows, amplitudes = (
        ceil(plan.duration / STEP),
        list(structure(arm).drives),
        _amplitudes(arm),
    )
    step, driving = plan.duration / steps, list(structure(plan.problem.tree).drives)
    t = plan.times(2 * steps + 1)
    driven = np.vstack([part(t)[driving] for part in (plan.q, plan.qd, plan.qdd)])
    goal = np.append(driven[:2, -1], np.zeros(4))  # at rest
    held = np.repeat(goal[:, None], 2 * ceil(RING / step) + 1, axis=1)
    moving = integrate_passive(arm, np.zeros(2 * len(amplitudes)), driven, step)
    ringing = integrate_passive(arm, moving[:, -1], held, step)
    q = np.empty((arm.dof, moving.shape[1] + ringing.shape[1] - 1))
    q[amplitudes] = np.hstack([moving, ringing[:, 1:]])[: len(amplitudes)]
    q[rows] = np.hstack([driven[:2, ::2], held[:2, 2::2]])
    return step * np.arange(q.shape[1]), q


def tip_deflection(arm: Tree, q: np.ndarray) -> np.ndarray:
    """Return the shift of the tip by bending (2, N), m.

    Along the outer link as it would be without bending, and across it.
    """
    at, straight = ca.SX.sym("q", arm.dof), q.copy()
    straight[_amplitudes(arm)] = 0.0
    tip = [position(arm, at, "tip")]
    x, y = _evaluated(tip, at, q)[0][:2] - _evaluated(tip, at, straight)[0][:2]
    angle = straight[list(structure(arm).drives)].sum(axis=0)
    return np.array([x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)])


def before(solution: Solution) -> Solution:
    """Return the quickest slew of the same arm with rigid links, between the same angles.

    Of a rigid one it is the solution itself.
    """
    arm = solution.problem.tree
    if not structure(arm).flexible:
        return solution
    stiff = replace(arm, links=tuple(replace(link, modes=None) for link in arm.links))
    planned = solution.problem.motion
    motion = BSpline(points=POINTS, degree=DEGREE) if planned.collocated else planned
    goal = solution.q(solution.duration)[list(structure(arm).drives)]
    return solve(slew(stiff, goal.tolist(), motion))


def compared(solution: Solution) -> dict[str, tuple[Solution, Tree]]:
    """Return {name: (plan, the flexible arm that executes it)}.

    Before, and if the links are flexible after, and after with more shapes.
    """
    arm = solution.problem.tree
    if not structure(arm).flexible:
        return {"before": (solution, slewing_arm())}
    return {
        "before": (before(solution), arm),
        "after": (solution, arm),
        f"after, {FINER} shapes": (solution, slewing_arm(bend=FINER)),
    }


def report(solution: Solution) -> dict[str, Any]:
    """Return the duration (s), residual vibration (m) and largest bending of every execution.

    Bending is of each link's length.
    """
    executions = {}
    for name, (plan, arm) in compared(solution).items():
        t, q = executed(plan, arm)
        at = ca.SX.sym("q", arm.dof)
        bent = np.abs(_evaluated([bending(arm, at)], at, q)[0]).max(axis=1)
        away = np.linalg.norm(tip_deflection(arm, q)[:, t >= plan.duration], axis=0)
        executions[name] = {
            "duration": plan.duration,
            "bending": bent.tolist(),
            "residual": float(away.max()),
        }
    return {"vibration": executions}


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    text = [
        f"{'vibration':<22}of the tip in {RING:g} s after the move, joints held; "
        "largest bending of the links"
    ]
    for name, entry in data["vibration"].items():
        bent = ", ".join(f"{100 * part:.2f} %" for part in entry["bending"])
        residual = f"{1000 * entry['residual']:.4g} mm"
        text.append(f"  {name:<20}{residual} after {entry['duration']:.4f} s; {bent}")
    return text


def draw(solution: Solution, file: str | Path) -> None:
    """Draw the overview to the file, and the tip's deflection to that with "-tip" added."""
    plot(solution, file)
    plot_tip(solution, Path(file).with_stem(f"{Path(file).stem}-tip"))


def plot_tip(solution: Solution, file: str | Path | None = None) -> "Figure":
    """Return one page: the tip's deflection across the outer link in every execution.

    Over time, during the move and after it.
    """
    with picture(file, WIDTH, 4.8) as figure:
        panels = figure.subplots(2, 1, sharex=True)
        for colour, (name, (plan, arm)) in zip(COLOURS, compared(solution).items()):
            t, q = executed(plan, arm)
            across = 1000 * tip_deflection(arm, q)[1]
            look = {"color": colour, "label": f"{name}, {plan.duration:.3f} s"}
            for axes, shown in zip(panels, (t >= 0, t >= plan.duration)):
                axes.plot(t[shown], across[shown], linewidth=1.0, **look)
                axes.axvline(plan.duration, color=colour, linewidth=0.6, linestyle="--")
        style(panels[0], "", "tip deflection (mm)")
        style(panels[1], "time (s)", "the same, after the move (mm)")
        panels[0].legend(fontsize=SMALL, frameon=False)
    return figure


def _driven(arm: Tree) -> list[str]:
    """Return the names of the joints that drive."""
    return [arm.moving[row].name for row in structure(arm).drives]


def _amplitudes(arm: Tree) -> list[int]:
    """Return the rows of q of all shapes' amplitudes."""
    return list(sum(arm.amplitude_rows, ()))


def _evaluated(expressions: Sequence[ca.SX], at: ca.SX, values: np.ndarray) -> list[np.ndarray]:
    """Return the values of expressions in `at` (n,), columns for columns of values (n, N)."""
    graph = ca.Function("graph", [at], expressions)
    return [np.array(part) for part in graph.call([ca.DM(values)])]


TASK = Task(problem, views=Views(plot=draw, report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)
