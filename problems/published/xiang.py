"""Numbers of Xiang, Arora & Abdel-Malek (2009)."""

from functools import cache

import casadi as ca
import numpy as np

from ocp import Load
from ocp.dynamics.formulations import hollerbach_4x4
from ocp.models.arms.general_chain import general_chain
from ocp.models.arms.two_link import INERTIA, LENGTH, MASS, two_link
from ocp.problems.arms.two_link_time import AT_KNOTS, FASTEST
from ocp.problems.benchmarks.operations import operations
from ocp.problems.published.hollerbach import order
from ocp.problems.published.row import Row
from ocp.problems.published.solved import solution

SOURCE = "Xiang et al. 2009"
GRAVITY, FORCE = 9.8062, 10.0  # m/s2, N (section 6.4)
CHAINS = (3, 12)  # joints, of chains that are each compared with one of twice as many
INSTANTS = 101  # of the lift at which closed forms and recursion are compared
MACHINE = "of the processor; a 1.40 GHz PC there, this machine here: not comparable"
SX = ca.SX


def slope_orders() -> str:
    """Return the orders in n of the work of the paper's sensitivities, from the shortest chains to
    the longest, as text."""
    orders = [np.log2(slope_work(2 * n) / slope_work(n)) for n in CHAINS]
    return " to ".join(f"{order:.1f}" for order in orders)


@cache
def slope_work(joints: int) -> int:
    """Return the operations of the paper's sensitivities for a chain of so many joints."""
    motion: list = [SX.sym(name, joints) for name in ("q", "qd", "qdd")]
    slopes = hollerbach_4x4.sensitivity(general_chain(joints), *motion)
    return int(sum(operations(ca.Function("slopes", motion, ca.cse(list(slopes))))))


def closed_torques(q: SX, qd: SX, qdd: SX) -> SX:
    """Return the torques (2,) of eqs. 52 and 53 (69, 70), N m."""
    far = LENGTH / 2
    outer, product = INERTIA + MASS * far**2, MASS * LENGTH * far
    c, s = ca.cos(q[1]), ca.sin(q[1])
    fall = (MASS * GRAVITY * far + FORCE * LENGTH) * ca.cos(q[0] + q[1])
    first = (MASS * GRAVITY * (far + LENGTH) + FORCE * LENGTH) * ca.cos(q[0])
    whole = 2 * INERTIA + MASS * far**2 + MASS * (LENGTH**2 + far**2 + 2 * LENGTH * far * c)
    return ca.vertcat(
        whole * qdd[0]
        + (outer + product * c) * qdd[1]
        - 2 * product * qd[0] * qd[1] * s
        - product * qd[1] ** 2 * s
        + fall
        + first,
        outer * qdd[1] + (outer + product * c) * qdd[0] + product * qd[0] ** 2 * s + fall,
    )


def closed_slopes(q: SX, qd: SX, qdd: SX) -> SX:
    """Return the torques' derivatives (2, 6) by q, qd and qdd of eqs. 54 to 65 (71 to 82)."""
    far = LENGTH / 2
    outer, product = INERTIA + MASS * far**2, MASS * LENGTH * far
    c, s = ca.cos(q[1]), ca.sin(q[1])
    fall = -(MASS * GRAVITY * far + FORCE * LENGTH) * ca.sin(q[0] + q[1])
    first = -(MASS * GRAVITY * (far + LENGTH) + FORCE * LENGTH) * ca.sin(q[0])
    whole = 2 * INERTIA + MASS * far**2 + MASS * (LENGTH**2 + far**2 + 2 * LENGTH * far * c)
    turned = -product * s * (2 * qdd[0] + qdd[1])
    rows = (
        (
            fall + first,
            turned - product * c * (2 * qd[0] * qd[1] + qd[1] ** 2) + fall,
            -2 * product * qd[1] * s,
            -2 * product * (qd[0] + qd[1]) * s,
            whole,
            outer + product * c,
        ),
        (
            fall,
            -product * s * qdd[0] + product * qd[0] ** 2 * c + fall,
            2 * product * qd[0] * s,
            0,
            outer + product * c,
            outer,
        ),
    )
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


def apart(closed: SX, recursive: SX, motion: tuple[SX, ...]) -> float:
    """Return the largest difference of two expressions along the lift's optimum (fig. 14)."""
    lift = solution("two_link_lift")
    t = np.linspace(0.0, lift.duration, INSTANTS)
    values = np.vstack([lift.q(t), lift.qd(t), lift.qdd(t)])
    difference = ca.Function("difference", [ca.vertcat(*motion)], [closed - recursive])
    return float(np.abs(np.array(difference.map(INSTANTS)(values))).max())


def _symbols() -> tuple[SX, SX, SX]:
    return SX.sym("q", 2), SX.sym("qd", 2), SX.sym("qdd", 2)


LOADS = (Load(point="tip", force=(0.0, -FORCE, 0.0)),)


def torques_apart() -> str:
    """Return the distance of the closed torques from the recursive Lagrangian's, as text."""
    motion, arm = _symbols(), two_link(gravity=GRAVITY)
    tau = hollerbach_4x4.inverse(arm, *motion, LOADS)
    return f"{apart(closed_torques(*motion), tau, motion):.0e} N m apart"


def slopes_apart() -> str:
    """Return the distance of the closed derivatives from the recursive ones, as text."""
    motion, arm = _symbols(), two_link(gravity=GRAVITY)
    slopes = ca.horzcat(*hollerbach_4x4.sensitivity(arm, *motion, LOADS))
    return f"{apart(closed_slopes(*motion), slopes, motion):.0e} apart"


def no_slope() -> float:
    """Return the derivative of the second torque by its own rate, largest along the lift."""
    motion, arm = _symbols(), two_link(gravity=GRAVITY)
    slope = hollerbach_4x4.sensitivity(arm, *motion, LOADS)[1][1, 1]
    return apart(SX(0), slope, motion)


def _fastest() -> float:
    return solution("two_link_time", settings=AT_KNOTS).duration


def _seconds(name: str) -> float:
    return float(solution(name, settings=AT_KNOTS).statistics["solve_cpu_seconds"])


ROWS = (
    Row(
        source=f"{SOURCE}, sections 1, 4.4",
        quantity="order in n of the regular Lagrangian equations",
        printed=4,
        within=0.0,
        ours=lambda: order("uicker_kahn"),
        by="`compare_formulations`",
    ),
    Row(
        source=f"{SOURCE}, sections 1, 4.4",
        quantity="order in n of the recursive Lagrangian equations",
        printed=1,
        within=0.0,
        ours=lambda: order("hollerbach_4x4"),
        by="`compare_formulations`",
    ),
    Row(
        source=f"{SOURCE}, section 4.4",
        quantity="order in n of the recursive sensitivities",
        printed=1,
        ours=slope_orders,
        by="counted, 3 to 6 and 12 to 24 joints",
        remark="falls to 2: the matrix alone has 3 n^2 entries",
    ),
    Row(
        source=f"{SOURCE}, section 6.1",
        quantity="control points of both joints",
        printed=44,
        within=0.0,
        ours=lambda: solution("two_link_time", settings=AT_KNOTS).statistics["variables"] - 1,
        by="`two_link_time`",
        remark="22 a joint, with 20 segments; 20 have 23, 22 points have 19",
    ),
    Row(
        source=f"{SOURCE}, eqs. 52, 53 (69, 70)",
        quantity="torques of the two-link arm",
        printed="closed form",
        ours=torques_apart,
        by="`two_link_lift`",
        remark="recursive Lagrangian, along the optimum",
    ),
    Row(
        source=f"{SOURCE}, eqs. 54-65 (71-82), fig. 14",
        quantity="sensitivities of the two-link arm",
        printed="closed form",
        ours=slopes_apart,
        by="`two_link_lift`",
        remark="the left sides of eqs. 61 and 75 lost or gained dots: by theta_2, by theta_1''",
    ),
    Row(
        source=f"{SOURCE}, eqs. 63 (80)",
        quantity="d tau_2 / d theta_2'",
        printed=0,
        within=0.0,
        ours=no_slope,
        by="`two_link_lift`",
    ),
    Row(
        source=f"{SOURCE}, section 6.3",
        quantity="T (s) of Furukawa (2002), cited",
        printed=0.3945,
        within=0.006,
        ours=_fastest,
        optimum=FASTEST,
        by="`two_link_time` `--nodes 1` `--quadrature trapezoid`",
        remark="another method, time-subminimal by its title",
    ),
    Row(
        source=f"{SOURCE}, section 6.3",
        quantity="T (s) of Wang et al. (2005), cited",
        printed=0.394,
        within=0.005,
        ours=_fastest,
        optimum=FASTEST,
        by="`two_link_time` `--nodes 1` `--quadrature trapezoid`",
    ),
    Row(
        source=f"{SOURCE}, section 6.3",
        quantity="CPU time (s) of example 1",
        printed=1.07,
        ours=lambda: _seconds("two_link_time"),
        by="`two_link_time` `--nodes 1` `--quadrature trapezoid`",
        remark=MACHINE,
    ),
    Row(
        source=f"{SOURCE}, section 6.4",
        quantity="CPU time (s) of example 2",
        printed=2.44,
        ours=lambda: _seconds("two_link_lift"),
        by="`two_link_lift` `--nodes 1` `--quadrature trapezoid`",
        remark=MACHINE,
    ),
)
