"""Inverse dynamics of recordings: joint torques from a measured motion and measured forces."""

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.dynamics import Formulation, inverse_dynamics
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.loads import Wrench, attach_wrenches
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_validation import known_names
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_numeric, check_type, numbers
from ocp.problem import Series
from ocp.spelling import suggestion
from ocp.transcription.kernels.kernels import evaluate, function


def measured_torques(
    tree: Tree,
    t: ArrayLike,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    forces: Series | None = None,
    links: Mapping[str, str] | None = None,
    *,
    dynamics: Formulation | str = "auto",
) -> np.ndarray:
    """Return the generalized forces (n, N), N m or N, of a measured motion under measured wrenches.

    Rows of passive joints, as those of a floating root, are the part that motion and forces leave
    unexplained. A torque is nan where a force is missing.

    Args:
        tree: a Tree without open parameters.
        t: times (N,) s.
        q, qd, qdd: the motion (n, N), as a MarkerFit has it.
        forces: {plate: (6, N')} at times of their own: moment about the global origin (N m) above
            force (N); straight between samples, means over a step where they are sampled faster.
        links: {plate: the link that it pushes}.
        dynamics: a formulation.

    Raises:
        ValueError: for plates without a link, unknown links, sizes that do not fit, and where
            motion and forces have no time in common.
    """
    name = "measured_torques"
    check_numeric(f"{name}: tree", check_type(f"{name}: tree", tree, Tree))
    times = numbers(f"{name}: t", t, (np.size(t),))
    if (np.diff(times) <= 0).any():
        raise ValueError(f"{name}: t: expected times (s), each after the last")
    if forces is not None:
        check_type(f"{name}: forces", forces, Series)
    shape = (tree.dof, len(times))
    motion = [
        numbers(f"{name}: {what}", x, shape) for what, x in zip(("q", "qd", "qdd"), (q, qd, qdd))
    ]
    pushed = _pushed_links(name, tree, forces, check_type(f"{name}: links", links or {}, Mapping))
    rows = [forces.at(times)[plate] for plate in pushed] if forces is not None else []
    given = np.vstack([*motion, *rows])
    y, tau = pushed_torques(tree, tuple(pushed.values()), dynamics)
    torques = function("torques", [y, ca.SX.sym("t")], [ca.cse(tau)], ["y", "t"], ["tau"])
    known = np.isfinite(given).all(axis=0)
    if forces is not None and not known.any():
        raise ValueError(
            f"{name}: {forces.source}: forces from {forces.t[0]:g} to {forces.t[-1]:g} s, the "
            f"motion from {times[0]:g} to {times[-1]:g} s: no time at which all are known"
        )
    values = np.full(shape, np.nan)
    values[:, known] = evaluate(torques, given[:, known], times[known])
    return values


def _pushed_links(
    name: str, tree: Tree, forces: Series | None, links: Mapping[str, str]
) -> dict[str, str]:
    """Return {plate: link} of all plates; raise ValueError unless each has one."""
    plates: Mapping[str, np.ndarray] = {} if forces is None else forces.values
    source = "" if forces is None else forces.source
    for plate, rows in plates.items():
        if plate not in links:
            raise ValueError(
                f"{name}: {source}: plate {plate!r}: expected the link that it pushes, in links="
                "{plate: link}"
            )
        if len(rows) != 6:
            raise ValueError(f"{name}: plate {plate!r}: expected 6 rows, got {len(rows)}")
    for plate, link in links.items():
        if plate not in plates:
            raise ValueError(
                f"{name}: links: no plate {plate!r}{suggestion(plate, plates)}; they are "
                f"{', '.join(plates) or 'none'}"
            )
        if link not in tree.link_names:
            raise ValueError(
                f"{name}: links: plate {plate!r}: unknown link {link!r}"
                f"{known_names('links', tree.link_names, link)}"
            )
    return {plate: links[plate] for plate in plates}


def pushed_torques(
    tree: Tree, links: Sequence[str], dynamics: Formulation | str = "auto"
) -> tuple[ca.SX, ca.SX]:
    """Return (q, qd, qdd and wrenches in a column, and generalized forces (n,) as expressions of
    it).

    Args:
        tree: a Tree without open parameters.
        links: that are pushed, each by a moment about the global origin above a force.
        dynamics: a formulation.
    """
    n = tree.dof
    y = ca.SX.sym("y", 3 * n + 6 * len(links))
    q, qd, qdd = y[:n], y[n : 2 * n], y[2 * n : 3 * n]
    wrenches = []
    for k, link in enumerate(links):
        row: Matrix = y[3 * n + 6 * k : 3 * n + 6 * k + 6]
        wrenches.append(Wrench(link=link, moment=row[:3], force=row[3:]))
    held, loads = attach_wrenches(tree, kinematics.poses(tree, q), wrenches)
    return y, inverse_dynamics(held, q, qd, qdd, loads, dynamics)
