"""The statement: records check their types at birth, and show themselves briefly."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from bipeds import biped, steps

from ocp import (
    BSpline,
    Constraint,
    Load,
    Objective,
    Problem,
    Symmetry,
    Transcription,
    apart,
    at_end,
    at_start,
    duration,
    effort,
    link_constraint,
    off_sphere,
    path,
    periodic,
    solve,
)
from ocp.models.arms.two_link import two_link
from ocp.problem import RESERVED, Foot, Ground, Pin, Support, Term, mirror_symmetry

UNBOUNDED = Constraint(name="p", function=abs, lower=-inf, upper=inf)


def reach(**changes):
    """A problem of two links with little to do."""
    stated = Problem(tree=two_link(), motion=BSpline(points=5), duration=1.0, objective=effort())
    return replace(stated, **changes)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: reach(tree="arm"), "tree: expected Tree, got str 'arm'"),
        (lambda: reach(motion=5), "motion: expected BSpline or Mesh, got int 5"),
        (lambda: reach(duration="long"), "duration: expected a number or .* got 'long'"),
        (lambda: reach(objective=effort), "objective: expected Objective, got function"),
        (lambda: reach(constraints=(3,)), "constraints: expected Constraint, got int 3"),
        (lambda: reach(loads=("tip",)), "loads: expected .* or Touch, got str 'tip'"),
        (lambda: reach(ground=1), "ground: expected Ground or NoneType, got int 1"),
        (lambda: reach(symmetry=True), "symmetry: expected Symmetry or NoneType, got bool True"),
        (lambda: reach(outputs=[abs]), "outputs: expected Mapping, got list"),
        (lambda: reach(outputs={"tip": 1}), "output 'tip': expected a function, got int 1"),
        (lambda: reach(outputs={1: abs}), "outputs: name: expected str, got int 1"),
        (lambda: reach(symmetry=periodic(biped())), "symmetry: expected the image of 2 .* got 10"),
        (lambda: path("p", 3), "constraint 'p': function: expected a function, got int 3"),
        (lambda: path("", abs), "constraint: name: expected a word, got ''"),
        (
            lambda: path("p", abs, lower="a"),
            "constraint 'p': lower bound: expected numbers, got 'a'",
        ),
        (lambda: path("p", abs, labels="ab"), "constraint 'p': labels: expected a tuple of words"),
        (
            lambda: path("p", abs, units=1),
            "constraint 'p': units: expected a tuple of words, got 1",
        ),
        (
            lambda: path("p", abs, when=3),
            "constraint 'p': when: expected 0 <= a <= b <= 1 or one of path, start",
        ),
        (lambda: path("p", abs), "constraint 'p': asks nothing: expected a lower or upper bound"),
        (lambda: path("p", abs, lower=inf), "constraint 'p': row 0: nothing lies between .* inf"),
        (lambda: path("p", abs, lower=(-inf, -inf)), "constraint 'p': asks nothing"),
        (lambda: link_constraint("p", max, -inf, inf), "constraint 'p': asks nothing"),
        (lambda: reach(constraints=(UNBOUNDED,)), "constraint 'p': asks nothing"),
        (lambda: off_sphere("p", (0, 0, 0), 0.1, {}), "constraint 'p': asks nothing"),
        (lambda: apart("p", ()), "constraint 'p': asks nothing"),
        (lambda: at_end(two_link()), "at_end: asks nothing: expected q, qd or qdd"),
        (lambda: at_start(two_link(), q={}), "constraint 'at_start.q': asks nothing"),
        (lambda: Term(name=1, function=abs, kind="end"), "objective: name: expected str, got int"),
        (lambda: Objective(terms=(1,)), r"objective: expected terms \(weight, Term\), got 1"),
        (lambda: Objective(terms=((1, 2),)), "objective: term: expected Term, got int 2"),
        (lambda: Pin(point=3), "pin: point: expected str, got int 3"),
        (lambda: Ground(feet=("right",)), "ground: feet: expected Foot, got str 'right'"),
        (lambda: Foot(name="a", center=(0, 0, 0), supports=(1,)), "foot 'a': supports: expected"),
        (
            lambda: Support(link="foot", when=(0, 1), polygon=[(0, 1)]),
            r"support on 'foot': polygon: expected shape \(k, 3\), got \(1, 2\)",
        ),
        (lambda: Symmetry(index=(0, 0), sign=(1, 1)), "symmetry: index: expected each of 0 to 1"),
        (lambda: Symmetry(index=(0, 1), sign=(1, 2)), "symmetry: sign: expected 1 or -1 each"),
        (lambda: Symmetry(index=(0, 1), sign=(1,)), "symmetry: sign: expected shape"),
        (
            lambda: Symmetry(index=(0,), sign=(1,), accelerations="no"),
            "symmetry: accelerations: expected bool",
        ),
    ],
)
def test_a_wrong_type_is_named_with_its_field(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_the_names_of_laws_and_of_the_duration_are_reserved():
    for name in RESERVED:
        with pytest.raises(ValueError, match=f"constraint '{name}': the name is that of the law"):
            reach(constraints=(path(name, abs, upper=1.0),))
    with pytest.raises(ValueError, match=r"constraint 'mirrored.q': the name is used twice"):
        reach(constraints=(path("mirrored.q", abs, upper=1.0),), symmetry=periodic(two_link()))


def test_records_show_themselves_in_a_line():
    names = [f"a_constraint_with_a_long_name_{k}" for k in range(99)]
    many = [path(name, abs, upper=1.0, labels=names) for name in names]
    crowd = 99 * effort()
    for _ in range(99):
        crowd = crowd + duration()
    stated = Problem(
        tree=biped(),
        motion=BSpline(points=5),
        duration=(0.5, 1.0),
        objective=crowd,
        constraints=many,
        ground=steps(),
        symmetry=periodic(biped()),
    )
    for record in (stated, many[0], crowd, steps(), stated.symmetry):
        assert len(repr(record)) < 1000
    brief = repr(reach(constraints=(path("low", abs, lower=0.0),)))
    assert "BSpline of 5 points; duration 1 s; minimise 1 effort; constraints low" in brief


def test_outputs_are_looked_at_and_ask_for_nothing():
    watched = reach(outputs={"tip": lambda at: at.position("tip"), "turn": lambda at: at.q[0]})
    plain, solution = (solve(each, Transcription()) for each in (reach(), watched))
    assert np.array_equal(plain.points, solution.points)
    t = solution.times(5)
    assert solution.output("tip", t).shape == (3, 5) and solution.output("turn", 0.5).shape == (1,)
    assert np.array_equal(solution.output("turn", t)[0], solution.q(t)[0])
    with pytest.raises(ValueError, match=r"output 'tap': .* it has tip, turn"):
        solution.output("tap", 0.0)
    with pytest.raises(TypeError):
        watched.outputs["tap"] = abs


def test_a_problem_under_varying_loads_is_asked_at_its_end_too():
    arm = two_link()
    pushed = {"force": lambda t: (t, 0.0, 0.0)}
    assert reach(symmetry=periodic(arm)).cyclic
    assert not reach(symmetry=periodic(arm, qdd=False)).cyclic and not reach().cyclic
    assert not reach(symmetry=periodic(arm), loads=(Load(point="tip", **pushed),)).cyclic


def test_a_symmetry_is_stated_once_and_kept_when_the_problem_changes():
    arm = two_link()
    swapped = mirror_symmetry(arm, [1, 0], [1, -1], shift={"shoulder": 0.1})
    assert swapped == Symmetry(index=(1, 0), sign=(1, -1), shift=(0.1, 0.0))
    stated = reach(symmetry=swapped, constraints=(path("way", lambda at: at.q[0], lower=0.0),))
    names = [constraint.name for constraint in stated.requirements]
    assert names == ["way", "mirrored.q", "mirrored.qd", "mirrored.qdd"]
    assert [each.name for each in stated.constraints] == ["way"]
    again = replace(stated, duration=2.0)
    assert [constraint.name for constraint in again.requirements] == names
    assert isinstance(again.requirements[1], Constraint) and again.requirements[1].upper == (0.1, 0)
