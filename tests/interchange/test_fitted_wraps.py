"""Polynomials in place of wrapped paths: fitted once, kept, and refused where they are off."""

import numpy as np
import pytest
from refusals import refused

from ocp import Link, Tree, revolute
from ocp.codegen import kept_results
from ocp.interchange import fit_wraps, fitted_wraps
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles import Muscle, PathPoint, PointPath, PolynomialPath, WrapCylinder


def arm(radius=0.03, reach=(0.2, 1.6)):
    """An elbow with a muscle over a cylinder, and one along points."""
    hand = PathPoint(link="elbow", position=(0.0, -0.05, 0.0))
    bone = WrapCylinder(link="ground", radius=radius, quadrant="+x")
    paths = {"over": ((0.0, 0.3, 0.0), bone, hand), "along": ((0.02, 0.3, 0.0), hand)}
    muscles = [
        Muscle(name=name, path=PointPath(points=points), force=500.0, fibre=0.1, slack=0.2)
        for name, points in paths.items()
    ]
    joint = revolute("elbow", position=reach)
    return Tree(links=(Link(mass=1.0),), joints=(joint,), elements=muscles)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Names of the paths that are fitted, with a cache of its own of sources that never change."""
    caches = kept_results.is_kept, kept_results._folder, kept_results._surroundings
    monkeypatch.setenv("OCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OCP_KEPT", "1")
    monkeypatch.setattr(kept_results, "sources", lambda: "these")
    for each in caches:
        each.cache_clear()
    calls, fit = [], fitted_wraps.fit_path

    def count(tree, path, within):
        calls.append(path)
        return fit(tree, path, within=within)

    monkeypatch.setattr(fitted_wraps, "fit_path", count)
    yield calls
    monkeypatch.undo()
    for each in caches:
        each.cache_clear()


def test_a_wrapped_path_becomes_a_polynomial_with_its_error(counted):
    tree = arm()
    fitted = fit_wraps(tree, within=1e-4)
    over, along = fitted.elements
    assert isinstance(over.path, PolynomialPath) and along == tree.elements[1]
    assert (
        over.course == tree.elements[0].path and 0 < over.path.rms <= 1e-4 <= over.path.largest * 9
    )
    assert (over.path.lower, over.path.upper) == ((0.2,), (1.6,))  # a joint may stand at its end
    for angle in np.linspace(0.2, 1.6, 9):
        state = State(tree=tree, q=np.array([angle, 0, 0]))
        lengths = [float(each.path.length(state)) for each in (over, tree.elements[0])]
        assert lengths[0] == pytest.approx(lengths[1], abs=4 * over.path.largest)


def test_a_fit_is_found_again_by_the_content_of_the_model(counted):
    first, again = (fit_wraps(arm(), within=1e-4).elements[0].path for _ in range(2))
    assert len(counted) == 1 and first == again
    fit_wraps(arm(radius=0.031), within=1e-4)
    fit_wraps(arm(reach=(0.2, 1.5)), within=1e-4)
    fit_wraps(arm(), within=2e-4)
    assert len(counted) == 4


def test_a_fit_worse_than_asked_or_over_no_range_is_refused(counted):
    with refused("muscle 'over': path over elbow: a polynomial of order 7 is"):
        fit_wraps(arm(reach=(-2.8, 2.8)), within=1e-9)
    with refused("muscle 'over': joint 'elbow' has no range (rad or m), which a fit needs"):
        fit_wraps(arm(reach=(-np.inf, np.inf)), within=1e-4)
