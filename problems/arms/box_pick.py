"""An arm takes a box and puts it down with the least effort: what it carries differs by phase.

It reaches for the box, carries it and comes back, all in a given time, of which each phase takes
what suits. Where it takes the box the hand moves as the box does, at rest or with a belt, so that
nothing strikes; the torques jump. A slide of mass m that brings a box of M over the ways d_k has in
every phase an acceleration that falls straight, and the effort (N2 s)

    J = 12 (sum of sqrt(m_k d_k))^4 / T^3,   m_k = m or m + M,   t_k as sqrt(m_k d_k)

since 12 m^2 d^2 / t^3 is that of one move from rest to rest in t, and best where all slopes
by t are the same.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any, Literal, TypeAlias

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Link,
    Phase,
    Point,
    Problem,
    Solution,
    Task,
    Tree,
    Views,
    at_end,
    at_start,
    continuous,
    effort,
    fixed,
    path,
    prismatic,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics import Visual, kinetic_energy, potential_energy
from ocp.models.arms.two_link import two_link

Arm: TypeAlias = Literal["two_link", "slide"]
GRAVITY = 9.81  # m/s2
TORQUE = 30.0  # N m, at shoulder and elbow
SHARE = 0.05  # of the whole time, that a phase takes at least
# Coordinates at home, and places of pick and put-down in the plane (m)
HOME = {"two_link": (-1.2, -1.2), "slide": (0.0,)}
PICK = {"two_link": (0.55, -0.3), "slide": (0.5, 0.0)}
PLACE = {"two_link": (0.45, 0.35), "slide": (-0.3, 0.0)}
MASS = 2.0  # kg, of the slide
WATER = 1000.0  # kg/m3: as dense pictures show the box
CARDBOARD = (0.75, 0.5, 0.2, 1.0)
SAMPLES = 4001  # instants in a phase at which work is summed


def problem(
    arm: Arm = "two_link",
    box: float = 1.0,
    duration: float = 2.0,
    belt: float = 0.0,
    points: int = 12,
    degree: int = 5,
) -> Problem:
    """`arm`: two links in the vertical plane, or a slide, whose optimum is a closed form; `box`:
    its mass (kg); `duration`: of all phases together (s); `belt`: speed at which the box comes
    along (m/s); `points`: control points per joint in each phase; `degree`: of the splines.
    """
    tree = two_link(TORQUE, GRAVITY) if arm == "two_link" else slide()
    limits = torque_limits(tree) if arm == "two_link" else ()
    home = HOME[arm]
    asked = {
        "reach": (at_start(tree, q=home, qd=0.0), *met(tree, PICK[arm], belt)),
        "carry": met(tree, PLACE[arm]),
        "return": at_end(tree, q=home, qd=0.0),
    }
    return Problem(
        tree=tree,
        phases=[
            Phase(
                name,
                tree=loaded(tree, box) if name == "carry" else None,
                motion=BSpline(points=points, degree=degree),
                duration=(SHARE * duration, duration),
                constraints=(ends, limits),
            )
            for name, ends in asked.items()
        ],
        links=(continuous(),) * 2,
        objective=effort(),
        constraints=(in_time(duration),),
    )


def slide(mass: float = MASS) -> Tree:
    """Return a hand of a mass (kg) on a level rail."""
    return Tree(
        links=(Link(mass=mass),),
        joints=(prismatic("hand", axis=(1.0, 0.0, 0.0)),),
        points=(Point(name="tip", link="hand"),),
        gravity=(0.0, -GRAVITY, 0.0),
    )


def loaded(tree: Tree, box: float) -> Tree:
    """Return the tree with a box (kg) in its hand."""
    hand, edge = tree.point("tip"), (box / WATER) ** (1 / 3)
    return replace(
        tree,
        links=(
            *tree.links,
            Link(mass=box, visuals=(Visual(kind="box", size=(edge,) * 3, colour=CARDBOARD),)),
        ),
        joints=(*tree.joints, fixed("box", hand.link, home=hand.position)),
    )


def met(tree: Tree, place: tuple[float, float], speed: float = 0.0) -> tuple[Constraint, ...]:
    """Return the constraints that at the end the hand is at a place (x, y; m), moving along x at a
    speed (m/s)."""
    axes = slice(0, min(2, tree.dof))
    wanted = (("place", place, "m", "position"), ("pace", (speed, 0.0), "m/s", "velocity"))
    return tuple(
        path(
            f"{name} of the hand",
            lambda at, look=look: getattr(at, look)("tip")[axes],
            lower=value[axes],
            upper=value[axes],
            when="end",
            units=units,
        )
        for name, value, units, look in wanted
    )


def in_time(duration: float) -> Constraint:
    """Return the constraint that all phases together take a duration (s)."""
    return Constraint(
        name="time",
        function=lambda durations: sum(durations.values()),
        lower=duration,
        upper=duration,
        when="durations",
        units="s",
    )


def least_of_slide(box: float, duration: float, mass: float = MASS) -> tuple[float, list[float]]:
    """Return the effort (N2 s) of a slide by the closed form, and the phases' durations (s)."""
    stops = (HOME["slide"][0], PICK["slide"][0], PLACE["slide"][0], HOME["slide"][0])
    shares = [
        sqrt(weight * abs(there - here))
        for weight, here, there in zip((mass, mass + box, mass), stops, stops[1:])
    ]
    whole = sum(shares)
    return 12 * whole**4 / duration**3, [duration * share / whole for share in shares]


def balance(phase: Solution) -> tuple[float, float]:
    """Return the work of the joints in a phase, and what its tree gained in energy (J)."""
    tree, t = phase.problem.tree, phase.times(SAMPLES)
    power = (phase.tau(t) * phase.qd(t)).sum(axis=0)
    energy = [
        float(kinetic_energy(tree, ca.DM(phase.q(end)), ca.DM(phase.qd(end))))
        + float(potential_energy(tree, ca.DM(phase.q(end))))
        for end in (0.0, phase.duration)
    ]
    return float(np.trapezoid(power, t)), energy[1] - energy[0]


def report(solution: Solution) -> dict[str, Any]:
    """Return durations (s), work and energy of every phase (J), and of a slide that
    takes a box at rest its closed form."""
    work = {name: balance(phase) for name, phase in solution.phases.items()}
    entry: dict[str, Any] = {"durations": solution.durations, "work": work}
    pace = solution.phases["carry"].qd(0.0)
    if solution.problem.tree.dof == 1 and abs(pace[0]) < 1e-9:
        box = solution.phases["carry"].problem.tree.links[-1].mass
        entry["closed_form"] = least_of_slide(float(box), solution.duration)
    return {"box": entry}


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry = data["box"]
    text = [
        f"{name:<22}{entry['durations'][name]:.6f} s, work of the joints {work:.6f} J, energy "
        f"gained {gained:.6f} J"
        for name, (work, gained) in entry["work"].items()
    ]
    if "closed_form" in entry:
        cost, durations = entry["closed_form"]
        times = ", ".join(f"{t:.6f}" for t in durations)
        text.append(f"{'closed form':<22}J = {cost:.9g} N2 s, phases of {times} s")
    return text


TASK = Task(problem, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)
