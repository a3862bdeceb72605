"""Contact schedule of the right foot in each phase of a running step."""

import numpy as np

from ocp import Tree
from ocp.problem import Foot, Ground
from ocp.problems.gait.statement.contact_schedule import UP, flat_on, on_heel, on_toes, planted

STRIKES = {"heel": ("heel", "flat", "toes"), "mid": ("flat", "toes"), "fore": ("toes",)}
FLIGHT = "flight"
WAYS = {"heel": on_heel, "flat": flat_on, "toes": on_toes}  # how the foot stands in each phase
NEVER = (np.inf, -np.inf)  # when a foot in swing bears


def stance(body: Tree, phase: str, width: float, *, first: bool, last: bool) -> Ground:
    """Return the ground of a phase of stance: the right foot on its heel, flat, or on ball and
    toes, half the `width` (m) to the right, its heel at Z = 0 where it is flat. Its force starts
    from zero in the `first` phase and returns to it in the `last`."""
    spots = planted(body, "right", (-width / 2, 0.0, 0.0))
    support = WAYS[phase](spots, "right", (0.0, 1.0))
    bears = (0.0 if first else -np.inf, 1.0 if last else np.inf)
    center = (spots["heel_r"] + spots["toe_r"]) / 2
    foot = Foot(name="right", supports=(support,), center=center, bears=bears)
    return Ground(feet=(foot,), normal=UP)


def swinging(*sides: str) -> Ground:
    """Return the ground under feet that swing, for what keeps them above it."""
    feet = [Foot(name=side, supports=(), center=(0.0, 0.0, 0.0), bears=NEVER) for side in sides]
    return Ground(feet=feet, normal=UP)
