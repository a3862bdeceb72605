"""What loads and wrenches add to the derivatives of joint torques, in the ground frame."""

from collections.abc import Sequence

import casadi as ca

from ocp.dynamics.formulations.ground_frame import Chain, Frames
from ocp.mechanics.kinematics.spatial import against, cross, cross_force, cross_motion
from ocp.mechanics.model.loads import Load, Wrench, applied
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

SX = ca.SX


def _loaded_chains(chain, frames, loads):
    """Yield for each load the coordinates that move its link, its place, whether that stays, and
    moment and force as columns (3)."""
    for load in loads:
        stays = isinstance(load, Wrench)
        link, position, moment, force = (
            (chain.tree.link_index(load.link), load.place, load.moment, load.force)
            if stays
            else applied(chain.tree, [load])[0]
        )
        k = chain.carriers[link]
        moving = []
        while k >= 0:
            moving.insert(0, k)
            k = chain.parents[k]
        if moving:
            place = (
                matrix(position) - frames.base
                if stays
                else frames.origin[:, moving[-1]] + frames.rotation[moving[-1]] @ matrix(position)
            )
            yield (
                moving,
                place,
                stays,
                *(ca.vertcat(vector[0], vector[1], vector[2]) for vector in (moment, force)),
            )
        else:
            yield moving, None, None, None, None


def _rates(frames, moving, place):
    """Return for every joint of a chain, as columns (3, d), the rates of turning and of a point's
    moving per joint rate."""
    turns, slides = ca.vertsplit(frames.screw[:, moving], 3)
    return turns, slides + cross(turns, ca.repmat(place, 1, len(moving)))


def load_slopes(chain: Chain, frames: Frames, loads: Sequence[Load]) -> tuple[Matrix, Matrix]:
    """Return the loads' shares of -dtau/dq (n, n) and dtau/d(moment, force) (n, 6 loads)."""
    by_q, by_load = SX(chain.tree.dof, chain.tree.dof), SX(chain.tree.dof, 6 * len(loads))
    for number, (moving, place, stays, moment, force) in enumerate(
        _loaded_chains(chain, frames, loads)
    ):
        if moving:
            turns, moves = _rates(frames, moving, place)
            pushed, swung = turns.T @ against(moves, force), turns.T @ against(turns, moment)
            by_load[moving, list(range(6 * number, 6 * number + 6))] = -ca.horzcat(turns.T, moves.T)
            by_q[moving, moving] += (
                ca.triu(pushed, False).T
                + ca.triu(swung, False).T
                + (-ca.tril(pushed, False) if stays else ca.triu(pushed))
            )
    return by_q, ca.sparsify(by_load)


def load_curvatures(
    chain: Chain, frames: Frames, virtual: Matrix, loads: Sequence[Load]
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return of the virtual work of the loads, sum of w.W: second derivatives by q (n, n), upper
    triangle, minus those by q and (moment, force) (n, 6 loads), the first by q (n,), and minus
    those by (moment, force) (6 loads,)."""
    n, count = chain.tree.dof, len(loads)
    by_qq, by_q_load, by_q, by_load = SX(n, n), SX(n, 6 * count), SX.zeros(n), SX.zeros(6 * count)
    for number, (moving, place, stays, moment, force) in enumerate(
        _loaded_chains(chain, frames, loads)
    ):
        if not moving:
            continue
        columns, (turns, moves) = (
            list(range(6 * number, 6 * number + 6)),
            _rates(frames, moving, place),
        )
        w, v = ca.vertsplit(virtual[:, moving[-1]], 3)
        ahead = cross_motion(
            frames.screw[:, moving],
            ca.repmat(ca.vertcat(w, v), 1, len(moving)) - virtual[:, moving],
        )
        here = ca.repmat(place, 1, len(moving))
        wrench = [
            ca.repmat(part, 1, len(moving)) for part in (moment + ca.cross(place, force), force)
        ]
        by_place = frames.screw[:, moving].T @ cross_force(ahead, *wrench)
        speeds = ahead[3:, :] + cross(ahead[:3, :], here)
        if not stays:
            crossed = against(moves, force).T @ ahead[:3, :]
            by_place += crossed + crossed.T + turns.T @ against(moves, ca.cross(force, w))
            speeds += cross(ca.repmat(w, 1, len(moving)), moves)
        by_qq[moving, moving] += ca.triu(by_place)
        by_q_load[moving, columns] = -ca.horzcat(ahead[:3, :].T, speeds.T)
        by_q[moving] += ahead[:3, :].T @ moment + speeds.T @ force
        by_load[columns] = -ca.vertcat(w, v + ca.cross(w, place))
    return by_qq, ca.sparsify(by_q_load), by_q, by_load
