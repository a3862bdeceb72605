"""A walking human pushed at the trunk in mid-stance, in ten directions: it walks on, or falls.

The predicted step, its swinging foot a little higher, is followed on a ground that gives way by the
regulator of the step. Nobody says when feet touch: where the swinging foot bears, late in the step,
the next step begins, counted from where it stands. How long it is goes by how fast the centre of
mass is then: between steps that are predicted at several speeds, each with its regulator.
"""

import sys
from collections.abc import Mapping, Sequence
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
from ocp.problems.gait import TASK

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
SPEEDS, LASTS = (0.7, 0.95, 1.2), 0.5  # m/s of steps, the last undisturbed; s [assumed]
USUAL = "human"  # objective of the walk for which the numbers here were chosen
# m/s: what is lacking of the speed of a strike from which on steps are shorter, and how much of it
# each step makes up for [assumed]
LACKING, RESUMED = 0.2, 0.3


def raised(speed: float = SPEEDS[-1], objective: str = USUAL) -> Problem:
    """Return the statement of the step at a speed (m/s) by an objective of `gait`, with its
    swinging sole kept off the ground."""
    plain = TASK.state({"speed": speed, "step": LASTS * speed, "objective": objective})
    names = [f"{name}_l" for name in RAISED]

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


def between(plans: Mapping[float, Regulator], pace: float) -> Regulator:
    """Return the Regulator of a step at a pace (m/s) between those of `plans` {speed (m/s):
    Regulator}, slow ones first, or the first or last of them."""
    known = list(plans.values())
    place = float(np.interp(pace, [*plans], range(len(plans))))
    k = min(int(place), max(len(plans) - 2, 0))
    slow, fast, share = known[k], known[min(k + 1, len(known) - 1)], place - k
    parts = {
        name: (1 - share) * getattr(slow, name) + share * getattr(fast, name)
        for name in ("states", "torques", "gains")
    }
    return Regulator(**parts)


def _speed(body: Walker, q: np.ndarray, qd: np.ndarray) -> float:
    """Return the speed (m/s) ahead of the centre of mass."""
    mass = np.array(body.mechanics(q, qd)[0])
    return float(mass[body.ahead] @ qd / mass[body.ahead, body.ahead])


def walked(
    body: Walker, plans: Mapping[float, Regulator], steps: int, push: Sequence[float]
) -> Walk:
    """Return the Walk of so many steps at most, pushed by a force (3,), N, as PUSH_BEGINS says, by
    `plans` {speed (m/s): Regulator}, slow ones first: undisturbed by the last."""
    usual = max(plans)
    plan = plans[usual]
    n, periods = body.tree.dof, len(plan.gains)
    begun = [_speed(body, *np.split(each.states[:, 0], 2)) for each in plans.values()]
    limits = _limits(body)
    both = np.kron(np.eye(2), body.image)

    def sides_of(plan: Regulator) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
        """Return the step as planned, and its image."""
        image = both @ plan.states, body.image @ plan.torques, body.image @ plan.gains @ both
        return (plan.states, plan.torques, plan.gains), image

    undisturbed = sides = sides_of(plan)
    lowest = plan.states[body.tree.coordinate("glob_ty")].min() - FALLEN
    q, qd = np.split(plan.states[:, 0], 2)
    length = np.array([0.0, np.ptp(plan.states[body.ahead, [0, -1]])])
    way, way_of_plan, k, most = np.zeros(2), np.zeros(2), 0, np.zeros(n)
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
            pace = float(np.interp(_speed(body, q, qd), begun, [*plans]))
            slower = pace < usual - LACKING
            pace = pace + RESUMED * (usual - pace) if slower else usual
            sides = sides_of(between(plans, pace))
            side = len(struck) % 2
            stands = _leading_foot(body, q, side)
            starts = (each[side][0][:n, 0] for each in (sides, undisturbed))
            way, now = (stands - _leading_foot(body, start, side) for start in starts)
            off.append(now - way_of_plan - length)
            way_of_plan = now
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


def solved(speed: float = SPEEDS[-1], objective: str = USUAL) -> Solution:
    """Return the step at a speed (m/s) by an objective of `gait`."""
    return TASK.method(raised(speed, objective), TASK.transcription, Solver()).require(coarse=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve, push and print."""
    parser = program_parser("pushed_walk", __doc__)
    parser.add_argument("--impulse", type=float, default=IMPULSE, help="of the push (N s)")
    parser.add_argument("--strides", type=int, default=STRIDES, help="walked after it")
    parser.add_argument("--only", type=int, nargs="*", help="directions, from 0 to 9")
    parser.add_argument("--objective", default=USUAL, help="of the walk, as of gait")
    given = parser.parse_args(arguments)
    bodies = [walker(solved(speed, given.objective)) for speed in SPEEDS]
    plans = {speed: regulator(each) for speed, each in zip(SPEEDS, bodies)}
    whole = BEFORE + 2 * given.strides
    body = bodies[-1]
    told = ", ".join(f"{each.solution.objective:.6f}" for each in bodies)
    print(f"J = {told} of steps at {', '.join(map(str, SPEEDS))} m/s")
    walks = {}

    def rows():
        for direction in given.only or range(DIRECTIONS):
            walk = walked(body, plans, whole, force_of(direction, given.impulse))
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
