"""A gymnast somersaults twice and twists once, in flight, by swinging the arms with least effort.

Angular momentum about the centre of mass is constant in the air, and at take-off it is that of a
somersault alone: the body neither twists nor tilts there, and neither do the arms move. Only if an
arm goes up while the other goes down does the body tilt, and then some of the somersault's
momentum is along the body and twists it (Yeadon 1993, parts II and III). The body's attitude is a
quaternion, and passes every attitude at which three angles would lose a turn.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import pi
from typing import Any

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Guess,
    Instant,
    Problem,
    Radau,
    Solution,
    Solver,
    Task,
    Transcription,
    Views,
    at_end,
    at_start,
    effort,
    joint_limits,
    path,
    solve,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics import quaternion_product
from ocp.models.walkers.gymnast import gymnast

WAYPOINTS = 65
PLACES = ("body_x", "body_y", "body_z")
QUATERNION = ("body.w", "body.x", "body.y", "body.z")
ARMS = ("left", "right")
LEAN = 0.8  # rad: how far the first guess lifts an arm and lowers the other


@dataclass(frozen=True)
class TakeOff:
    """How a flight begins, with rates (rad/s) of tilt and twist of which there shall be none, and
    how many `somersaults` and `twists` it is to bring."""

    somersaults: float
    twists: float

    def __call__(self, at: Instant) -> Any:
        return at.angular_velocity("head")[[0, 2]]

    def attitude(self, s: float) -> np.ndarray:
        """Return the unit quaternion (4,) after a share s of the turns, if both went evenly."""
        over, about = (pi * s * turns for turns in (self.somersaults, self.twists))
        somersault = np.array([np.cos(over), 0, np.sin(over), 0])
        twist = np.array([np.cos(about), 0, 0, np.sin(about)])
        return np.array(quaternion_product(somersault, twist)).ravel()


def problem(
    somersaults: float = 2.0,
    twists: float = 1.0,
    duration: float = 1.6,
    torque: float = 150.0,
    points: int = 30,
) -> Problem:
    """`somersaults`, `twists`: full turns forward and to the left, of twists halves too;
    `duration`: of the flight (s), which ends as high as it begins; `torque`: limit at the shoulders
    (N m); `points`: control points per coordinate, where it is on a spline."""
    if twists % 0.5:
        raise ValueError(f"twists: expected a multiple of one half, got {twists:g}")
    tree, begin = gymnast(torque=torque), TakeOff(somersaults, twists)
    still = dict.fromkeys(ARMS, 0.0)
    return Problem(
        tree=tree,
        motion=BSpline(points=points, degree=5),
        duration=duration,
        objective=effort(tree, ARMS),
        constraints=(
            *at_start(tree, q=_posture(begin.attitude(0.0)), qd=still),
            *at_end(tree, q=_posture(begin.attitude(1.0)), qd=still),
            path(
                "take-off",
                begin,
                lower=0.0,
                upper=0.0,
                when="start",
                labels=("tilt", "twist"),
                units="rad/s",
            ),
            joint_limits(tree),
            torque_limits(tree),
        ),
    )


def _posture(quaternion: np.ndarray) -> dict[str, float]:
    """Return coordinates by name: where the flight begins and ends, arms sideways."""
    attitude = zip(QUATERNION, (round(float(each), 12) for each in quaternion))
    return dict.fromkeys(PLACES, 0.0) | dict(attitude) | dict.fromkeys(ARMS, pi / 2)


def turning(
    statement: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Any = None,
    **settings: Any,
) -> Solution:
    """Solve from a parabola on which the body turns evenly, unless there is a guess, since the ends
    do not tell how often it turns; `settings` are those of `solve`."""
    if guess is None:
        guess = Guess(q=evenly(statement))
    return solve(statement, transcription, solver, guess=guess, **settings)


def evenly(statement: Problem) -> np.ndarray:
    """Return waypoints (n, WAYPOINTS) that turn evenly, an arm lifted and the other lowered."""
    begin = next(each for each in _functions(statement) if isinstance(each, TakeOff))
    s, T = np.linspace(0.0, 1.0, WAYPOINTS), statement.duration[0]
    height = float(-statement.tree.gravity[2]) * T**2 / 2 * s * (1 - s)
    lean = (LEAN if begin.twists else 0.0) * np.sin(pi * s)
    attitudes = np.array([begin.attitude(share) for share in s]).T
    return np.vstack([0 * s, 0 * s, height, attitudes, pi / 2 + lean, pi / 2 - lean])


def _functions(statement: Problem) -> Iterable[Any]:
    return (each.function for each in statement.requirements)


def report(solution: Solution) -> dict[str, Any]:
    """Return the figures of the flight: the angular momentum (kg m2/s) about the centre of mass at
    take-off, the largest tilt of the body (rad), and the numbers of somersaults and twists."""
    tree, t = solution.problem.tree, solution.times(400)
    spin = solution.trace(_momentum, t)
    axis = solution.trace(lambda at: at.pose("head")[:3, 2], t)
    rates = solution.trace(lambda at: at.pose("head")[:3, :3].T @ at.angular_velocity("head"), t)
    over = np.unwrap(np.arctan2(axis[0], axis[2]))
    q = solution.q(t)[list(tree.balls[0])]
    return {
        "momentum": spin[:, 0].tolist(),
        "momentum_changes": float(np.abs(spin - spin[:, :1]).max()),
        "somersaults": float((over[-1] - over[0]) / (2 * pi)),
        "tilt": float(np.abs(np.arcsin(np.clip(axis[1], -1, 1))).max()),
        "twist_rate": float(np.abs(rates[2]).max()),
        "length": float(np.abs(np.linalg.norm(q, axis=0) - 1).max()),
    }


def _momentum(at: Instant) -> ca.SX:
    return at.angular_momentum


def lines(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the report's text."""
    momentum = ", ".join(f"{each + 0.0:.4g}" for each in np.round(data["momentum"], 9))
    return (
        f"{'angular momentum':<22}({momentum}) kg m2/s, changes by "
        f"{data['momentum_changes']:.1e} on the way",
        f"{'turns':<22}{data['somersaults']:.4f} somersaults; tilts by {data['tilt']:.3f} rad, "
        f"twists at {data['twist_rate']:.2f} rad/s at most",
    )


TASK = Task(
    problem,
    method=turning,
    transcription=Transcription(method=Radau(intervals=40, order=5)),
    views=Views(report=report, lines=lines),
)

if __name__ == "__main__":
    main(TASK)
