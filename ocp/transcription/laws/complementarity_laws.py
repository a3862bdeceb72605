"""Laws of contacts whose forces are sought: gap and force, slip and friction, complementary but for
a leak.

    0 <= g,   0 <= f_n,   g f_n <= e                        (Posa, Cantu & Tedrake 2014, eq. 8-10)
    |f_i| <= m f_n,   T v_i (f_i + m f_n) <= e,   -T v_i (m f_n - f_i) <= e   along every way i

The last rows say that friction takes of the slip v what it can (the principle of maximum
dissipation, Stewart & Trinkle 1996); they need none of the multipliers by which Posa, Cantu &
Tedrake (2014, eq. 13-18) say the same. A leak e (J) that is brought down is the homotopy
(Scholtes 2001; Patel et al. 2019).

Where velocities are smooth there are no blows, and a force of a single node would throw a body off
the ground; so what a force holds rests, as on stays:

    |T g' f_n| <= e,   |T^2 g'' f_n| <= e

On a mesh of Radau with one stage, which is Euler's implicit rule, velocities jump from node to
node, and gap and force alone make a blow that is inelastic (Stewart & Trinkle 1996).
"""

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Constraint
from ocp.problem.contact.complementarity import Touch, touch_labels, touches
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import GRIPPING, RESTING, TOUCHES
from ocp.problem.statement import Problem


def complementarity_laws(problem: Problem) -> tuple:
    """Return the laws of contacts whose forces are sought, ((Constraint, None), ..): all of them
    hold at all nodes."""
    every, names = touches(problem.loads), touch_labels(problem.loads)
    laws, step = [_gap_law(names)], 1 / len(problem.motion.nodes)
    if not steps_in_time(problem):
        laws.append(_resting_law(names, step))
    if any(touch.ways for touch in every):
        laws.append(_friction_law(every, names, step))
    return tuple((law, None) for law in laws)


def steps_in_time(problem: Problem) -> bool:
    """Tell whether velocities jump from node to node."""
    motion = problem.motion
    return motion.collocated and len(motion.nodes) == motion.segments


def _gap_law(names: tuple[str, ...]) -> Constraint:
    """0 <= gap, 0 <= force, gap force <= leak."""
    words = ("gap", "force", "leak less gap times force")

    def rows(at: Instant) -> Matrix:
        every = touches(at.loads)
        gaps = [touch.gap(at) for touch in every]
        pushes = [at.contact(touch)[0] for touch in every]
        room = [leak_of(touch) - gap * push for touch, gap, push in zip(every, gaps, pushes)]
        return ca.vertcat(*gaps, *pushes, *room)

    return Constraint(
        name=TOUCHES,
        function=rows,
        lower=0.0,
        upper=np.inf,
        labels=tuple(f"{name}: {word}" for word in words for name in names),
        units=tuple(unit for unit in ("m", "N", "J") for _ in names),
    )


def _resting_law(names: tuple[str, ...], step: float) -> Constraint:
    """|T gap' force| <= leak, |T^2 gap'' force| <= leak."""

    def rows(at: Instant) -> Matrix:
        room = []
        for touch in touches(at.loads):
            for level, part in enumerate(touch.gap_rates(at), start=1):
                work = (step * at.T) ** level * part * at.contact(touch)[0]
                room += [leak_of(touch) - work, leak_of(touch) + work]
        return ca.vertcat(*room)

    words = ("rate above", "rate below", "acceleration above", "acceleration below")
    return Constraint(
        name=RESTING,
        function=rows,
        lower=0.0,
        upper=np.inf,
        labels=tuple(f"{name}: {word}" for name in names for word in words),
        units="J",
    )


def _friction_law(every: tuple[Touch, ...], names: tuple[str, ...], step: float) -> Constraint:
    """Friction within its pyramid, and against all slip at its edge."""
    words = ("back", "on", "slipping on", "slipping back")
    sides = [
        f"{name}: friction" + (f" {k + 1}" if len(touch.ways) > 1 else "")
        for touch, name in zip(every, names)
        for k in range(len(touch.ways))
    ]

    def rows(at: Instant) -> Matrix:
        ways = ((touch, k) for touch in touches(at.loads) for k in range(len(touch.ways)))
        return ca.vertcat(*(_friction_rows(at, touch, k, step) for touch, k in ways))

    return Constraint(
        name=GRIPPING,
        function=rows,
        lower=0.0,
        upper=np.inf,
        labels=tuple(f"{side} {word}" for side in sides for word in words),
        units=("N", "N", "J", "J") * len(sides),
    )


def _friction_rows(at: Instant, touch: Touch, k: int, step: float) -> Matrix:
    """Return the rows of one way of a contact."""
    push, friction = at.contact(touch)[0], at.contact(touch)[1 + k]
    slip, leak = step * at.T * touch.slip(at)[k], leak_of(touch)
    back, on = touch.grip * push + friction, touch.grip * push - friction
    return ca.vertcat(back, on, leak - slip * back, leak + slip * on)


def leak_of(touch: Touch) -> Matrix:
    """Return the leak (J) of a contact as an expression."""
    return matrix(touch.model.leak)
