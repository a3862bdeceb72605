"""Numbers of Barman (2020) beside those that come with the problems."""

import numpy as np

from ocp.problems.arms.two_link_time import AT_KNOTS, FASTEST
from ocp.problems.gait import effort_step as step
from ocp.problems.gait.statement.constraint_families import FAMILIES
from ocp.problems.published.row import Row
from ocp.problems.published.solved import solution

SOURCE = "Barman 2020"
BY = "`two_link_time` `--nodes 1` `--quadrature trapezoid`"
SWITCHES = (0.195927, 0.235300)  # s: the last of each torque at the true optimum
GRID = 2001  # instants among which a torque changes its sign


def last_switch(row: int) -> float:
    """Return when (s) a torque of the fastest motion changes its sign for the last time."""
    fastest = solution("two_link_time", settings=AT_KNOTS)
    t = np.linspace(0.0, fastest.duration, GRID)
    torque = fastest.tau(t)[row]
    return float(t[np.flatnonzero(np.diff(np.sign(torque)))[-1]])


def _fastest() -> float:
    return solution("two_link_time", settings=AT_KNOTS).duration


ROWS = (
    Row(
        source=f"{SOURCE}, section 4.1 (p. 35), cited",
        quantity="T (s) of Wang et al. (2005)",
        printed=0.394,
        within=0.005,
        ours=_fastest,
        optimum=FASTEST,
        by=BY,
    ),
    Row(
        source=f"{SOURCE}, section 4.1 (p. 36), cited",
        quantity="T (s) of Xiang et al. (2009)",
        printed=0.393,
        within=0.003,
        ours=_fastest,
        optimum=FASTEST,
        by=BY,
        remark="0.3934 there",
    ),
    Row(
        source=f"{SOURCE}, section 4.1 (p. 36)",
        quantity="time (s) at which torque 1 falls",
        printed=0.2,
        within=0.025,
        ours=lambda: last_switch(0),
        optimum=SWITCHES[0],
        by=BY,
        remark="'just over', as read from a chart",
    ),
    Row(
        source=f"{SOURCE}, section 4.1 (p. 36)",
        quantity="time (s) after which torque 2 is at its lower bound again",
        printed=0.25,
        within=0.06,
        ours=lambda: last_switch(1),
        optimum=SWITCHES[1],
        by=BY,
        remark="ours is the change of sign; a spline's torque takes a segment to reach the bound",
    ),
    Row(
        source=f"{SOURCE}, section 5.1 (p. 41)",
        quantity="active joints of 55",
        printed=38,
        within=0.0,
        ours=lambda: float(step().tree.dof),
        by="`gait`",
    ),
    Row(
        source=f"{SOURCE}, section 5.2 (pp. 43, 50)",
        quantity="families of constraints",
        printed=9,
        within=0.0,
        ours=lambda: float(len(FAMILIES)),
        by="`barman_gait`",
        remark="six over time, three at instants",
    ),
)
