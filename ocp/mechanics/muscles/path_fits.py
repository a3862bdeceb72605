"""Polynomials fitted to samples of a path's length and slopes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb

import casadi as ca
import numpy as np

from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.muscles.muscle_paths import Path, PointPath, PolynomialPath
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import numbers, positive, positive_integer, set_fields
from ocp.spelling import suggest_fields

ORDERS = tuple(range(2, 8))
FEWEST, POSTURES_PER_TERM = 300, 3
HELD_OUT = 4  # every so many samples one judges the fit, and does not enter it


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PathSamples:
    """Lengths of a path in N postures, and its slopes where they are known.

    Args:
        joints: names of the k joints that it crosses.
        coordinates: (N, k) rad or m.
        lengths: (N,) m.
        slopes: (N, k) dl/dq (m/rad or 1), the negative of moment arms; None if they are not known.

    Raises:
        ValueError: for arrays of other shapes.
    """

    joints: Sequence[str]
    coordinates: Numbers
    lengths: Numbers
    slopes: Numbers = None

    def __post_init__(self) -> None:
        shape = np.size(self.lengths), len(self.joints)
        set_fields(
            self,
            joints=tuple(self.joints),
            coordinates=numbers("samples: coordinates", self.coordinates, shape),
            lengths=numbers("samples: lengths", self.lengths, shape[:1]),
        )
        if self.slopes is not None:
            set_fields(self, slopes=numbers("samples: slopes", self.slopes, shape))


def sample_path(
    tree: Tree,
    path: Path,
    within: Mapping[str, tuple[float, float]],
    *,
    count: int = 500,
    seed: int = 0,
) -> PathSamples:
    """Lengths and slopes of a path in random postures, the same for the same seed.

    Args:
        tree: the mechanism.
        path: the path.
        within: {joint: (lower, upper) coordinate (rad or m)} of the joints that it crosses; other
            coordinates are zero.
        count: postures.
        seed: of the random numbers.

    Returns:
        The samples, without postures in which a path over an ellipsoid is not solved.

    Raises:
        ValueError: for a joint that the tree does not have.
    """
    rows = [tree.coordinate(joint) for joint in within]
    lower, upper = np.transpose([*within.values()])
    places = np.random.default_rng(seed).uniform(lower, upper, (count, len(rows)))
    q = np.tile(np.array(tree.neutral, dtype=float)[:, None], count)
    q[rows] = places.T
    state = _any_state(tree)
    slope = path.slope(state)
    values = [path.length(state), *(slope.get(row, 0.0) for row in rows)]
    sampled = np.array(ca.Function("path", [state.q], [ca.vertcat(*values)])(q))
    solved = np.isfinite(sampled).all(axis=0)  # some paths over ellipsoids are not
    lengths, *slopes = sampled[:, solved]
    return PathSamples(
        joints=tuple(within),
        coordinates=places[solved],
        lengths=lengths,
        slopes=np.transpose(slopes),
    )


@memoize(1)
def _any_state(tree: Tree) -> State:
    """Return a posture of symbols: all paths of a tree share its kinematics."""
    return State(tree=tree, q=ca.SX.sym("q", tree.dof))


def fit_path(tree: Tree, path: PointPath, *, within: float) -> PolynomialPath:
    """Polynomial of the lowest order that is near enough to a path, over the ranges of joints.

    Args:
        tree: the mechanism, whose joints on the path have ranges.
        path: the path.
        within: largest root-mean-square error of the length (m) that is accepted.

    Returns:
        The path, with its errors in postures that have not entered the fit, over the ranges to
        their ends.

    Raises:
        ValueError: a joint has no range, or the error is above `within` at every order.
    """
    ranges = {name: tree.moving[tree.coordinate(name)].position for name in path.joints(tree)}
    for name, range_of_joint in ranges.items():
        if not np.isfinite(range_of_joint).all():
            raise ValueError(f"joint {name!r} has no range (rad or m), which a fit needs")
    terms = comb(ORDERS[-1] + len(ranges), len(ranges))
    samples = sample_path(tree, path, ranges, count=max(FEWEST, POSTURES_PER_TERM * terms))
    lower, upper = np.transpose([*ranges.values()])
    for order in ORDERS[:-1]:
        try:
            fit = fit_polynomial(samples, order, within=within)
        except ValueError:  # told of the last order, the nearest
            continue
        return replace(fit, lower=lower, upper=upper)
    return replace(fit_polynomial(samples, ORDERS[-1], within=within), lower=lower, upper=upper)


def fit_polynomial(
    samples: PathSamples, order: int = 5, *, within: float, slope_weight: float = 0.1
) -> PolynomialPath:
    """Polynomial of least squares through lengths, and slopes where they are known.

    Every fourth sample is left out of the fit, and judges it. Slopes of a length that jumps, as
    over conditional points, and the length itself cannot both be fitted: the weight decides.

    Args:
        samples: lengths, and slopes, in random postures.
        order: highest sum of exponents.
        within: largest root-mean-square error of the length (m) that is accepted.
        slope_weight: of a slope's error times the standard deviation of its coordinate, beside an
            error of the length.

    Returns:
        The path, with its errors in the samples left out and its range.

    Raises:
        ValueError: for an error above `within`, or fewer samples than the fit needs.
    """
    order = positive_integer("fit: order", order)
    within = positive("fit: within", within)
    slope_weight = positive("fit: slope_weight", slope_weight, True)
    x, label = samples.coordinates, f"path over {', '.join(samples.joints)}"
    count, width = x.shape
    exponents = np.array(
        [each for each in product(range(order + 1), repeat=width) if sum(each) <= order]
    )
    judges = np.arange(count) % HELD_OUT == HELD_OUT - 1
    if (count - judges.sum()) < 2 * len(exponents):
        raise ValueError(
            f"{label}: order {order} has {len(exponents)} terms: expected at least "
            f"{2 * len(exponents) * HELD_OUT // (HELD_OUT - 1) + 1} samples, got {count}"
        )
    rows, right = [_powers(x, exponents)[~judges]], [samples.lengths[~judges]]
    if samples.slopes is not None:
        for k, spread in enumerate(x.std(axis=0)):
            lowered = exponents - np.eye(width, dtype=int)[k]
            slopes = exponents[:, k] * _powers(x, np.maximum(lowered, 0))
            weight = slope_weight * spread
            rows.append(weight * slopes[~judges])
            right.append(weight * samples.slopes[~judges, k])
    coefficients = np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0]
    errors = (_powers(x, exponents) @ coefficients - samples.lengths)[judges]
    rms, largest = float(np.sqrt(np.mean(errors**2))), float(np.abs(errors).max())
    if rms > within:
        raise ValueError(
            f"{label}: a polynomial of order {order} is {rms:.3g} m off (rms, {largest:.3g} m at "
            f"most): expected at most {within:g} m; take a higher order or a smaller range"
        )
    return PolynomialPath(
        joints=samples.joints,
        exponents=exponents,
        coefficients=coefficients,
        lower=x.min(axis=0),
        upper=x.max(axis=0),
        rms=rms,
        largest=largest,
    )


def _powers(x: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return the monomials (N, terms) of coordinates (N, k)."""
    return np.prod(x[:, None, :] ** exponents, axis=2)
