"""Components of contact wrenches that reach a tree, and the joints that contacts bear.

A contact's wrench has six components, a moment about its place and a force. Those that its kind
does not pass on, and those that no motion of the tree can feel, as forces across a planar body, are
absent. Where the contacts that bear leave no freedom to what the root's joints need, its balance
can hold at any instant; elsewhere, as on a point foot or in flight, it restricts the motion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.kinematics import motions, point_position, wrench_torques
from ocp.mechanics.kinematics.rigid_kinematics import Motion
from ocp.mechanics.model.loads import Load, Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import matrix, nominal
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import refuse_open
from ocp.problem.contact.ground import Foot, Ground, Support, bearing_slots
from ocp.problem.contact.reactions import strangers

UNFELT = 1e-9  # of the largest share of a component: smaller ones are none
SAMPLES = 3  # postures that tell what a tree can feel
ALIGNED = 1e-12  # of a unit vector: within which it is an axis
Axes = tuple[tuple[float, ...], ...]  # (3, 3), unit vectors as columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Transmission:
    """What the `link` of a `foot` gets from the ground: of a moment and a force, in the columns of
    `axes` (3, 3) where these are not the global ones, the components that are `present` (6,). A
    `point` gets a force where it is, anything else a wrench about the foot's centre."""

    foot: str
    link: str
    point: str | None
    present: tuple[bool, ...]
    axes: Axes | None = None

    def parts(self, lifted: Matrix) -> tuple[Matrix, Matrix]:
        """Return moment and force (3 each) in global axes of components (6,)."""
        moment, force = lifted[:3], lifted[3:6]
        if self.axes is None:
            return moment, force
        turn = ca.DM(self.axes)
        return turn @ moment, turn @ force

    def wrench(self, ground: Ground, place: Matrix, lifted: Matrix) -> Wrench:
        """Return the Wrench of components (6,); `place` (3, m) is where the point is, if it is
        one."""
        moment, force = self.parts(lifted)
        if self.point is not None:
            return Wrench(link=self.link, moment=ca.cross(place, force), force=force)
        center = ground.foot(self.foot).center
        return Wrench(link=self.link, place=center, moment=moment, force=force)

    def load(self, ground: Ground, lifted: Matrix) -> Load | Wrench:
        """Return the load that does the same as `wrench` in inverse dynamics."""
        if self.point is None:
            return self.wrench(ground, None, lifted)
        return Load(point=self.point, force=self.parts(lifted)[1])


@lru_cache(maxsize=64)
def transmissions(tree: Tree, ground: Ground) -> tuple[Transmission, ...]:
    """Return the Transmission of every (foot, link) that ever bears, in the order of `slots`."""
    chosen: dict[tuple[str, str], tuple[Foot, Support]] = {}
    for foot in ground.feet:
        for support in foot.supports:
            chosen.setdefault((foot.name, support.link), (foot, support))
    return tuple(_transmission(tree, ground, *pair) for pair in chosen.values())


def passive_rows(tree: Tree, ground: Ground | None) -> tuple[int, ...]:
    """Return the rows of q that nothing drives and no ground bears all along."""
    borne = structure(tree).root if ground is not None and bears_root(tree, ground) else ()
    return tuple(row for row in structure(tree).passive if row not in borne)


@lru_cache(maxsize=64)
def bears_root(tree: Tree, ground: Ground) -> bool:
    """Tell whether the contacts that bear can give whatever the root's joints need, but for single
    instants at which all force begins or ends."""
    root = list(structure(tree).root)
    if not root:
        return True
    needed = len(root) - sum(rows[0] in root for rows in tree.balls)  # lengths bear nothing
    ways = {bearing_slots(ground, s) for s in ground.middles}
    given = dict(zip(_names(tree, ground), transmissions(tree, ground)))
    whole = {slot for slot, each in given.items() if all(each.present)}
    if floats(tree, ground) and all(whole.intersection(way) for way in ways):
        return True
    number = nominal(tree)
    shares = [
        {slot: columns[root] for slot, columns in contact_shares(number, ground, q).items()}
        for q in _postures(tree)
    ]
    return all(
        max(_rank([here[slot] for slot in way]) for here in shares) == needed for way in ways
    )


def floats(tree: Tree, ground: Ground) -> bool:
    """Tell whether a tree floats in space, and all of its feet are of the body that does."""
    return bool(structure(tree).floating) and not strangers(tree, ground)


def contact_shares(tree: Tree, ground: Ground, q: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Return {(foot, link): generalized forces (n, 6) of its components at q (n,)}, zero of those
    that are absent."""
    given = zip(_names(tree, ground), transmissions(tree, ground))
    return {slot: _shares(tree, ground, each, q) for slot, each in given}


def is_corrected(tree: Tree, ground: Ground) -> bool:
    """Tell whether wrenches between nodes are corrected to the balance of the motion: those of feet
    with areas under a body that floats in space, of which some bears but for single instants at
    which all force begins or ends, where the motion needs none."""
    whole = all(all(each.present) for each in transmissions(tree, ground))
    return whole and floats(tree, ground) and bears_root(tree, ground)


def _names(tree: Tree, ground: Ground) -> list[tuple[str, str]]:
    return [(each.foot, each.link) for each in transmissions(tree, ground)]


def _transmission(tree: Tree, ground: Ground, foot: Foot, support: Support) -> Transmission:
    """Return the Transmission of a support, in axes in which components are felt or not."""
    point = support.pins[0].point if support.kind == "point" else None
    for axes in _frames(ground, foot, support):
        able = _passed_components(support, axes)
        each = Transmission(
            foot=foot.name, link=support.link, point=point, present=tuple(able), axes=axes
        )
        if floats(tree, ground):
            return each
        felt, aligned = _felt_components(tree, ground, each, np.array(able))
        if aligned:
            break
    _check_presses(ground, foot, felt, axes)
    return Transmission(
        foot=foot.name, link=support.link, point=point, present=tuple(felt), axes=axes
    )


def _check_presses(ground: Ground, foot: Foot, felt: Sequence[bool], axes: Axes | None) -> None:
    """Raise ValueError naming a foot on whose plane no motion of the tree can press."""
    ways = np.eye(3) if axes is None else np.array(axes)
    normal = np.array(nominal(ground.plane(foot).normal))
    if not foot.grips and np.abs(normal @ ways[:, felt[3:]]).max(initial=0.0) < UNFELT:
        raise ValueError(
            f"foot {foot.name!r}: no motion of the tree presses on a plane with the normal "
            f"{tuple(normal.tolist())}; give its normal, or grips=True for what also pulls"
        )


def _frames(ground: Ground, foot: Foot, support: Support) -> Iterator[Axes | None]:
    """Yield axes (3, 3) for the components, the global ones (None) first if they serve."""
    if support.kind != "line":
        yield None
    refuse_open(f"foot {foot.name!r}: normal of its plane", ground.plane(foot).normal)
    normal = np.array(ground.plane(foot).normal)
    if support.kind != "line":
        along = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    else:
        ends = np.array(nominal(support.polygon))
        along = ends[1] - ends[0]
        along = along - normal * (normal @ along)
    along = along / np.linalg.norm(along)
    columns = np.column_stack([along, np.cross(normal, along), normal])
    if support.kind == "line" and _is_axis(along) and _is_axis(normal):
        yield None
        return
    yield tuple(map(tuple, columns.tolist()))


def _is_axis(vector: np.ndarray) -> bool:
    return bool(abs(np.abs(vector).max() - 1.0) < ALIGNED)


def _passed_components(support: Support, axes: Axes | None) -> list[bool]:
    """Tell which components (6,) a support of its kind passes on."""
    if support.kind == "area":
        return [True] * 6
    if support.kind == "point":
        return [False] * 3 + [axes is not None or axis in support.pins[0].axes for axis in "xyz"]
    ends = np.array(nominal(support.polygon))
    own = int(np.argmax(np.abs(ends[1] - ends[0]))) if axes is None else 0
    return [row != own for row in range(3)] + [True] * 3


def _felt_components(
    tree: Tree, ground: Ground, each: Transmission, able: np.ndarray
) -> tuple[list[bool], bool]:
    """Return which components (6,) some motion feels, and whether the others are all that none
    feels."""
    number = nominal(tree)
    shares = np.vstack([_shares(number, ground, each, q) for q in _postures(tree)])
    sizes = np.linalg.norm(shares, axis=0)
    felt = able & (sizes > UNFELT * max(sizes.max(initial=0.0), 1.0))
    return felt.tolist(), _rank([shares]) == int(felt.sum())


def _shares(tree: Tree, ground: Ground, each: Transmission, q: np.ndarray) -> np.ndarray:
    """Return the generalized forces (n, 6) of the components, zero of those that are absent."""
    moves = _motions_at(tree, tuple(q.tolist()))
    place = None if each.point is None else point_position(tree, moves, each.point)
    columns = np.zeros((tree.dof, 6))
    for k in np.flatnonzero(each.present):
        wrench = each.wrench(ground, place, ca.DM(np.eye(6)[k]))
        given = Wrench(link=wrench.link, moment=_about_origin(wrench), force=wrench.force)
        columns[:, k] = np.array(ca.DM(wrench_torques(tree, moves, given))).ravel()
    return columns


@lru_cache(maxsize=64)
def _motions_at(tree: Tree, q: tuple[float, ...]) -> Sequence[Motion]:
    """Return the motions of all links at q (n,), which every contact asks for at a few postures."""
    return motions(tree, ca.DM(q))


def _about_origin(wrench: Wrench) -> Matrix:
    """Return the moment (3, N m) of a Wrench about the origin, its place with the parameters' own
    values."""
    return wrench.moment + ca.cross(matrix(nominal(wrench.place)), wrench.force)


def _postures(tree: Tree) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(-1.0, 1.0, tree.dof) for _ in range(SAMPLES)]


def _rank(parts: Sequence[np.ndarray]) -> int:
    if not parts:
        return 0
    columns = np.hstack(parts)
    sizes = np.linalg.norm(columns, axis=0)
    columns = columns[:, sizes > UNFELT] / sizes[sizes > UNFELT]
    return int(np.linalg.matrix_rank(columns, tol=1e-8)) if columns.size else 0
