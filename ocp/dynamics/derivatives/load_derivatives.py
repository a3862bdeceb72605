"""Contributions of loads and wrenches to the derivatives of joint torques, in the ground frame."""

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from ocp.dynamics.derivatives.ground_frame import Chain, Frames
from ocp.dynamics.matrix_entries import split_rows
from ocp.dynamics.signatures import AnyLoads
from ocp.mechanics.kinematics.spatial import cross, cross_force, cross_motion, cross_with_vector
from ocp.mechanics.model.loads import Wrench, applied_loads
from ocp.mechanics.values.parameters import array, matrix
from ocp.mechanics.values.types import Matrix

SX = ca.SX


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A moment and a force (3 each) on a link that moves: its coordinates, the place (3), whether
    that stays in the ground, and the load's columns among those of all."""

    moving: list[int]
    place: Matrix
    stays: bool
    moment: Matrix
    force: Matrix
    columns: list[int]


def _pushes(chain: Chain, frames: Frames, loads: AnyLoads) -> Iterator[Push]:
    """Yield the Push of each load on a link that moves."""
    for number, load in enumerate(loads):
        if isinstance(load, Wrench):
            link, position = chain.tree.link_index(load.link), array(load.place)
            vectors: tuple[Matrix, ...] = load.moment, load.force
        else:
            link, position, *others = applied_loads(chain.tree, [load])[0]
            vectors = tuple(others)
        moving: list[int] = []
        k = chain.carriers[link]
        while k >= 0:
            moving.insert(0, k)
            k = chain.parents[k]
        if not moving:
            continue
        if isinstance(load, Wrench):
            place = matrix(position) - frames.base
        else:
            place = frames.origin[:, moving[-1]] + frames.rotation[moving[-1]] @ matrix(position)
        moment, force = (ca.vertcat(vector[0], vector[1], vector[2]) for vector in vectors)
        yield Push(
            moving=moving,
            place=place,
            stays=isinstance(load, Wrench),
            moment=moment,
            force=force,
            columns=list(range(6 * number, 6 * number + 6)),
        )


def _rates(frames: Frames, push: Push) -> tuple[Matrix, Matrix]:
    """Return for every joint of a chain, as columns (3, d), the rates of turning and of a point's
    moving per joint rate."""
    turns, slides = split_rows(frames.screw[:, push.moving], 3)
    return turns, slides + cross(turns, ca.repmat(push.place, 1, len(push.moving)))


def load_slopes(chain: Chain, frames: Frames, loads: AnyLoads) -> tuple[Matrix, Matrix]:
    """Return the loads' shares of -dtau/dq (n, n) and dtau/d(moment, force) (n, 6 loads)."""
    by_q, by_load = SX(chain.tree.dof, chain.tree.dof), SX(chain.tree.dof, 6 * len(loads))
    for push in _pushes(chain, frames, loads):
        moving, (turns, moves) = push.moving, _rates(frames, push)
        pushed = turns.T @ cross_with_vector(moves, push.force)
        swung = turns.T @ cross_with_vector(turns, push.moment)
        by_load[moving, push.columns] = -ca.horzcat(turns.T, moves.T)
        by_q[moving, moving] += (
            ca.triu(pushed, False).T
            + ca.triu(swung, False).T
            + (-ca.tril(pushed, False) if push.stays else ca.triu(pushed))
        )
    return by_q, ca.sparsify(by_load)


def load_curvatures(
    chain: Chain, frames: Frames, virtual: Matrix, loads: AnyLoads
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return derivatives of the virtual work of the loads, the sum of w.W.

    They are the second ones by q (n, n), upper triangle, minus those by q and (moment, force)
    (n, 6 loads), the first ones by q (n,), and minus those by (moment, force) (6 loads,).
    """
    n, count = chain.tree.dof, len(loads)
    by_qq, by_q_load, by_q, by_load = SX(n, n), SX(n, 6 * count), SX.zeros(n), SX.zeros(6 * count)
    for push in _pushes(chain, frames, loads):
        moving, place, force = push.moving, push.place, push.force
        (turns, moves), size = _rates(frames, push), len(moving)
        w, v = split_rows(virtual[:, moving[-1]], 3)
        screws, own = frames.screw[:, moving], ca.repmat(ca.vertcat(w, v), 1, size)
        ahead = cross_motion(screws, own - virtual[:, moving])
        about_base = push.moment + ca.cross(place, force)
        wrench = [ca.repmat(part, 1, size) for part in (about_base, force)]
        by_place = screws.T @ cross_force(ahead, *wrench)
        speeds = ahead[3:, :] + cross(ahead[:3, :], ca.repmat(place, 1, size))
        if not push.stays:
            crossed = cross_with_vector(moves, force).T @ ahead[:3, :]
            by_place += crossed + crossed.T + turns.T @ cross_with_vector(moves, ca.cross(force, w))
            speeds += cross(ca.repmat(w, 1, size), moves)
        by_qq[moving, moving] += ca.triu(by_place)
        by_q_load[moving, push.columns] = -ca.horzcat(ahead[:3, :].T, speeds.T)
        by_q[moving] += ahead[:3, :].T @ push.moment + speeds.T @ force
        by_load[push.columns] = -ca.vertcat(w, v + ca.cross(w, place))
    return by_qq, ca.sparsify(by_q_load), by_q, by_load
