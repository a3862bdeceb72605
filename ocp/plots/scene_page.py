"""The page of a solution: its motion in space beside its curves, one file that needs no network.

Python states the scene, as numbers in axes whose third is up; `bodies/player.html` draws it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ocp.mechanics.muscles import muscles_of
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import positive
from ocp.plots.bodies.animation import (
    BARS,
    CENTRE,
    FILMS,
    FULL,
    SLACK,
    STRAND,
    Stick,
    colour_of,
    film,
)
from ocp.plots.bodies.scenery import main_plane, round_length, stands_out
from ocp.plots.bodies.solid_triangles import Solid, coarsen_mesh, mean_cell
from ocp.plots.bodies.stick_figures import courses, stick
from ocp.plots.canvas import COLOURS, check_suffix
from ocp.plots.curves.contact_forces import contact_colours, contact_strengths, contacts_of
from ocp.plots.curves.joint_curves import (
    LIMITS,
    Profile,
    axis_label,
    is_held,
    joint_styles,
    trace_joints,
)
from ocp.plots.curves.joint_panels import looks_of, needs_own_panels, panel_pairs
from ocp.plots.curves.state_panels import state_looks, state_panels
from ocp.plots.overview import sections_of
from ocp.report.muscle_report import muscle_lines, muscles_data
from ocp.solution.solution import Solution
from ocp.solution.validation import check_solution
from ocp.storage.atomic_files import write

PLAYER = Path(__file__).parent / "bodies" / "player.html"
FEWEST, RATE = 101, 50  # frames of a motion, and of each second of a long one
MOST = 3_000_000  # bytes of a page
BUDGET = 60_000  # triangles of a page: meshes are made coarser until they have no more
TALL = 480  # px: a page within a notebook
FEW = 3  # muscles that are named in a page's head
SLIM = 0.0025  # of the extent: radius of bars, for each pt on paper
MUSCLES = {"muscle, not active": SLACK, "muscle, fully active": FULL}
LEGEND = {"force": "contact force", "impulse": "impulse"}
Cell = dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A page of HTML that plays a motion by itself, shown where a notebook shows a value.

    `text` is the page, as a file or a browser takes it.
    """

    text: str

    def __repr__(self) -> str:
        return f"Page({len(self.text.encode())} bytes of HTML, shown by notebooks)"

    def _repr_html_(self) -> str:
        frame = f"style='width:100%; height:{TALL}px; border:0'"
        return f"<iframe {frame} srcdoc='{escape(self.text, quote=True)}'></iframe>"


def page(
    solution: Solution,
    path: str | Path | None = None,
    seconds: float | None = None,
    *,
    title: str = "",
) -> Page:
    """Return a motion as one page of HTML that needs no server and no network, of 3 MB at most.

    It shows the bodies in space on their ground, with forces and traces, beside the curves, and
    says the motion's own time and how much it is slowed, objective, duration and the certificate's
    verdict where there is one. Meshes are made coarser until they fit.

    Args:
        solution: the motion.
        path: of a file as .html, if any, to which it is written.
        seconds: playing time (s), by default the motion's own but at least 2 s.
        title: what it is called, by default as the file.

    Raises:
        ValueError: another suffix, no playing time, or a page that does not fit.
    """
    check_solution("page", solution)
    if path is not None:
        check_suffix(path, (".html",))
        title = title or Path(path).stem
    if seconds is not None:
        positive("page: seconds", seconds)
    made = _filled(scene_data(solution, seconds, title=title))
    if len(made.text.encode()) > MOST:
        raise ValueError(f"page: it would take more than {MOST / 1e6:g} MB")
    if path is not None:
        write(path, made.text)
    return made


def scene_data(
    solution: Solution,
    seconds: float | None = None,
    *,
    title: str = "",
    triangles: int | None = None,
) -> Cell:
    """Return the data of a motion's page, for JSON, as `show` of the player takes it.

    Args:
        solution: the motion.
        seconds: playing time (s), by default the motion's own but at least 2 s.
        title: what it is called.
        triangles: of all meshes, which are made coarser until they have no more; by default those
            of a page.
    """
    long = max(2.0, solution.duration) if seconds is None else seconds
    count = int(np.clip(RATE * solution.duration, FEWEST, 3 * FEWEST))
    figure = stick(solution, solution.times(count))
    sections = _sections(solution)
    words = _words(solution)
    most = BUDGET if triangles is None else triangles
    return _scene(figure, long, most, title=title, words=words, sections=sections)


def page_of(
    figure: Stick,
    seconds: float,
    *,
    title: str = "motion",
    words: Sequence[tuple[str, str]] = (),
    sections: Sequence[Cell] = (),
) -> Page:
    """Return the page of a figure in space that plays for so many seconds.

    `words` are (kind, text) of what stands beside the `title`, `sections` the curves.
    """
    return _filled(_scene(figure, seconds, BUDGET, title=title, words=words, sections=sections))


def player() -> str:
    """Return the page of HTML that shows nothing yet, for motions that come by its `show`."""
    return PLAYER.read_text(encoding="utf-8").replace("@TITLE@", "motion").replace("@DATA@", "")


def _filled(data: Cell) -> Page:
    """Return the page of a scene's data."""
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page_text = PLAYER.read_text(encoding="utf-8").replace("@TITLE@", escape(data["title"]))
    return Page(page_text.replace("@DATA@", text))


def _scene(
    figure: Stick,
    seconds: float,
    triangles: int,
    *,
    title: str,
    words: Sequence[tuple[str, str]],
    sections: Sequence[Cell],
) -> Cell:
    """Return the data of a figure in space, in axes whose third is up."""
    frames, solids = _solids(figure, triangles)
    traces = list(_traces(figure))
    seen = figure.extremes @ figure.directions.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    grid = round_length(float((high - low).max()) / 3)
    return {
        "title": title or "motion",
        "words": [list(each) for each in words],
        "t": pack(figure.t),
        "seconds": seconds,
        "low": low.tolist(),
        "high": high.tolist(),
        "grid": grid,
        "oblique": list(figure.eye),
        "frames": [pack(rows) for rows in frames],
        "solids": solids,
        "spots": pack(figure.places @ figure.directions.T),
        "leader": figure.leader,
        "points": dict(figure.tips),
        "bars": [*_bars(figure), *_strands(figure)],
        "arrows": [
            {"pairs": pairs, "colour": figure.colours[kind][0]}
            for kind, pairs in figure.arrows.items()
        ],
        "floors": list(_floors(figure, float(low[2]))),
        "traces": traces,
        "legend": [[each["name"], each["colour"]] for each in traces]
        + [[LEGEND[kind], figure.colours[kind][0]] for kind in figure.arrows]
        + [[name, _hex(tone)] for name, tone in MUSCLES.items() if figure.muscles],
        "ends": [[name, end] for name, end in figure.ends],
        "note": f"grid of {grid / 5:g} m; drag to turn, wheel to zoom, shift and drag to move",
        "axes": figure.directions.tolist(),
        "sections": sections,
    }


def animate(
    solution: Solution,
    path: str | Path | None = None,
    seconds: float | None = None,
    rate: float = 25,
) -> Page | None:
    """Write the moving scene as .gif, as .mp4 (extra `film`), or as .html: its `page`.

    Args:
        solution: the motion.
        path: of the file; without one the page is returned, which plays within a notebook.
        seconds: playing time, by default the motion's own but at least 2 s.
        rate: frames per second of .gif and .mp4.

    Raises:
        ValueError: another suffix, or numbers that make no film.
    """
    check_solution("animate", solution)
    if path is not None:
        check_suffix(path, FILMS)
    long = max(2.0, solution.duration) if seconds is None else seconds
    if not (0 < long < np.inf and 0 < rate < np.inf):
        raise ValueError(
            "animate: expected positive numbers of seconds and frames per second, "
            f"got {long} and {rate}"
        )
    if path is None or Path(path).suffix.lower() == ".html":
        made = page(solution, path, long)
        return made if path is None else None
    figure = stick(solution, solution.times(max(2, round(long * rate) + 1)))
    film(path, figure, long, rate)
    return None


def pack(values: Numbers, kind: str = "f4") -> list[str]:
    """Return numbers as a browser reads them: their kind, and little-endian bytes in base64."""
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return [kind, base64.b64encode(data).decode("ascii")]


def _solids(figure: Stick, triangles: int) -> tuple[list[np.ndarray], list[Cell]]:
    """Return rows of poses, place and quaternion each, and meshes that refer to them by number:
    one for all solids of a colour that move together."""
    groups: dict[tuple[int, str, float], list[Solid]] = {}
    frames: dict[int, np.ndarray] = {}
    for each in figure.solids:
        own = each.solid.colour
        key = (id(each.poses), colour_of(each), 1.0 if own is None else float(own[3]))
        if key[0] not in frames:
            frames[key[0]] = _rows(each.poses, figure.directions)
        groups.setdefault(key, []).append(each.solid)
    size = mean_cell([each.solid.corners for each in figure.solids], triangles)
    numbers = {poses: number for number, poses in enumerate(frames)}
    solids = []
    for (poses, colour, opacity), several in groups.items():
        look = {"colour": colour, "opacity": opacity, "frame": numbers[poses]}
        solids.append(_one_mesh(tuple(several), size) | look)
    return list(frames.values()), solids


@lru_cache(maxsize=128)  # from motion to motion bodies stay
def _one_mesh(several: tuple[Solid, ...], size: float) -> Cell:
    """Return several solids as one mesh, coarsened to cells of a `size` (m)."""
    meshes = [coarsen_mesh(each.corners, size) for each in several]
    starts = np.cumsum([0, *(len(places) for places, _ in meshes)])
    faces = [faces + start for (_, faces), start in zip(meshes, starts)]
    return _mesh(np.concatenate([places for places, _ in meshes]), np.concatenate(faces))


def _mesh(places: np.ndarray, faces: np.ndarray) -> Cell:
    """Return a mesh whose places are on a grid of 16 bits."""
    low, size = places.min(axis=0), np.maximum(np.ptp(places, axis=0), 1e-9)
    return {
        "low": low.round(6).tolist(),
        "size": size.round(6).tolist(),
        "places": pack(np.round((places - low) / size * 65535), "u2"),
        "faces": pack(faces, "u2" if len(places) < 65536 else "u4"),
    }


def _hex(colour: str | Sequence[float]) -> str:
    if isinstance(colour, str):
        return colour
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour[:3])


def _rows(poses: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return places and quaternions (N, 7) of poses (N, 4, 4) in the axes of a page."""
    return np.hstack([poses[:, :3, 3] @ turn.T, quaternions(turn @ poses[:, :3, :3])])


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Return the unit quaternions (..., 4), scalar first, of rotations (..., 3, 3): the largest
    eigenvectors of Bar-Itzhack's matrices (2000)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(turns, (-2, -1), (0, 1))
    rows = [
        [xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, xx - yy - zz, yx + xy, zx + xz],
        [xz - zx, yx + xy, yy - xx - zz, zy + yz],
        [yx - xy, zx + xz, zy + yz, zz - xx - yy],
    ]
    return np.linalg.eigh(np.moveaxis(np.array(rows), (0, 1), (-2, -1)))[1][..., -1]


def _traces(figure: Stick) -> Iterator[Cell]:
    """Yield the paths of the centre of mass and of few points."""
    paths = {name: figure.places[:, place] for name, place in figure.traced.items()}
    colours = dict(zip(paths, [COLOURS[k] for k in (4, 3, 5, 8, 9, 7)]))
    if figure.leader >= 0:
        paths["centre of mass"] = figure.places[:, figure.leader]
    extent = float(np.ptp(figure.places, axis=(0, 1)).max())
    for name, path in paths.items():
        if float(np.ptp(path, axis=0).max()) > 1e-3 * extent:
            places = pack(path @ figure.directions.T)
            yield {"name": name, "colour": colours.get(name, CENTRE), "places": places}


def _bars(figure: Stick) -> Iterator[Cell]:
    """Yield the bars of what has no body: links, rails and cables."""
    for kind, (colour, width) in BARS.items():
        pairs = [list(pair) for pair in figure.bars.get(kind, ())]
        yield {"pairs": pairs, "colour": colour, "radius": SLIM * width}


def _strands(figure: Stick) -> Iterator[Cell]:
    """Yield muscles as bars of two colours, with the share (N,) of the second."""
    colours = [_hex(tone) for tone in MUSCLES.values()]
    for each in figure.muscles:
        look = {"colour": colours[0], "full": colours[1], "radius": SLIM * STRAND}
        share = pack(np.clip(each.activation, 0.0, 1.0))
        yield {"pairs": [*pairwise(each.places)], "share": share} | look


def _floors(figure: Stick, lowest: float) -> Iterator[Cell]:
    """Yield the planes of the ground: one that goes on for ever, and what stands out of it."""
    turn = figure.directions
    plane = main_plane(figure.floors, turn, lowest)
    place, normal = (turn @ each for each in plane)
    x = np.cross([0.0, 1.0, 0.0], normal)
    yield _floor(x, np.cross(normal, x), place - (place @ x) * x)
    for each in figure.floors:
        if stands_out(each, plane):
            patch = each @ turn.T
            sides = patch[1] - patch[0], patch[2] - patch[1]
            half = [float(np.linalg.norm(side)) / 2 for side in sides]
            yield _floor(*sides, (patch[0] + patch[2]) / 2) | {"size": half, "solid": 1}


def _floor(along: np.ndarray, across: np.ndarray, place: np.ndarray) -> Cell:
    """Return a plane of the ground by its matrix, column by column."""
    x, y = along / np.linalg.norm(along), across / np.linalg.norm(across)
    frame = [*x, 0, *y, 0, *np.cross(x, y), 0, *place, 1]
    return {"frame": [round(float(v), 6) for v in frame], "size": [0, 0], "solid": 0}


def _words(solution: Solution) -> list[tuple[str, str]]:
    """Return the words of the page's head: status, objective, duration, verdict, what muscles
    spend, and which are not drawn."""
    words = [
        ("", "solved" if solution.success else solution.status),
        ("", f"objective {solution.objective:.6g}"),
        ("", f"duration {solution.duration:.4g} s"),
    ]
    if solution.verification is not None:
        verdict = solution.verification.verdict()
        words.append(("verdict yes" if verdict.startswith("certified") else "verdict no", verdict))
    tree = solution.problem.tree
    words += [("", f"{name} {text}") for name, text in muscle_lines(muscles_data(solution))[:1]]
    unseen = [each.name for each in muscles_of(tree) if each.name not in courses(tree)]
    if unseen:
        names = ", ".join(unseen) if len(unseen) <= FEW else f"{len(unseen)}"
        words.append(("", f"muscles without a course in space, in curves alone: {names}"))
    return words


def _sections(solution: Solution) -> list[Cell]:
    """Return the curves of a page: contact forces, then joints as the overview has them."""
    sections = [*_forces(solution)]
    profiles = sections_of(solution)
    t, traced = trace_joints(solution, [each.quantity for each in profiles])
    tree, times = solution.problem.tree, pack(t)
    styles = {
        name: (_hex(look["color"]), look["linestyle"]) for name, look in joint_styles(tree).items()
    }
    for each in profiles:
        small = needs_own_panels(solution, each)
        several = panel_pairs(each.joints) if small else [("", tuple(each.joints))]
        panels = []
        for title, joints in several:
            own = [(look["color"], look.get("linestyle", "-")) for look in looks_of(joints)]
            looks = own if small else [styles[joint.name] for joint in joints]
            names = ["right", "left"] if len(joints) == 2 else [""]
            names = names if small else [joint.name for joint in joints]
            lines = [
                _line(name, traced[each.quantity][joint.name], *look)
                for name, joint, look in zip(names, joints, looks)
            ]
            limits = _limits(solution, Profile(each.quantity, joints))
            panels.append({"title": title, "t": times, "lines": lines, "limits": limits})
        columns = 2 if small else 1
        sections.append({"title": axis_label(tree, each), "columns": columns, "panels": panels})
    return [*sections, *_states(solution)]


def _states(solution: Solution) -> Iterator[Cell]:
    """Yield the panels of states of elements, then of what drives them."""
    known = state_panels(solution)
    looks = state_looks(known)
    for each in known:
        styles = [(_hex(looks[name]["color"]), looks[name]["linestyle"]) for name in each.names]
        for label, values in zip(each.labels, each.values):
            lines = [_line(*row) for row in zip(each.names, values, *zip(*styles))]
            panel = {"title": "", "t": pack(each.t), "lines": lines, "limits": None}
            yield {"title": label, "columns": 1, "panels": [panel]}


def _line(name: str, values: np.ndarray, colour: str, dash: Numbers) -> Cell:
    drawn = [] if dash == "-" else [3 * part for part in dash[1]]
    return {"name": name, "y": pack(values), "colour": colour, "dash": drawn}


def _limits(solution: Solution, profile: Profile) -> list[float | None] | None:
    """Return the limits that the joints of a panel share, None where there are none."""
    if not is_held(solution.problem, profile.quantity):
        return None
    pairs = {getattr(joint, LIMITS[profile.quantity]) for joint in profile.joints}
    if len(pairs) > 1:
        return None
    return [float(bound) if np.isfinite(bound) else None for bound in pairs.pop()]


def _forces(solution: Solution) -> Iterator[Cell]:
    """Yield the panel of contact forces, if anything bears."""
    known = contact_strengths(solution) if contacts_of(solution) else {}
    if any(np.nan_to_num(values).any() for _, values in known.values()):
        (times, *_) = (t for t, _ in known.values())
        colours = contact_colours(known)
        lines = [_line(name, values, colours[name], "-") for name, (_, values) in known.items()]
        panel = {"title": "", "t": pack(times), "lines": lines, "limits": None}
        yield {"title": "contact force (N)", "columns": 1, "panels": [panel]}
