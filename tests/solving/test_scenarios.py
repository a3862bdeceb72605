"""Scenarios: one motion for several values of parameters, beside quadratic programs by hand."""

import numpy as np
import pytest

from ocp import (
    BSpline,
    Joint,
    Link,
    Parameter,
    Problem,
    Radau,
    Spring,
    Transcription,
    Tree,
    at_end,
    at_start,
    effort,
    path,
    prepare,
    prismatic,
)
from ocp.problem import final
from ocp.solution import NotSolved
from ocp.solving import Scenarios, ScenarioSolution, solve_scenarios, verify_scenarios

MASS, TIME, WAY, POINTS = 2.0, 1.5, 0.7, 9


def sprung(mass, stiffness, objective=None, constraints=(), motion=BSpline(points=POINTS)):
    """A mass that slides from rest to rest, on a spring unless its stiffness is 0."""
    link = Link(mass=mass, com=(0, 0, 0), inertia=((0, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    slider: Joint = prismatic("slider", axis=(1.0, 0.0, 0.0))
    springs = () if stiffness == 0.0 else (Spring(joint="slider", stiffness=stiffness),)
    tree = Tree(links=(link,), joints=(slider,), elements=springs, gravity=(0.0, 0.0, 0.0))
    return Problem(
        tree=tree,
        motion=motion,
        duration=TIME,
        objective=objective or effort(),
        constraints=(
            at_start(tree, q=0.0, qd=0.0),
            *((at_end(tree, q=WAY, qd=0.0),) if objective is None else ()),
            *constraints,
        ),
    )


def costs(stiffness):
    """The matrix C by which the effort on one stiffness is p' C p, with control points p."""
    basis = BSpline(points=POINTS)
    at, parts = np.polynomial.legendre.leggauss(8)
    widths = np.diff(basis.breaks)
    s = np.concatenate([a + h * (1 + at) / 2 for a, h in zip(basis.breaks, widths)])
    weights = np.concatenate([h * parts / 2 for h in widths])
    values, bends = basis.values(s, 0), basis.values(s, 2) / TIME**2
    torque = MASS * bends + stiffness * values
    return TIME * torque.T @ (weights[:, None] * torque)


def least(matrix):
    """The least p' C p from rest at 0 to rest at WAY."""
    basis = BSpline(points=POINTS)
    ends = np.vstack([basis.values(np.array([0.0, 1.0]), order) for order in (0, 1)])
    wanted = np.array([0.0, WAY, 0.0, 0.0])
    saddle = np.block([[2 * matrix, ends.T], [ends, np.zeros((4, 4))]])
    p = np.linalg.solve(saddle, np.concatenate([np.zeros(POINTS), wanted]))[:POINTS]
    return p, float(p @ matrix @ p)


STIFF = Parameter("stiffness", 4.0, "N/m", 0.0, 1e3)
VALUES = tuple({"stiffness": value} for value in (1.0, 6.0, 20.0))
"""Of the spring, N/m."""


def test_the_mean_of_scenarios_is_that_of_their_quadratic_program():
    weights = (1.0, 2.0, 5.0)
    asked = Scenarios(values=VALUES, weights=weights)
    found = solve_scenarios(sprung(MASS, STIFF), asked).require()
    shares = np.array(weights) / sum(weights)
    own = [costs(each["stiffness"]) for each in VALUES]
    p, cost = least(sum(share * each for share, each in zip(shares, own)))
    assert found.objective == pytest.approx(cost, rel=1e-8)
    for each, matrix in zip(found.solutions, own):
        assert each.points[0] == pytest.approx(p, abs=1e-6)
        assert each.objective == pytest.approx(p @ matrix @ p, rel=1e-6)
    assert found.residual < 1e-6


def test_the_worst_case_is_where_no_weights_make_the_mean_larger():
    """By duality, since costs are convex: over two scenarios the greatest of the least means."""
    pair = (costs(1.0), costs(20.0))
    shares = np.linspace(0.0, 1.0, 401)
    best = max(least(share * pair[0] + (1 - share) * pair[1])[1] for share in shares)
    problem = sprung(MASS, STIFF)
    found = solve_scenarios(problem, Scenarios(values=VALUES, objective="worst")).require()
    assert found.objective == pytest.approx(best, rel=1e-5)
    assert found.objective >= max(each.objective for each in found.solutions) - 1e-6
    assert set(found.deciding) < {0, 1, 2} and found.residual < 1e-6


def test_spread_adds_standard_deviations_to_the_mean():
    problem, factor = sprung(MASS, STIFF), 1.5
    asked = Scenarios(values=VALUES, objective="spread", spread=factor)
    found = solve_scenarios(problem, asked).require()
    each = np.array([one.objective for one in found.solutions])
    assert found.objective == pytest.approx(each.mean() + factor * each.std(), rel=1e-6)
    p = found.solutions[0].points[0]
    matrices = [costs(one["stiffness"]) for one in VALUES]
    rng = np.random.default_rng(3)
    for change in rng.normal(size=(20, POINTS)):
        change[[0, 1, -2, -1]] = 0.0  # both ends stay as they are, at rest
        near = p + 1e-3 * change
        other = np.array([near @ matrix @ near for matrix in matrices])
        assert other.mean() + factor * other.std() >= found.objective - 1e-9


def test_rows_hold_in_every_scenario_and_in_all_that_probability_asks_for():
    """A limit of the torque bars the stiffest spring from the way that the others take."""
    most, t = 8.0, np.linspace(0.0, TIME, 200)
    limit = path("strong", lambda at: at.tau, lower=-100.0, upper=most)
    problem = sprung(MASS, STIFF, constraints=(limit,))
    all_met = solve_scenarios(problem, Scenarios(values=VALUES)).require()
    own = [costs(each["stiffness"]) for each in VALUES]
    _, cost = least(sum(own) / 3)
    assert all_met.objective > 1.001 * cost
    assert max(each.tau(t).max() for each in all_met.solutions) < most + 0.05
    certificates = verify_scenarios(all_met)
    assert [each.require(1e-2).kkt for each in certificates.values()] == [all_met.residual] * 3
    most_met = solve_scenarios(problem, Scenarios(values=VALUES, probability=0.6)).require()
    assert most_met.solutions[2] is None and most_met.solutions[0] is not None
    assert most_met.objective == pytest.approx(least((own[0] + own[1]) / 2)[1], rel=1e-6)
    assert "stiffness = 20" in str(most_met) and "left out" in str(most_met)


def test_shared_torques_move_every_scenario_as_they_must():
    """A free mass m goes by J / m: of the least mean square miss, J = WAY sum(1/m) / sum(1/m2)."""
    mass = Parameter("mass", 2.0, "kg", 0.1, 10.0)
    problem = sprung(mass, 0.0, final("miss", lambda at: (at.q[0] - WAY) ** 2))
    masses = (1.0, 2.0, 4.0)
    asked = Scenarios(values=[{"mass": each} for each in masses], share="torques")
    radau = Transcription(method=Radau(intervals=6))
    found = solve_scenarios(problem, asked, radau).require()
    inverse = 1 / np.array(masses)
    push = WAY * inverse.sum() / (inverse**2).sum()
    for each, share in zip(found.solutions, inverse):
        assert each.q([TIME])[0, 0] == pytest.approx(push * share, abs=1e-5)
    first, second, _ = (each.tau(np.linspace(0.0, TIME, 7)) for each in found.solutions)
    assert first == pytest.approx(second, abs=1e-7)


def test_what_scenarios_cannot_be_is_told_by_name():
    problem = sprung(MASS, STIFF)
    for wrong, words in (
        ({"values": ()}, "values: expected at least one"),
        ({"values": VALUES, "weights": (1.0, 2.0)}, "weights: expected 3 positive"),
        ({"values": VALUES, "objective": "wurst"}, "did you mean 'worst'"),
        ({"values": VALUES, "share": "torque"}, "did you mean 'torques'"),
        ({"values": VALUES, "probability": 0.0}, "probability: expected"),
        ({"values": VALUES, "spread": -1.0}, "spread"),
    ):
        with pytest.raises(ValueError, match=words):
            Scenarios(**wrong)
    with pytest.raises(ValueError, match="no such parameter"):
        solve_scenarios(problem, Scenarios(values=[{"stiffnes": 1.0}]))
    with pytest.raises(ValueError, match="torques are no variables"):
        solve_scenarios(problem, Scenarios(values=VALUES, share="torques"))


def test_scenarios_that_cannot_all_be_met_say_so():
    """At the end the stiff spring needs a deceleration that the soft one cannot have."""
    limit = path("weak", lambda at: at.tau, lower=-3.0, upper=3.0)
    problem = sprung(MASS, STIFF, constraints=(limit,))
    found = solve_scenarios(problem, Scenarios(values=VALUES))
    assert isinstance(found, ScenarioSolution) and not found.success
    with pytest.raises(NotSolved, match="3 scenarios together"):
        found.require()


def rail(penalty=50.0):
    """A mass that starts anywhere and is to end at 1 m, by half the squared force."""
    place, speed = Parameter("place", 0.0, "m"), Parameter("speed", 0.0, "m/s")
    tree = sprung(MASS, 0.0).tree
    end = final("end", lambda at: (at.q - 1.0) ** 2)
    return Problem(
        tree=tree,
        motion=BSpline(points=10),
        duration=TIME,
        objective=0.5 * effort() + penalty / 2 * end,
        constraints=(at_start(tree, q=(place,), qd=(speed,)),),
    )


STARTS = ({"place": 0.0, "speed": 0.0}, {"place": 0.2}, {"place": 0.1, "speed": 0.3})


def test_feedback_that_starts_share_is_riccatis():
    """u = -(T - t) / (1 / c + (T - t)^3 / 3 m^2) (q + (T - t) qd) / m (Bryson & Ho 1975, 5.2)."""
    mesh = Transcription(method=Radau(intervals=6))
    asked = Scenarios(values=STARTS, share="feedback")
    found = solve_scenarios(rail(), asked, mesh).require()
    left = TIME * (1 - found.nodes)
    gain = -left / (1 / 50.0 + left**3 / (3 * MASS**2)) / MASS
    np.testing.assert_allclose(found.gains[:, 0], np.array([gain, gain * left]).T, atol=1e-7)
    for each, start in zip(found.solutions, STARTS):
        alone = prepare(rail(), mesh).solve(**start)
        assert each.objective == pytest.approx(alone.objective, rel=1e-9)
    assert found.residual < 1e-6


def test_feedback_shared_by_springs_costs_no_more_than_shared_torques():
    mesh = Transcription(method=Radau(intervals=6))
    end = final("end", lambda at: (at.q[0] - WAY) ** 2)
    problem = sprung(MASS, STIFF, effort() + 100.0 * end)
    means = []
    for share in ("feedback", "torques"):
        asked = Scenarios(values=VALUES, share=share)
        found = solve_scenarios(problem, asked, mesh).require()
        means.append(found.objective)
        if share == "feedback":
            first, *others = found.solutions
            at = TIME * found.nodes
            for each in others:
                apart = np.vstack([each.q(at) - first.q(at), each.qd(at) - first.qd(at)])
                answer = np.einsum("kij,jk->ik", found.gains, apart)
                np.testing.assert_allclose(each.tau(at) - first.tau(at), answer, atol=1e-6)
    assert means[0] < means[1]


def test_feedback_is_shared_where_torques_are_variables():
    with pytest.raises(ValueError, match="scenarios: share: feedback is known of one phase"):
        solve_scenarios(rail(), Scenarios(values=STARTS, share="feedback"))
