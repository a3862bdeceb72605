"""Efforts and outputs of muscles."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import (
    BSpline,
    Link,
    Problem,
    Radau,
    Transcription,
    Tree,
    at_end,
    at_start,
    describe,
    path,
    prismatic,
    revolute,
    solve,
    summary,
)
from ocp.dynamics import FORMULATIONS
from ocp.mechanics import State
from ocp.mechanics.muscles import (
    Energetics,
    FibreState,
    GivenPath,
    Muscle,
    PathPoint,
    PointPath,
    WrapCylinder,
    muscles_of,
)
from ocp.problem import (
    fibre_of,
    joint_contact_force,
    metabolic_powers,
    muscle_effort,
    muscle_outputs,
)
from ocp.problem.instant import Forces, Instant
from ocp.problem.muscle_terms import LAWS
from ocp.storage.problem_data import problem_data


def muscle(name, joints, lever, force):
    path = GivenPath(
        joints=joints, function=lambda x: 0.3 + lever * sum(x[k] for k in range(len(joints)))
    )
    return Muscle(name=name, path=path, force=force, fibre=0.1, slack=0.2)


def arm():
    link = Link(mass=1.0, com=(0.15, 0.0, 0.0), inertia=np.diag([0.01, 0.02, 0.02]))
    return Tree(
        links=(link, link),
        joints=(
            revolute("shoulder", actuated=False),
            revolute("elbow", "shoulder", home=(0.3, 0.0, 0.0), actuated=False),
        ),
        elements=(
            muscle("deltoid", ("shoulder",), -0.03, 500.0),
            muscle("pectoral", ("shoulder",), 0.03, 500.0),
            muscle("biceps", ("shoulder", "elbow"), -0.02, 400.0),
            muscle("triceps", ("elbow",), 0.03, 600.0),
        ),
    )


def reach(objective, **others):
    tree = arm()
    return Problem(
        tree=tree,
        motion=BSpline(points=12),
        duration=0.4,
        objective=objective,
        constraints=(at_start(tree, q=(0.0, 0.3), qd=0.0), at_end(tree, q=(0.4, 0.9), qd=0.0)),
        **others,
    )


def names(chosen):
    return [each.name for each in chosen]


def test_muscles_are_chosen_by_words_and_joints():
    tree = arm()
    assert names(muscles_of(tree)) == ["deltoid", "pectoral", "biceps", "triceps"]
    assert names(muscles_of(tree, "ceps")) == ["biceps", "triceps"]
    assert names(muscles_of(tree, joint="shoulder")) == ["deltoid", "pectoral", "biceps"]
    assert names(muscles_of(tree, "ceps", joint="shoulder")) == ["biceps"]
    with pytest.raises(ValueError, match="muscles: 'soleus' is in no name"):
        muscles_of(tree, "soleus")
    with pytest.raises(ValueError, match="unknown joint 'knee'"):
        muscles_of(tree, joint="knee")


@pytest.mark.parametrize("of", ["excitation", "activation"])
@pytest.mark.parametrize("power", [2.0, 3.0])
def test_effort_is_the_integral_of_weighted_powers(of, power):
    objective = muscle_effort(arm(), of, power=power, weights="volume")
    solution = solve(reach(objective), Transcription(method=Radau(intervals=8)))
    assert solution.success
    t, rows = solution.nodes * solution.duration, list(solution.problem.tree.states)
    values = (solution.tau if of == "excitation" else solution.q)(t)[rows]
    shares = np.array([500.0, 500.0, 400.0, 600.0]) / 2000.0
    weights = solution.problem.motion.weights * solution.duration
    assert solution.objective == pytest.approx(float(shares @ values**power @ weights), rel=1e-9)


def test_outputs_tell_what_muscles_do():
    tree = arm()
    stated = reach(muscle_effort(tree), outputs=muscle_outputs(tree, "biceps"))
    solution = solve(stated, Transcription(method=Radau(intervals=8)))
    t = np.linspace(0.0, 0.4, 9)
    q, qd = solution.q(t), solution.qd(t)
    length = (0.3 - 0.02 * (q[0] + q[1]) - 0.2) / 0.1
    assert solution.output("biceps fibre length", t).ravel() == pytest.approx(length)
    rate = -0.02 * (qd[0] + qd[1])
    assert solution.output("biceps fibre velocity", t).ravel() == pytest.approx(rate / 1.0)
    force = solution.output("biceps tendon force", t).ravel()
    assert solution.output("biceps power", t).ravel() == pytest.approx(-force * rate)


def test_outputs_of_a_muscle_are_written_from_its_fibres_once(monkeypatch):
    tree, asked, fibres = arm(), [], Muscle.fibres

    def counted(muscle, state):
        asked.append(muscle.name)
        return fibres(muscle, state)

    monkeypatch.setattr(Muscle, "fibres", counted)
    stated = reach(muscle_effort(tree), outputs=muscle_outputs(tree))
    assert len(problem_data(stated).data["phases"][0]["outputs"]) == 20
    assert asked == names(muscles_of(tree))


def line(link, *places):
    return PointPath(points=[(0.0, 0.3, 0.0), *(PathPoint(link=link, position=p) for p in places)])


def hung(**others):
    """An elbow that a muscle, of known course, holds level beside a body's weight."""
    link = Link(mass=2.0, com=(0.2, 0.0, 0.0), inertia=np.diag([0.01, 0.02, 0.02]))
    pull = Muscle(
        name="biceps",
        path=line("elbow", (0.05, 0.0, 0.0)),
        force=800.0,
        fibre=0.1,
        slack=np.hypot(0.3, 0.05) - 0.1,
        **others,
    )
    return Tree(
        links=(link,),
        joints=(revolute("elbow", actuated=False),),
        gravity=(0.0, -9.81, 0.0),
        elements=(pull,),
    )


def held(tree, **others):
    still = Problem(
        tree=tree,
        motion=BSpline(points=8),
        duration=0.1,
        objective=muscle_effort(tree),
        constraints=(path("level", lambda at: at.q[0], lower=0.0, upper=0.0),),
        **others,
    )
    return solve(still, Transcription(method=Radau(intervals=3))).require(coarse=True)


def test_a_joint_bears_the_muscles_that_cross_it():
    """The elbow is held level: weight and pull balance about the joint, which passes the rest."""
    solution = held(hung())
    weight, way = 2.0 * 9.81, np.array([-0.05, 0.3]) / np.hypot(0.3, 0.05)
    pull = weight * 0.2 / (0.05 * way[1])
    seen = solution.trace(lambda at: joint_contact_force(at, "elbow"), 0.1)
    assert seen == pytest.approx([-pull * way[0], weight - pull * way[1], 0.0], abs=1e-4)
    assert solution.reactions(0.1)[0][:, 0] == pytest.approx([0, 0, 0], abs=1e-4)


def moving(tree, **rates):
    """An instant of a tree in motion, its muscles half active: q, qd and qdd by name, else 0."""
    given = {name: {joint.name: 0.0 for joint in tree.moving} for name in ("q", "qd", "qdd")}
    given["q"] |= {tree.moving[row].name: 0.5 for row in tree.states}
    for name, values in rates.items():
        given[name] |= values
    columns = {name: ca.DM(list(values.values())) for name, values in given.items()}
    needed = FORMULATIONS["newton_euler"].inverse
    return Instant(tree=tree, s=0.5, T=1.0, forces=Forces(inverse=needed), **columns)


def test_what_a_joint_bears_does_the_virtual_work_of_a_slide_in_it():
    """Beside the muscles, a slide in the elbow needs what its surfaces pass on, also in motion."""
    upper, fore = arm().links
    muscles = tuple(
        Muscle(name=name, path=path, force=500.0, fibre=0.1, slack=0.2)
        for name, path in {
            "long": line("elbow", (0.05, 0.02, 0.0)),
            "short": PointPath(
                points=[
                    PathPoint(link="shoulder", position=(0.05, 0.03, 0.0)),
                    PathPoint(link="elbow", position=(0.06, 0.02, 0.0)),
                ]
            ),
        }.items()
    )
    shoulder, elbow = (replace(joint, actuated=True) for joint in arm().joints)
    slides = (
        prismatic("x", "shoulder", axis=(1.0, 0.0, 0.0), home=(0.3, 0.0, 0.0)),
        prismatic("y", "x", axis=(0.0, 1.0, 0.0)),
    )
    gravity = (0.0, -9.81, 0.0)
    fixed = Tree(links=(upper, fore), joints=(shoulder, elbow), gravity=gravity, elements=muscles)
    sliding = replace(
        fixed,
        links=(upper, Link(mass=0.0), Link(mass=0.0), fore),
        joints=(shoulder, *slides, replace(elbow, parent="y", home=(0.0, 0.0, 0.0))),
    )
    motion = {
        "q": {"shoulder": 0.4, "elbow": 0.7},
        "qd": {"shoulder": 1.0, "elbow": -2.0},
        "qdd": {"shoulder": 3.0, "elbow": 5.0},
    }
    borne = np.array(joint_contact_force(moving(fixed, **motion), "elbow")).ravel()
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    needed = np.array(moving(sliding, **motion).torques_without_ground).ravel()[1:3]
    assert turn @ borne[:2] == pytest.approx(needed, abs=1e-9)
    assert np.linalg.norm(borne) > 300.0  # of which the arm's own weight and inertia are few


def test_a_muscle_over_a_wrap_pushes_its_surface():
    """Of a muscle whose surface is on the link, the joint bears the pull at both ends."""
    bone = WrapCylinder(link="elbow", radius=0.03, quadrant="+x")
    over = PointPath(
        points=((0.0, 0.3, 0.0), bone, PathPoint(link="elbow", position=(0.0, -0.2, 0.0)))
    )
    tree = hung()
    (known,) = tree.elements
    tree = replace(tree, elements=(replace(known, path=over, slack=0.4),))
    solution = held(tree)
    state = State(tree=tree, q=ca.DM(solution.q(0.1)), qd=ca.DM(solution.qd(0.1)))
    pull = float(tree.elements[0].tension_force(state))
    first = over.route(state).segments[0]
    way = np.array(ca.DM(first.end.place - first.start.place)).ravel()
    share = pull * way / np.linalg.norm(way)
    seen = solution.trace(lambda at: joint_contact_force(at, "elbow"), 0.1)
    assert seen == pytest.approx([share[0], share[1] + 2.0 * 9.81, 0.0], abs=1e-3)


def test_a_muscle_of_unknown_course_is_named():
    solution = held(arm_alone())
    with pytest.raises(ValueError, match="no course in space is known of muscles flexor"):
        solution.trace(lambda at: joint_contact_force(at, "elbow"), 0.1)


def arm_alone():
    tree = hung()
    flexor = muscle("flexor", ("elbow",), -0.04, 900.0)
    return replace(tree, elements=(flexor,))


@pytest.mark.parametrize("law", LAWS)
def test_metabolic_power_is_that_of_the_law(law):
    tree = hung(slow_twitch=0.8)
    solution = held(tree, outputs=muscle_outputs(tree))
    seen = solution.trace(lambda at: metabolic_powers(at, law), 0.1)
    state = State(tree=tree, q=ca.DM(solution.q(0.1)), qd=ca.DM(solution.qd(0.1)))
    (known,) = tree.elements
    fibre = known.fibres(state)
    alike = FibreState(
        excitation=float(solution.tau(0.1)[1]),
        activation=float(solution.q(0.1)[1]),
        length=float(fibre.length),
        velocity=float(fibre.velocity),
        active=float(fibre.active) * 800.0,
        passive=float(fibre.passive) * 800.0,
    )
    expected = LAWS[law](alike, Energetics(force=800.0, length=0.1, slow_twitch=0.8))
    assert seen[0] == pytest.approx(expected, rel=1e-9)
    if law == "bhargava_2004":
        assert solution.output("biceps metabolic power", 0.1)[0] == pytest.approx(expected)


def test_unknown_law_of_metabolic_power_is_refused():
    solution = held(hung())
    with pytest.raises(ValueError, match="law: expected one of bhargava_2004, umberger_2003"):
        solution.trace(lambda at: metabolic_powers(at, "hill"), 0.05)


def test_report_tells_what_muscles_do():
    tree = arm()
    solution = solve(reach(muscle_effort(tree)), Transcription(method=Radau(intervals=8)))
    rows = describe(solution)["muscles"]
    assert [*rows] == names(muscles_of(tree))
    t = np.linspace(0.0, 0.4, 4001)
    row = tree.coordinate("biceps.activation")
    assert rows["biceps"]["activation"] == pytest.approx(solution.q(t)[row].max(), rel=1e-2)
    rate = solution.trace(lambda at: fibre_of(at, "biceps").active, t) * solution.trace(
        lambda at: fibre_of(at, "biceps").velocity, t
    )
    shortening = -400.0 * np.minimum(rate, 0.0).ravel()
    assert rows["biceps"]["work"] == pytest.approx(np.trapezoid(shortening, t), rel=1e-3)
    assert "muscles" in summary(solution) and "efficiency" in summary(solution)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"of": "force"}, "of: expected one of excitation, activation, got 'force'"),
        ({"weights": "mass"}, "weights: expected one of equal, volume, got 'mass'"),
        ({"power": 0.0}, "power: expected a number above 0"),
    ],
)
def test_bad_effort_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        muscle_effort(arm(), **change)


def test_tree_without_muscles_has_no_effort_of_them():
    with pytest.raises(ValueError, match="the tree has no muscles"):
        muscle_effort(replace(arm(), elements=()))
