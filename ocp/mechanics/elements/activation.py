"""First-order activation of drives: the rates at which torque or its share may change.

The state is the drive's torque, or the share a of what it can that it gives, of which the side
that pulls up has a_+ and the one that pulls down a_-. What a signal between none and full can do to
such a share lies between

    -fall(a) <= da/dt <= rise(a)

with rise that of the full signal and fall that of none, so that the signal needs no variable (De
Groote, Pipeleers, Jonkers, Demeulenaere, Patten, Swevers & De Schutter 2009).
"""

from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

from ocp.mechanics.elements.drive_strength import Strength, check_drives
from ocp.mechanics.elements.joint_elements import check_joint_units, check_name, graph_number
from ocp.mechanics.elements.smooth_curves import ramp
from ocp.mechanics.model.tree_validation import Mechanism
from ocp.mechanics.muscles.activation_dynamics import activation_pace
from ocp.mechanics.values.parameters import Number, nominal
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import positive, set_fields
from ocp.spelling import suggest_fields

LAWS = "zajac", "de groote"
ROUNDING = 0.02  # of a share, over which one side takes over from the other
STEEPEST = 11.0  # times slower on than off: a tanh beyond that lets more signal do less
Shares: TypeAlias = tuple[Matrix | None, Matrix | None]  # upwards and downwards


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """A drive at a `joint` that comes on and off by a first-order law, of `time` t_a (s).

        t_a dtau/dt = u - tau,   u within the joint's torque limits

    so that tau + t_a dtau/dt stays within them, and tau too, which is so at the start.

    With another time of `release` t_d (s), or at a joint with a `Strength`, the state is the share
    a of the torque limit, or of the strength over angle and speed, that the drive gives: 1 is all
    of it upwards, -1 downwards; of a signal u of each side within 0 and 1, by a `law`

        zajac      da/dt = u / t_a - a (b + (1 - b) u) / t_a,   b = t_a / t_d
        de groote  da/dt = ((1/2 + f) / (t_a h) + (1/2 - f) h / t_d) (u - a),   h = 1/2 + 3/2 a
                   f = tanh(c (u - a)) / 2 of `steepness` c

    (Zajac 1989; De Groote, Kinney, Rao & Fregly 2016, eq. 1-2, who print c = 0.1, which hardly
    tells on from off). Sides a_+ = r(a), a_- = r(-a) are rounded over 0.02 by r (`ramp`), and one
    comes on while the other goes off; a drive whose torque has one sign has one side, not rounded.
    Where phases meet, and at the image of a symmetry, the state goes on. `name` as in `Damper`.
    Raises ValueError naming it.
    """

    joint: str
    time: Number
    release: Number | None = None
    law: str = LAWS[0]
    steepness: float = 10.0
    name: str = ""

    def __post_init__(self) -> None:
        label = check_name(self, "activation")
        set_fields(self, time=positive(f"{label}: time", self.time, unit="s"))
        if self.release is not None:
            set_fields(self, release=positive(f"{label}: release", self.release, unit="s"))
        if self.law not in LAWS:
            raise ValueError(f"{label}: law: expected one of {', '.join(LAWS)}, got {self.law!r}")
        set_fields(self, steepness=positive(f"{label}: steepness", self.steepness))
        on, off = nominal((self.time, self._off))
        if self.law == LAWS[1] and 4 * on > STEEPEST * off:
            raise ValueError(
                f"{label}: release: expected at least {4 / STEEPEST * on:.3g} s by this law, "
                f"since below that more signal does less, got {off:g} s"
            )

    @property
    def _off(self) -> Number:
        return self.time if self.release is None else self.release

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joint, with a drive and torque limits, or a
        strength beside."""
        label = f"activation {self.name!r}"
        check_joint_units(label, tree, self.joint, {})
        check_drives(label, tree, self.joint)
        joint, known = tree.moving[tree.coordinate(self.joint)], self._strengths(tree)
        for direction, limit in zip((-1, 1), nominal(joint.torque)):
            if direction not in known and not isfinite(limit):
                raise ValueError(
                    f"{label}: joint {self.joint!r}: expected torque limits, within which it comes "
                    "on, or a Strength in each direction"
                )

        if not self.plain(tree) and self.ways(tree) == (0.0, 0.0):
            raise ValueError(
                f"{label}: joint {self.joint!r}: expected torque that it can have, got limits of 0"
            )

    def plain(self, tree: Mechanism) -> bool:
        """Tell whether its state is the torque itself: by one time, within the torque limits."""
        one = self.release is None and self.law == LAWS[0]
        return one and not self._strengths(tree)

    def command_signal(self, tau: Matrix, rate: Matrix) -> Matrix:
        """Return the signal u (N m or N) of its joint's torque and the rate of that, where it is
        `plain`."""
        return tau + graph_number(self.time) * rate

    def shares(self, tree: Mechanism, tau: Matrix, q: Matrix, qd: Matrix) -> Shares:
        """Return the shares (upwards, downwards), both from 0 on, of its joint's torque, coordinate
        and rate; None for a side that the drive does not have."""
        up, down = self._reach(tree, q, qd)
        if down is None:
            return tau / up, None
        if up is None:
            return None, -tau / down
        return ramp(tau / up, ROUNDING), ramp(-tau / down, ROUNDING)

    def ways(self, tree: Mechanism) -> tuple[float, float]:
        """Return the bounds of its state."""
        lower, upper = nominal(tree.moving[tree.coordinate(self.joint)].torque)
        known = self._strengths(tree)
        return (-1.0 if -1 in known or lower < 0 else 0.0, 1.0 if 1 in known or upper > 0 else 0.0)

    def room(self, shares: Shares, rate: Matrix) -> tuple[Matrix, Matrix]:
        """Return the excess of a full signal over its state's `rate` (1/s), upwards and downwards,
        both at least 0, times the time of coming on."""
        up, down = shares
        most = self._sum(self._rise(up), self._fall(down))
        least = self._sum(self._rise(down), self._fall(up))
        time = graph_number(self.time)
        return time * (most - rate), time * (least + rate)

    def _sum(self, *rates: Matrix | None) -> Matrix:
        return sum(rate for rate in rates if rate is not None)

    def _strengths(self, tree: Mechanism) -> dict[int, Strength]:
        """Return {direction: Strength} of its joint."""
        known = (each for each in tree.elements if isinstance(each, Strength))
        return {each.direction: each for each in known if each.joint == self.joint}

    def _reach(self, tree: Mechanism, q: Matrix, qd: Matrix) -> Shares:
        """Return the strength of the drive upwards and downwards (N m or N), both positive; None
        where it has none there."""
        known, limits = self._strengths(tree), tree.moving[tree.coordinate(self.joint)].torque
        reach: list[Matrix | None] = []
        for direction, limit in zip((1, -1), reversed(limits)):
            if direction in known:
                reach.append(known[direction].capacity(q, direction * qd))
            else:
                is_there = direction * nominal(limit) > 0
                reach.append(direction * graph_number(limit) if is_there else None)
        return reach[0], reach[1]

    def _rise(self, share: Matrix | None) -> Matrix | None:
        """Return da/dt (1/s) of a share under a full signal; None of a side that is not there."""
        if share is None:
            return None
        if self.law == LAWS[0]:
            return (1 - share) / graph_number(self.time)
        return self._pace(share, 1 - share) * (1 - share)

    def _fall(self, share: Matrix | None) -> Matrix | None:
        """Return -da/dt (1/s) of a share under no signal; None of a side that is not there."""
        if share is None:
            return None
        if self.law == LAWS[0]:
            return share / graph_number(self._off)
        return self._pace(share, -share) * share

    def _pace(self, share: Matrix, gap: Matrix) -> Matrix:
        """Return da/dt (1/s) over the `gap` between signal and share, by De Groote's law."""
        times = graph_number(self.time), graph_number(self._off)
        return activation_pace(gap, share, *times, self.steepness)
