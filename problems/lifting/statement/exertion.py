"""Exertion of a lift: shares of people's strength at the angles, and of tissue's limits.

    integral of sum of (tau+ / c+(q))^2 + (tau- / c-(q))^2 + (e / |tau|max)^2

Torques tau+ and tau- of the side that acts, over its strength c at the angle, are what muscles are
activated by at least, squared as in Ackermann & van den Bogert (2010); what tissue gives, e, counts
over the limits as in Falisse et al. (2019), with the same weight.
"""

from typing import Any

import casadi as ca

from ocp import Instant, Objective, Strength, Tree, squares
from ocp.mechanics import matrix

WIDTH = 1.0  # N m, over which one side takes over from the other [assumed]


def exertion(body: Tree) -> Objective:
    """Return the exertion (s): squared shares of strength and of tissue, integrated.

    The `body` has torque limits at all drives, in `Strength` elements what differs from them.
    """
    rows = [row for row, joint in enumerate(body.moving) if joint.actuated]
    sides = matrix([body.moving[row].torque for row in rows])
    limits = ca.fmax(-sides[:, 0], sides[:, 1])
    return squares("exertion", lambda at: ca.vertcat(shares(body, at), at.elements[rows] / limits))


def shares(body: Tree, at: Instant) -> ca.SX:
    """Return the shares of their strength that both sides of k drives have (2 k,)."""
    own = (each for each in body.elements if isinstance(each, Strength))
    laws = {(each.joint, each.direction): each.capacity for each in own}
    parts: list[Any] = []
    for row, joint in enumerate(body.moving):
        if joint.actuated:
            tau, size = at.tau[row], ca.sqrt(at.tau[row] ** 2 + WIDTH**2)
            for way, limit in zip((-1, 1), joint.torque):
                law = laws.get((joint.name, way))
                able = law(at.q[row], way * at.qd[row]) if law else way * matrix(limit)
                parts.append((size + way * tau) / 2 / able)
    return ca.vertcat(*parts)
