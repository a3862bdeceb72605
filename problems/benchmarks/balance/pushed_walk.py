"""A walking human pushed at the trunk in mid-stance, in ten directions: it walks on, or falls.

The predicted step, its swinging foot a little higher, is followed on a ground that gives way by the
regulator of the step. Nobody says when feet touch: where the swinging foot bears, late in the step,
the next step begins, counted from where it stands.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import casadi as ca
import numpy as np

from ocp import Problem, Solution, Solver, path
from ocp.cli import exit_status
from ocp.problem import Span
from ocp.problems.benchmarks import print_claims, print_table, program_parser
from ocp.problems.benchmarks.balance.step_regulator import HEEL, PERIOD, Regulator, regulator
from ocp.problems.benchmarks.balance.walker import HALF, STEP, Walker, ground_step, walker
from ocp.problems.gait import TASK, Goal

CLEAR = 0.012  # m: of the sole above the ground in swing, less in the last fifth of the step
LOWERED = 0.1, 0.002  # m: by which it comes down, over what is left of the step, and at its end
SWING = Span(start=0.36, end=0.99)
RAISED = ("heel", "heel_med", "heel_lat", "ball_med", "ball_lat", "toe_med", "toe_lat")
BEARS = 50.0  # N: of a foot that has struck
EARLY, LATE = 0.85, 10  # of a step, and periods after it, between which the next one begins
FALLEN = 0.25  # m: of the pelvis below its lowest place
PUSH_BEGINS, PUSH_LASTS = 1.2, 0.1  # s: in the middle of the third step, whose foot stands flat
BEFORE = 3  # steps up to the end of the pushed one
DIRECTIONS, STRIDES, IMPULSE = 10, 10, 30.0  # the last in N s


def raised() -> Problem:
    """Return the statement of the step, its swinging sole kept off the ground."""
    plain, names = TASK.problem(goal=Goal(objective="human")), [f"{name}_l" for name in RAISED]

    def room(at) -> ca.SX:
        heights = ca.vertcat(*(at.position(name)[1] for name in names))
        way, end = LOWERED
        return heights - ca.fmin(CLEAR, way * (1 - at.s) - end)

    clear = path("raised", room, lower=0.0, when=SWING, labels=names, units="m")
    return replace(plain, constraints=(*plain.constraints, clear))


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Outcome of a walk.

    Attributes:
        steps: their number.
        struck: when feet struck (steps,), s.
        off: distances of feet that strike from where the plan has them, seen from the foot before
            (steps, 2), m, aside and ahead.
        shares: largest torques asked for, over their limits (n,), to which they are cut.
    """

    steps: int
    struck: np.ndarray
    off: np.ndarray
    shares: np.ndarray


def walked(body: Walker, plan: Regulator, steps: int, push: Sequence[float]) -> Walk:
    """Return the Walk of so many steps at most, pushed by a force (3,), N, as PUSH_BEGINS says."""
    n, periods = body.tree.dof, len(plan.gains)
    limits = _limits(body)
    both = np.kron(np.eye(2), body.image)
    sides = (  # the step as planned, and its image
        (plan.states, plan.torques, plan.gains),
        (both @ plan.states, body.image @ plan.torques, body.image @ plan.gains @ both),
    )
    lowest = plan.states[body.tree.coordinate("glob_ty")].min() - FALLEN
    q, qd = np.split(plan.states[:, 0], 2)
    length = np.array([0.0, np.ptp(plan.states[body.ahead, [0, -1]])])
    way, k, most = np.zeros(2), 0, np.zeros(n)
    struck, off = [], []
    for period in count():  # the state of a period's start is measured within it, too: no delay
        states, torques, gains = sides[len(struck) % 2]
        for part in range(1, round(PERIOD / STEP) + 1):
            share, first, last = part * STEP / PERIOD, min(k, periods - 1), min(k + 1, periods)
            weights = (0.0, 1.0) if k >= periods else (1 - share, share)
            planned, ahead = (line[:, [first, last]] @ weights for line in (states, torques))
            planned[[body.aside, body.ahead]] += way
            gain = gains[first]
            constant = ahead + gain[:, :n] @ (q - planned[:n]) - gain[:, n:] @ planned[n:]
            slope = STEP * gain[:, :n] + gain[:, n:]
            t = PERIOD * period + part * STEP
            force = push if 0 < t - PUSH_BEGINS <= PUSH_LASTS else (0.0, 0.0, 0.0)
            q, qd, forces = ground_step(body, (q, qd), (constant, slope, limits), force)
            asked = np.abs(constant + slope @ qd) / np.maximum(limits[1], 1.0)
            most = np.maximum(most, np.where(limits[1] > 0, asked, 0.0))
        k += 1
        if not q[body.tree.coordinate("glob_ty")] > lowest:  # nan has fallen too
            break
        swinging = HALF * (1 - len(struck) % 2)
        strikes = forces[swinging : swinging + HALF].sum() > BEARS and k > EARLY * periods
        if strikes or k > periods + LATE:
            struck.append(PERIOD * (period + 1))
            stands = _leading_foot(body, q, len(struck) % 2)
            start = sides[len(struck) % 2][0][:n, 0]
            former, way = way, stands - _leading_foot(body, start, len(struck) % 2)
            off.append(way - former - length)
            k = 0
            if len(struck) == steps:
                break
    return Walk(steps=len(struck), struck=np.array(struck), off=np.array(off), shares=most)


def _limits(body: Walker) -> np.ndarray:
    """Return the least and the largest torques (2, n) of drives, none at the root."""
    limits = np.transpose([joint.torque for joint in body.tree.moving]).astype(float)
    limits[:, list(body.root)] = 0.0
    return limits


def _leading_foot(body: Walker, q: np.ndarray, side: int) -> np.ndarray:
    """Return the place (2,), m, of the heel of the right (0) or left foot, aside and ahead."""
    corners = np.array(body.mechanics(q, np.zeros_like(q))[4])
    return corners[[0, 2]][:, [side * HALF + corner for corner in HEEL]].mean(axis=1)


def force_of(direction: int, impulse: float) -> np.ndarray:
    """Return the force (3,), N, of a push (N s) in one of the DIRECTIONS, the first one ahead, the
    next ones round by the left."""
    angle = 2 * np.pi * direction / DIRECTIONS
    return impulse / PUSH_LASTS * np.array([np.sin(angle), 0.0, np.cos(angle)])


def solved() -> Solution:
    """Return the step."""
    return TASK.method(raised(), TASK.transcription, Solver()).require(coarse=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve, push and print."""
    parser = program_parser("pushed_walk", __doc__)
    parser.add_argument("--impulse", type=float, default=IMPULSE, help="of the push (N s)")
    parser.add_argument("--strides", type=int, default=STRIDES, help="walked after it")
    parser.add_argument("--only", type=int, nargs="*", help="directions, from 0 to 9")
    given = parser.parse_args(arguments)
    body = walker(solved())
    plan, whole = regulator(body), BEFORE + 2 * given.strides
    print(f"J = {body.solution.objective:.6f} of the step")
    walks = {}

    def rows():
        for direction in given.only or range(DIRECTIONS):
            walk = walked(body, plan, whole, force_of(direction, given.impulse))
            walks[direction] = walk
            way = 1e2 * np.abs(walk.off[BEFORE - 1 :]).max(axis=0, initial=0.0)
            yield (
                f"{360 * direction // DIRECTIONS}",
                f"{walk.steps} of {whole}",
                f"{way[0]:.0f}, {np.round(way[1]):.0f}",
                f"{walk.shares.max():.2f}",
            )

    header = ("direction (deg)", "steps", "feet off the plan aside, ahead (cm)", "torque of limit")
    print_table(header, rows())
    upright = sum(walk.steps == whole for walk in walks.values())
    words = f"{upright} of {len(walks)} pushes of {given.impulse:g} N s survived"
    return print_claims([(upright >= 0.8 * len(walks), f"{words} for {given.strides} strides")])


if __name__ == "__main__":
    sys.exit(exit_status(main))
