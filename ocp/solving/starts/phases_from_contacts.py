"""Problem of phases from the contact schedule that a motion found.

Between the nodes of a mesh a touch has no instant of its own: forces overshoot there, and no impact
is possible. In phases the order of contacts is fixed and their instants are unknowns: standing
contacts hold exactly, landing ones receive an impulse (moving finite elements to the same end:
Baumrucker & Biegler 2009; Nurkanovic, Sperl, Albrecht & Diehl 2024).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import inf

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, Parameter, nominal
from ocp.mechanics.values.types import Matrix
from ocp.motion.basis import Basis
from ocp.motion.spline import BSpline
from ocp.problem.constraint import INSIDE, Constraint
from ocp.problem.contact.balance import friction, unilateral
from ocp.problem.contact.complementarity import Touch, touches
from ocp.problem.contact.contact_implicit_loads import contact_outputs
from ocp.problem.contact.contact_kinds import point_contact
from ocp.problem.contact.ground import Foot, Ground, feet_of
from ocp.problem.instant import Instant
from ocp.problem.phases.phases import Phase, Strike, Transition, continuous
from ocp.problem.phases.split_into_phases import phases_of
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry
from ocp.solution.solution import Solution
from ocp.solving.starts.contact_schedule import BEARING, Stretch, schedule_found
from ocp.solving.starts.warm_start import Guess

ROOM = 4.0  # times longer or shorter than found: what a phase may last
NEARBY = 1.0  # m: how far from where it was found a foothold may be
MOTION = BSpline(points=16, degree=5)  # of a phase
WAYPOINTS = 25  # of its guess
SEED, DRAWS, ALIKE = 3, 4, 1e-6  # postures, and how closely (m) images of points move together


def phases_found(
    solution: Solution, *, motion: Basis = MOTION, bearing: float = BEARING
) -> tuple[Problem, dict[str, Guess]]:
    """Return the problem of phases that a motion with complementary contacts found, and its guess.

    Each stretch of `schedule_found` is a phase; all together last as long as the motion may.
    Standing contacts are held at places sought along their planes, push, and stay within friction;
    the others stay above. Landing contacts receive an impulse, and with them those that stand.
    Objective, constraints, symmetry and other loads are those of the problem.

    Args:
        solution: of a problem whose contacts are complementary.
        motion: basis of each phase.
        bearing: share of the weight above which a contact stands.

    Returns:
        The Problem, and {phase: Guess}.

    Raises:
        ValueError: for a motion without such contacts, for parts that no phase can have, and naming
            contacts of different friction or frictionless ones on oblique planes.
    """
    stretches = schedule_found(solution, bearing=bearing)
    problem, every = solution.problem, touches(solution.problem.loads)
    common_friction(every)
    plain = replace(
        problem, loads=tuple(each for each in problem.loads if each not in every), outputs={}
    )
    parts = phases_of(
        plain,
        {each.name: each.end for each in stretches},
        motions=[motion] * len(stretches),
        durations=[_duration(problem, solution.duration, each) for each in stretches],
    )
    images = _images(problem)
    feet = _feet(solution, stretches, images)
    phases = tuple(
        _phase(problem.tree, part, standing, every) for part, standing in zip(parts, feet)
    )
    links, symmetry = _links(problem, stretches, images)
    return Problem(
        tree=problem.tree,
        phases=phases,
        links=links,
        objective=problem.objective,
        constraints=(
            *(each for each in problem.constraints if each.when == "joined"),
            *_duration_constraint(problem, stretches),
        ),
        loads=plain.loads,
        symmetry=symmetry,
        outputs={**problem.outputs, **_outputs(every)},
    ), {each.name: _guess(solution, each) for each in stretches}


def common_friction(every: Sequence[Touch]) -> float:
    """Return the coefficient of friction of contacts; raise ValueError naming those that differ."""
    frictions = {touch.name: float(nominal(touch.model.friction)) for touch in every}
    if len(set(frictions.values())) > 1:
        listed = ", ".join(f"{name} {value:g}" for name, value in frictions.items())
        raise ValueError(f"phases found: expected one coefficient of friction, got {listed}")
    return next(iter(frictions.values()))


def _duration(problem: Problem, duration: float, stretch: Stretch) -> tuple[float, float]:
    """Return the bounds of a phase's duration (s)."""
    if stretch.end - stretch.start == 1.0:
        lower, upper = problem.duration
        return float(lower), float(upper)
    lasted = (stretch.end - stretch.start) * duration
    return lasted / ROOM, lasted * ROOM


def _duration_constraint(problem: Problem, stretches: Sequence[Stretch]) -> Iterator[Constraint]:
    """Yield that all phases together last as long as the motion may."""
    if len(stretches) > 1:
        lower, upper = problem.duration
        yield Constraint(
            name="whole",
            function=lambda durations: sum(durations.values()),
            lower=lower,
            upper=upper,
            when="durations",
            units="s",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """A contact (by `name`) that stands from the stretch `first` to the stretch `last`."""

    name: str
    first: int
    last: int


def _contact_stands(stretches: Sequence[Stretch]) -> tuple[Stand, ...]:
    """Return every stand of every contact, those that begin later first."""
    stands = []
    for name in dict.fromkeys(name for each in stretches for name in each.standing):
        bears = [name in each.standing for each in stretches]
        edges = np.flatnonzero(np.diff([False, *bears, False]))
        pairs = zip(edges[::2].tolist(), edges[1::2].tolist())
        stands += [Stand(name=name, first=a, last=b - 1) for a, b in pairs]
    return tuple(sorted(stands, key=lambda each: -each.first))


def _feet(
    solution: Solution, stretches: Sequence[Stretch], images: Mapping[str, "Image"]
) -> list[tuple[Foot, ...]]:
    """Return the feet that stand in each stretch, at one place as long as they stand, across the
    end of a periodic motion too.
    """
    tree, known = solution.problem.tree, _by_name(solution.problem)
    targets: dict[Stand, list[Number]] = {}
    feet: dict[tuple[str, int], Foot] = {}
    stands = _contact_stands(stretches)
    for number, stand in enumerate(stands, start=1):
        touch = known[stand.name]
        before = _former_stand(stand, stands, images, len(stretches) - 1)
        if before is None:
            t = (stretches[stand.first].start + stretches[stand.last].end) / 2 * solution.duration
            place = solution.trace(_position_of(touch.point), [t])
            targets[stand] = _place(touch, np.ravel(place), number)
        else:
            way = images[before.name].way
            targets[stand] = [there - each for there, each in zip(targets[before], way)]
        foot = _foot(tree, touch, targets[stand])
        feet |= {(stand.name, k): foot for k in range(stand.first, stand.last + 1)}
    return [tuple(feet[name, k] for name in each.standing) for k, each in enumerate(stretches)]


def _position_of(point: str) -> Callable[[Instant], Matrix]:
    """Return the function of an Instant that is where a point is (3, m)."""
    return lambda at: at.position(point)


def _former_stand(
    stand: Stand, stands: Sequence[Stand], images: Mapping[str, "Image"], last: int
) -> Stand | None:
    """Return the stand at a motion's end that one at its start goes on, if it begins later."""
    for other in stands:
        goes_on = other.name in images and images[other.name].start == stand.name
        if stand.first == 0 < other.first and other.last == last and goes_on:
            return other
    return None


def _place(touch: Touch, stood: np.ndarray, number: int) -> list[Number]:
    """Return the place (3, m) of a contact near where it `stood` (3, m), sought along its
    plane."""
    target, word = list(np.array(touch.place, dtype=float)), re.sub(r"\W", "_", touch.name)
    for k, way in enumerate(np.array(each, dtype=float) for each in touch.ways):
        along = float(way @ (stood - np.array(touch.place, dtype=float)))
        sought = Parameter(
            f"foothold_{number}_of_{word}" + "_across" * k,
            along,
            "m",
            lower=along - NEARBY,
            upper=along + NEARBY,
            free=True,
        )
        target = [spot + part * sought if part else spot for spot, part in zip(target, way)]
    return target


def _foot(tree: Tree, touch: Touch, target: list[Number]) -> Foot:
    """Return the contact that stands at a place (3, m)."""
    normal, axes = np.array(touch.normal, dtype=float), "xyz"
    if not touch.ways:
        upright = np.flatnonzero(np.abs(normal) > 1 - ALIKE)
        if not len(upright):
            raise ValueError(
                f"phases found: contact {touch.name!r}: slides without friction; expected a plane "
                f"on which a global axis is upright, got the normal {tuple(normal.tolist())}"
            )
        axes = "xyz"[upright[0]]
    return point_contact(
        tree, touch.point, name=touch.name, at=target, normal=tuple(normal), axes=axes
    )


def _by_name(problem: Problem) -> dict[str, Touch]:
    return {touch.name: touch for touch in touches(problem.loads)}


def _phase(tree: Tree, part: Phase, feet: tuple[Foot, ...], every: Sequence[Touch]) -> Phase:
    """Return a phase with what stands in it, and what that and the others ask."""
    standing = [foot.name for foot in feet]
    gaps = [_clearance(touch) for touch in every if touch.name not in standing]
    if not feet:
        return replace(part, constraints=(*part.constraints, *gaps))
    ground = Ground(feet=feet, normal=every[0].normal)
    asked = [*unilateral(tree, ground)]
    if any(touch.ways for touch in every):
        asked += friction(tree, ground, coefficient=every[0].model.friction)
    return replace(part, ground=ground, constraints=(*part.constraints, *gaps, *asked))


def _clearance(touch: Touch) -> Constraint:
    return Constraint(
        name=f"above.{touch.name}",
        function=touch.gap,
        lower=0.0,
        upper=inf,
        when=INSIDE,
        labels=(touch.name,),
        units="m",
    )


def _links(
    problem: Problem, stretches: Sequence[Stretch], images: Mapping[str, "Image"]
) -> tuple[tuple[Transition, ...], Symmetry | None]:
    """Return the links between the phases, and the symmetry if no impact occurs at the end."""
    known, symmetry = _by_name(problem), problem.symmetry
    links = []
    for before, after in pairwise(stretches):
        struck = _strikes(known, before.standing, after.standing)
        links.append(_link(struck, before.name, after.name))
    if symmetry is None:
        return tuple(links), None
    last, first = stretches[-1], stretches[0]
    back = {image.start: end for end, image in images.items()}
    beginning = tuple(back[name] for name in first.standing if name in back)
    struck = _strikes(known, last.standing, beginning)
    if not struck:
        return tuple(links), symmetry
    jumping = replace(symmetry, accelerations=False)
    return (*links, _link(struck, last.name, first.name, jumping)), None


def _strikes(
    known: Mapping[str, Touch], before: Sequence[str], after: Sequence[str]
) -> tuple[Strike, ...]:
    """Return the impacts of landing contacts, and of those that stand on."""
    if set(after) <= set(before):
        return ()
    return tuple(
        Strike(
            point=known[name].point, friction=known[name].model.friction, normal=known[name].normal
        )
        for name in after
    )


def _link(
    struck: tuple[Strike, ...], before: str, after: str, symmetry: Symmetry | None = None
) -> Transition:
    if not struck:
        return continuous(before=before, after=after)
    return Transition(
        quantities=("q",), strikes=struck, symmetry=symmetry, before=before, after=after
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Contact at the `start` of which a contact at the end is the image, and the `way` (3, m)
    between them.
    """

    start: str
    way: np.ndarray


def _images(problem: Problem) -> dict[str, Image]:
    """Return {contact at the end: its Image}, found by seeded postures in which both points move
    alike.
    """
    symmetry, every = problem.symmetry, touches(problem.loads)
    if symmetry is None:
        return {}
    rng, tree = np.random.default_rng(SEED), nominal(problem.tree)
    apart: dict[tuple[str, str], list[np.ndarray]] = {}
    for _ in range(DRAWS):
        q = rng.uniform(-1.0, 1.0, tree.dof)
        image = symmetry.image(q) + np.array(symmetry.shift, dtype=float)
        for end, start in product(every, every):
            way = _point(tree, image, end.point) - _point(tree, q, start.point)
            apart.setdefault((end.name, start.name), []).append(way)
    return {
        end: Image(start=start, way=ways[0])
        for (end, start), ways in apart.items()
        if np.ptp(ways, axis=0).max() < ALIKE
    }


def _point(tree: Tree, q: np.ndarray, name: str) -> np.ndarray:
    return np.array(ca.DM(kinematics.position(tree, ca.DM(q), name))).ravel()


def _outputs(every: Sequence[Touch]) -> Mapping[str, Callable[[Instant], Matrix]]:
    """Return the forces (3, N) of contacts, by the names that they had: what the ground gives, zero
    where they do not stand."""
    return {name: _force(touch.name) for name, touch in zip(contact_outputs(every), every)}


def _force(name: str) -> Callable[[Instant], Matrix]:
    def force(at: Instant) -> Matrix:
        if name not in feet_of(at.ground):
            return ca.SX.zeros(3)
        return at.reaction.force(name)

    return force


def _guess(solution: Solution, stretch: Stretch) -> Guess:
    t = np.linspace(stretch.start, stretch.end, WAYPOINTS) * solution.duration
    return Guess(q=solution.q(t), duration=float(t[-1] - t[0]))
