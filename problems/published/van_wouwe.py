"""The reach of Van Wouwe, Ting & De Groote (2022) under noise, beside their published solutions.

    python -m problems.published.van_wouwe [circle] [bar]

Two links and six muscles move the hand in 0.8 s to a target, a circle or a bar, under noise of the
torques and of what is sensed of the hand, which is fed back at each instant: sought are excitations
and gains of the least mean effort with which the hand ends within 4 mm and 50 mm/s of standard
deviation (PLoS Comput Biol 18(6): e1009338). Printed are the efforts of the motion and of what
deviations add, mean integrals over 10 ms, beside those of the solutions that the authors publish
with their code (github.com/tomvanwouwe1992/SOC_Paper): their sums over 81 nodes, in which both ends
count whole, and their integrals by the trapezoid. Curves of force are those of `Muscle`; the
authors' active force is 0.2 % larger at rest.
"""

import sys
from functools import partial
from math import pi, sqrt

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Damper,
    Instant,
    Point,
    Problem,
    Radau,
    Solution,
    Transcription,
    Tree,
    at_end,
    at_start,
    dh,
    feedback,
    solve,
    squares,
)
from ocp.cli import refuse
from ocp.mechanics import GROUND
from ocp.mechanics.muscles import GivenPath, Muscle
from ocp.models.flat import flat
from ocp.mpc import Feedback, Noise, NoisePlan, solve_under_noise
from ocp.problem import ForceLaw

LENGTHS, MASSES, CENTRES = (0.30, 0.33), (1.4, 1.0), (0.11, 0.16)  # m, kg, m from the joint
INERTIAS = (0.025, 0.045)  # kg m2 about the joint
DAMPING = 0.025  # N m s/rad: of each joint, and of the hand's turning
STRESS = 31.8  # N/cm2
AREAS = (18.0, 14.0, 22.0, 12.0, 5.0, 10.0)  # cm2
# Moment arms a + b cos(c x) (m) at the shoulder and at the elbow
ARMS = (
    ((0.0, 0.0, 0.01), (0.03, -0.011, 1.9)),
    ((0.0, 0.0, 0.01), (-0.019, 0.0, 0.01)),
    ((0.04, -0.008, 1.9), (0.0, 0.0, 0.01)),
    ((-0.042, 0.0, 0.01), (0.0, 0.0, 0.01)),
    ((0.03, -0.011, 1.9), (0.032, -0.01, 1.9)),
    ((-0.039, 0.0, 0.01), (-0.022, 0.0, 0.01)),
)
BASES = (1.1, 0.8, 1.2, 0.7, 1.1, 0.85)  # fibres over their optimal lengths at zero angles
RATES = (5.206336, 7.538918, 3.938098, 3.031523, 2.522778, 1.826368)  # over optimal lengths, 1/m
NAMES = (
    "brachialis",
    "lateral triceps",
    "anterior deltoid",
    "posterior deltoid",
    "biceps",
    "long triceps",
)
JOINTS = ("shoulder", "elbow")
MUSCLES = slice(len(JOINTS), len(JOINTS) + len(NAMES))
TIME = 0.150  # s: of activation, da/dt = (e - a) / TIME
USUAL = 0.02  # activation about which the law of `Muscle` is that one, within 0.8 % from 0 to 0.07
SLACK = 1e-3  # m of a rigid tendon, which a Muscle must have
LEAST = 0.001  # excitation and activation
DURATION, PERIODS = 0.8, 80  # s; their nodes, 10 ms apart
SHOULDER = (20 * pi / 180, 55 * pi / 180)  # rad at the start and at the end, the hand at x = 0
TORQUE, PLACE, SPEED = 0.05, 3e-4, 2.4e-3  # N m, m, m/s, times root second
START = (1e-4, 1e-6, 1e-7)  # variances of angles, activations and rates
CLOSE, SLOW = 0.004, 0.05  # m, m/s: standard deviations of the hand at the end
# Half the squares of excitations and activations, of the motion and what deviations add: sums over
# 81 nodes, and the same by the trapezoid
PUBLISHED = {
    "circle": ((0.195781, 0.108108), (0.193905, 0.104689)),
    "bar": ((0.195420, 0.078172), (0.193549, 0.075805)),
}
WEIGHT = 1e3  # of the effort


def arm() -> Tree:
    """Return the arm, in a horizontal plane."""
    links = tuple(
        flat(mass, (centre - length, 0.0), inertia - mass * centre**2)
        for mass, centre, length, inertia in zip(MASSES, CENTRES, LENGTHS, INERTIAS)
    )
    shoulder, elbow = JOINTS
    joints = (
        dh(shoulder, GROUND, a=LENGTHS[0], actuated=False),
        dh(elbow, shoulder, a=LENGTHS[1], actuated=False),
    )
    height = 0.5 + 1.5 * USUAL
    muscles = [
        Muscle(
            name=name,
            path=GivenPath(joints=JOINTS, function=partial(_length, arms, base, rate)),
            force=STRESS * area,
            fibre=1 / rate,
            slack=SLACK,
            rise=TIME / height,
            fall=TIME * height,
            smoothing=0.0,
            excitation=(LEAST, 1.0),
        )
        for name, arms, base, rate, area in zip(NAMES, ARMS, BASES, RATES, AREAS)
    ]
    dampers = [Damper(joint=name, damping=DAMPING) for name in JOINTS]
    return Tree(
        links=links,
        joints=joints,
        points=(Point(name="hand", link=elbow),),
        elements=(*dampers, *muscles),
        gravity=(0.0, 0.0, 0.0),
    )


def _length(arms: tuple, base: float, rate: float, angles: ca.SX) -> ca.SX:
    """Return the length (m) of a muscle: arms are its negative slopes."""
    pulled = sum(a * angles[k] + b * ca.sin(c * angles[k]) / c for k, (a, b, c) in enumerate(arms))
    return base / rate - pulled + SLACK


def posture(shoulder: float) -> tuple[float, float]:
    """Return the angles (rad) with which the hand is in front of the shoulder, at x = 0."""
    upper, fore = LENGTHS
    return shoulder, float(np.arccos(-upper * np.cos(shoulder) / fore)) - shoulder


def problem() -> Problem:
    """Return the reach, by the least squares of excitations and activations."""
    tree = arm()
    start, end = (dict(zip(JOINTS, posture(each))) for each in SHOULDER)
    still = dict.fromkeys(JOINTS, 0.0)
    effort = squares("effort", lambda at: ca.vertcat(at.tau[MUSCLES], at.q[MUSCLES]) / sqrt(2))
    return Problem(
        tree=tree,
        motion=BSpline(points=16),
        duration=DURATION,
        objective=WEIGHT * effort,
        constraints=(
            at_start(tree, q=start, qd=still, qdd=still),
            at_end(tree, q=end, qd=still, qdd=still),
        ),
        loads=(ForceLaw(point="hand", law=_turning),),
    )


def _turning(at: Instant) -> ca.SX:
    """Return the damping of the hand's turning in the plane, a moment (N m) below no force."""
    return ca.vertcat(0, 0, 0, 0, 0, -DAMPING * (at.qd[0] + at.qd[1]))


def hand(at: Instant) -> ca.SX:
    """Return place (m) and velocity (m/s) of the hand in the plane."""
    return ca.vertcat(at.position("hand")[:2], at.velocity("hand")[:2])


def noise() -> Noise:
    """Return the noise of torques at both joints, and of what is sensed, in the periods."""
    root, muscles = sqrt(DURATION / PERIODS), len(NAMES)
    angles, activations, rates = START
    return Noise(
        torque=(*[TORQUE / root] * 2, *[0.0] * muscles),
        sensor=(*[PLACE / root] * 2, *[SPEED / root] * 2),
        start=np.diag([angles] * 2 + [activations] * muscles + [rates] * 2 + [0.0] * muscles),
    )


def reach(target: str, guess: NoisePlan | tuple[Solution, Feedback] | None = None) -> NoisePlan:
    """Return the reach to a target, "circle" or "bar", which begins from that to the circle; along
    the bar the hand may end anywhere."""
    rows = slice(0 if target == "circle" else 1, 2)
    accuracy = (
        Constraint(
            name="place", function=lambda at: hand(at)[rows], lower=0, upper=CLOSE, when="end"
        ),
        Constraint(name="speed", function=lambda at: hand(at)[2:], lower=0, upper=SLOW, when="end"),
    )
    stated, mesh = problem(), Transcription(method=Radau(intervals=20))
    if guess is None:
        guess = beginning(stated, mesh) if target == "circle" else reach("circle")
    return solve_under_noise(
        stated,
        noise(),
        mesh,
        continuous=True,
        guess=guess,
        periods=PERIODS,
        measured=hand,
        deviations=accuracy,
    )


def beginning(stated: Problem, mesh: Transcription) -> tuple[Solution, Feedback]:
    """Return the reach without noise, and gains that are weak enough to begin with."""
    begun = solve(stated, mesh).require(coarse=True)
    muscles = len(NAMES)
    weak = feedback(
        begun,
        period=DURATION / PERIODS,
        position=(0.05, 0.05, *[1.0] * muscles),  # rad, and activations of which any will do
        rate=(0.5, 0.5, *[100.0] * muscles),
        torque=0.01,
        end=0.3,
    )
    return begun, weak


def efforts(plan: NoisePlan) -> tuple[float, float]:
    """Return the efforts of the motion and of what deviations add, integrals over a period."""
    unit = WEIGHT * DURATION / PERIODS
    own = plan.solution.objective
    return own / unit, (plan.objective - own) / unit


def main(targets: tuple[str, ...] = tuple(PUBLISHED)) -> None:
    """Print the efforts to targets, ours beside theirs; raise ValueError for others."""
    for other in set(targets) - set(PUBLISHED):
        raise ValueError(f"target: expected {' or '.join(PUBLISHED)}, got {other!r}")
    plan = None
    print("target  effort       ours    theirs, sums  theirs, integrals")
    for target in targets:
        plan = reach(target, plan).require()
        ours = efforts(plan)
        rows = [(*each, sum(each)) for each in (ours, *PUBLISHED[target])]
        for what, own, *theirs in zip(("undisturbed", "added", "whole"), *rows):
            beside = "  ".join(f"{each:.4f} ({own / each - 1:+.1%})" for each in theirs)
            print(f"{target:<7} {what:<12} {own:.4f}  {beside}")


if __name__ == "__main__":
    try:
        main(tuple(sys.argv[1:]) or tuple(PUBLISHED))
    except ValueError as error:
        sys.exit(refuse("van_wouwe", error))
