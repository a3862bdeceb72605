"""Contacts on both sides of a transition: what rests is asked for once."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from refusals import refused

import ocp
from ocp.certificate.checks.optimality import program_variables
from ocp.models.walkers.five_link import five_link
from ocp.models.walkers.monoped import monoped
from ocp.problem import friction, unilateral
from ocp.problem.contact.contact_kinds import point_contact
from ocp.solvers import Iterate, curvature
from ocp.transcription.laws.transition_laws import law_handover
from ocp.transcription.transcribe import transcribe

TREE = monoped()
BENT = (0.0, 0.72, 0.0, 0.4, -0.8)  # foot below the hip, to 1 cm
SAME = ("q", "qd", "qdd")
# slopes by the way that is built soonest: rows are looked at here
transcribed = partial(transcribe, transcription=ocp.Transcription(derivatives="ad"))


def standing(place=0.0):
    return ocp.Ground(feet=(point_contact(TREE, "foot", at=(place, 0.0, 0.0)),))


def crouch(*grounds, points=7, **changes):
    """Return a motion on one foot, in as many phases as there are grounds."""
    phases = tuple(
        ocp.Phase(f"part {k + 1}", motion=ocp.BSpline(points=points), duration=0.2, ground=ground)
        for k, ground in enumerate(grounds)
    )
    links = (ocp.continuous(*SAME),) * (len(grounds) - 1)
    stated = {"tree": TREE, "phases": phases, "links": links, "objective": ocp.effort()}
    return ocp.Problem(**stated | changes)


def equalities(problem):
    """Return the Jacobian of a program's equalities beside its start."""
    program = transcribed(problem)
    x = program.guess + 0.05 * np.sin(np.arange(program.layout.size))
    same = program.nlp.g_lower == program.nlp.g_upper
    return np.array(program.nlp.jacobian(x, [])[1])[same]


@pytest.mark.parametrize(
    "problem",
    [
        crouch(standing(), standing()),
        crouch(standing(), symmetry=ocp.periodic(TREE)),
        crouch(standing(), standing(), symmetry=ocp.periodic(TREE)),
        crouch(standing(0.0), standing(0.0), symmetry=ocp.periodic(TREE, qdd=False)),
    ],
    ids=["on and on", "periodic", "on and on, periodic", "periodic but for accelerations"],
)
def test_equalities_of_contacts_that_go_on_are_independent(problem):
    rows = equalities(problem)
    assert np.linalg.svd(rows, compute_uv=False)[-1] > 1e-6
    assert np.linalg.matrix_rank(rows) == len(rows)


@pytest.mark.parametrize(
    ("problem", "spared"),
    [
        (crouch(standing(), standing()), {"part 1": set(), "part 2": {2}}),
        (crouch(standing(), symmetry=ocp.periodic(TREE)), {"part 1": {2}}),
        (crouch(None, None), {"part 1": set(), "part 2": {0, 1, 2}}),
        (crouch(standing(), None), {"part 1": set(), "part 2": {2}}),
        (
            crouch(standing(), standing(), links=(ocp.continuous(),)),
            {"part 1": set(), "part 2": set()},
        ),
    ],
    ids=["on and on", "periodic", "flight", "lifts off", "accelerations may jump"],
)
def test_the_lack_of_torque_is_asked_for_once_where_phases_meet(problem, spared):
    """On a point foot the moment about it is the same on both sides, in flight all is."""
    assert law_handover(problem) == spared


@pytest.mark.parametrize(
    "problem",
    [crouch(standing(), standing(), symmetry=ocp.periodic(TREE)), crouch(None, None)],
    ids=["on and on, periodic", "flight"],
)
def test_active_equalities_of_phases_that_go_on_are_independent_at_an_optimum(problem):
    """There forces of one contact are the same on both sides; what is not asked for holds."""
    guess = {phase.name: ocp.Guess(q=np.outer(BENT, np.ones(2))) for phase in problem.phases}
    solution = ocp.solve(problem, guess=guess).require()
    program = transcribed(problem)
    x, x_multipliers, g_multipliers = program_variables(solution, program)
    g = np.array(program.nlp.constraints(x)).ravel()
    point = Iterate(x=x, g=g, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    bend = curvature(program.nlp, point)
    assert bend.dependent == 0 and bend.rank == bend.equalities
    last = list(solution.phases.values())[-1]
    assert np.abs(last.trace(lambda at: at.required_torques, 0.0)[:3]).max() < 1e-6


def test_bodies_that_carry_something_else_ask_for_all_on_both_sides():
    heavier = replace(
        TREE, links=(replace(TREE.links[-1], mass=TREE.links[-1].mass + 1.0), *TREE.links[1:])
    )
    flight = crouch(None, None)
    first, second = flight.phases
    other = replace(flight, phases=(first, replace(second, tree=heavier)))
    assert law_handover(flight)["part 2"] == {0, 1, 2}
    assert not law_handover(other)["part 2"]


def test_a_foot_that_goes_on_standing_one_step_further_is_asked_for_once():
    """It pushes off at 0, lands at 0.3 m, and stands there as it began."""
    landing = ocp.impact("foot", normal=(0, 1, 0))
    problem = crouch(
        *(standing(), None, standing(0.3)),
        links=(ocp.continuous(), landing),
        symmetry=ocp.periodic(TREE, shift={"x": 0.3}),
    )
    assert np.linalg.svd(equalities(problem), compute_uv=False)[-1] > 1e-4


@pytest.mark.parametrize(
    "stride", [0.3, ocp.Parameter("stride", 0.3, "m", 0.1, 0.5, free=True)], ids=["given", "sought"]
)
def test_an_impact_of_a_point_that_the_next_phase_holds_is_said_once(stride):
    stance, flight = crouch(standing(), None).phases
    shifted = ocp.periodic(TREE, shift={"x": stride})
    landing = ocp.impact("foot", normal=(0, 1, 0), symmetry=shifted)
    problem = crouch(phases=(stance, flight), links=(ocp.continuous(), landing))
    rows = equalities(problem)
    assert np.linalg.matrix_rank(rows) == len(rows)
    bounced = ocp.impact("foot", normal=(0, 1, 0), symmetry=shifted, restitution=0.3)
    with pytest.raises(ValueError, match="impact of 'foot': it bounces, but the next phase holds"):
        transcribed(replace(problem, links=(ocp.continuous(), bounced)))


def test_a_foothold_that_is_sought_is_asked_for_on_both_sides_unless_it_is_one():
    place = ocp.Parameter("place", 0.02, "m", -0.1, 0.1, free=True)
    both = transcribed(crouch(standing(place), standing(place)))
    apart = transcribed(crouch(standing(0.02), standing(place)))
    counts = [sum(program.nlp.g_lower == program.nlp.g_upper) for program in (both, apart)]
    assert counts[1] > counts[0]


def test_a_step_that_is_sought_is_asked_for_no_more_often_than_a_given_one():
    """Where a foot stands is the step's way further on, however long that is."""
    place = ocp.Parameter("place", 0.05, "m", 0.0, 0.1, free=True)
    stride = ocp.Parameter("stride", 0.2, "m", 0.1, 0.3, free=True)
    landing = ocp.impact("foot", normal=(0, 1, 0))

    def stepped(first, way, last):
        return crouch(
            *(standing(first), None, standing(last)),
            links=(ocp.continuous(), landing),
            symmetry=ocp.periodic(TREE, shift={"x": way}),
        )

    given = len(equalities(stepped(0.0, 0.2, 0.2)))
    assert len(equalities(stepped(place, stride, place + stride))) == given


def test_places_that_agree_by_chance_are_asked_for_on_both_sides():
    chance = crouch(standing(0.02), standing(ocp.Parameter("place", 0.02, "m")))
    fixed = crouch(standing(0.02), standing(0.02))
    assert len(equalities(chance)) == len(equalities(fixed)) + 1


def test_a_contact_that_cannot_be_reached_from_the_phase_before_is_refused_by_name():
    words = (
        "^phase 'part 2': contact 'foot': point 'foot' cannot be at x = 0.3 m where phase "
        "'part 1' ends with what stands there; the nearest is 0.15 m off"
    )
    with pytest.raises(ValueError, match=words):
        transcribed(crouch(standing(), standing(0.3)))


def test_pushes_of_phases_are_those_of_their_own_ground():
    ground = standing()
    held = (unilateral(TREE, ground), friction(TREE, ground, coefficient=0.8))
    stance, flight = crouch(ground, None, points=12).phases
    landing = ocp.impact(
        "foot", normal=(0, 1, 0), friction=0.8, symmetry=ocp.periodic(TREE, shift={"x": 0.2})
    )
    problem = crouch(
        phases=(replace(stance, constraints=held, duration=0.3), replace(flight, duration=0.2)),
        links=(ocp.continuous(), landing),
    )
    guess = {"part 1": ocp.Guess(q=np.array([BENT, BENT]).T)}
    solution = ocp.solve(problem, guess=guess).require()
    t = np.linspace(0.0, 0.3, 601)
    push = solution.phases["part 1"].trace(lambda at: at.reaction.push("foot"), t)[0]
    blow = solution.impulses["part 2 to part 1"]["foot"][1]
    weight = 9.81 * sum(link.mass for link in TREE.links)
    assert push.min() > -1e-6
    assert np.trapezoid(push, t) + blow == pytest.approx(weight * 0.5, rel=1e-3)


def stepping(*struck, after=("left foot", "right foot")):
    """Return a biped on its left foot whose right one lands, and what then stands."""
    tree, motion = five_link(), ocp.BSpline(points=6)
    places = {"left foot": (0.0, 0.0, 0.0), "right foot": (0.4, 0.0, 0.0)}
    feet = {name: point_contact(tree, name, at=place) for name, place in places.items()}
    single = ocp.Ground(feet=(feet["left foot"],))
    both = ocp.Ground(feet=tuple(feet[name] for name in after))
    phases = (
        ocp.Phase("single", motion=motion, duration=0.3, ground=single),
        ocp.Phase("next", motion=motion, duration=0.1, ground=both),
    )
    links = (ocp.impact(*struck, normal=(0.0, 1.0, 0.0)),)
    return ocp.Problem(tree=tree, phases=phases, links=links, objective=ocp.effort())


def test_what_stands_on_takes_part_in_a_blow():
    with refused(
        "links: single to next: impact of 'right foot': contact 'left foot' stands before and "
        "after it, and takes part in the blow; name its points too"
    ):
        transcribed(stepping("right foot"))
    (asking,) = transcribed(stepping("left foot", "right foot")).links
    assert [each.strike.point for each in asking.strikes] == ["left foot", "right foot"]


def test_what_leaves_takes_no_part_in_a_blow():
    (asking,) = transcribed(stepping("right foot", after=("right foot",))).links
    assert [each.strike.point for each in asking.strikes] == ["right foot"]
