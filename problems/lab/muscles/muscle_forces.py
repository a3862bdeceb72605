"""Forces of muscles along a known motion: static optimisation (Crowninshield & Brand 1981).

At every instant activations a share the moments of joints, with as little as possible of

    sum a^2 + sum (r / R)^2,   B(q, qd) a + r = moments,   lower <= a <= upper

where tendons are rigid, so that a muscle's force is linear in its activation, and reserves r, which
count one at R, give what muscles cannot. Instants are apart, as activation dynamics are left out,
and so are passive fibres, which beside a rigid tendon are stretched too far; OpenSim's tool of the
same name does likewise. Of muscles with an electromyogram the envelope e counts too, squared as in
Moco's tracking of controls,

    + w sum (a - e)^2

so that muscles that work against each other, which cost alone does not tell, are found (Sartori,
Farina & Lloyd 2014 take the size of the difference in place of its square).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.mechanics import State
from ocp.mechanics.muscles import Muscle, muscles_of
from ocp.problems.lab.muscles.electromyograms import Electromyograms
from ocp.problems.lab.muscles.synergies import Synergies, muscle_synergies

RESERVE = 10.0  # N m or N: of a joint's reserve that counts as one fully active muscle
ROUNDS = 60  # of the search for bounds that hold
HELD = 1e3  # of activations of synergies above their bounds: moments lack 1e6 times as much
SLACK = 1e-9  # of multipliers and activations beside their bounds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MuscleForces:
    """Muscles along a motion.

    Attributes:
        t: times (N,) s.
        names: of the muscles, (m).
        activations: (m, N).
        forces: of active fibres along the paths (m, N), N.
        joints: names of the coordinates whose moments are shared, (k).
        moments: asked there (k, N), N m.
        reserves: what muscles lack of them (k, N), N m.
        followed: the envelopes (m, N) that activations were to be near to, nan where there was
            none.
        synergies: of which activations are made, None where every muscle is by itself.
    """

    t: np.ndarray
    names: tuple[str, ...]
    activations: np.ndarray
    forces: np.ndarray
    joints: tuple[str, ...]
    moments: np.ndarray
    reserves: np.ndarray
    followed: np.ndarray
    synergies: Synergies | None = None

    @property
    def largest_reserve(self) -> float:
        """The largest reserve (N m)."""
        return float(np.nanmax(np.abs(self.reserves), initial=0.0))

    @property
    def nearness(self) -> dict[str, tuple[float, float]]:
        """The correlation of every muscle's activation with its envelope, and the root mean square
        of their difference; nan where an envelope is constant."""
        near = {}
        for name, active, envelope in zip(self.names, self.activations, self.followed):
            both = np.isfinite(active) & np.isfinite(envelope)
            if both.sum() > 1:
                pair = active[both], envelope[both]
                alike = np.corrcoef(pair)[0, 1] if min(map(np.ptp, pair)) > 0 else np.nan
                near[name] = float(alike), float(np.sqrt(np.mean((pair[0] - pair[1]) ** 2)))
        return near


def muscle_forces(
    model: Tree,
    t: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray,
    moments: np.ndarray,
    *,
    joints: Sequence[str],
    reserve: float = RESERVE,
    emg: Electromyograms = Electromyograms(envelopes={}),
    synergies: int = 0,
) -> MuscleForces:
    """Return the activations that share the moments of joints, and the muscles' forces.

    Args:
        model: a tree with muscles, as `load_model` reads it; of compliant tendons the slack length
            counts.
        t: times (N,) s.
        q, qd: the motion (n, N) of the model's joints, without the states of its muscles.
        moments: of the joints (n, N), as `measured_torques` has them for the model without muscles;
            where they are nan so are activations.
        joints: names of the coordinates whose moments muscles share.
        reserve: N m or N: a joint's reserve that counts as much as a fully active muscle.
        emg: of some of the muscles, to be near to.
        synergies: number of patterns, of all muscles that activations share, which are those
            of the activations without; their least squared drives share the moments then.

    Raises:
        ValueError: the model has no muscles, a joint is none of its coordinates, or an envelope is
            of no muscle, of other times, below 0 or of no weight; more synergies than muscles.
    """
    muscles = [replace(each, tendon="rigid", fatigue=None) for each in muscles_of(model)]
    if not muscles:
        raise ValueError("muscle_forces: the model has no muscles")
    body = replace(model, elements=tuple(muscles))
    rows = [body.coordinate(name) for name in joints]
    gains, pulls = _shares(body, muscles, rows, q, qd)
    wanted = moments[rows].T
    lower, upper = np.array([each.activation or each.excitation for each in muscles]).T
    found = np.full((len(wanted), len(muscles)), np.nan)
    near = emg.rows([each.name for each in muscles], len(wanted))
    for k in np.flatnonzero(np.isfinite(wanted).all(axis=1)):
        weights = np.where(np.isfinite(near[k]), emg.weight, 0.0)
        to = np.nan_to_num(near[k]), weights
        found[k] = least_activations(gains[k], wanted[k], reserve, lower, upper, near=to)
    patterns = muscle_synergies(found.T, synergies) if synergies else None
    if patterns is not None:
        patterns = _sharing_drives(patterns, gains, wanted, reserve, upper)
        found = (patterns.weights @ patterns.drives).T
    given = np.einsum("nkm,nm->nk", gains, found)
    return MuscleForces(
        t=np.asarray(t, dtype=float),
        names=tuple(each.name for each in muscles),
        activations=found.T,
        forces=found.T * pulls,
        joints=tuple(joints),
        moments=moments[rows],
        reserves=(wanted - given).T,
        followed=near.T,
        synergies=patterns,
    )


def _sharing_drives(
    patterns: Synergies, gains: np.ndarray, wanted: np.ndarray, reserve: float, upper: np.ndarray
) -> Synergies:
    """Return synergies whose drives share moments (N, k) that full activations give by `gains` (N,
    k, m), with no activation above `upper` (m,) but for rounding.

    Those above count as moments do that are HELD times as large as those of full drives, until they
    are the same ones as before (semismooth Newton).
    """
    drives, count = np.full_like(patterns.drives, np.nan), len(patterns.drives)
    none, all_there_is = np.zeros(count), np.full(count, np.inf)
    weights = patterns.weights
    for k in np.flatnonzero(np.isfinite(wanted).all(axis=1)):
        own, over = gains[k] @ weights, np.zeros(len(upper), dtype=bool)
        stiff = HELD * max(float(np.abs(own).max()), reserve)
        for _ in range(ROUNDS):
            rows = np.vstack([own, stiff * weights[over]])
            aims = np.concatenate([wanted[k], stiff * upper[over]])
            drives[:, k] = least_activations(rows, aims, reserve, none, all_there_is)
            above = weights @ drives[:, k] > upper
            if np.array_equal(above, over):
                break
            over = above
    return replace(patterns, drives=drives)


def least_activations(
    gains: np.ndarray,
    wanted: np.ndarray,
    reserve: float,
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    near: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Return the activations (m,) of least sum a^2 + |wanted - gains a|^2 / reserve^2 + sum w
    (a - e)^2 within their bounds, by the primal-dual active set (Hintermueller, Ito & Kunisch
    2002).

    Args:
        gains: moments that full activations give (k, m).
        wanted: moments (k,).
        reserve: N m that count as one.
        lower, upper: bounds (m,).
        near: e (m,) and its weights w (m,), by default none.
    """
    count = gains.shape[1]
    envelope, weights = near or (np.zeros(count), np.zeros(count))
    matrix = np.diag(1.0 + weights) + gains.T @ gains / reserve**2
    pull = gains.T @ wanted / reserve**2 + weights * envelope
    low, high = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    best, least = np.clip(pull, lower, upper), np.inf
    for _ in range(ROUNDS):
        a = np.where(high, upper, lower)
        free = ~(low | high)
        held = matrix[np.ix_(free, ~free)] @ a[~free]
        a[free] = np.linalg.solve(matrix[np.ix_(free, free)], pull[free] - held)
        slope = matrix @ a - pull
        within = np.clip(a, lower, upper)
        value = float(within @ matrix @ within / 2 - pull @ within)
        if value < least:
            best, least = within, value
        new_low = np.where(low, slope > -SLACK, a < lower - SLACK)
        new_high = np.where(high, slope < SLACK, a > upper + SLACK)
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
    return best


def _shares(
    body: Tree, muscles: Sequence[Muscle], rows: Sequence[int], q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return moments (N, k, m) and forces along the paths (m, N) that full activations add."""
    joints, active = ca.SX.sym("q", len(q)), ca.SX.sym("a", len(muscles))
    rates, idle = ca.SX.sym("qd", len(q)), ca.SX.zeros(len(muscles), 1)
    own = [body.coordinate(f"{each.name}.activation") for each in muscles]
    place = np.zeros(body.dof, dtype=int)
    place[[k for k in range(body.dof) if k not in own]] = np.arange(len(q))
    place[own] = len(q) + np.arange(len(muscles))
    state = State(tree=body, q=ca.vertcat(joints, active)[place], qd=ca.vertcat(rates, idle)[place])
    moments, pulls = ca.SX(len(rows), 1), ca.SX(len(muscles), 1)
    for number, muscle in enumerate(muscles):
        pulls[number] = muscle.tension_force(state)
        for row, torque in muscle.torques(state).items():
            if row in rows:
                moments[rows.index(row)] += torque
    added = ca.jacobian(moments, active), ca.sum2(ca.jacobian(pulls, active))
    results = [ca.substitute(ca.densify(each), active, idle) for each in added]
    function = ca.Function("shares", [joints, rates], results).map(q.shape[1])
    gains, forces = map(np.array, function.call([ca.DM(q), ca.DM(qd)]))
    return gains.reshape(len(rows), q.shape[1], len(muscles)).transpose(1, 0, 2), forces
