"""A motion's stick figures: what of a tree is drawn where, snapshots on paper, and the film."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ocp.mechanics.elements import MujocoMuscle, Muscle, Strut, Tendon
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.kinematics.kinematics import center_of_mass, position
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.muscles import PointPath
from ocp.mechanics.values.parameters import any_nonzero
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.plots.bodies.animation import MUSCLES, Stick, Strand, draw, draw_impulses, stage
from ocp.plots.bodies.scenery import floors, link_poses, placed_solids
from ocp.plots.canvas import SMALL, picture
from ocp.plots.curves.contact_forces import LOOKS, arrows
from ocp.plots.curves.phase_curves import pieces
from ocp.problem.instant import Instant
from ocp.solution.solution import OfInstant, Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

BENT = (0.2, 0.4, 0.6, 0.8)  # where along a flexible link it is drawn bent
STEPS = 200  # of the paths of points
FLAT = 1e-6  # of a motion's extent: how thick a planar one is at most
NAMED = 64  # letters of a line in a title
PALEST = 0.68  # of the first of several
SLIDES = ("prismatic", "screw")
Place = tuple[int, Numbers]  # on a link (-1 the ground), and where on it (3, m)


def plot_snapshots(solution: Solution, path: str | Path | None = None, count: int = 9) -> Figure:
    """Return a figure of the motion at equal steps, early pale and late strong, with paths of its
    points.

    Args:
        solution: the motion, drawn in a plane where it can be.
        path: of a file, if any.
        count: of the instants.

    Raises:
        ValueError: a count below 2, or an unknown suffix.
    """
    if count < 2:
        raise ValueError(f"count: expected at least 2 snapshots, got {count}")
    with picture(path, 5.5, 4.5) as figure:
        snapshots(figure, figure.add_gridspec(1, 1)[0], solution, count)
    return figure


def snapshots(figure: Figure, spec: SubplotSpec, solution: Solution, count: int) -> None:
    """Draw `count` snapshots of a solution, early pale and late strong, into a cell `spec` of a
    figure's grid."""
    step = ceil(STEPS / (count - 1))
    body = stick(solution, solution.times(step * (count - 1) + 1))
    scene, last = stage(figure, spec, body), len(body.t) - 1
    for k in range(0, last + 1, step):
        draw(scene, k, PALEST * (1 - k / last))
    draw_impulses(scene)
    said = [f"every {solution.duration / (count - 1):.3g} s, late ones stronger"]
    said += [f"grey: path of {', '.join(body.traced)}"] if body.traced else []
    said += ["red: centre of mass"] if body.leader >= 0 else []
    said += [MUSCLES] if body.muscles else []
    lines = [""]
    for words in said:
        fits = len(lines[-1]) + len(words) <= NAMED
        lines = (
            [*lines[:-1], f"{lines[-1]};  {words}".removeprefix(";  ")] if fits else [*lines, words]
        )
    scene.axes.set_title("\n".join(lines), fontsize=SMALL)


def stick(solution: Solution, t: np.ndarray) -> Stick:
    """Return the scene of a motion at times (N,), s.

    Links run, as they bend, from their joint's anchor to their children's joints, where these are
    at q = 0, and to their points (to the centre of mass or a flexible link's tip if there are
    neither). A joint that slides has a bar from its place at q = 0 to its anchor; cables and slots
    run thin between their ends. Links whose shapes are known at some places only are drawn straight
    between these. There are also the forces of what bears, impulses about the times when they
    strike, bodies about the links, what stands around, and the ground.
    """
    tree = solution.problem.tree
    n, parents, kinds = len(tree.joints), tree.parents, [joint.kind for joint in tree.joints]
    places, links = _skeleton(tree)
    free = _free(tree)
    links = [(a, b) for a, b in links if a not in free]
    rails = [k for k in range(n) if kinds[k] in SLIDES and k not in free]
    stays = _stays(tree, places)

    ways = link_poses(solution, t)
    spots = _spots(solution, t, places, ways)
    centre = any_nonzero([link.mass for link in tree.links])
    if centre:
        spots = np.concatenate([spots, _centre(solution, t)], axis=1)
    count = spots.shape[1]
    pushing = arrows(solution, t, float(np.ptp(spots, axis=(0, 1)).max()))
    ground = floors(solution, t, spots)
    pairs: dict[str, list[tuple[int, int]]] = {}
    for kind, several in pushing.items():
        pairs[kind] = [(count + 2 * k, count + 2 * k + 1) for k in range(len(several))]
        count += 2 * len(several)
    spots = np.concatenate([spots, *(each for several in pushing.values() for each in several)], 1)
    seen, up = _view(spots, np.array(tree.gravity))
    directions = _directions(spots, np.array(tree.gravity, dtype=float), seen)
    strands, muscles = _muscles(solution, t, spots.shape[1])
    spots = np.concatenate([spots, strands], 1)
    known = placed_solids(solution, t, ways)
    bodied = {each.solid.link for each in known if not each.still}
    shown = any(link.visuals for link in tree.links)  # by which bodies have their looks
    bones = [
        (a, b)
        for a, b in links
        if places[a][0] in bodied or (shown and tree.links[places[a][0]].modes is None)
    ]
    return Stick(
        t=t,
        places=spots,
        axes=["xyz"[axis] for axis in seen],
        up=up,
        bars={"link": [pair for pair in links if pair not in bones], "bone": bones}
        | {"slide": [(n + k, k) for k in rails]}
        | ({"stay": stays} if stays else {}),
        feet=[n + k for k in range(n) if parents[k] < 0 and k not in free],
        tips={point.name: 2 * n + i for i, point in enumerate(tree.points)},
        arrows=pairs,
        colours={kind: LOOKS[kind] for kind in pairs},
        ends=[(each.name, each.end) for each in pieces(solution) if each.name],
        solids=known,
        floors=ground,
        directions=directions,
        weighty=bool(np.any(np.array(tree.gravity)[seen])),
        leader=len(places) if centre else -1,
        muscles=muscles,
    )


def _muscles(solution: Solution, t: np.ndarray, first: int) -> tuple[np.ndarray, list[Strand]]:
    """Return the places (N, P, 3; m) that muscles over points run along at times (N,), the number
    of which begins at `first`, and the muscles."""
    strands: list[Strand] = []
    spots = [np.empty((len(t), 0, 3))]
    tree = solution.problem.tree
    for name, path in courses(tree).items():
        row = tree.coordinate(f"{name}.activation")
        course, activation = np.split(solution.trace(partial(_course, path, row), t), [-1])
        line = course.T.reshape(len(t), -1, 3)
        moved = np.abs(np.diff(line, axis=1)).max(axis=(0, 2)) > 0
        line = line[:, np.concatenate([[True], moved])]  # without those never run to
        strands.append(Strand(range(first, first + line.shape[1]), activation[0]))
        spots.append(line)
        first += line.shape[1]
    return np.concatenate(spots, 1), strands


def courses(tree: Tree) -> dict[str, PointPath]:
    """Return {muscle: path that is drawn} of those with a course in space."""
    muscles = (each for each in tree.elements if isinstance(each, Muscle | MujocoMuscle))
    known = {each.name: each.line for each in muscles}
    return {name: path for name, path in known.items() if path is not None}


def _course(path: PointPath, row: int, at: Instant) -> Matrix:
    """Return the places (3k,) of a path, and the state of a row of q."""
    state = State(tree=at.tree, q=at.q, qd=at.qd, known=at.moves)
    return ca.vertcat(*path.route(state).course, at.q[row])


def _directions(spots: np.ndarray, gravity: np.ndarray, seen: Sequence[int]) -> np.ndarray:
    """Return the directions (3, 3) to the right, away and up as one sees a motion from the side.

    What lies in a plane without weight is seen from above; what moves in space goes to the right
    along the level axis on which it goes, or reaches, farthest.
    """
    axes = np.eye(3)
    if len(seen) == 2 and not gravity[list(seen)].any():
        right, away = axes[seen[0]], axes[seen[1]]
        return np.array([right, away, np.cross(right, away)])
    up = -gravity / np.linalg.norm(gravity) if gravity.any() else axes[2]
    travel = np.abs(spots[-1] - spots[0]).mean(axis=0) + 0.3 * np.ptp(spots, axis=(0, 1))
    right = axes[seen[0] if len(seen) == 2 else (travel * (np.abs(up) < 0.7)).argmax()]
    right = right - (right @ up) * up
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(up, right), up])


def _free(tree: Tree) -> set[int]:
    """Return the joints before the links without mass of a floating root, which are no bodies."""
    drawn = structure(tree)
    root = {*drawn.root} if drawn.adrift else set()
    spans = enumerate(tree.spans)
    return {k for k, span in spans if root & {*span} and not float(tree.links[k].mass)}


def _skeleton(tree: Tree) -> tuple[list[Place], list[tuple[int, int]]]:
    """Return the places that are drawn, and the bars between pairs of them.

    Anchors of all joints, then their homes on the parents, then points and free ends, then places
    along links that bend.
    """
    n, parents = len(tree.joints), tree.parents
    anchors = [joint.anchor for joint in tree.joints]
    homes = [(np.array(joint.home) @ [*joint.anchor, 1.0])[:3] for joint in tree.joints]
    ends = _ends(tree)
    places: list[Place] = [*enumerate(anchors), *zip(parents, homes), *ends]
    bars = [(parent, n + k) for k, parent in enumerate(parents) if parent >= 0]
    bars += [(k, 2 * n + i) for i, (k, _) in enumerate(ends)]
    links: list[tuple[int, int]] = []
    for k, end in bars:
        modes, way = tree.links[k].modes, np.array(places[end][1]) - anchors[k]
        shares = BENT if modes and modes.curves else ()
        chain = [k, *range(len(places), len(places) + len(shares)), end]
        places += [(k, anchors[k] + share * way) for share in shares]
        links += pairwise(chain)
    return places, links


def _stays(tree: Tree, places: list[Place]) -> list[tuple[int, int]]:
    """Return the bars of cables, slots, struts and tendons, and add their places on the ground to
    the others."""
    first = 2 * len(tree.joints)
    bars: list[tuple[int, int]] = []
    known = {point.name: first + number for number, point in enumerate(tree.points)}
    joining = [stay for stay in tree.stays if not stay.joint]
    paths: list[Sequence] = [stay.path or (stay.start, stay.end) for stay in joining]
    paths += [each.path for each in tree.elements if isinstance(each, Strut | Tendon)]
    for path in paths:
        spots = []
        for which in path:
            if not isinstance(which, str):
                places.append((-1, which))
            spots.append(known[which] if isinstance(which, str) else len(places) - 1)
        bars += pairwise(spots)
    return bars


def _ends(tree: Tree) -> list[Place]:
    """Return the places at which bars end: all points, and of a link without any the tip."""
    pointed = {point.link for point in tree.points}
    points = [(tree.link_index(point.link), point.position) for point in tree.points]
    leaves = [
        k for k, name in enumerate(tree.link_names) if k not in tree.parents and name not in pointed
    ]
    return points + [(k, _tip(tree.links[k])) for k in leaves]


def _tip(link: Link) -> Numbers:
    """Return the place (3) that stands for the end of a link.

    Of a flexible one it is the beam's tip, or the farthest place that is known.
    """
    if link.modes is None:
        return link.com
    if link.modes.curves:
        return (link.modes.length, 0.0, 0.0)
    places = [place.position for place in link.modes.places]
    return max(places, key=np.linalg.norm, default=link.com)


def _spots(
    solution: Solution, t: np.ndarray, places: Sequence[Place], ways: np.ndarray
) -> np.ndarray:
    """Return the positions (N, places, 3; m) of places on links at times (N,), s, and at poses
    `ways` of the links (links, N, 4, 4); the first ones are anchors, at which links do not bend."""
    tree = solution.problem.tree
    ground = np.broadcast_to(np.eye(4), (1, len(t), 4, 4))
    links = [k for k, _ in places]
    frames = np.concatenate([ways, ground])[links].swapaxes(0, 1)
    spots = np.einsum("tpij,pj->tpi", frames[..., :3, :3], np.array([at for _, at in places]))
    spots += frames[..., :3, 3]
    for i, (k, place) in enumerate(places[len(tree.joints) :], len(tree.joints)):
        if k >= 0 and tree.links[k].modes is not None:
            point = Point(name="place", link=tree.link_names[k], position=place)
            spots[:, i] = solution.trace(partial(_position, tree, point), t).T
    return spots


def _position(tree: Tree, point: Point, at: Instant) -> Matrix:
    return position(tree, at.q, point)


def _centre(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return the centre of mass (N, 1, 3; m) of a motion's tree at times (N,), s; phases may carry
    more."""
    tree = solution.problem.tree
    own = CENTRE if solution.single_phase else lambda at: center_of_mass(tree, at.q)
    return solution.trace(own, t).T[:, None]


CENTRE = OfInstant(lambda at: center_of_mass(at.tree, at.q))  # whose graph a plan keeps


def _view(spots: np.ndarray, gravity: np.ndarray) -> tuple[list[int], int]:
    """Return the axes to draw, the last against gravity, and if it points up (1) or down (-1).

    They are two if nothing moves along the third.
    """
    moved, spread = np.ptp(spots, axis=0).max(axis=0), np.ptp(spots, axis=(0, 1))
    still = [axis for axis in (2, 1, 0) if moved[axis] <= FLAT * spread.max()]
    hidden = min(still, key=lambda axis: spread[axis], default=None)
    shown = [axis for axis in range(3) if axis != hidden]
    vertical = shown[np.abs(gravity[shown]).argmax()] if gravity[shown].any() else shown[-1]
    up = -1 if gravity[vertical] > 0 else 1
    if hidden is None:  # right-handed
        return [(vertical + up) % 3, (vertical - up) % 3, vertical], up
    return [*(axis for axis in shown if axis != vertical), vertical], up
