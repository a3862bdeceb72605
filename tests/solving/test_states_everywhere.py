"""States of elements with phases, parameters, loops, studies and refinement.

Muscles on compliant tendons have both kinds: activations of explicit, forces of implicit laws.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from muscled_arm import arm, excitations, muscle

from ocp import (
    BSpline,
    Constraint,
    HermiteSimpson,
    Link,
    Parameter,
    Phase,
    Problem,
    Radau,
    Solver,
    Spline,
    Transcription,
    Tree,
    at_end,
    at_start,
    continuous,
    effort,
    joint_limits,
    load,
    prepare,
    prismatic,
    refine,
    revolute,
    save,
    solve,
    squares,
    summary,
    sweep,
    verify,
)
from ocp.mechanics.muscles import GivenPath
from ocp.models.mechanisms.four_bar import four_bar
from ocp.problem import mirror_symmetry, muscle_effort

MESH = Transcription(method=Radau(intervals=20))
BOTH = arm(tendon="compliant")


def ends(tree):
    """From rest to rest, tendons in equilibrium at first."""
    still = {name.name: 0.0 for name in tree.moving if not name.name.endswith("activation")}
    return at_start(tree, q=(-1.2,), qd=still), at_end(tree, q=(0.5,), qd=0.0)


def lift(tree):
    return Problem(
        tree=tree,
        motion=BSpline(points=16),
        duration=0.5,
        objective=squares("excitation", excitations),
        constraints=ends(tree),
    )


def halves(tree):
    half = {"motion": BSpline(points=12), "duration": 0.25}
    return Problem(
        tree=tree,
        phases=(Phase("first", **half), Phase("last", **half)),
        links=(continuous("q", "qd"),),
        objective=squares("excitation", excitations),
        constraints=ends(tree),
    )


@pytest.fixture(scope="module")
def lifted_by_both():
    return solve(lift(BOTH), MESH).require(coarse=True)


def test_two_phases_are_one_motion(lifted_by_both, tmp_path):
    """On the mesh that both halves have together; files keep it."""
    one = lifted_by_both
    two = solve(halves(BOTH), Transcription(method=Radau(intervals=10)))
    assert two.success and two.objective == pytest.approx(one.objective, rel=1e-6)
    before, after = two.phases["first"].q(0.25), two.phases["last"].q(0.0)
    assert before == pytest.approx(after, abs=1e-9)
    assert verify(two).drift < 5e-3
    save(two, tmp_path / "halves.npz")
    again = load(tmp_path / "halves.npz")
    assert again.objective == two.objective and again.problem.tree == two.problem.tree


@pytest.mark.parametrize("method", [Spline(torques="variables"), HermiteSimpson(intervals=20)])
def test_phases_of_other_methods_keep_states_together(method):
    two = solve(halves(BOTH), Transcription(method=method))
    assert two.success
    before, after = two.phases["first"].q(0.25), two.phases["last"].q(0.0)
    assert before == pytest.approx(after, abs=1e-9)


def test_strength_may_be_a_parameter():
    """A plan for all values agrees with problems of each."""
    plan = prepare(lift(arm(force=Parameter("strength", 600.0, "N"))), MESH)
    for value in (500.0, 700.0):
        alone = solve(lift(arm(force=value)), MESH)
        assert plan.solve(strength=value).objective == pytest.approx(alone.objective, rel=1e-6)


def test_strength_may_be_sought():
    """Where the price of strength balances what it saves."""
    strength = Parameter("strength", 600.0, "N", lower=300.0, upper=2000.0, free=True)
    price = 1e-8 * squares("strength", lambda at: strength.expression)

    def cost(value):
        return solve(lift(arm(force=value)), MESH).objective + 0.5e-8 * value**2

    problem = replace(lift(arm(force=strength)), objective=lift(arm()).objective + price)
    found = solve(problem, MESH).require(coarse=True)
    best = found.parameters["strength"]
    assert 350 < best < 1900 and found.objective == pytest.approx(cost(best), rel=1e-6)
    assert cost(best) < min(cost(0.9 * best), cost(1.1 * best))


def test_muscles_drive_a_closed_loop():
    """A four-bar's crank, by muscles alone and beside its drive."""
    plain = four_bar()
    pair = [
        muscle(name, lever, "crank", tendon="compliant", force=900.0)
        for name, lever in (("fore", -0.03), ("aft", 0.03))
    ]
    loose = tuple(replace(each, actuated=False) for each in plain.joints)
    tree = replace(plain, joints=loose, elements=(*plain.elements, *pair))
    still = {
        each.name: 0.0
        for each in tree.moving
        if each.name in plain.names or each.name.endswith("force")
    }
    turned = Problem(
        tree=tree,
        motion=BSpline(points=20),
        duration=0.5,
        objective=squares("excitation", excitations),
        constraints=(
            at_start(tree, q={"crank": 0.0}, qd=still),
            at_end(tree, q={"crank": 0.5}, qd=dict.fromkeys(plain.names, 0.0)),
        ),
    )
    solution = solve(turned, Transcription(method=Radau(intervals=40)))
    assert solution.success and verify(solution).drift < 1e-2
    with pytest.raises(ValueError, match="leave 1 passive joints free; take 'explicit'"):
        solve(turned, Transcription(method=Spline(torques="variables")))
    driven = replace(tree, joints=plain.joints)
    helped = replace(turned, tree=driven, objective=turned.objective + 1e-3 * effort(driven))
    beside = solve(helped, MESH)
    drive = beside.tau(np.linspace(0.0, 0.5, 21))[0]
    assert beside.success and np.abs(drive).max() > 1e-3


def carriage():
    """Two legs under a carriage, each with a flexor and an extensor."""
    body = Link(mass=20.0, com=(0.0, 0.0, 0.0), inertia=np.zeros((3, 3)))
    leg = Link(mass=5.0, com=(0.0, -0.4, 0.0), inertia=np.diag([0.2, 0.01, 0.2]))
    return Tree(
        links=(body, leg, leg),
        joints=(
            prismatic("x", axis=(1, 0, 0), actuated=False),
            *(revolute(f"hip_{s}", "x", actuated=False, position=(-1, 1)) for s in "rl"),
        ),
        gravity=(0.0, -9.81, 0.0),
        elements=tuple(
            muscle(f"{name}_{side}", lever, f"hip_{side}", tendon="compliant", force=1500.0)
            for side in "rl"
            for name, lever in (("flexor", -0.04), ("extensor", 0.04))
        ),
    )


def swing(tree, halves):
    """A step by symmetry, or two steps after which all comes again."""
    names = [joint.name for joint in tree.moving]
    sides = {"_r": "_l", "_l": "_r"}
    images = [*range(len(names))]
    if halves == 1:
        twins = [re.sub("_[rl]", lambda side: sides[side.group()], name) for name in names]
        images = [names.index(twin) for twin in twins]
    right, left = tree.coordinate("hip_r"), tree.coordinate("hip_l")
    apart = [
        Constraint(
            name=f"apart at {when}",
            function=lambda at, sign=sign: sign * (at.q[right] - at.q[left]),
            lower=0.8,
            upper=0.8,
            when=when,
        )
        for when, sign in (("start", 1), ((0.5, 0.5), -1))[:halves]
    ]
    return Problem(
        tree=tree,
        motion=BSpline(points=16),
        duration=0.6 * halves,
        objective=muscle_effort(tree),
        symmetry=mirror_symmetry(
            tree, index=images, sign=(1,) * tree.dof, shift={"x": 0.5 * halves}, qdd=False
        ),
        constraints=(joint_limits(tree), *at_start(tree, q={"x": 0.0}), *apart),
    )


def test_a_stride_is_two_steps_by_symmetry():
    """Each from its own cold start (1e-6 asked)."""
    tree, tight = carriage(), Solver(options={"tol": 1e-10})
    step, stride = (
        solve(swing(tree, halves), Transcription(method=Radau(intervals=10 * halves)), tight)
        for halves in (1, 2)
    )
    assert step.success and stride.success
    assert stride.objective / 2 == pytest.approx(step.objective, rel=1e-6)
    t = np.linspace(0.0, 0.6, 31)
    assert stride.q(t) == pytest.approx(step.q(t), abs=1e-5)


def test_meshes_are_refined_until_states_follow():
    solution = refine(lift(BOTH), 1e-2, Transcription(method=Radau(intervals=8)))
    assert solution.verification.require(1e-2)
    assert solution.transcription.method.intervals > 8


def stated(strength: float = 600.0):
    """`strength`: of both muscles (N)."""
    return lift(arm(force=strength))


def test_studies_vary_muscles():
    done = sweep(stated, {"strength": [500.0, 700.0]}, workers=0, certify=True)
    costs = [cell.objective for cell in done.cells]
    assert costs[0] > costs[1] and {cell.status for cell in done.cells} == {"solved"}


def test_a_tendon_too_stiff_for_the_mesh_is_told_with_one_that_would_do(lifted_by_both):
    short = {
        "slack": 0.002,
        "path": GivenPath(joints=("elbow",), function=lambda x: 0.1 - 0.03 * x),
    }
    stiff = replace(BOTH, elements=(replace(BOTH.elements[0], **short), BOTH.elements[1]))
    solution = solve(lift(stiff), Transcription(method=Radau(intervals=10)))
    (line,) = [text for text in summary(solution).splitlines() if "too stiff" in text]
    assert "flexor: too stiff for the mesh, settles in 0.11 ms of segments of 50 ms" in line
    assert "2229 would follow it" in line
    assert "too stiff" not in summary(lifted_by_both)
