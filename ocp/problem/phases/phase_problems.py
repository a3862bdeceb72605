"""Phases as problems of their own, and the links between them by name.

A constraint of the whole holds in every phase, or where it speaks of the start or the end at those
of the whole; an integral is over all phases.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree
from ocp.motion import Basis
from ocp.problem.constraint import Constraint
from ocp.problem.objectives import Objective
from ocp.problem.phases.phases import Phase, Statement, Transition
from ocp.problem.phases.shared_spline import ends_of
from ocp.problem.reserved_names import SEPARATOR
from ocp.spelling import suggestion

WHOLE = ("joined", "durations")  # of constraints, when: of all phases together


def refuse_phases(what: str, problem: Statement, instead: str = "") -> None:
    """Raise ValueError naming what is not known of a problem of phases, and what is known
    `instead`."""
    if not problem.single_phase:
        names = ", ".join(phase.name for phase in problem.phases)
        known = instead or "solution.phases[name] is a motion of its own"
        raise ValueError(f"{what}: is not known of a motion of several phases ({names}); {known}")


def with_bases(problem: Statement, motions: Sequence[Basis]) -> Statement:
    """Return a problem whose phases, or which itself is on other bases of motions."""
    if all(part.motion == motion for part, motion in zip(problem.parts.values(), motions)):
        return problem
    if problem.single_phase:
        return replace(problem, motion=motions[0])
    phases = (replace(phase, motion=motion) for phase, motion in zip(problem.phases, motions))
    return replace(problem, phases=tuple(phases))


def phase_fields(problem: Statement, transitions: tuple[Transition, ...]) -> Iterator[dict]:
    """Yield the fields of a Problem of every phase of a `problem`, whose links are `transitions`.

    Raises ValueError naming a phase whose name is used twice or whose tree has other coordinates,
    and a constraint that holds at an instant of the whole.
    """
    names = [phase.name for phase in problem.phases]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"phase {name!r}: the name is used twice")
    for constraint in problem.constraints:
        if not isinstance(constraint.when, str):
            raise ValueError(
                f"constraint {constraint.name!r}: when: instants are those of a phase; "
                "state it in one"
            )
    _check_whole(problem.constraints)
    last, ends = len(names) - 1, ends_of(problem, transitions)
    if problem.objective is None and not any(phase.objective for phase in problem.phases):
        raise ValueError("objective: neither the problem nor any of its phases has one")
    for k, phase in enumerate(problem.phases):
        yield {
            "tree": _same_coordinates(problem.tree, phase),
            "motion": phase.motion,
            "duration": phase.duration,
            "objective": _share(problem.objective, phase.objective, k == last),
            "constraints": (
                phase.constraints,
                _constraints_of_phase(problem.constraints, k == 0, k == last),
            ),
            "loads": (*phase.loads, *problem.loads),
            "ground": phase.ground,
            "outputs": problem.outputs,
            "end": ends[k],
        }


def _check_whole(constraints: Sequence[Constraint]) -> None:
    """Raise ValueError for constraints of all phases together whose names say something else."""
    names = [each.name for each in constraints if each.when in WHOLE]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"constraint {name!r}: the name is used twice")
        if SEPARATOR in name:
            raise ValueError(
                f"constraint {name!r}: expected a name without {SEPARATOR!r}, which parts those of "
                "phases and links from what is asked there"
            )


def _same_coordinates(tree: Tree, phase: Phase) -> Tree:
    """Return the tree of a phase; raise ValueError if its coordinates are not those of `tree`."""
    if phase.tree is None:
        return tree
    expected, names = ([(j.name, j.kind) for j in each.moving] for each in (tree, phase.tree))
    if names != expected:
        raise ValueError(
            f"phase {phase.name!r}: tree: expected the coordinates "
            f"{', '.join(name for name, _ in expected)}, got {', '.join(name for name, _ in names)}"
        )
    for joint, own in zip(tree.moving, phase.tree.moving):
        if not _moves_alike(joint, own):
            raise ValueError(
                f"phase {phase.name!r}: tree: joint {joint.name!r} has another parent, home or "
                "axis than in the problem's tree; expected trees that differ in what they carry"
            )
    return phase.tree


def _moves_alike(joint: Joint, other: Joint) -> bool:
    """Tell whether the coordinates of two joints of one name mean the same."""
    same_home = np.array_equal(np.array(joint.home), np.array(other.home))
    same_axis = np.array_equal(np.array(joint.screw), np.array(other.screw))
    return joint.parent == other.parent and same_home and same_axis


def _share(whole: Objective | None, own: Objective | None, last: bool) -> Objective:
    """Return the objective of one phase: its own, and its part of that of the whole."""
    terms = () if own is None else own.terms
    if whole is not None:
        for _, term in whole.terms:
            if term.instants:
                raise ValueError(
                    f"objective {term.name!r}: samples are at shares of one phase: state them there"
                )
        terms += tuple(pair for pair in whole.terms if last or pair[1].kind != "end")
    return Objective(terms=terms)


def _constraints_of_phase(
    constraints: Sequence[Constraint], first: bool, last: bool
) -> list[Constraint]:
    """Return the constraints of the whole that hold in a phase."""
    instants = {"path", "hull"} | ({"start"} if first else set()) | ({"end"} if last else set())
    if first and last:
        instants.add("ends")
    kept = [each for each in constraints if each.when in instants]
    if first != last:
        end = "start" if first else "end"
        kept += [replace(each, when=end) for each in constraints if each.when == "ends"]
    return kept


def resolve_transitions(problem: Statement) -> tuple[Transition, ...]:
    """Return the transitions of a `problem`, each with its name and those of its phases.

    The last one is that of the problem's symmetry, if it has one. Raises ValueError naming phases
    that nothing joins, and two links that ask for the same.
    """
    names = [phase.name for phase in problem.phases]
    count, links = len(names), list(problem.links)
    if len(links) > count and not any(link.before for link in links):
        raise ValueError(f"links: expected at most {count}, one after each phase, got {len(links)}")
    if problem.symmetry is not None:
        quantities = ("q", "qd", "qdd") if problem.symmetry.accelerations else ("q", "qd")
        ends: dict[str, Any] = {"before": names[-1], "after": names[0]}
        links.append(Transition(quantities=quantities, symmetry=problem.symmetry, **ends))
    transitions = [_name_phases(link, k, names) for k, link in enumerate(links)]
    joined = [(each.before, each.after) for each in transitions]
    for pair in pairwise(names):
        if pair not in joined:
            raise ValueError(f"links: nothing joins phase {pair[0]!r} to {pair[1]!r}")
    _check_apart(transitions, names)
    trees = {phase.name: phase.tree or problem.tree for phase in problem.phases}
    for each in transitions:
        _check_fits(each, trees[each.before])
    return tuple(transitions)


def _check_fits(transition: Transition, tree: Tree) -> None:
    """Raise ValueError if a transition is none of a `tree`, that of the phase before it."""
    what = f"links: {transition.name}"
    symmetry = transition.symmetry
    if symmetry is not None and len(symmetry.index) != tree.dof:
        raise ValueError(
            f"{what}: symmetry: expected the image of {tree.dof} coordinates, "
            f"got {len(symmetry.index)}"
        )
    for point in transition.points:
        try:
            tree.point(point)
        except ValueError as error:
            raise ValueError(f"{what}: impact: {error}") from None
        if tree.loops:
            raise ValueError(
                f"{what}: impact of {point!r}: the tree's loops "
                f"({', '.join(loop.name for loop in tree.loops)}) would pass on impulses of their "
                "own, which are not known"
            )


def _name_phases(link: Transition, k: int, names: list[str]) -> Transition:
    """Return a link with the names of its phases, those after the k-th if it has none."""
    before = link.before or names[k % len(names)]
    for what, name in (("before", before), ("after", link.after)):
        if name and name not in names:
            raise ValueError(
                f"links: {what}: no phase is named {name!r}{suggestion(name, names)}; they are "
                f"{', '.join(names)}"
            )
    after = link.after or names[(names.index(before) + 1) % len(names)]
    return replace(link, before=before, after=after, name=link.name or f"{before} to {after}")


def _check_apart(transitions: list[Transition], phases: list[str]) -> None:
    """Raise ValueError if two transitions of the same phases ask for the same, or have one name, or
    that of a phase."""
    asked: dict[tuple[str, ...], Transition] = {}
    names = [each.name for each in transitions]
    for each in transitions:
        jumping = ("qd",) if each.strikes else ()
        for quantity in (*each.quantities, *jumping):
            if asked.setdefault((each.before, each.after, quantity), each) is not each:
                raise ValueError(
                    f"links: two of {each.before!r} to {each.after!r} contradict each other: both "
                    f"say what becomes of {quantity}"
                )
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"links: two are named {name!r}; give one another name")
        if name in phases:
            raise ValueError(f"links: {name!r} is the name of a phase too; give one another name")
