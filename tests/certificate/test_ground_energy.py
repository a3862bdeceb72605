"""Energy that the ground gives: told of every motion, judged where none was to be given."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ocp
from ocp.certificate.checks.ground_energy import GroundEnergy, ground_energy, of_phases

UP, SLACK = (0.0, 0.0, 1.0), 0.02  # m: by which the foot may rise or sink
HELD, LIFTED = 1.0, 5.0  # kg: of the foot and of what it lifts
RISE = 0.1  # m


@cache
def lifted(*, lossy=False):
    """A column on a foot lifts a weight and spares its own stroke, so that the foot would rise."""
    joints = (
        ocp.prismatic("foot", "ground", axis=UP, actuated=False),
        ocp.prismatic("column", "foot", axis=UP, home=(0.0, 0.0, 0.5)),
    )
    tree = ocp.Tree(
        links=(ocp.Link(mass=HELD), ocp.Link(mass=LIFTED)),
        joints=joints,
        points=(ocp.Point(name="sole", link="foot"), ocp.Point(name="weight", link="column")),
        gravity=(0.0, 0.0, -9.81),
    )
    pin = ocp.Pin(point="sole", axes="z")
    support = ocp.Support(link="foot", when=(0.0, 1.0), pins=(pin,), kind="point")
    ground = ocp.Ground(feet=[ocp.Foot(name="foot", supports=[support], center=(0.0, 0.0, 0.0))])

    def ends(at):
        return at.position("weight")[2] - 0.5

    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=10),
        duration=1.0,
        ground=ground,
        objective=ocp.squares("stroke", lambda at: at.qd[1]) + 1e-3 * ocp.smoothness(tree),
        constraints=(
            ocp.foot_contact(ground, position=SLACK, velocity=0.1),
            ocp.unilateral(tree, ground),
            ocp.path("low", ends, lower=0.0, upper=0.0, when="start"),
            ocp.path("high", ends, lower=RISE, upper=RISE, when="end"),
            ocp.path("rest", lambda at: at.qd, lower=0.0, upper=0.0, when="ends"),
            ocp.dissipation(tree, ground) if lossy else (),
        ),
    )
    return ocp.solve(problem).require()


def test_it_is_what_the_foot_rises_under_its_load():
    """Nearly all of the foot's slack, at 6 kg's weight: a motion that a rigid ground denies."""
    energy, solution = ground_energy(lifted()), lifted()
    t = solution.times(4001)
    force, rate = (solution.trace(f, t) for f in (lambda at: at.reaction.push(), lambda at: at.qd))
    assert energy.given - energy.taken == pytest.approx(np.trapezoid(force[0] * rate[0], t))
    assert energy.given == pytest.approx(2 * SLACK * (HELD + LIFTED) * 9.81, rel=0.05)
    stroke = np.maximum(solution.trace(lambda at: at.tau * at.qd, t), 0.0).sum(axis=0)
    assert energy.work == pytest.approx(np.trapezoid(stroke, t), rel=1e-6)
    assert energy.share == energy.given / energy.work and energy.judged is None


def test_ground_that_only_takes_gives_next_to_nothing():
    energy = ground_energy(lifted(lossy=True))
    assert energy.given < 1e-3 * ground_energy(lifted()).given
    assert energy.judged == energy.share < 1e-2
    assert lifted(lossy=True).objective > lifted().objective


def test_what_it_gives_is_printed_and_judged_where_none_was_to_be_given():
    for lossy in (False, True):
        certificate = ocp.verify(lifted(lossy=lossy)).require(1e-2)
        assert f"gives {certificate.ground.given:.3g} J" in str(certificate)
        much = replace(certificate.ground, given=0.5 * certificate.ground.work)
        with pytest.raises(ocp.NotVerified) as fault:
            replace(certificate, ground=much, kkt=1.0).require(0.1)
        assert ("the ground gives: 0.5 of the work that joints do" in str(fault.value)) == lossy


def test_a_file_keeps_that_none_was_to_be_given(tmp_path):
    ocp.save(lifted(lossy=True), tmp_path / "lift.npz")
    again = ocp.load(tmp_path / "lift.npz")
    assert ground_energy(again) == ground_energy(lifted(lossy=True))
    assert ocp.verify(again).verdict(1e-2) == "certified to 0.01"


def test_phases_add_and_flight_gives_nothing():
    part = GroundEnergy(given=1.0, taken=2.0, work=4.0, asked=True)
    both = of_phases([part, None, replace(part, asked=False)])
    assert both == GroundEnergy(given=2.0, taken=4.0, work=8.0, asked=False)
    assert of_phases([None]) is None
    flying = replace(lifted(), problem=replace(lifted().problem, ground=None))
    assert ground_energy(flying) is None
