"""Structure of a tree: driven and passive rows, floating root, independent rows of its loops."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.loop_assembly import (
    Independence,
    closed_configurations,
    independent_rows,
)
from ocp.mechanics.kinematics.loop_closure import DEPENDENT, gap_jacobian, gap_labels, gap_units
from ocp.mechanics.kinematics.unilateral_forces import stay_labels
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import nominal

ROOT_KINDS = ["prismatic"] * 3 + ["revolute"] * 3
MOST = 3  # slides, and turns, of a root


@dataclass(frozen=True)
class Structure:
    """Answers about a `tree`, each found at the first question.

    Rows are rows of q, tuples of int.
    """

    tree: Tree

    @cached_property
    def drives(self) -> tuple[int, ...]:
        """Rows whose joints are actuated."""
        return tuple(row for row, joint in enumerate(self.tree.moving) if joint.actuated)

    @cached_property
    def root(self) -> tuple[int, ...]:
        """Rows of the root: the unactuated joints in line from the ground, in any order, three
        slides and three turns, or a ball instead of these, at most.

        Two slides and a turn float in a plane, six in space, fewer are a cart or a hinge; what no
        ground bears of them is as passive as any joint.
        """
        tree, kinds = self.tree, []
        rows: list[int] = []
        spans, parent = tree.spans, -1
        for k in (k for k, span in enumerate(spans) if span):
            joint = tree.joints[k]
            kinds += ["revolute"] * MOST if joint.ball else [joint.kind]
            inline = tree.parents[k] == parent and not joint.actuated and joint.follows is None
            if not inline or kinds.count(kinds[-1]) > MOST:
                break
            rows += spans[k]
            parent = k
        return tuple(rows)

    @cached_property
    def floating(self) -> tuple[int, ...]:
        """Rows of a root of three slides and then three turns; empty where the tree has none."""
        rows = self.root
        kinds = [self.tree.moving[row].kind for row in rows]
        return rows if kinds == ROOT_KINDS else ()

    @cached_property
    def adrift(self) -> bool:
        """Whether nothing but what it touches holds the tree: its root has two slides or more, and
        a turn."""
        kinds = [self.tree.moving[row].kind for row in self.root]
        slides = kinds.count("prismatic")
        return slides >= 2 and len(kinds) > slides

    @cached_property
    def passive(self) -> tuple[int, ...]:
        """Rows that nothing drives: the unactuated ones, the root's among them."""
        return tuple(row for row in range(self.tree.dof) if row not in self.drives)

    @cached_property
    def looped(self) -> tuple[int, ...]:
        """Passive rows that move the gap of a loop, as those of a root that floats do not."""
        if not self.closed:
            return ()
        slopes = np.abs(
            [gap_jacobian(nominal(self.tree), ca.DM(q)) for q in closed_configurations(self.tree)]
        )
        moves = slopes.max(axis=(0, 1)) > DEPENDENT
        return tuple(row for row in self.passive if moves[row])

    @property
    def flexible(self) -> bool:
        """Whether any link bends."""
        return bool(self.tree.flexible)

    @property
    def closed(self) -> bool:
        """Whether loops close the tree."""
        return bool(self.tree.loops)

    @property
    def loop_names(self) -> str:
        """Names of the loops, for messages."""
        return ", ".join(loop.name for loop in self.tree.loops)

    @cached_property
    def independence(self) -> Independence:
        """Which rows of the loops' gap are independent of those before them."""
        return independent_rows(self.tree)

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """Rows of the gap whose forces hold the loops closed: the independent ones.

        An open tree has none.
        """
        return self.independence.rows if self.closed else ()

    @cached_property
    def redundant(self) -> tuple[str, ...]:
        """Names of the rows of the gap that follow from those before them."""
        return self.independence.redundant if self.closed else ()

    @cached_property
    def cut_labels(self) -> tuple[str, ...]:
        """Names of all rows of the gap."""
        return tuple(gap_labels(self.tree))

    @cached_property
    def cut_units(self) -> tuple[str, ...]:
        """Units of all rows of the gap."""
        return tuple(gap_units(self.tree))

    @cached_property
    def stay_labels(self) -> tuple[str, ...]:
        """Names of all sides of the stays."""
        return stay_labels(self.tree)

    @property
    def internal(self) -> int:
        """How many numbers the drives, the cut joints and the stays give at an instant."""
        return len(self.drives) + len(self.cuts) + sum(len(stay.sides) for stay in self.tree.stays)

    @cached_property
    def bearing(self) -> tuple[int, ...] | None:
        """As many of the passive rows as there are cuts, whose lack of torque determines the forces
        of the cut joints; None where it does not, so that drives could work against each other."""
        return choose_bearing_rows(self.tree, self.looped)

    @property
    def determined(self) -> bool:
        """Whether the forces of cut joints follow from the lack of torque at passive joints.

        Of an open tree they do.
        """
        return not self.closed or self.bearing is not None


@lru_cache(maxsize=64)
def structure(tree: Tree) -> Structure:
    """Return the Structure of a tree, the same one for equal trees."""
    return Structure(tree)


def floating_root(tree: Tree) -> tuple[int, ...]:
    """Return the six rows of the floating root; raise ValueError if the tree has none."""
    rows = structure(tree).floating
    if not rows:
        raise ValueError(
            "two-pass reactions: the tree needs a floating root, six unactuated joints from the "
            "ground: three prismatic, then three revolute; take torques and ground wrenches as "
            "variables"
        )
    return rows


@lru_cache(maxsize=64)
def choose_bearing_rows(tree: Tree, passive: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return as many of the `passive` rows as there are independent rows of the gap, such that
    these rows' forces follow from the lack of torque there, the best conditioned first taken; None
    if they do not follow."""
    rows = structure(tree).cuts
    chosen: list[int] = []
    if not rows:
        return ()
    rest = np.array(gap_jacobian(nominal(tree), ca.DM(closed_configurations(tree)[0])))[
        np.ix_(rows, passive)
    ]
    size = max(np.linalg.norm(rest, axis=0).max(initial=0.0), 1e-9)
    while len(chosen) < len(rows):
        length = np.linalg.norm(rest, axis=0)
        if not length.max(initial=0.0) > DEPENDENT * size:
            return None
        chosen.append(int(np.argmax(length)))
        along = rest[:, chosen[-1]] / length.max()
        rest = rest - np.outer(along, along @ rest)
    return tuple(sorted(passive[k] for k in chosen))
