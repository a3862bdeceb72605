"""Parameters found with the motion: where a closed form, or a search outside, finds them."""

from dataclasses import replace
from functools import cache
from math import pi

import numpy as np
import pytest

import ocp
from ocp.models.arms.two_link import two_link
from ocp.problem.objectives import final
from ocp.problems.arms.two_link_time import problem as two_link_time

EXACT = ocp.Solver(options={"tol": 1e-11})  # residuals of 1e-12 are those of rounding here


def test_a_free_stiffness_is_that_of_resonance():
    """m (pi/T)^2: a spring that swings a mass from side to side in T needs no motor."""
    mass, T = 2.0, 0.5
    stiffness = ocp.Parameter("stiffness", 10.0, "N/m", 0.0, 500.0, free=True)
    cart = ocp.Tree(links=[ocp.Link(mass=mass)], joints=[ocp.prismatic("cart", axis=(1, 0, 0))])
    problem = ocp.Problem(
        tree=cart,
        motion=ocp.BSpline(points=20, degree=5),
        duration=T,
        objective=ocp.squares("motor", lambda at: at.tau + stiffness * at.q),
        constraints=(ocp.at_start(cart, q=-0.3, qd=0.0), ocp.at_end(cart, q=0.3, qd=0.0)),
    )
    best = ocp.solve(problem, solver=EXACT).require()
    assert best.parameters["stiffness"] == pytest.approx(mass * (pi / T) ** 2, rel=1e-6)


def reaching(length):
    """An arm without gravity, its first link as long as one likes, from one place to another."""
    second = ocp.revolute("elbow", parent="shoulder", home=(length, 0, 0))
    rod = ocp.Link(mass=0.2, com=(length / 2, 0, 0), inertia=np.diag([0.2, 0.2, 0.2]))
    fore = ocp.Link(mass=0.2, com=(0.2, 0, 0), inertia=np.diag([0.05, 0.05, 0.05]))
    tip = ocp.Point(name="tip", link="elbow", position=(0.4, 0, 0))
    arm = ocp.Tree(links=[rod, fore], joints=[ocp.revolute("shoulder"), second], points=[tip])
    ends = {"start": (0.3, 0.1), "end": (-0.4, 0.3)}
    return ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=10),
        duration=0.6,
        objective=ocp.effort(),
        constraints=(
            ocp.path("rest", lambda at: at.qd, lower=0.0, upper=0.0, when="ends"),
            *(
                ocp.path(name, lambda at: at.position("tip")[:2], lower=goal, upper=goal, when=name)
                for name, goal in ends.items()
            ),
        ),
    )


@cache
def longest():
    """The plan of the arm with a free length, and its best one."""
    plan = ocp.prepare(
        reaching(ocp.Parameter("length", 0.4, "m", 0.12, 1.0, free=True)), solver=EXACT
    )
    return plan, plan.solve(ocp.Guess(q=[[0.2, 1.8], [0.9, 0.9]])).require()


def test_a_free_length_is_where_a_search_of_one_dimension_finds_it():
    plan, best = longest()

    def slope(length):
        kept = plan.solve(best, length=length).require()
        return -float(kept.multipliers["parameter length"].values[0, 0])

    low, high = best.parameters["length"] - 5e-4, best.parameters["length"] + 1e-3
    at_low, at_high = slope(low), slope(high)
    assert at_low < 0 < at_high
    for _ in range(8):
        low, high = high, high - at_high * (high - low) / (at_high - at_low)
        at_low, at_high = at_high, slope(high)
        if abs(high - low) < 1e-9:
            break
    assert high == pytest.approx(best.parameters["length"], rel=1e-6)


def test_a_plan_of_a_free_length_is_the_problem_of_that_length():
    _, best = longest()
    stated = ocp.solve(reaching(best.parameters["length"]), solver=EXACT, guess=best).require()
    assert stated.objective == pytest.approx(best.objective, rel=1e-9)
    check = ocp.verify(best)
    assert check.kkt is not None and check.kkt < 1e-8 and check.defect < 1e-6


def lifting_most(points, limit=0.5, gravity=0.0):
    """An arm with a payload: to be brought there in the least time, or as heavy as can be in a
    limit (s)."""
    arm = two_link(torque=10.0, gravity=gravity)
    payload = ocp.Parameter("payload", 0.1, "kg", 0.0, 5.0)
    upper, fore = arm.links
    laden = replace(arm, links=(upper, replace(fore, mass=fore.mass + payload)))
    quickest = ocp.Problem(
        tree=laden,
        motion=ocp.BSpline(points=points),
        duration=(0.1, 5.0),
        objective=ocp.duration(),
        constraints=(
            ocp.at_start(laden, q=(0.0, -2.0), qd=0.0),
            ocp.at_end(laden, q=(1.0, -1.0), qd=0.0),
            ocp.torque_limits(laden),
        ),
    )
    heaviest = replace(
        quickest, duration=limit, objective=(-1.0) * final("payload", lambda at: payload.expression)
    )
    return quickest, heaviest


def test_a_payload_found_beside_torques_that_are_variables_passes_its_certificate():
    """The laws of its program count in weights of the arm that was prepared."""
    _, heaviest = lifting_most(7, gravity=9.81)
    transcription = ocp.Transcription(method=ocp.Spline(torques="variables"))
    most = (
        ocp.prepare(heaviest, transcription, EXACT, free=("payload",)).solve().require(coarse=True)
    )
    assert most.parameters["payload"] > 0.2 and ocp.verify(most).kkt < 1e-6


def test_the_largest_payload_is_where_the_least_time_is_what_there_is():
    limit = 0.5
    quickest, heaviest = lifting_most(10, limit)
    most = ocp.prepare(heaviest, solver=EXACT, free=("payload",)).solve().require()
    plan = ocp.prepare(quickest, solver=EXACT)
    former, low, high = None, most.parameters["payload"] * 0.9, most.parameters["payload"] * 1.1
    times = {}
    for mass in (low, high):
        former = plan.solve(former, payload=mass).require()
        times[mass] = former.duration - limit
    for _ in range(8):
        low, high = high, high - times[high] * (high - low) / (times[high] - times[low])
        former = plan.solve(former, payload=high).require()
        times[high] = former.duration - limit
        if abs(times[high]) < 1e-10:
            break
    assert high == pytest.approx(most.parameters["payload"], rel=1e-6)


def test_a_free_parameter_that_nothing_depends_on_is_named():
    idle = ocp.Parameter("idle", 1.0, "m", 0.0, 2.0, free=True)
    arm, _ = two_link(), idle
    base = replace(arm, points=(ocp.Point(name="aside", link=arm.names[0], position=(idle, 0, 0)),))
    problem = replace(reaching(0.4), tree=base, constraints=())
    with pytest.raises(ValueError, match="parameter 'idle': is free, but neither a constraint"):
        ocp.prepare(problem)


def test_a_parameter_that_was_not_found_fails_the_certificate():
    plan, best = longest()
    other = plan.solve(best, length=best.parameters["length"] + 0.01).require()
    claimed = dict(other.statistics) | {"parameters": {"length": ["m", "found"]}}
    kept, said = ocp.verify(other).kkt, ocp.verify(replace(other, statistics=claimed)).kkt
    assert kept < 1e-8 and said > 1e-4  # the slope of the effort by the length


def test_an_arm_of_open_numbers_moves_as_one_of_their_values():
    scale, stated = ocp.Parameter("scale", 1.0), two_link_time()
    arm = stated.tree
    opened = replace(
        arm,
        links=tuple(
            replace(
                link,
                mass=scale * link.mass,
                com=scale * np.array(link.com),
                inertia=scale * np.array(link.inertia),
            )
            for link in arm.links
        ),
    )
    found = ocp.solve(replace(stated, tree=opened)).require()
    assert found.objective == pytest.approx(ocp.solve(stated).objective, rel=1e-12)
    assert found.problem.tree == arm
