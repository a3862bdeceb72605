"""Laws of passive joints on both sides of a transition, asked for once.

Where coordinates, rates and accelerations are the same, so is what the motion needs of its passive
joints, b and a being the sides before and after:

    needed - B_b f_b = 0,   needed - B_a f_a = 0

with what the ground gives, f, of the contacts that bear there. A combination c of rows with both
c' B_b = 0 and c' B_a = 0 says the same on both sides: in flight all do, on a point foot of a planar
body that for the moment about it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb

import casadi as ca
import numpy as np

from ocp.dynamics import inverse_dynamics
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import nominal
from ocp.problem.contact.ground import bearing_slots
from ocp.problem.contact.transmitted_wrenches import contact_shares
from ocp.problem.phases.phases import Transition
from ocp.problem.phases.shared_spline import SHARED
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry

SAME = {"q", "qd", "qdd"}
SAMPLES, SEED = 6, 7  # postures, and motions, that tell what is the same
NOTHING = 1e-9  # of the largest singular value, or torque: below it there is none
LEAST = 1e-2  # of unit combinations, at every posture: the share of rows that these must have
MOST = 1000  # choices of rows that are compared


def law_handover(problem: Problem) -> Mapping[str, frozenset[int]]:
    """Return {phase: rows of q whose lack of torque others see to at its start}."""
    parts = problem.parts
    met: dict[str, frozenset[int]] = {name: frozenset() for name in parts}
    for each in problem.transitions:
        if set(each.quantities) >= SAME:
            met[each.after] |= frozenset(
                _rows_handed_over(each, parts[each.before], parts[each.after])
            )
    return met


def _rows_handed_over(link: Transition, before: Problem, after: Problem) -> tuple[int, ...]:
    """Return the rows of the phase after that follow from those before it and its own others."""
    if not (_asks(before) and _asks(after)) or before.end == SHARED:
        return ()
    if not _needs_alike(link.symmetry, before, after):
        return ()
    index, _ = _images(link.symmetry, after.tree.dof)
    own = structure(after.tree).passive
    rows = [row for row in structure(before.tree).passive if index[row] in own]
    if not rows:
        return ()
    open_ways = [
        _unborne_combinations(link.symmetry, before, after, rows, q) for q in _postures(before.tree)
    ]
    count = min(ways.shape[1] for ways in open_ways)
    if not count or any(ways.shape[1] != count for ways in open_ways):
        return ()
    return tuple(index[rows[k]] for k in _best_rows(open_ways, count))


def _asks(part: Problem) -> bool:
    """Tell whether a phase has laws of passive joints at its ends: on splines, where no loop gives
    what they lack."""
    return not part.motion.collocated and not structure(part.tree).closed


def _images(symmetry: Symmetry | None, count: int) -> tuple[list[int], np.ndarray]:
    """Return the row of which each row is the image, and its sign."""
    if symmetry is None:
        return list(range(count)), np.ones(count)
    return list(symmetry.index), np.array(symmetry.sign)


def _needs_alike(symmetry: Symmetry | None, before: Problem, after: Problem) -> bool:
    """Tell whether a state before a transition needs the image of what that after it does."""
    alike = before.tree == after.tree and before.loads == after.loads
    if not alike or any(load.varies for load in before.loads):
        return False
    if symmetry is None:
        return True
    if before.loads:
        return False
    return mirrors_torques(nominal(after.tree), nominal(symmetry))


@lru_cache(maxsize=8)
def mirrors_torques(tree: Tree, symmetry: Symmetry) -> bool:
    """Tell whether the image of a motion needs the image of its torques by a `symmetry` of the
    coordinates of a `tree`, as it does where both its sides are alike."""
    q, qd, qdd = (ca.MX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))
    needed = ca.Function("needed", [q, qd, qdd], [inverse_dynamics(tree, q, qd, qdd)])
    motions = np.random.default_rng(SEED).uniform(-0.5, 0.5, (SAMPLES, 3, tree.dof))
    for motion in motions:
        images = [symmetry.image(each) for each in motion]
        images[0] = images[0] + np.array(symmetry.shift)
        torques, others = (np.array(needed(*each)).ravel() for each in (motion, images))
        size = np.abs(torques).max(initial=0.0)
        if np.abs(symmetry.image(torques) - others).max(initial=0.0) > NOTHING * size:
            return False
    return True


def _postures(tree: Tree) -> np.ndarray:
    return np.random.default_rng(SEED).uniform(-0.5, 0.5, (SAMPLES, tree.dof))


def _unborne_combinations(
    symmetry: Symmetry | None, before: Problem, after: Problem, rows: Sequence[int], q: np.ndarray
) -> np.ndarray:
    """Return combinations (rows, ..) of rows to which no contact gives anything on either side, the
    start of the phase after being at q (n,)."""
    index, sign = _images(symmetry, len(q))
    there = q
    if symmetry is not None:
        there = symmetry.image(q) + np.array(nominal(symmetry.shift), dtype=float)
    first = _contact_columns(before, 1.0, there)[list(rows)]
    second = (sign[:, None] * _contact_columns(after, 0.0, q)[index])[list(rows)]
    both = np.hstack([first, second])
    ways, sizes, _ = np.linalg.svd(both) if both.size else (np.eye(len(rows)), np.zeros(0), None)
    return ways[:, int((sizes > NOTHING * max(sizes.max(initial=0.0), 1.0)).sum()) :]


def _contact_columns(part: Problem, s: float, q: np.ndarray) -> np.ndarray:
    """Return the torques at q by each force component of contacts that bear at s, (n, ..)."""
    ground = part.ground
    if ground is None:
        return np.zeros((part.tree.dof, 0))
    tree, bearing = nominal(part.tree), bearing_slots(ground, s)
    columns = [
        shares for slot, shares in contact_shares(tree, ground, q).items() if slot in bearing
    ]
    return np.hstack([np.zeros((part.tree.dof, 0)), *columns])


def _best_rows(ways: Sequence[np.ndarray], count: int) -> tuple[int, ...]:
    """Return which `count` rows follow from the others at every posture, where combinations `ways`
    (rows, count) vanish: those with the largest share in these; none if all may have little."""
    size = len(ways[0])
    if comb(size, count) > MOST:
        return ()

    def share(chosen: tuple[int, ...]) -> float:
        return min(abs(np.linalg.det(each[list(chosen)])) for each in ways)

    best = max(combinations(range(size), count), key=share)
    return best if share(best) > LEAST else ()
