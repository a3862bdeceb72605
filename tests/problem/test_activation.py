"""Drives come on and go off by laws of their own, whose states go on wherever the motion does."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp.problem import mirror_symmetry, periodic
from ocp.problem.constraints.activations import drive_states, states_of_drives
from ocp.problems.benchmarks.dynamics.compare_elements import off_slopes
from ocp.problems.gait import Gait
from ocp.problems.gait import problem as gait

INERTIA, MOST, ON, OFF, TIME = 0.5, 3.0, 0.2, 0.5, 0.3
FINE = ocp.Transcription(method=ocp.Radau(intervals=6, order=6))
TIGHT = ocp.Solver(options={"tol": 1e-12, "bound_relax_factor": 0.0})
LEG = ocp.Voluntary(
    peak=3.0, narrowing=1.0, best=0.5, three_quarters=1.5, half=4.0, eccentric=0.05, rounding=0.05
)
BOTH = (
    ocp.Strength(joint="hinge", direction=1, capacity=LEG),
    ocp.Strength(joint="hinge", direction=-1, capacity=replace(LEG, peak=2.0)),
)


def wheel(*elements, **limits):
    """A wheel on a hinge."""
    link = ocp.Link(mass=1.0, inertia=INERTIA * np.eye(3))
    return ocp.Tree(links=(link,), joints=(ocp.revolute("hinge", **limits),), elements=elements)


def zajac(u, a):
    """da/dt by Zajac (1989)."""
    rest = ON / OFF
    return u / ON - a * (rest + (1 - rest) * u) / ON


def de_groote(u, a):
    """da/dt by De Groote et al. (2016, eq. 1-2), switched by a tanh ten times as steep."""
    height, switch = 0.5 + 1.5 * a, 0.5 * ca.tanh(10 * (u - a))
    return ((0.5 + switch) / (ON * height) + (0.5 - switch) * height / OFF) * (u - a)


LAWS = {"zajac": zajac, "de groote": de_groote}


def integrated(rate, start):
    """States by CVODES after TIME."""
    state = ca.SX.sym("x", len(start))
    options = {"abstol": 1e-13, "reltol": 1e-13}
    ode = {"x": state, "ode": rate(state)}
    flow = ca.integrator("flow", "cvodes", ode, 0, TIME, options)
    return np.array(flow(x0=start)["xf"]).ravel()


def pushed(tree, way, **start):
    """A wheel that is to be as quick as can be after TIME, one way or the other."""
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8),
        duration=TIME,
        objective=ocp.integral("speed", lambda at: -way * at.qdd[0]),
        constraints=ocp.at_start(tree, q=0.0, qd=0.0, **start),
    )


@pytest.mark.parametrize(("way", "signal", "first"), [(1, 1.0, 0.0), (-1, 0.0, 0.8)])
def test_a_drive_comes_on_and_goes_off_as_cvodes_says(way, signal, first):
    drive = ocp.Activation(joint="hinge", time=ON, release=OFF)
    stated = pushed(wheel(drive, torque=(0, MOST)), way, qdd=first * MOST / INERTIA)
    solution = ocp.solve(stated, FINE, TIGHT).require()
    share, speed = integrated(
        lambda x: ca.vertcat(zajac(signal, x[0]), MOST * x[0] / INERTIA), [first, 0.0]
    )
    assert solution.qd(TIME)[0] == pytest.approx(speed, rel=1e-9)
    assert solution.tau(TIME)[0] == pytest.approx(MOST * share, rel=1e-7)
    assert solution.trace(drive_states, TIME)[0] == pytest.approx(share, rel=1e-7)


@pytest.mark.parametrize("law", LAWS)
def test_no_signal_and_a_full_one_are_the_bounds_of_a_state(law):
    drive, rate = ocp.Activation(joint="hinge", time=ON, release=OFF, law=law), LAWS[law]
    for share in np.linspace(0.0, 1.0, 7):
        for signal in (0.0, 0.3, 1.0):
            speed = float(rate(signal, share))
            most, least = (float(each) for each in drive.room((ca.DM(share), None), speed))
            assert min(most, least) > -1e-12
            assert signal != 1.0 or abs(most) < 1e-12
            assert signal != 0.0 or abs(least) < 1e-12
    one = ocp.Activation(joint="hinge", time=ON)
    both = wheel(ocp.Activation(joint="hinge", time=ON, release=ON), torque=MOST)
    tau, speed = ca.DM(1.3), ca.DM(4.0)
    (other,) = both.elements
    most, least = other.room(other.shares(both, tau, 0.0, 0.0), speed / MOST)
    asked = one.command_signal(tau, speed)
    assert float(most) * MOST == pytest.approx(float(MOST - asked))
    assert float(least) * MOST == pytest.approx(float(MOST + asked))


def rounded(x):
    return (x + ca.sqrt(x**2 + 0.02**2)) / 2


@pytest.mark.parametrize("law", LAWS)
def test_a_share_of_strength_over_angle_and_speed_is_a_state(law):
    tree, rate = (
        wheel(*BOTH, ocp.Activation(joint="hinge", time=ON, release=OFF, law=law)),
        LAWS[law],
    )

    def pulled(x):
        torque, angle, speed = ca.vertsplit(x)
        up, down = LEG(angle, speed), replace(LEG, peak=2.0)(angle, -speed)
        one, other = rounded(torque / up), rounded(-torque / down)
        share, moved = one - other, ca.vertcat(angle, speed)
        drift = ca.jtimes(share, moved, ca.vertcat(speed, torque / INERTIA))
        rise = (rate(1.0, one) - rate(0.0, other) - drift) / ca.gradient(share, torque)
        return ca.vertcat(rise, speed, torque / INERTIA)

    solution = ocp.solve(pushed(tree, 1, qdd=1.0), FINE, TIGHT).require()
    torque, _, speed = integrated(pulled, [INERTIA, 0.0, 0.0])
    assert solution.qd(TIME)[0] == pytest.approx(speed, rel=2e-5)
    assert solution.tau(TIME)[0] == pytest.approx(torque, rel=2e-4)
    assert ocp.verify(solution).violations["activation"].nodes < 1e-9


def test_derivatives_of_states_are_exact():
    ball = ocp.Link(mass=1.0, com=(0.2, 0.1, 0.0), inertia=0.1 * np.eye(3))
    joints = (
        ocp.revolute("hinge"),
        ocp.revolute("elbow", "hinge", home=(0.4, 0, 0), torque=(-2.0, 3.0)),
    )
    drives = [
        ocp.Activation(joint="hinge", time=ON, release=OFF, law="de groote"),
        ocp.Activation(joint="elbow", time=ON, release=OFF),
    ]
    points = (ocp.Point(name="tip", link="elbow", position=(0.3, 0, 0)),)
    tree = ocp.Tree(links=(ball, ball), joints=joints, points=points, elements=(*BOTH, *drives))
    rng = np.random.default_rng(3)
    assert off_slopes(rng, tree, ocp.Load(point="tip", force=(1.0, -2.0, 0.5))) < 1e-9


def swayed(tree, symmetry):
    """A motion whose torques are to rise in time, which its end does not allow."""
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=12),
        duration=1.0,
        objective=ocp.integral("rising", lambda at: ca.sumsqr(at.tau - (at.s - 0.5))),
        constraints=ocp.at_start(tree, q=0.0),
        symmetry=symmetry,
    )


def test_states_are_their_own_image_where_a_motion_repeats_itself():
    still = wheel(torque=MOST)
    free = ocp.solve(swayed(still, periodic(still, shift={"hinge": 1.0}, qdd=False))).require()
    ends = free.tau([0.0, 1.0])[0]
    assert ends[1] - ends[0] > 0.5
    tree = replace(still, elements=(ocp.Activation(joint="hinge", time=0.05, release=0.1),))
    solution = ocp.solve(swayed(tree, periodic(tree, shift={"hinge": 1.0}, qdd=False))).require()
    ends = solution.tau([0.0, 1.0])[0]
    assert ends[1] == pytest.approx(ends[0], abs=1e-7)
    assert ocp.verify(solution).violations["mirrored.activation"].nodes < 1e-7
    smooth = swayed(tree, periodic(tree, shift={"hinge": 1.0}))
    assert "mirrored.activation" not in [each.name for each in smooth.requirements]


def test_the_image_of_a_state_is_that_of_its_joint():
    link = ocp.Link(mass=1.0, inertia=INERTIA * np.eye(3))
    joints = ocp.revolute("hinge", torque=MOST), ocp.revolute("other", torque=MOST)
    drives = tuple(ocp.Activation(joint=each, time=0.05) for each in ("hinge", "other"))
    pair = ocp.Tree(links=(link, link), joints=joints, elements=drives)
    symmetry = mirror_symmetry(pair, (1, 0), (-1.0, -1.0), qdd=False)
    solution = ocp.solve(swayed(pair, symmetry)).require()
    start, end = solution.tau([0.0, 1.0]).T
    np.testing.assert_allclose(end, -start[::-1], atol=1e-7)


def test_the_share_of_strength_goes_on_where_speed_jumps(tmp_path):
    tree = wheel(*BOTH, ocp.Activation(joint="hinge", time=0.1, release=0.2))
    stated = (
        ocp.at_start(tree, q=0.0, qd=0.0),
        (*ocp.at_start(tree, qd=0.5), *ocp.at_end(tree, q=0.5)),
    )
    phases = tuple(
        ocp.Phase(name, motion=ocp.BSpline(points=6), duration=0.6, constraints=each)
        for name, each in zip(("go", "stop"), stated)
    )
    whole = ocp.Problem(
        tree=tree, phases=phases, links=(ocp.continuous("q"),), objective=ocp.effort()
    )
    solution = ocp.solve(whole).require()
    go, stop = solution.phases.values()
    before, after = go.trace(drive_states, 0.6)[0], stop.trace(drive_states, 0.0)[0]
    assert before == pytest.approx(after, abs=1e-6)
    assert abs(go.tau(0.6)[0] - stop.tau(0.0)[0]) > 1e-3
    ocp.save(solution, tmp_path / "wheel.npz")
    again = ocp.verify(ocp.load(tmp_path / "wheel.npz")).violations["go to stop: activation"]
    assert again.nodes < 1e-6 and again.unit == ""


def test_states_follow_at_the_image_of_a_step_that_one_foot_bears():
    stated = gait(gait=Gait(stride="phases"))
    knee = ocp.Activation(joint="knee_flex_r", time=0.03, release=0.05)
    step = replace(stated, tree=replace(stated.tree, elements=(knee,)))
    parts = step.parts
    known = {
        each.symmetry is not None: states_of_drives(each, parts[each.before], parts[each.after])
        for each in step.transitions
    }
    row = stated.tree.coordinate("knee_flex_r")
    assert known == {True: (), False: (row,)}
    whole = gait()
    alone = replace(whole, tree=replace(whole.tree, elements=(knee,)))
    assert "mirrored.activation" not in [each.name for each in alone.requirements]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: ocp.Activation(joint="hinge", time=0.1, release=-0.1),
            "activation 'hinge activation': release: expected a number above 0",
        ),
        (
            lambda: ocp.Activation(joint="hinge", time=0.1, law="hill"),
            "activation 'hinge activation': law: expected one of zajac, de groote, got 'hill'",
        ),
        (
            lambda: ocp.Activation(joint="hinge", time=0.1, release=0.01, law="de groote"),
            "release: expected at least 0.0364 s by this law, since below that more signal",
        ),
        (
            lambda: wheel(ocp.Activation(joint="hinge", time=0.1, release=0.2), torque=(0.0, 0.0)),
            "expected torque that it can have, got limits of 0",
        ),
        (
            lambda: wheel(BOTH[0], ocp.Activation(joint="hinge", time=0.1)),
            "expected torque limits, within which it comes on, or a Strength in each direction",
        ),
    ],
)
def test_bad_activations_are_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()
