"""End states of starting and stopping: standing at rest, and a steady walk at its strike."""

from functools import cache

import numpy as np

from ocp import Solution, Solver, Transcription, Tree
from ocp.mechanics import array, position
from ocp.problems.gait import problem, walk
from ocp.problems.gait.solve_step import strong
from ocp.problems.gait.starting_stopping.contact_schedule import apart
from ocp.studies import call_by_flags

CLOSE = {"tol": 1e-9}  # of the walk: motions that end in its state hang on how nearly it is one
# The line of gravity of people who stand passes some 5 cm before their ankles [recalled]: so do
# bodies that lean by this much (rad)
LEAN = float(np.radians(3.0))
ARMS = float(np.radians(3.0))  # rad: by which arms hang aside, wrists off the hips [assumed]


@cache
def steady(**asked: object) -> Solution:
    """Return the steady walk, one step from the strike of the right heel, that `gait` finds for
    what is `asked`, its flags. Raises NotSolved where it finds none."""
    stated = call_by_flags(problem, asked)
    return walk(stated, Transcription(), Solver(options=CLOSE)).require(coarse=True)


def carried(walked: Solution, way: float = 0.0) -> dict[str, np.ndarray]:
    """Return {"q", "qd", "qdd"} (n,) of a steady walk as the right heel strikes, a `way` (m) ahead
    of where it does.

    Without accelerations of people with strength over angle: their spines are bent as far as they
    can be then, where splines of other segments cannot have these within all ranges.
    """
    tree = walked.problem.tree
    told = ("q", "qd") if strong(walked.problem) else ("q", "qd", "qdd")
    state = {
        name: np.array(getattr(walked, name)(np.zeros(1)), dtype=float).ravel() for name in told
    }
    lower, upper = np.array([joint.position for joint in tree.moving], dtype=float).T
    state["q"] = np.clip(state["q"], lower, upper)
    state["q"][tree.coordinate("glob_tz")] += way
    return state


def posture(tree: Tree, width: float, ahead: float = 0.0, side: str = "right") -> np.ndarray:
    """Return q (n,) of a body that stands with both feet side by side, the heels `ahead` (m), that
    of a `side` where it walks on steps of a `width` (m)."""
    q, still = np.zeros(tree.dof), np.zeros(tree.dof)
    for name in ("glob_rx", "ankle_df_r", "ankle_df_l"):
        q[tree.coordinate(name)] = LEAN
    for name in ("shou_abd_r", "shou_abd_l"):
        if name in [joint.name for joint in tree.moving]:
            q[tree.coordinate(name)] = ARMS
    height, heel = (
        np.array(array(position(tree, each, "heel_r")), dtype=float).ravel() for each in (still, q)
    )
    middle = (apart(tree) - width) / 2
    q[tree.coordinate("glob_tx")] = middle if side == "right" else -middle
    q[tree.coordinate("glob_ty")] = height[1] - heel[1]
    q[tree.coordinate("glob_tz")] = ahead - heel[2]
    return q
