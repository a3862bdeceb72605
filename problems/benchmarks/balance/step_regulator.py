"""The linear-quadratic regulator of a step that its image continues, on a ground that gives way.

Corners bear as the plan's supports say, with the plan's forces; gains repeat from step to step: the
Riccati recursion goes back over steps until they do. Where the next foot strikes, the way is
counted anew from it, so that no place in the world is steered for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ocp.mpc import exponential
from ocp.problems.benchmarks.balance.walker import CORNERS, HALF, Walker

PERIOD = 0.01  # s, over which gains are one
STEPS = 12  # of the recursion
ANGLE, RATE, SHARE = 0.1, 1.0, 0.2  # rad or m, their rates, of largest torques, that weigh as one
FAR, HEIGHT, LANDING = 10.0, 0.05, 0.03  # m: of the way, of the pelvis, of the foot that strikes
LEAST = 5.0  # N m, of a largest torque
# Gains (N m/rad, N m s/rad) of joints alone, beneath those of the regulator [assumed]
STIFF, DAMPED = 50.0, 3.0
FIRMER = {"ankle": 2.0, "hip": 2.0, "knee": 2.0, "spine": 6.0, "shou": 0.5, "elb": 0.3, "head": 0.5}
TOES, TOE_STIFF, TOE_DAMPED = ("toe_ext_r", "toe_ext_l"), 10.0, 0.2  # which weigh next to nothing
HEEL, BALL, TOE = (0, 1), (2, 3), (4, 5)  # corners of a sole


@dataclass(frozen=True, slots=True, kw_only=True)
class Regulator:
    """States (2 n, N + 1), torques (n, N + 1) and gains (N, n, 2 n) of a step's periods."""

    states: np.ndarray
    torques: np.ndarray
    gains: np.ndarray


def regulator(body: Walker) -> Regulator:
    """Return the Regulator of a step."""
    solution, n = body.solution, body.tree.dof
    t = np.linspace(0.0, solution.duration, round(solution.duration / PERIOD) + 1)
    states = np.vstack([solution.q(t), solution.qd(t)])
    torques = _driven(body, t)
    inner = _inner_gains(body)
    drives = [row for row in range(n) if row not in body.root]
    drives = [row for row in drives if body.tree.moving[row].name not in TOES]
    pairs = [_transition(body, inner, instant) for instant in (t[1:] + t[:-1]) / 2]
    pairs = [(by_state, by_torque[:, drives]) for by_state, by_torque in pairs]
    state = _weights(body)
    struck = _landing(body, t[-1], [HALF + corner for corner in HEEL])
    flat = int(body.solution.problem.ground.foot("right").supports[0].when[1] * len(pairs))
    trodden = {flat: _landing(body, t[flat], BALL)}
    peaks = np.maximum(np.abs(torques), np.abs(body.image @ torques)).max(axis=1)
    torque = np.diag(1 / (SHARE * np.maximum(peaks, LEAST)[drives]) ** 2)
    mirror, strike = np.kron(np.eye(2), body.image), _counted_anew(body)
    value, gains = state, np.zeros((len(pairs), n, 2 * n))
    for _ in range(STEPS):
        value = mirror.T @ strike.T @ value @ strike @ mirror + struck
        for k, (a, b) in reversed(list(enumerate(pairs))):
            ahead = value @ b
            gain = -np.linalg.solve(PERIOD * torque + b.T @ ahead, ahead.T @ a)
            value = PERIOD * state + a.T @ value @ (a + b @ gain)
            value = (value + value.T) / 2 + trodden.get(k, 0.0)
            gains[k, drives] = gain
    for row in map(body.tree.coordinate, TOES):
        gains[:, :, [row, n + row]] = 0.0  # toes flutter; nothing is to follow them
    return Regulator(states=states, torques=torques, gains=gains + inner)


def _driven(body: Walker, t: np.ndarray) -> np.ndarray:
    """Return planned torques (n, ..), none at the root."""
    torques = np.array(body.solution.tau(t))
    torques[list(body.root)] = 0.0
    return torques


def _inner_gains(body: Walker) -> np.ndarray:
    """Return the gains (n, 2 n) of joints alone."""
    n, gains = body.tree.dof, np.zeros((body.tree.dof, 2 * body.tree.dof))
    for row in (row for row in range(n) if row not in body.root):
        name = body.tree.moving[row].name
        factor = next((each for start, each in FIRMER.items() if name.startswith(start)), 1.0)
        pair = (TOE_STIFF, TOE_DAMPED) if name in TOES else (factor * STIFF, factor * DAMPED)
        gains[row, [row, n + row]] = np.negative(pair)
    return gains


def _weights(body: Walker) -> np.ndarray:
    """Return the weights (2 n, 2 n) of deviations."""
    n = body.tree.dof
    far = np.repeat([ANGLE, RATE], n)
    far[[body.ahead, body.aside]] = FAR
    far[body.tree.coordinate("glob_ty")] = HEIGHT
    return np.diag(1 / far**2)


def _slopes(body: Walker, t: float, axis: int, corners: Sequence[int]) -> np.ndarray:
    """Return the slopes (k, n) of corners along an axis, at a time t (s)."""
    solution = body.solution
    slope = np.array(body.mechanics(solution.q(t), solution.qd(t))[5])
    return slope.reshape(len(CORNERS), 3, -1)[list(corners), axis]


def _landing(body: Walker, t: float, corners: Sequence[int]) -> np.ndarray:
    """Return the weights (2 n, 2 n) of the height of corners that come down at a time t (s)."""
    rows = _slopes(body, t, 1, corners)
    whole = np.hstack([rows, np.zeros_like(rows)]) / LANDING
    return whole.T @ whole


def _counted_anew(body: Walker) -> np.ndarray:
    """Return the map (2 n, 2 n) of deviations to those from where the foot that leads stands."""
    n, whole = body.tree.dof, np.eye(2 * body.tree.dof)
    for axis, row in ((0, body.aside), (2, body.ahead)):
        whole[row, :n] -= _slopes(body, 0.0, axis, HEEL).mean(axis=0)
    return whole


def bearing(body: Walker, s: float) -> np.ndarray:
    """Return which corners (12,) bear at an instant s, by the supports of the plan."""
    whole = np.zeros(len(CORNERS))
    for foot in body.solution.problem.ground.feet:
        side = HALF * (foot.name == "left")
        for support in foot.supports:
            if support.when[0] <= s < support.when[1]:
                pins = " ".join(pin.point for pin in support.pins)
                parts = {"heel": HEEL, "ball": BALL, "toe": TOE}
                for corners in (each for name, each in parts.items() if name in pins):
                    whole[[side + corner for corner in corners]] = 1.0
    return whole


def _transition(body: Walker, inner: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (A, B) of a period about the time t (s), joints' own gains closed."""
    solution, n = body.solution, body.tree.dof
    q, qd, torques = solution.q(t), solution.qd(t), _driven(body, np.array([t]))[:, 0]
    mass, lack, _, _, places, slope, _ = (np.array(each) for each in body.mechanics(q, qd))
    bears = bearing(body, t / solution.duration)
    on = slope[np.repeat(bears, 3) > 0]
    lacking = mass @ solution.qdd(t) - lack.ravel() - torques
    faint = 1e-2 * np.eye(len(on))  # which shares forces evenly
    shares = np.linalg.lstsq(np.vstack([on.T, faint]), np.append(lacking, np.zeros(len(on))))[0]
    forces = np.zeros((len(CORNERS), 3))
    forces[bears > 0] = shares.reshape(-1, 3)
    qdd = np.linalg.solve(mass, lack.ravel() + torques + on.T @ shares)
    rates = (slope @ qd).reshape(-1, 3).T
    base = q, qd, torques, qdd, forces.T, places, rates, bears
    point = [np.tile(np.reshape(each, (np.shape(each)[0], -1)), 3 * n) for each in base]
    seeds = [np.zeros_like(each) for each in point]
    for part, block in enumerate(np.vsplit(np.eye(3 * n), 3)):
        seeds[part] = block
    slopes = np.array(body.residual.forward(1).map(3 * n)(*point, np.zeros((n, 3 * n)), *seeds))
    whole = np.zeros((3 * n, 3 * n))
    whole[:n, n : 2 * n] = np.eye(n)
    whole[n : 2 * n] = np.linalg.solve(mass, slopes)
    whole[:, 2 * n + np.array(body.root)] = 0.0
    whole[: 2 * n, : 2 * n] += whole[: 2 * n, 2 * n :] @ inner
    step = exponential(PERIOD * whole)
    return step[: 2 * n, : 2 * n], step[: 2 * n, 2 * n :]
