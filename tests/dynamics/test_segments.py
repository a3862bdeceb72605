"""An arm of rigid segments and springs: closed forms, its limit, what it costs beside shapes."""

import casadi as ca
import numpy as np
import pytest
from refusals import refused

from ocp.dynamics.formulations import lie_group
from ocp.mechanics import jacobian, kinetic_energy
from ocp.models.arms.flexible_arm import LENGTH, flexible_arm, segmented_arm, strip
from ocp.problems.benchmarks import lumped


def test_segments_weigh_what_the_beam_does():
    """The kinetic energy of stiff links turning is that of the beams but for their thickness."""
    (tree, springs), beams = segmented_arm(segments=3), flexible_arm(bend=1)
    assert tree.dof == len(springs) == 8 and not springs[0] and springs[1] > 0
    turning = ca.DM([1.0, 0, 0, 0, -0.5, 0, 0, 0]), ca.DM([1.0, 0, -0.5, 0])
    energies = [
        float(kinetic_energy(arm, ca.DM.zeros(arm.dof), rates))
        for arm, rates in zip((tree, beams), turning)
    ]
    beam = strip()
    thickness = beam.mass * beam.gyration[1] ** 2 / 2 * (1.0**2 + 0.5**2)
    assert energies[0] + thickness == pytest.approx(energies[1], rel=1e-12)


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_a_segmented_link_sags_as_the_midpoint_rule_has_it(segments):
    """F L^3 / (3 E I) (1 - 1 / (4 n^2)) under a force across its tip."""
    tree, springs = segmented_arm(1, segments=segments)
    lever = np.array(ca.DM(jacobian(tree, ca.DM.zeros(tree.dof), "tip")))[-2, 1:]
    sag = (lever**2 / springs[1:]).sum()
    stiffness = strip().bending[1]
    expected = LENGTH**3 / (3 * stiffness) * (1 - 1 / (4 * segments**2))
    assert sag == pytest.approx(expected, rel=1e-12)


def test_frequencies_of_segments_err_by_the_square_of_their_length(monkeypatch):
    monkeypatch.setattr(lumped, "FINEST", (12, 24))
    exact = lumped.reference_frequencies()
    errors = [
        np.abs(lumped.frequencies(lumped.model(lumped.SEGMENTS, n)) / exact - 1) for n in (4, 8)
    ]
    np.testing.assert_allclose(errors[0] / errors[1], 4.0, rtol=0.05)
    shapes = [lumped.frequencies(lumped.model(lumped.SHAPES, n)) / exact - 1 for n in (1, 2, 3)]
    assert (np.diff(shapes, axis=0) < 0).all() and (np.array(shapes) > 0).all()


def test_segments_cost_less_than_shapes_of_the_same_freedoms():
    works = [lumped.work(lumped.model(kind, 1)) for kind in lumped.CASES]
    assert works == sorted(works, reverse=True) == [1231, 783, 188]


def test_springs_pull_back():
    model = lumped.model(lumped.SEGMENTS, 1)
    bent = ca.DM([0.0, 0.1, 0.0, 0.0])
    pulled = model.mechanics.forward(model.tree, bent, ca.DM.zeros(4), ca.DM.zeros(4))
    free = lie_group.forward(model.tree, bent, ca.DM.zeros(4), -ca.DM(model.springs) * bent)
    np.testing.assert_allclose(np.array(pulled), np.array(free))
    assert float(pulled[1]) < -1.0


def test_the_comparison_is_drawn(tmp_path, monkeypatch):
    """Of one model each, against a coarse reference."""
    monkeypatch.setattr(lumped, "FINE", (1, 2))
    monkeypatch.setattr(lumped, "FINEST", (4, 8))
    rows = lumped.comparison({lumped.SEGMENTS: (1, 2), lumped.FIRST: (1,)})
    assert rows[1].tip < rows[0].tip < 0.01 and rows[2].work > rows[1].work
    figure = lumped.plot(rows, tmp_path / "book.png")
    assert (tmp_path / "book.png").stat().st_size > 10_000
    assert [len(axes.lines[0].get_xdata()) for axes in figure.axes] == [0, 0]
    assert "segments" in lumped.table(rows)
    with refused("segmented_arm: expected 1 or 2 links"):
        segmented_arm(3)
