"""Polynomials in place of wrapped paths, fitted once and kept on disk by the model's content."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from ocp.codegen.kept_results import Parts, recall
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.muscles import Muscle, PointPath, PolynomialPath
from ocp.mechanics.muscles.path_fits import fit_path
from ocp.mechanics.muscles.wrapping import SURFACES
from ocp.mechanics.values.validation import positive
from ocp.storage.tree_data import tree_data

FIELDS = ("exponents", "coefficients", "lower", "upper")


def fit_wraps(tree: Tree, *, within: float) -> Tree:
    """Tree whose muscles have polynomials in place of paths that wrap over surfaces.

    They are fitted over the ranges of the joints, and kept in the folder of machine code, found by
    the content of the tree. Pictures show the muscles along their former paths.

    Args:
        tree: the mechanism.
        within: largest root-mean-square error of a length (m) that is accepted.

    Returns:
        The tree; a path's `rms` and `largest` are its errors in postures outside of the fit.

    Raises:
        ValueError: naming a muscle whose fit is worse, or whose joints have no range.
    """
    within = positive("fits: within", within, unit="m")
    wrapped = [each for each in tree.elements if isinstance(each, Muscle) and _wraps(each)]
    statement = json.dumps(tree_data(replace(tree, elements=wrapped), _no_tape), default=list)
    parts = recall("paths", [statement, repr(within)], lambda: _fits(tree, wrapped, within))
    paths = {each.name: _path(tree, each, parts) for each in wrapped}
    elements = [
        replace(each, path=paths[each.name], course=each.line)
        if isinstance(each, Muscle) and each.name in paths
        else each
        for each in tree.elements
    ]
    return replace(tree, elements=elements)


def _wraps(muscle: Muscle) -> bool:
    path = muscle.path
    return isinstance(path, PointPath) and any(isinstance(each, SURFACES) for each in path.points)


def _no_tape(tape: object) -> NoReturn:
    raise ValueError("fits: points that move by a function of one's own cannot be kept")


def _fits(tree: Tree, muscles: Sequence[Muscle], within: float) -> Parts:
    """Return the fields of the muscles' polynomials."""
    parts: dict[str, np.ndarray] = {}
    for each in muscles:
        assert isinstance(each.path, PointPath)
        try:
            fit = fit_path(tree, each.path, within=within)
        except ValueError as error:
            raise ValueError(f"muscle {each.name!r}: {error}") from None
        parts |= {f"{each.name}.{field}": np.array(getattr(fit, field)) for field in FIELDS}
        parts[f"{each.name}.errors"] = np.array([fit.rms, fit.largest])
    return parts


def _path(tree: Tree, muscle: Muscle, parts: Parts) -> PolynomialPath:
    """Return the polynomial of a muscle."""
    assert isinstance(muscle.path, PointPath)
    rms, largest = parts[f"{muscle.name}.errors"].tolist()
    return PolynomialPath(
        joints=muscle.path.joints(tree),
        rms=rms,
        largest=largest,
        **{field: parts[f"{muscle.name}.{field}"] for field in FIELDS},
    )
