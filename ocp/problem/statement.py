"""The statement of an optimal motion: what is asked, and nothing about how it is computed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import inf, isnan
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.parameters import Number, array, as_open, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import (
    check_callable,
    check_records,
    check_type,
    check_units,
    describe_value,
    set_fields,
    shorten,
    unit_of,
)
from ocp.motion.basis import Basis
from ocp.motion.collocation_mesh import Mesh
from ocp.motion.spline import BSpline
from ocp.pickling import portable
from ocp.problem.constraint import Constraint, Span, require_bound
from ocp.problem.constraints.activations import drive_limits, mirrored_drives
from ocp.problem.constraints.element_states import state_limits
from ocp.problem.contact.complementarity import Touch, touch_labels
from ocp.problem.contact.ground import Ground
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.contact.state_dependent_forces import Acting, ForceLaw
from ocp.problem.objectives import Objective
from ocp.problem.phases.phase_problems import phase_fields, resolve_transitions
from ocp.problem.phases.phases import Phase, Transition
from ocp.problem.phases.shared_spline import IMAGE, OWN, closes
from ocp.problem.reserved_names import RESERVED
from ocp.problem.symmetry import Symmetry
from ocp.spelling import suggest_fields
from ocp.text_tables import html_table

UNSTATED: Numbers = None  # what a problem with phases leaves to these


AT = {"path": "all along", "start": "at the start", "end": "at the end", "ends": "at both ends"}
AT |= {"joined": "at both ends at once", "durations": "of the phases' durations"}
AT |= {"hull": "of every control point"}


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem:
    """An optimal motion: all that is asked, as a value.

    `tree` is what moves, `motion` the basis of its motion, `duration` (s) a number or a Parameter,
    or (lower, upper) where it is free, `objective` what is to be least. `constraints` may be nested
    tuples; `loads` act all along, point masses and force laws among them, contacts nobody schedules
    too; `ground` says who stands where and when.
    `symmetry` says that the end is the image of the start, as it is in half a gait cycle or in a
    periodic motion: it adds its constraints, "mirrored.q" and so on, to those listed; drives of the
    tree that have a strength or come on by a law add "strength" and "activation", states of its
    elements "state_bounds" and "control_bounds"; all together are the `requirements`.
    `outputs` {name: function(Instant)} are what one wants to see of the motion: traced by
    `Solution.output` and drawn by name, they ask nothing of it. No more does the `scenery`: Visuals
    at poses in the global frame, obstacles or places to pass, which pictures show.

    A motion of several `phases` leaves `motion`, `duration` and `ground` to these. The `links`, a
    Transition each, join the end of each phase to the start of the next one, and one more the last
    end to the first start; they are the `transitions`, by name. `parts` are the phases as problems
    of their own. Constraints of the problem hold in all phases, those at "start", "end" or "joined"
    at the ends of the whole, and functions of "durations" are given {phase: T}; an integral is over
    all phases. At its `end` a phase asks for its "own", or as the "image" of the start under a
    symmetry for laws alone, or nothing where that is "shared" with the start of the next: a problem
    gives this to its parts. Raises ValueError naming the field, what was expected and what came.
    """

    tree: Tree
    motion: Basis = UNSTATED
    duration: Numbers = UNSTATED
    objective: Objective = UNSTATED
    constraints: Sequence[Any] = ()
    loads: Sequence[Acting] = ()
    ground: Ground | None = None
    symmetry: Symmetry | None = None
    outputs: Mapping[str, Callable[..., Matrix]] = field(default_factory=dict, hash=False)
    scenery: Sequence[Visual] = ()
    phases: Sequence[Phase] = ()
    links: Sequence[Transition] = ()
    end: str = OWN
    requirements: tuple[Constraint, ...] = field(init=False, repr=False, compare=False)
    phase_problems: tuple["Problem", ...] = field(init=False, repr=False, compare=False)
    transitions: tuple[Transition, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_types()
        set_fields(
            self,
            constraints=tuple(_flat(self.constraints)),
            loads=check_records("loads", self.loads, Load, PointMass, ForceLaw, Touch),
            outputs=MappingProxyType(dict(self.outputs)),
            scenery=check_records("scenery", self.scenery, Visual),
            phases=check_records("phases", self.phases, Phase),
            links=check_records("links", self.links, Transition),
        )
        for name in (
            *(load.point for load in self.loads),
            *(name for visual in self.scenery for name in visual.between),
        ):
            self.tree.point(name)
        if self.phases:
            self._state_phases()
            return
        if self.links:
            raise ValueError("links: this problem has no phases that they could join")
        set_fields(self, duration=_duration(self.duration), phase_problems=(), transitions=())
        follows = self.cyclic or self.ground is None
        image = mirrored_drives(self.tree, self.symmetry, self.ground, follows)
        bounds = *drive_limits(self.tree), *state_limits(self.tree)
        laid_down = *bounds, *_images(self.tree, self.symmetry, self.cyclic), *image
        set_fields(self, requirements=(*self.constraints, *laid_down))
        _check_names(self.requirements)
        for constraint in self.requirements:
            if constraint.when == "durations":
                raise ValueError(
                    f"constraint {constraint.name!r}: when: durations are those of phases, and "
                    "this problem has none"
                )
        _check_touches(self.loads, self.ground)
        if self.ground is not None:
            _check_ground(self.tree, self.ground)

    def _state_phases(self) -> None:
        for name in ("motion", "duration", "ground"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name}: a problem with phases leaves it to these")
        transitions = resolve_transitions(self)
        parts = []
        for stated in phase_fields(self, transitions):
            try:
                parts.append(Problem(**stated))
            except ValueError as error:
                name = self.phases[len(parts)].name
                raise ValueError(f"phase {name!r}: {error}") from None
        set_fields(self, requirements=(), phase_problems=tuple(parts), transitions=transitions)

    def _check_types(self) -> None:
        check_type("tree", self.tree, Tree)
        if not self.phases and not isinstance(self.motion, BSpline | Mesh | Basis):  # told at once
            raise ValueError(f"motion: expected BSpline or Mesh, got {describe_value(self.motion)}")
        if not isinstance(self.objective, Objective) and not (self.phases and not self.objective):
            raise ValueError(
                f"objective: expected Objective, got {describe_value(self.objective)}; duration(), "
                "effort() or integral(name, function) are some"
            )
        check_type("ground", self.ground, Ground, type(None))
        check_type("symmetry", self.symmetry, Symmetry, type(None))
        for name, function in check_type("outputs", self.outputs, Mapping).items():
            check_callable(f"output {check_type('outputs: name', name, str)!r}", function)
        if not self.tree.dof:
            raise ValueError("tree: none of its joints moves")

    def __repr__(self) -> str:
        if self.phases:
            names = ", ".join(phase.name for phase in self.phases)
            return f"Problem({self.tree.dof} coordinates; phases {shorten(names)})"
        lower, upper = self.duration
        constraints = ", ".join(each.name for each in self.requirements)
        parts = [
            f"{self.tree.dof} coordinates",
            f"{type(self.motion).__name__} of {self.motion.points} points",
            f"duration {lower:g} s" if lower == upper else f"duration {lower:g} to {upper:g} s",
            f"minimise {repr(self.objective)[10:-1]}",
            f"constraints {shorten(constraints) or 'none'}",
        ]
        if self.ground is not None:
            parts.append(
                f"ground under {shorten(', '.join(foot.name for foot in self.ground.feet))}"
            )
        return f"Problem({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        return _html_of(self)

    @property
    def parts(self) -> Mapping[str, "Problem"]:
        """The phases as problems of their own {name: Problem}; a motion without phases is its only
        one, of no name."""
        if self.single_phase:
            return {"": self}
        return {phase.name: part for phase, part in zip(self.phases, self.phase_problems)}

    @property
    def single_phase(self) -> bool:
        """Tell whether the motion is stated without phases."""
        return not self.phases

    @property
    def cyclic(self) -> bool:
        """Tell whether the end is the start's image in everything, forces included.

        Limits of its own there would only leave multipliers undetermined. On a mesh,
        whose accelerations have values of their own at either end, and under loads that vary in
        time the end is asked for all the same.
        """
        image = self.symmetry is not None and self.symmetry.accelerations
        return self.end == IMAGE or (image and closes(self.motion, self.loads))


def _duration(value: Numbers) -> tuple[Number, Number]:
    """Return (lower, upper) (s), two times the same where it is one number or one expression."""
    try:
        value = as_open(value)
        alone = isinstance(value, ca.SX) or np.ndim(value) == 0
        sides = repeat(value, 2) if alone else value
        lower, upper = (array(side).item() for side in sides)
    except (TypeError, ValueError):
        raise ValueError(
            f"duration: expected a number or (lower, upper) (s), got {value!r}"
        ) from None
    check_units("duration", (lower, upper), "s")
    least, most = nominal((lower, upper))
    if isnan(least) or isnan(most) or not 0 < least <= most < inf:
        raise ValueError(f"duration: expected 0 < lower <= upper (s), got ({least:g}, {most:g})")
    return lower, upper


def _flat(constraints: object) -> Iterator[Constraint]:
    if not isinstance(constraints, Iterable):
        raise ValueError(
            f"constraints: expected a tuple of them, got {describe_value(constraints)}"
        )
    for item in constraints:
        if isinstance(item, (tuple, list)):
            yield from _flat(item)
        else:
            yield require_bound(check_type("constraints", item, Constraint))


def _images(tree: Tree, symmetry: Symmetry | None, cyclic: bool) -> Iterator[Constraint]:
    """Yield the constraints that make the end of a motion the image of its start; of a `cyclic` one
    rates of elements' states too, and with them the controls, which nothing asks for at its end."""
    if symmetry is None:
        return
    if len(symmetry.index) != tree.dof:
        raise ValueError(
            f"symmetry: expected the image of {tree.dof} coordinates, got {len(symmetry.index)}"
        )
    index, sign = list(symmetry.index), ca.DM(symmetry.sign)
    still = tuple(0.0 * way for way in symmetry.shift)
    goals = {"q": symmetry.shift, "qd": still, "qdd": still}
    for quantity in ("q", "qd", "qdd") if symmetry.accelerations else ("q", "qd"):
        first_order = quantity == "q" or (cyclic and quantity == "qd")
        count = tree.dof if first_order else tree.dof - len(tree.states)
        yield Constraint(
            name=f"mirrored.{quantity}",
            lower=goals[quantity][:count],
            upper=goals[quantity][:count],
            when="joined",
            function=lambda start, end, quantity=quantity, count=count: (
                getattr(end, quantity) - sign * getattr(start, quantity)[index]
            )[:count],
            labels=tuple(joint.name for joint in tree.moving[:count]),
            units=tuple(unit_of(joint, quantity) for joint in tree.moving[:count]),
        )


def _check_names(constraints: Sequence[Constraint]) -> None:
    known: dict[str, Constraint] = {}
    for constraint in constraints:
        name = constraint.name
        if name in known:
            pair = (known[name], constraint)
            bounds = " and ".join(shorten(f"{each.lower} to {each.upper}") for each in pair)
            raise ValueError(
                f"constraint {name!r}: the name is used twice, with bounds {bounds}; keep one, or "
                "give it another name"
            )
        known[name] = constraint
        if name in RESERVED:
            raise ValueError(
                f"constraint {name!r}: the name is that of the law of motion or of the duration's "
                f"bounds; reserved are {', '.join(RESERVED)}"
            )


def _check_touches(loads: Sequence[Acting], ground: Ground | None) -> None:
    """Raise ValueError for contacts of one name, or beside a ground."""
    names = touch_labels(loads)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"loads: two contacts are {name!r}; expected another `surface` for one"
            )
    if names and ground is not None:
        raise ValueError(
            f"loads: contacts {', '.join(names)} find the ground by themselves; expected them or "
            "a ground, not both"
        )


def _check_ground(tree: Tree, ground: Ground) -> None:
    """Raise ValueError if the tree lacks links and points of the feet."""
    for foot in ground.feet:
        for support in foot.supports:
            tree.link_index(support.link)
            for pin in support.pins:
                tree.point(pin.point)


def _html_of(problem: Problem) -> str:
    """Return a problem as a table in HTML."""
    return html_table(_rows(problem), title="Problem")


def _rows(problem: Problem) -> Iterator[tuple[str, str]]:
    yield "tree", repr(problem.tree)
    shared = {each.name for each in problem.requirements}
    objectives = {phase.name: phase.objective for phase in problem.phases}
    for name, part in problem.parts.items():
        label = f"phase {name}: " if name else ""
        yield from _motion_rows(label, part)
        own = objectives.get(name)
        if own is not None:
            yield f"{label}minimise", _term_words(own)
        for each in part.requirements:
            if each.name not in shared:
                yield f"{label}constraint {each.name}", _when_words(each)
    if problem.objective is not None:
        yield "minimise", _term_words(problem.objective)
    for each in problem.requirements:
        yield f"constraint {each.name}", _when_words(each)
    for transition in problem.transitions:
        yield "link", transition.name
    if problem.symmetry is not None:
        yield "symmetry", "the end is the image of the start"
    if problem.loads:
        yield "loads", shorten(", ".join(str(load.point) for load in problem.loads))
    if problem.outputs:
        yield "outputs", shorten(", ".join(problem.outputs))


def _term_words(objective: Objective) -> str:
    return " + ".join(f"{weight:g} {term.name}" for weight, term in objective.terms) or "nothing"


def _motion_rows(label: str, problem: Problem) -> Iterator[tuple[str, str]]:
    motion, (lower, upper) = problem.motion, problem.duration
    yield f"{label}motion", f"{type(motion).__name__} of {motion.points} points"
    lasting = f"{lower:g} s" if lower == upper else f"{lower:g} to {upper:g} s"
    yield f"{label}duration", lasting
    if problem.ground is not None:
        feet = ", ".join(foot.name for foot in problem.ground.feet)
        yield f"{label}ground", f"under {shorten(feet)}"


def _when_words(each: Constraint) -> str:
    """Return when a constraint holds, and of how many rows, in words."""
    when = each.when
    if isinstance(when, str):
        place = AT.get(when, when)
    elif isinstance(when, Span):
        place = f"from {when.start:g} to {when.end:g} of the motion"
    else:
        place = "at an instant that is open"
    rows = ", ".join(dict.fromkeys(each.labels))
    return f"{place}: {shorten(rows)}" if rows else place
