"""The default walk: tendons in series, an upright head, knots where contacts change."""

from dataclasses import fields, replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from ocp import Parameter, Solver, Spline, Transcription, verify
from ocp.mechanics import parameters_of
from ocp.models.human import Person
from ocp.problems.gait import Accuracy, Gait, Goal, Muscles, Rules, Terrain, problem, walk
from ocp.problems.gait.card import report_card
from ocp.problems.gait.solve_step import FEW, FEW_OF_PARTS, FEW_POINTS, closely, coarser
from ocp.problems.gait.statement.constraint_families import family_of
from ocp.problems.gait.statement.contact_schedule import (
    NORMAL,
    STAIRS,
    changes_of,
    knots_at_changes,
)
from ocp.problems.gait.statement.objective_terms import OF_TORQUES, STIFF, WALKING

STATED = problem()
PEOPLES = Goal(objective="human")


@pytest.fixture(scope="module")
def step():
    return walk(STATED, Transcription(), Solver()).require()


@pytest.fixture(scope="module")
def certificate(step):
    return verify(step)


@pytest.fixture(scope="module")
def card(step):
    return report_card(step)


# Mean over the sources that are shipped; bounds are what was asked of a converged walk
ALIKE = {
    "hip_flex": 0.96,
    "knee_flex": 0.95,
    "ankle_df": 0.88,
    "hip_abd": 0.93,
    "pelvis_list": 0.85,
    "force_vertical": 0.97,
    "force_fore_aft": 0.95,
    "power_hip": 0.85,
    "power_ankle": 0.92,
    "moment_knee_flex": 0.80,
}


@pytest.mark.parametrize("curve", ALIKE)
def test_its_curves_go_as_peoples(card, curve):
    assert card["r"][curve] >= ALIKE[curve]


def test_it_is_certified_from_standing_and_its_objective_is_its_own_integral(step, certificate):
    assert certificate.require(1e-2).objective_error < 1e-3
    assert step.objective == pytest.approx(4.90975, abs=1e-4)


LOOSELY = {"accuracy": Accuracy(points=22, contact=0.002, slip=0.1)}


@pytest.mark.commands
def test_ground_gives_energy_to_feet_that_stand_loosely_and_may_slip_with_the_force(
    step, certificate
):
    """It gives a tenth of joints' work and spares a tenth of the objective; denied, still that."""
    free = problem(**LOOSELY, rules=Rules(dissipative=False))
    loose = walk(free, Transcription(), Solver()).require()
    lossy = walk(problem(**LOOSELY), Transcription(), Solver(), guess=loose).require()
    certificates = certificate, verify(loose), verify(lossy)
    given = [each.require(1e-2).ground.share for each in certificates]
    assert given[1] > 0.05 > 100 * max(given[0], given[2])
    assert loose.objective < lossy.objective < 0.9 * step.objective


def test_ground_that_gives_no_energy_is_asked_in_phases_too_and_belongs_to_balance():
    for stride in ("half", "phases"):
        stated = problem(gait=Gait(stride=stride))
        names = {each.name for part in stated.parts.values() for each in part.constraints}
        asked = {name for name in names if name.startswith("dissipation.")}
        assert len(asked) == 5 and {family_of(name) for name in asked} == {"balance"}
    for unasked in ({"rules": Rules(dissipative=False)}, {"goal": PEOPLES}):
        names = {each.name for each in problem(**unasked).constraints}
        assert not [name for name in names if name.startswith("dissipation")]


def test_no_joint_is_held_at_a_bound(card):
    """For 5 % of the cycle, but the lower spine sideways, .3 deg from its bound by its tissue."""
    shares = dict(card["numbers"]["at_bounds_percent"])
    assert shares.pop("spine1_lat") < 12.0
    assert max(shares.values(), default=0.0) < 5.0


def test_its_first_peak_of_force_comes_when_peoples_does(card):
    """At 11 to 16 % of the cycle, 1.05 to 1.15 body weights; that of human comes at 20 %."""
    maxima = [each for each in card["numbers"]["vertical_maxima"] if each["BW"] > 1.0]
    first, last = maxima  # and there is no third between them
    assert 11 <= first["percent"] <= 16 and 1.05 <= round(first["BW"], 2) <= 1.15
    assert 40 <= last["percent"] <= 50


def test_its_head_is_upright_and_its_arms_swing(step, card):
    neck = step.trace(lambda at: at.position("head_top") - at.position("C7T1"), step.times(101))
    assert np.ptp(np.degrees(np.arctan2(neck[2], neck[1]))) <= 7
    assert 20 <= card["numbers"]["arms"]["swing_deg"] <= 35


def test_its_knots_stand_where_contacts_change():
    inner = STATED.motion.inner
    assert STATED.motion.points == 28 and STATED.motion.degree == 4
    for change in (NORMAL.flat, NORMAL.toe_off, NORMAL.heel_off):
        assert inner.count(change) == 2  # so that jerk may jump there, and accelerations do not
    later = problem(gait=Gait(heel_off=0.65)).motion.inner
    assert later.count(0.65) == 2 and 0.6 not in later


def test_more_knots_stand_where_motions_change_fastest_and_then_halve_the_longest_segments():
    few, more, all_told, most = (
        knots_at_changes(changes_of(NORMAL), count) for count in (6, 9, 23, 24)
    )
    assert few == (0.15, 0.15, 0.24, 0.24, 0.6, 0.6)
    assert sorted({*more} - {*few}) == pytest.approx([0.05, 0.384, 0.8])
    assert {*more} < {*all_told} < {*most} and all_told == STATED.motion.inner
    assert [*{*most} - {*all_told}] == pytest.approx([0.75])
    with pytest.raises(ValueError, match="points: of the objective elastic expected at least 11"):
        problem(accuracy=Accuracy(points=10))


def test_every_weight_has_its_term_and_accelerations_count_more():
    terms = {term.name: weight for weight, term in STATED.objective.terms}
    names = {each.name for each in fields(WALKING)} - {"tendons"}
    assert set(terms) == names and STIFF.smoothness < WALKING.smoothness
    usual = {term.name: weight for weight, term in problem(goal=PEOPLES).objective.terms}
    assert terms["smoothness"] == pytest.approx(20.0 * WALKING.smoothness)
    assert usual["smoothness"] == pytest.approx(20.0 * STIFF.smoothness)
    given = problem(goal=Goal(smooth=0.01)).objective.terms
    assert [weight for weight, term in given if term.name == "smoothness"] == pytest.approx([0.2])
    assert terms["work"] == usual["work"] and "head" not in usual


def test_torques_of_arms_count_over_the_strength_of_arms():
    """Of a person with .63 of the strength of the usual man each counts 2.5 times."""
    weak, spent = problem(muscles=Muscles(percentile=20.0)), []
    for stated in (STATED, weak):
        term = next(term for _, term in stated.objective.terms if term.name == "arms")
        at = SimpleNamespace(tau=ca.DM.ones(stated.tree.dof))
        spent.append(float(ca.sumsqr(ca.DM(term.function(at)))))
    assert spent[1] / spent[0] == pytest.approx(1 / 0.632**2, rel=1e-2)


def test_whoever_takes_a_larger_share_of_strength_has_motion_weighed_by_its_square_too():
    """A weak man as a strong one of the same build, a heavy one by his mass; not one weak joint."""
    heavy = {"person": Person(mass=130.0)}
    weights = {}
    for name, others in {
        "usual": {},
        "weak": {"muscles": Muscles(percentile=20.0)},
        "heavy": heavy,
        "ankles": {"muscles": Muscles(ankles=0.5)},
    }.items():
        terms = problem(**others).objective.terms
        weights[name] = {term.name: weight for weight, term in terms}
    own = weights.pop("usual")
    more = {
        name: {term: w / own[term] for term, w in each.items()} for name, each in weights.items()
    }
    for each in more.values():
        assert [each[term] for term in OF_TORQUES] == pytest.approx([1.0] * 3)
        others = [share for term, share in each.items() if term not in OF_TORQUES]
        assert others == pytest.approx([others[0]] * len(others))
    assert more["heavy"]["smoothness"] == pytest.approx((130 / 75) ** 2)
    assert more["weak"]["smoothness"] == pytest.approx(1 / 0.632**2, rel=1e-2)
    assert more["ankles"]["smoothness"] == pytest.approx(1.0)


def test_people_on_stairs_spare_what_they_spare_on_the_level():
    stairs = problem(terrain=Terrain(rise=0.17))
    spared, level = ([term.name for _, term in one.objective.terms] for one in (stairs, STATED))
    assert spared == level and "head" in spared


def test_feet_stand_closely_on_stairs_as_on_the_level_unless_told():
    stairs, told = (
        problem(terrain=Terrain(rise=0.17), accuracy=accuracy)
        for accuracy in (Accuracy(), Accuracy(slip=0.01))
    )
    assert (slip_of(STATED), slip_of(stairs), slip_of(told)) == (0.005, 0.005, 0.01)
    assert [each.motion.points for each in (STATED, stairs, told)] == [28, 28, 28]


def slip_of(stated):
    return next(each.upper for each in stated.constraints if each.name.startswith("slip"))


@pytest.mark.commands
def test_knees_that_are_bent_are_walked_with_as_straightforwardly():
    stated = problem(gait=Gait(crouch=20.0), accuracy=Accuracy(points=14))
    bent = walk(stated, Transcription(), Solver()).require()
    assert "constant_limits" in bent.statistics
    verify(bent).require(1e-2)


def test_phases_on_many_points_begin_on_as_many_as_come_from_standing():
    """Parts of one spline share the coarse one; to that they come by themselves."""
    many, few = (
        problem(gait=Gait(stride="phases"), accuracy=Accuracy(points=points))
        for points in (None, FEW_OF_PARTS)
    )
    parts = [phase.motion for phase in coarser(many).phases]
    assert parts == [phase.motion for phase in few.phases]
    assert [(part.start, part.end) for part in parts] == [
        (phase.motion.start, phase.motion.end) for phase in many.phases
    ]
    assert coarser(few) is None


def test_steps_that_are_no_plain_walk_begin_on_few_points_with_knots_at_changes_of_contact():
    stairs = problem(terrain=Terrain(rise=0.17))
    few = coarser(stairs)
    assert few.motion.points == FEW_POINTS < stairs.motion.points
    changes = set(changes_of(STAIRS))
    assert changes <= set(few.motion.inner) and len(few.motion.inner) == 2 * len(changes) + 1
    assert replace(few, motion=stairs.motion) == stairs
    human = problem(goal=PEOPLES, terrain=Terrain(rise=0.17))
    for other in (STATED, few, human):
        assert coarser(other) is None


def test_few_steps_bear_torques_that_are_smooth_unless_it_is_said_how_many():
    for stated in (STATED, problem(gait=Gait(stride="phases"))):
        assert closely(stated, Transcription()).method == Spline(nodes=FEW[0], shared=FEW[1])
        for told in (Spline(nodes=12), Spline(shared=5)):
            assert closely(stated, Transcription(method=told)).method == told
    assert STATED.ground.sharing == "smooth" and problem(goal=PEOPLES).ground.sharing == "straight"


def test_it_can_be_stated_in_phases_too():
    for gait in (Gait(stride="phases"), Gait(free_timing=True)):
        assert problem(gait=gait).phases


def test_step_width_and_toe_out_are_found_where_they_are_free():
    sought = problem(gait=Gait(free="step, width,toe_out"))
    names = {each.name for each in parameters_of(sought) if each.free}
    assert names == {"step", "width", "toe_out"}
    assert not parameters_of(STATED)
    assert problem(gait=Gait(free="step", speed=1.0)).duration  # a step in m over 1 m/s, in s
    for gait, message in (
        (Gait(free="stride"), "free: expected some of step, width, toe_out, got stride"),
        (Gait(free="step", stride="phases"), "free: is known of a step in one phase"),
        (Gait(free="width", width=Parameter("width", 0.1, "m")), "free: width: is open already"),
    ):
        with pytest.raises(ValueError, match=message):
            problem(gait=gait)


def test_feet_turn_outward_about_their_heels():
    angle = 30.0
    straight, out = (problem(gait=Gait(toe_out=each)).ground for each in (0.0, angle))
    for side, way in (("right", -1.0), ("left", 1.0)):
        before, after = (
            {
                pin.point: np.array(pin.target, dtype=float)
                for pin in ground.foot(side).supports[1].pins
            }
            for ground in (straight, out)
        )
        # of the right foot from its heel to its toe; of the left one its toe alone is pinned then
        if side == "right":
            feet = [each["toe_r"] - each["heel_r"] for each in (before, after)]
            assert before["heel_r"] == pytest.approx(after["heel_r"])
            turns = [np.degrees(np.arctan2(foot[0], foot[2])) for foot in feet]
            assert turns[1] - turns[0] == pytest.approx(way * angle)
            assert np.linalg.norm(feet[0]) == pytest.approx(np.linalg.norm(feet[1]))
        else:
            assert way * (after["toe_l"] - before["toe_l"])[0] > 0.08


@pytest.mark.parametrize("tissue", ["toes", "thighs"])
def test_tissue_that_pulls_is_refused_by_its_name(tissue):
    with pytest.raises(ValueError, match=f"{tissue}: expected a number of at least 0"):
        problem(muscles=Muscles(**{tissue: -5.0}))
