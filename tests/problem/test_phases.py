"""Problems of phases: what they mean, and what is no statement of one."""

import re
from dataclasses import replace

import pytest
from phased_motions import rod

from ocp import (
    BSpline,
    Constraint,
    Phase,
    Problem,
    at_end,
    at_start,
    continuous,
    impact,
    link_constraint,
)
from ocp.models.arms.two_link import two_link
from ocp.models.mechanisms.four_bar import four_bar
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.problem import duration, effort, final, periodic, torque_limits

ARM = two_link()
START = at_start(ARM, q=(0.0, 0.0))
END = at_end(ARM, q=(1.0, 1.0))


def phase(name, **changes):
    return Phase(name, **({"motion": BSpline(points=6), "duration": (0.1, 1.0)} | changes))


def stated(*phases, links=(continuous(),), **changes):
    changes = {"objective": duration()} | changes
    return Problem(tree=ARM, phases=phases, links=links, **changes)


def named(part):
    return [each.name for each in part.requirements]


def test_constraints_of_the_whole_hold_at_its_ends_and_all_along():
    problem = stated(phase("up"), phase("down"), constraints=(START, END, torque_limits(ARM)))
    first, last = problem.parts.values()
    assert named(first) == ["at_start.q", "torque_limits"]
    assert named(last) == ["at_end.q", "torque_limits"]


def test_integrals_are_of_all_phases_and_ends_of_the_last():
    own = phase("down", objective=effort())
    reach = final("reach", lambda at: at.q[0])
    problem = stated(phase("up"), own, objective=duration() + 2.0 * effort() + 3.0 * reach)
    parts = problem.parts.values()
    kinds = [[(w, term.kind) for w, term in part.objective.terms] for part in parts]
    assert kinds == [[(1.0, "span"), (2.0, "squares")], [(1.0, "squares"), *kinds[0], (3.0, "end")]]


def test_links_join_phases_in_order_and_the_last_to_the_first():
    links = (continuous("q"), continuous(), continuous("q", "tau"))
    problem = stated(phase("a"), phase("b"), phase("c"), links=links)
    assert [each.name for each in problem.transitions] == ["a to b", "b to c", "c to a"]


def test_a_symmetry_joins_the_last_end_to_the_first_start():
    last = stated(phase("a"), phase("b"), symmetry=periodic(ARM)).transitions[-1]
    assert (last.before, last.after, last.quantities) == ("b", "a", ("q", "qd", "qdd"))


def lifted(tree):
    """The same tree, its first joint elsewhere."""
    first, second = tree.joints
    return replace(tree, joints=(replace(first, home=(0.3, 0.0, 0.0)), second))


def whole(name):
    """A constraint of both ends of the whole."""
    return Constraint(name=name, function=lambda s, e: e.q - s.q, lower=0, upper=1, when="joined")


WRONG = {
    "nothing joins phase 'a' to 'b'": lambda: stated(phase("a"), phase("b"), links=()),
    "phase 'a': the name is used twice": lambda: stated(phase("a"), phase("a")),
    "at most 2, one after each": lambda: stated(phase("a"), phase("b"), links=(continuous(),) * 3),
    "no phase is named 'c'": lambda: stated(
        phase("a"), phase("b"), links=(continuous(), continuous(before="c"))
    ),
    "contradict each other: both say what becomes of q": lambda: stated(
        phase("a"), phase("b"), links=(continuous(), continuous(before="a", after="b"))
    ),
    "phase 'a': duration: expected 0 < lower": lambda: stated(phase("a", duration=(0.0, 1.0))),
    "phase 'a': tree: expected the coordinates shoulder": lambda: stated(
        phase("a", tree=cart_pole())
    ),
    "motion: a problem with phases leaves it": lambda: stated(phase("a"), motion=BSpline(points=6)),
    "objective: neither": lambda: stated(phase("a"), objective=None),
    "instants are those of a phase": lambda: stated(
        phase("a"),
        constraints=(
            Constraint(name="c", function=lambda at: at.q, lower=0, upper=1, when=(0.5, 1)),
        ),
    ),
    "when: durations are those of phases": lambda: Problem(
        tree=ARM,
        motion=BSpline(points=6),
        duration=1.0,
        objective=effort(),
        constraints=(
            Constraint(name="c", function=lambda T: 1, lower=0, upper=1, when="durations"),
        ),
    ),
    "links: this problem has no phases": lambda: Problem(
        tree=ARM, motion=BSpline(points=6), duration=1.0, objective=effort(), links=(continuous(),)
    ),
    "impact: expected the names of points": lambda: impact(),
    "normal: expected unit length": lambda: impact("tip", normal=(0, 0, 2)),
    "restitution: expected within 0 and 1": lambda: impact("tip", restitution=1.5),
    "unknown point 'toe'": lambda: stated(phase("a"), phase("b"), links=(impact("toe"),)),
    "got 'speed'": lambda: continuous("speed"),
    "expected when='joined'": lambda: link_constraint("c", lambda end, start: 0.0).__class__(
        constraints=START
    ),
    "phase: name: expected a word": lambda: phase(""),
    "phase 'a: b': name: expected none with ': '": lambda: phase("a: b"),
    "phase 'a': loads: expected a tuple of them, got int 3": lambda: phase("a", loads=3),
    "phase 'b': tree: joint 'shoulder' has another parent, home or axis": lambda: stated(
        phase("a"), phase("b", tree=lifted(ARM))
    ),
    "links: a to b: symmetry: expected the image of 2 coordinates, got 3": lambda: stated(
        phase("a"), phase("b"), links=(continuous(symmetry=periodic(rod())),)
    ),
    "links: 'a to b' is the name of a phase too": lambda: stated(
        phase("a"), phase("b"), phase("a to b"), links=(continuous(), continuous())
    ),
    "constraint 'a to b: q': expected a name without ': '": lambda: stated(
        phase("a"), phase("b"), constraints=(whole("a to b: q"),)
    ),
    "constraint 'twice': the name is used twice": lambda: stated(
        phase("a"), phase("b"), constraints=(whole("twice"), whole("twice"))
    ),
    "impact of 'coupler end': the tree's loops (pin) would pass on": lambda: Problem(
        tree=four_bar(),
        phases=(phase("a"), phase("b")),
        links=(impact("coupler end"),),
        objective=effort(),
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_no_statement_of_phases_is_refused_by_name(words):
    with pytest.raises(ValueError, match=re.escape(words)):
        WRONG[words]()
