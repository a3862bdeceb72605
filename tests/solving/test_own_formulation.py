"""A formulation of one's own.

Certified by its own mechanics, and never replaced in silence when a file is read.
"""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp import Transcription, load, solve, verify
from ocp.dynamics import NEWTON_EULER
from ocp.problems.arms.two_link_lift import problem as lift

FRICTION = 0.3  # N m s/rad
VISCOUS = replace(
    NEWTON_EULER,
    name="newton_euler_viscous",
    inverse=lambda tree, q, qd, qdd, loads=(): (
        NEWTON_EULER.inverse(tree, q, qd, qdd, loads) + FRICTION * qd
    ),
)


@pytest.fixture(scope="module")
def rubbing():
    return solve(lift(points=10), Transcription(dynamics=VISCOUS, derivatives="ad"))


def test_friction_costs_and_is_certified_by_its_own_mechanics(rubbing):
    smooth = solve(lift(points=10))
    assert rubbing.success and rubbing.objective > 1.01 * smooth.objective
    certificate = verify(rubbing).require(0.05)
    assert certificate.drift < 1e-6 and certificate.kkt < 1e-5
    assert certificate.mechanics == "newton_euler_viscous" and certificate.energy_error is None
    assert verify(smooth).mechanics == "built-in" and verify(smooth).energy_error < 1e-12


def test_the_same_motion_under_built_in_mechanics_is_not_what_was_planned(rubbing):
    replaced = replace(rubbing, transcription=Transcription())
    t = rubbing.times(9)
    assert np.allclose(rubbing.tau(t) - replaced.tau(t), FRICTION * rubbing.qd(t), atol=1e-12)
    assert verify(replaced).kkt > 1e-3


def test_a_file_keeps_the_formulation_or_says_how_to_hand_it_over(rubbing, tmp_path):
    path, t = tmp_path / "lift.npz", rubbing.times(9)
    ocp.save(rubbing, path)
    with pytest.raises(
        ValueError, match=r"lift.npz: .*'newton_euler_viscous'.*load\(path, dynamics="
    ):
        load(path)
    again = load(path, lift(points=10), dynamics=VISCOUS)
    assert np.array_equal(again.tau(t), rubbing.tau(t)) and verify(again) == verify(rubbing)
    with pytest.raises(
        ValueError, match="expected the formulation 'newton_euler_viscous', got 'newton_euler'"
    ):
        load(path, dynamics=NEWTON_EULER)


def test_a_formulation_of_the_house_needs_no_handing_over(tmp_path):
    plain = solve(lift(points=10), Transcription(dynamics="lie_group"))
    ocp.save(plain, tmp_path / "plain.npz")
    assert load(tmp_path / "plain.npz").transcription.dynamics.name == "lie_group"


def test_a_built_in_name_does_not_make_a_formulation_built_in(rubbing, tmp_path):
    hidden = replace(VISCOUS, name="newton_euler")
    path = tmp_path / "hidden.npz"
    ocp.save(replace(rubbing, transcription=replace(rubbing.transcription, dynamics=hidden)), path)
    with pytest.raises(ValueError, match=r"hidden\.npz: planned with a formulation of one's own"):
        load(path)
    assert load(path, dynamics=hidden).transcription.dynamics == hidden


def test_a_file_keeps_the_outputs_along_the_motion(tmp_path):
    watched = replace(lift(points=10), outputs={"tip": lambda at: at.position("tip")})
    solution, path = solve(watched), tmp_path / "watched.npz"
    ocp.save(solution, path)
    with np.load(path) as file:
        assert file["output_0"].shape == (3, 201)
        assert np.array_equal(file["output_0"], solution.output("tip", file["t"]))
    again = load(path, watched)
    assert np.array_equal(again.output("tip", 0.1), solution.output("tip", 0.1))
    with pytest.raises(
        ValueError, match="output 'toe': the problem has no such output; it has tip"
    ):
        solution.output("toe", 0.0)
