"""Mass centre of a trunk, moved where moments at a floating root tell that it is elsewhere.

A scaled model's trunk has the shape of another person's. Where its mass centre is off by d across
gravity, its weight turns the pelvis by a moment that lasts, and so residual reduction moves it too
(Delp et al. 2007; OpenSim's RRA). Here it is found with what plates are off by all along, by least
squares over the times at which forces are known,

    minimise  sum over times of |M + M_d d + M_e e|^2 / s^2 + |d|^2 / s_d^2 + |e|^2 / s_e^2

with s of the moments M that these leave, which are one datum for as long as they LAST. It stays
where it is unless d is more than CERTAIN of its own standard errors: of somebody who stands on one
plate, the plate's errors tell as much.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ocp.estimation.marker_kinematics import MarkerFit
from ocp.estimation.tracking.consistency import evaluate_rows, passive_rows, with_slopes
from ocp.estimation.tracking.plates_in_band import LOADED, pressure_centre
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.tree import Tree
from ocp.problem import Series

DEVIATION = 0.03  # m: by which trunks of one mass differ [assumed]
LAST = 0.3  # s: about half a step, over which moments stay alike [assumed]
CERTAIN = 2.0  # standard errors
SMALL = 1e-3  # m: of the differences of moments
FAINT = 1e-3  # N m: of moments that are none
ROUNDS = 3  # in which s is found


def settle_mass_centre(
    fit: MarkerFit,
    forces: Series,
    links: Mapping[str, str],
    trunk: Sequence[str],
    *,
    known: np.ndarray,
    plates: tuple[float, float],
) -> tuple[MarkerFit, np.ndarray]:
    """Return a fit whose tree has the mass centres of a trunk where the trial has them, and how far
    they are moved (3,) m, in global axes in its mean posture.

    Args:
        fit: of the markers.
        forces: {plate: (6, N')} moment about the global origin (N m) above force (N).
        links: {plate: the link that it pushes}.
        trunk: links, all of which are moved alike.
        known: times at which these are all forces (N,).
        plates: standard deviations of constant errors of forces (N) and of centres of pressure
            (m).
    """
    tree = fit.tree
    whole = np.vstack([fit.q, fit.qd, fit.qdd, *forces.at(fit.t).values()])
    known = known & np.isfinite(whole).all(axis=0)
    if not known.any():
        return fit, np.zeros(3)
    t, y = fit.t[known], whole[:, known]
    turns = [k for k, j in enumerate(tree.moving) if not j.actuated and j.kind == "revolute"]
    frames = kinematics.poses(tree, np.mean(y[: tree.dof], axis=1))
    axes = {
        link: np.array(ca.evalf(ca.SX(frames[tree.link_index(link)])))[:3, :3] for link in trunk
    }
    pushed = [links[plate] for plate in forces.values]

    def moments(shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        body = _moved_centres(tree, axes, shift)
        entries, rows = passive_rows(body, turns, pushed)
        told = with_slopes(entries, rows, entries[3 * tree.dof :])
        return evaluate_rows(told, len(turns), y, t)

    own, effects = moments(np.zeros(3))
    across = np.linalg.svd(np.array([tree.gravity], dtype=float))[2][1:]  # ways across gravity
    slopes = [(moments(SMALL * way)[0] - own).ravel() / SMALL for way in across]
    sizes = [DEVIATION] * len(across)
    wrenches = y[3 * tree.dof :]
    for k in range(0, len(wrenches), 6):
        part = effects[:, :, k : k + 6]
        for error, size in _constant_errors(wrenches[k : k + 6], plates):
            slopes.append(np.einsum("kmw,wk->km", part, error).ravel())
            sizes.append(size)
    seconds = float(known.mean() * np.ptp(fit.t))
    lasting = max(LAST * len(t) / max(seconds, LAST), 1.0)
    found, covariance = _likeliest(own.ravel(), np.array(slopes).T, np.array(sizes), lasting)
    mine = slice(len(across))
    errors = float(found[mine] @ np.linalg.solve(covariance[mine, mine], found[mine])) ** 0.5
    shift = found[mine] @ across * (errors > CERTAIN)
    return replace(fit, tree=_moved_centres(tree, axes, shift)), shift


def _likeliest(
    own: np.ndarray, slopes: np.ndarray, sizes: np.ndarray, lasting: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the unknowns (k,) of deviations `sizes` (k,) that leave least of moments (m,) whose
    slopes (m, k) they have, and their covariance; as many moments as `lasting` are one datum, and
    their deviation is that of what is left."""
    left = own
    for _ in range(ROUNDS):
        share = 1 / lasting / max(float(np.mean(left**2)), FAINT**2)
        covariance = np.linalg.inv(share * slopes.T @ slopes + np.diag(sizes**-2))
        found = -share * covariance @ slopes.T @ own
        left = own + slopes @ found
    return found, covariance


def _constant_errors(
    rows: np.ndarray, plates: tuple[float, float]
) -> Iterator[tuple[np.ndarray, float]]:
    """Yield wrenches (6, N) by which a plate's (6, N) is off for each unit of a constant error of a
    stance, and the error's deviation: of forces, then of centres of pressure."""
    borne = np.linalg.norm(rows[3:], axis=0) > LOADED
    starts = np.flatnonzero(np.diff(np.concatenate([[0], borne])) > 0)
    place = pressure_centre(rows[:3], rows[3:])
    for first, end in zip(starts, [*starts[1:], len(borne)]):
        stance = borne & (np.arange(len(borne)) >= first) & (np.arange(len(borne)) < end)
        for way in np.eye(3):
            push = np.outer(way, stance)
            yield np.vstack([np.cross(place, push, axis=0), push]), plates[0]
            turn = np.cross(np.outer(way, stance), rows[3:], axis=0)
            yield np.vstack([turn, 0 * turn]), plates[1]


def _moved_centres(tree: Tree, axes: Mapping[str, np.ndarray], shift: np.ndarray) -> Tree:
    """Return the tree with the mass centres of links {name: global axes (3, 3)} moved (3,) m."""
    moved = list(tree.links)
    for name, turn in axes.items():
        at = tree.link_index(name)
        place = np.array(moved[at].com, dtype=float) + turn.T @ shift
        moved[at] = replace(moved[at], com=tuple(place.tolist()))
    return replace(tree, links=tuple(moved))
