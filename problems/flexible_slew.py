"""Two flexible links slew in the horizontal plane, rest to rest in minimum time, with a bound on how the tip vibrates afterwards.

Before and after: the quickest slew of rigid links, executed by the flexible ones, and the slew planned for these. Executed means that the joints
follow their planned angles, as stiff servos make them, and are held at the goal afterwards, while the links bend as they must. The residual
vibration is the tip's largest distance from its place at rest in the second after the move.

The bound holds for all that follows: with the joints held no more energy is left than the elastic and the kinetic one at the end, E, so that
the tip, which modes of stiffness K move by J, stays within sqrt(2 E |J K^-1 J'|). A bang-bang motion would excite every vibration there is:
so the integral of the squared modal accelerations, each times its frequency over the lowest of its link, is added with a small weight, which
rounds the jumps of the torque.
"""

from dataclasses import replace
from math import ceil, inf
from pathlib import Path

import casadi as ca
import numpy as np
from ocp.models.flexible_arm import slewing_arm

from ocp import (
    BSpline,
    Problem,
    Task,
    Views,
    at_end,
    at_start,
    duration,
    path,
    plot,
    squares,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics.kinematics import kinetic_energy, position, potential_energy
from ocp.mechanics.structure import structure
from ocp.plots import COLOURS, SMALL, WIDTH, picture, style
from ocp.solution.solving import solve
from ocp.transcription.shooting import followed

SMOOTH = 1e-3  # s4/m2: what the squared modal accelerations weigh beside the duration
RING, STEP = (
    1.0,
    4e-4,
)  # s: of ringing after the move; of Runge-Kutta steps, 50 in the quickest period of two shapes
MORE = 3  # shapes per link of the arm on which spill-over is looked for


def problem(
    shoulder: float = 1.2,
    elbow: float = 0.8,
    residual: float = 0.001,
    torque: float = 1.0,
    modes: int = 2,
    points: int = 80,
    deflection: float = 0.1,
    rigid: bool = False,
) -> Problem:
    """`shoulder`, `elbow`: angles turned through (rad); `residual`: bound on the tip's vibration after the move (m), 0 for none at all, inf
    for any; `torque`: multiplies the joints' limits; `modes`: shapes per link; `points`: control points per coordinate; `deflection`: bound
    on each link's bending, of its length; `rigid`: plan for rigid links, which the flexible ones execute."""
    if not residual >= 0:
        raise ValueError(f"residual: expected at least 0 m, got {residual:g}")
    return slew(
        slewing_arm(bend=modes, torque=torque, rigid=rigid),
        (shoulder, elbow),
        BSpline(points=points, degree=5),
        residual,
        deflection,
    )


def slew(arm, goal, motion, residual=inf, deflection=inf):
    """Return the Problem of a slew of an arm, flexible or rigid, from angles of zero to the `goal` (2,), with the bounds of `problem`."""
    turned, amplitudes = dict(zip(_driven(arm), goal)), _amplitudes(arm)
    objective, constraints = (
        duration(),
        [
            at_start(arm, q=0.0, qd=0.0),
            at_end(arm, q=turned, qd=dict.fromkeys(turned, 0.0)),
            torque_limits(arm),
        ],
    )
    if amplitudes:
        ratios = np.concatenate(
            [
                link.modes.frequencies / link.modes.frequencies[0]
                for link in arm.links
                if link.modes is not None
            ]
        )
        objective += SMOOTH * squares("shaking", lambda at: at.qdd[amplitudes] * ca.DM(ratios))
        still = dict.fromkeys((arm.moving[row].name for row in amplitudes), 0.0)
        constraints[1] = at_end(arm, q=turned | still, qd=0.0) if residual == 0 else constraints[1]
    if amplitudes and 0 < residual < inf:
        scale = 2 * sway(arm, goal) / residual**2
        constraints.append(
            path(
                "residual",
                lambda at: scale * (kinetic_energy(arm, at.q, at.qd) + potential_energy(arm, at.q)),
                upper=1.0,
                when="end",
                units="of the energy allowed",
            )
        )
    if amplitudes and deflection < inf:
        constraints.append(
            path(
                "deflections",
                lambda at: bending(arm, at.q),
                lower=-deflection,
                upper=deflection,
                labels=arm.flexible,
                units="of the length",
            )
        )
    return Problem(
        tree=arm,
        motion=motion,
        duration=(0.2, 5.0),
        objective=objective,
        constraints=tuple(constraints),
    )


def sway(arm, goal):
    """Return |J K^-1 J'| (m2/J): the largest squared distance of the tip from its place at rest at the goal by 1/2 J of elastic energy."""
    at, rows, values = ca.SX.sym("q", arm.dof), _amplitudes(arm), np.zeros(arm.dof)
    values[list(structure(arm).drives)] = goal
    parts = ca.jacobian(position(arm, at, "tip"), at), ca.hessian(potential_energy(arm, at), at)[0]
    lever, stiffness = (np.array(part)[..., rows] for part in _evaluated(parts, at, values))
    return float(np.linalg.eigvalsh(lever @ np.linalg.solve(stiffness[rows], lever.T))[-1])


def bending(arm, q):
    """Return each flexible link's shift at its tip across the link (flexible links,), of its length."""
    found = []
    for link, rows in zip(arm.links, arm.amplitude_rows):
        if rows:
            length = link.modes.length
            shifts = link.modes.at((length, 0.0, 0.0))[: len(rows)] @ np.array(
                [length, 0.0, 0.0, 1.0]
            )
            found.append(
                ca.dot(ca.DM(shifts[:, 1] / length), ca.vertcat(*(q[row] for row in rows)))
            )
    return ca.vertcat(*found)


# Execution ------------------------------------------------------------------------------------------------------------------


def executed(plan, arm):
    """Return times (N,), s, from the start to RING after the move, and q (n, N) of the arm whose joints follow the plan and then are held."""
    steps, rows, amplitudes = (
        ceil(plan.duration / STEP),
        list(structure(arm).drives),
        _amplitudes(arm),
    )
    step, own = plan.duration / steps, list(structure(plan.problem.tree).drives)
    t = plan.times(2 * steps + 1)
    driven = np.vstack([part(t)[own] for part in (plan.q, plan.qd, plan.qdd)])
    held = np.repeat(
        np.append(driven[:2, -1], np.zeros(4))[:, None], 2 * ceil(RING / step) + 1, axis=1
    )
    moving = followed(arm, np.zeros(2 * len(amplitudes)), driven, step)
    ringing = followed(arm, moving[:, -1], held, step)
    q = np.empty((arm.dof, moving.shape[1] + ringing.shape[1] - 1))
    q[amplitudes] = np.hstack([moving, ringing[:, 1:]])[: len(amplitudes)]
    q[rows] = np.hstack([driven[:2, ::2], held[:2, 2::2]])
    return step * np.arange(q.shape[1]), q


def tip_deflection(arm, q):
    """Return how far (2, N), m, bending shifts the tip: along the outer link as it would be without bending, and across it."""
    at, straight = ca.SX.sym("q", arm.dof), q.copy()
    straight[_amplitudes(arm)] = 0.0
    places = [_evaluated([position(arm, at, "tip")], at, values)[0][:2] for values in (q, straight)]
    angle, (x, y) = straight[list(structure(arm).drives)].sum(axis=0), places[0] - places[1]
    return np.array([x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)])


def before(solution):
    """Return the quickest slew of the same arm with rigid links, between the same angles; of a rigid one the solution itself."""
    arm = solution.problem.tree
    if not arm.flexible:
        return solution
    stiff = replace(arm, links=tuple(replace(link, modes=None) for link in arm.links))
    motion = (
        solution.problem.motion
        if isinstance(solution.problem.motion, BSpline)
        else BSpline(points=80, degree=5)
    )
    return solve(slew(stiff, solution.q(solution.duration)[list(structure(arm).drives)], motion))


def compared(solution):
    """Return {name: (plan, the flexible arm that executes it)}: before, and if the links are flexible after, and after with more shapes."""
    arm = solution.problem.tree
    if not arm.flexible:
        return {"before": (solution, slewing_arm())}
    return {
        "before": (before(solution), arm),
        "after": (solution, arm),
        f"after, {MORE} shapes": (solution, slewing_arm(bend=MORE)),
    }


def report(solution):
    """Return duration (s), residual vibration (m) and largest bending, of each link's length, of every execution."""
    found = {}
    for name, (plan, arm) in compared(solution).items():
        t, q = executed(plan, arm)
        bent = np.abs(_evaluated([bending(arm, at := ca.SX.sym("q", arm.dof))], at, q)[0]).max(
            axis=1
        )
        found[name] = {
            "duration": plan.duration,
            "bending": bent.tolist(),
            "residual": float(
                np.linalg.norm(tip_deflection(arm, q)[:, t >= plan.duration], axis=0).max()
            ),
        }
    return {"vibration": found}


def lines(found):
    """Return the report's text."""
    text = [
        f"{'vibration':<22}of the tip in {RING:g} s after the move, joints held; largest bending of the links"
    ]
    for name, entry in found["vibration"].items():
        bent = ", ".join(f"{100 * part:.2f} %" for part in entry["bending"])
        text.append(
            f"  {name:<20}{1000 * entry['residual']:.4g} mm after {entry['duration']:.4f} s; {bent}"
        )
    return text


def draw(solution, path_):
    """Draw the overview to the path, and the tip's deflection before and after to the file of that name with "-tip" added."""
    plot(solution, path_)
    plot_tip(solution, Path(path_).with_stem(f"{Path(path_).stem}-tip"))


def plot_tip(solution, path_=None):
    """Return one page: the tip's deflection across the outer link over time in every execution, during the move and after it."""
    with picture(path_, WIDTH, 4.8) as figure:
        panels = figure.subplots(2, 1, sharex=True)
        for colour, (name, (plan, arm)) in zip(COLOURS, compared(solution).items()):
            t, q = executed(plan, arm)
            across = 1000 * tip_deflection(arm, q)[1]
            for axes, shown in zip(panels, (t >= 0, t >= plan.duration)):
                axes.plot(
                    t[shown],
                    across[shown],
                    color=colour,
                    linewidth=1.0,
                    label=f"{name}, {plan.duration:.3f} s",
                )
                axes.axvline(plan.duration, color=colour, linewidth=0.6, linestyle="--")
        style(panels[0], "", "tip deflection (mm)")
        style(panels[1], "time (s)", "the same, after the move (mm)")
        panels[0].legend(fontsize=SMALL, frameon=False)
    return figure


def _driven(arm):
    return [joint.name for joint in arm.moving if joint.actuated]


def _amplitudes(arm):
    return list(sum(arm.amplitude_rows, ()))


def _evaluated(expressions, at, values):
    """Return the values (numpy) of expressions in `at` (n,), columns for columns of values (n, N)."""
    graph = ca.Function("graph", [at], expressions)
    return [np.array(part) for part in graph.call([ca.DM(values)])]


VIEWS = Views(plot=draw, report=report, lines=lines)

TASK = Task(problem, views=VIEWS)

if __name__ == "__main__":
    main(TASK)
