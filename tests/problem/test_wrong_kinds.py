"""Things of the wrong kind, as users hand them over: a ValueError that names field or constraint,
what was expected and what came, before any work is done."""

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import (
    Attempt,
    BSpline,
    Link,
    Load,
    Objective,
    Point,
    Problem,
    Radau,
    Solver,
    Transcription,
    Tree,
    animate,
    at_start,
    dh,
    duration,
    effort,
    integral,
    joint_limits,
    path,
    plot,
    solve,
    torque_limits,
    verify,
)
from ocp.transcription import transcribe_phase

LINK = Link(mass=0.5, com=(-0.2, 0, 0), inertia=((0, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
JOINTS = (dh("shoulder", a=0.4, torque=10), dh("elbow", "shoulder", a=0.4, torque=10))
ARM = Tree(links=(LINK, LINK), joints=JOINTS, points=(Point(name="tip", link="elbow"),))
GOOD = Problem(
    tree=ARM,
    motion=BSpline(points=8),
    duration=(0.1, 5.0),
    objective=duration(),
    constraints=(at_start(ARM, q=0.0, qd=0.0), torque_limits(ARM)),
)


def stated(**changes):
    """The problem with other fields."""
    return lambda: replace(GOOD, **changes)


def asked(function, **options):
    """The problem with one more constraint, transcribed."""
    options = {"upper": 1.0} | options
    return lambda: transcribe_phase(
        replace(GOOD, constraints=(*GOOD.constraints, path("p", function, **options)))
    )


def weighed(function):
    """The problem with another objective, transcribed."""
    return lambda: transcribe_phase(replace(GOOD, objective=integral("mine", function)))


SYMBOL = ca.SX.sym("m")
FIELDS = {
    "motion=12": (stated(motion=12), "motion: expected BSpline or Mesh, got int 12"),
    "tree='arm'": (stated(tree="arm"), "tree: expected Tree, got str 'arm'"),
    "duration='x'": (stated(duration="x"), "duration: expected a number or (lower, upper) (s)"),
    "duration=(1, 'x')": (stated(duration=(1, "x")), "duration: expected a number or (lower"),
    "objective=lambda": (
        stated(objective=lambda at: at.T),
        "; duration(), effort() or integral(name, function) are some",
    ),
    "objective=effort": (stated(objective=effort), "objective: expected Objective, got function"),
    "objective=Term": (
        stated(objective=duration().terms[0][1]),
        "objective: expected Objective, got Term",
    ),
    "terms=Objective": (lambda: Objective(terms=effort()), "objective: expected terms (weight, T"),
    "terms=lambdas": (
        lambda: Objective(terms=[(1.0, lambda at: at.T)]),
        "objective: term: expected Term, got function",
    ),
    "weight='2'": (lambda: duration() * "2", "objective: weight: expected a number or a Parameter"),
    "product": (
        lambda: duration() * effort(),
        "objective: weight: expected a number or a Parameter",
    ),
    "integral(3)": (lambda: integral("x", 3.0), "objective 'x': function: expected a function"),
    "constraints=one": (
        stated(constraints=torque_limits(ARM)),
        "constraints: expected a tuple of them, got Constraint",
    ),
    "constraints=None": (stated(constraints=None), "constraints: expected a tuple of them"),
    "constraints=(lambda,)": (
        stated(constraints=(lambda at: at.q,)),
        "constraints: expected Constraint, got function",
    ),
    "loads=one": (
        stated(loads=Load(point="tip", force=(0, 0, 1))),
        "loads: expected a tuple of Load or PointMass or ForceLaw or Touch records, got Load",
    ),
    "q='home'": (lambda: at_start(ARM, q="home"), "at_start: q: expected numbers, got str 'home'"),
    "q=symbol": (lambda: at_start(ARM, q=ca.MX.sym("q", 2)), "at_start: q: expected numbers, got"),
    "q={'elbow': 'up'}": (
        lambda: at_start(ARM, q={"elbow": "up"}),
        "at_start: q: joint 'elbow': expected a finite number, got up",
    ),
    "at_start(link)": (lambda: at_start(LINK, q=0.0), "at_start: q: tree: expected Tree, got Link"),
    "torque_limits('arm')": (lambda: torque_limits("arm"), "torque_limits: tree: expected Tree"),
    "joint_limits(GOOD)": (lambda: joint_limits(GOOD), "joint_limits: tree: expected Tree"),
    "mass=symbol": (lambda: Link(mass=ca.MX.sym("m")), "link mass: expected numbers of shape ()"),
    "mass=scalar symbol": (lambda: Link(mass=SYMBOL), "link mass: expected numbers of shape ()"),
    "com=symbol": (
        lambda: Link(mass=1.0, com=(SYMBOL, 0, 0)),
        "link com: expected numbers of shape (3,)",
    ),
    "links=one": (lambda: Tree(links=LINK, joints=JOINTS), "tree: links: expected a tuple of Link"),
    "links=masses": (lambda: Tree(links=(1, 2), joints=JOINTS), "tree: links: expected Link, got"),
    "joints=names": (
        lambda: Tree(links=(LINK, LINK), joints=("a", "b")),
        "tree: joints: expected Joint, got str 'a'",
    ),
    "points=names": (stated(tree=None), "tree: expected Tree, got NoneType"),
    "plugin=3": (lambda: Solver(plugin=3), "plugin: expected a name or a Backend, got 3"),
    "options=None": (lambda: Solver(options=None), "options: expected a mapping by name, got None"),
    "attempt": (lambda: Attempt(options=3), "attempt: options: expected Mapping, got int 3"),
    "kernels='yes'": (
        lambda: Transcription(kernels="yes"),
        "kernels: expected one of auto, assembled, compiled, virtual, got 'yes'",
    ),
}
FUNCTIONS = {
    "when=0.5": (
        asked(lambda at: at.q, when=0.5),
        "constraint 'p': when: expected 0 <= a <= b <= 1 or one of path, start, end, ends, joined, "
        "hull, durations, got 0.5",
    ),
    "when=(0, 'end')": (asked(lambda at: at.q, when=(0, "end")), "constraint 'p': when: expected"),
    "no bound": (
        asked(lambda at: at.q, upper=np.inf),
        "constraint 'p': asks nothing: expected a lower or upper bound",
    ),
    "rows": (
        asked(lambda at: at.q, upper=(1, 2, 3)),
        "constraint 'p': its function has 2 rows, its",
    ),
    "labels": (
        asked(lambda at: at.q, labels=("one",)),
        "constraint 'p': its function has 2 rows, its labels 1",
    ),
    "units": (
        asked(lambda at: at.q, units=("rad",)),
        "constraint 'p': its function has 2 rows, its units 1",
    ),
    "if": (
        asked(lambda at: 1 if at.q[0] > 0 else 0),
        "it asks whether an expression is true (if, and, or, not, max, min); take ca.if_else",
    ),
    "and": (asked(lambda at: at.q[0] > 0 and at.q[1]), "it asks whether an expression is true"),
    "max": (asked(lambda at: max(at.q[0], at.q[1])), "it asks whether an expression is true"),
    "at.q[7]": (
        asked(lambda at: at.q[7]),
        "an index is out of range; q, qd, qdd and tau have 2 rows",
    ),
    "at.q['elbow']": (asked(lambda at: at.q["elbow"]), "an index is no number; tree.coordinate("),
    "for": (asked(lambda at: sum(row for row in at.q)), "a matrix is no list; take ca.vertsplit"),
    "at.jerk": (asked(lambda at: at.jerk), "an instant has no 'jerk'"),
    "q, qd": (asked(lambda q, qd: q), "missing 1 required positional argument: 'qd'"),
    "1 / 0": (asked(lambda at: 1 / 0), "ZeroDivisionError: division by zero"),
    "math.sin": (
        asked(lambda at: math.sin(at.q[0])),
        "float() and the module math make numbers of expressions, take ca.sin",
    ),
    "None": (
        asked(lambda at: None),
        "constraint 'p': expected a CasADi expression or numbers, got NoneType; is a return",
    ),
    "own SX": (asked(lambda at: at.q[0] + SYMBOL), "constraint 'p': depends on m, which no"),
    "own MX": (asked(lambda at: at.q[0] + ca.MX.sym("m")), "constraint 'p': its function fails"),
    "objective at.q[7]": (weighed(lambda at: at.q[7]), "objective 'mine': its function fails"),
    "objective if": (weighed(lambda at: 1 if at.T > 1 else 0), "objective 'mine': its function"),
    "objective own SX": (
        weighed(lambda at: at.T * SYMBOL),
        "objective 'mine': depends on m, which",
    ),
    "objective of rows": (weighed(lambda at: at.q), "objective 'mine': expected a scalar, got 2"),
    "output": (
        lambda: transcribe_phase(replace(GOOD, outputs={"seen": lambda at: at.q[9]})),
        "output 'seen': its function fails",
    ),
}
CALLS = {
    "solve(problem, Solver())": (
        lambda: solve(GOOD, Solver()),
        "transcription: expected a Transcription, got Solver",
    ),
    "solve(problem, Radau())": (
        lambda: solve(GOOD, Radau()),
        "a method is one part of it: Transcription(method=...)",
    ),
    "solve(problem, 'radau')": (lambda: solve(GOOD, "radau"), "transcription: expected a Transcr"),
    "solve(tree)": (lambda: solve(ARM), "problem: expected a Problem, got Tree"),
    "solve(function)": (lambda: solve(lambda: GOOD), "call it, what it returns is the problem"),
    "solver='ipopt'": (lambda: solve(GOOD, solver="ipopt"), "solver: expected Solver, got str"),
    "watch=True": (lambda: solve(GOOD, watch=True), "watch: expected a function, got bool True"),
    "attempts=Attempt()": (
        lambda: solve(GOOD, attempts=Attempt()),
        "attempts: expected a tuple of Attempt records, got Attempt",
    ),
    "guess='a.npz'": (lambda: solve(GOOD, guess="a.npz"), "guess: expected a Solution, a Guess or"),
    "verify(problem)": (lambda: verify(GOOD), "verify: expected a Solution, got Problem"),
    "plot(problem)": (lambda: plot(GOOD), "plot: expected a Solution, got Problem"),
    "animate(None)": (lambda: animate(None, "a.gif"), "animate: expected a Solution, got NoneType"),
}
ALL = FIELDS | FUNCTIONS | CALLS


@pytest.mark.parametrize(("call", "words"), ALL.values(), ids=ALL)
def test_what_is_wrong_is_named(call, words):
    with pytest.raises(ValueError) as error:
        call()
    assert words in str(error.value)


def test_the_line_of_a_function_that_fails_is_named():
    def third(at):
        ready = at.q[0]
        return ready + at.q[2]

    with pytest.raises(ValueError) as error:
        asked(third)()
    line = third.__code__.co_firstlineno + 2
    assert f"constraint 'p': its function fails (test_wrong_kinds.py, line {line}): " in str(
        error.value
    )
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda at: at.qd[1] if at.q[0] > 0.5 else 0.0, "asks whether an expression is true"),
        (lambda at: math.sin(at.q), "a vector is no number"),
    ],
)
def test_a_reason_in_our_words_has_no_trace_of_casadi(function, words):
    with pytest.raises(ValueError, match=words) as error:
        asked(function)()
    assert error.value.__cause__ is None and error.value.__suppress_context__


def test_functions_of_numpy_that_casadi_takes_are_taken_in_silence():
    assert asked(lambda at: np.linalg.norm(at.position("tip")))().groups
