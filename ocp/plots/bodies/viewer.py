"""A viewer in space, in the browser: bodies, muscles, forces and time; needs the extra `view`.

It is drawn by viser (Yi et al. 2025), which serves a page to any browser.
"""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ocp.plots.bodies.animation import Stick, activation_colour
from ocp.plots.bodies.scenery import Placed
from ocp.plots.bodies.solid_triangles import Solid, coarsen_mesh
from ocp.plots.bodies.stick_figures import stick
from ocp.plots.canvas import COLOURS
from ocp.plots.scene_page import quaternions
from ocp.solution.solution import Solution
from ocp.solution.validation import check_solution
from ocp.solvers import Iteration
from ocp.version import install_hint

Viser: TypeAlias = Any  # of the optional package viser

HOST, PORT, RATE = "127.0.0.1", 8080, 25  # frames a second
LAST_PORT = 65535
FRAMES = 101  # of a motion, as it is shown
SHORTEST = 1e-3  # m: arrows that are shown
CELLS = 96  # of a mesh, along its longest side
THICK, SHAFT, HEAD, STRAND = 0.006, 0.008, 0.02, 0.004  # of the extent: bars, arrows, muscles
BODY, STILL, FLOOR = 0.55, 0.9, 0.5  # opacity of what has no colour of its own
VEIL = 0.45  # opacity, at most, of bodies that forces push, which run up within them
EARTH, GREY = (190, 178, 160), (140, 140, 140)
GAMMA = 2.2  # of screens: viser takes colours of lines' ends as amounts of light
AWAY = 1.25  # times the extent: how far the eye is
SHARE = 0.2  # of a solve's time, at most, that showing its iterates takes


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands in a scene: the `figure` in space, handles of its moving `bodies`, of its `bars`,
    of `arrows` by kind and of its `muscles`."""

    figure: Stick
    bodies: Sequence[tuple[Placed, Viser]]
    bars: Viser
    arrows: dict[str, Viser]
    muscles: Viser

    def at(self, k: int) -> None:
        """Move all to instant k."""
        for placed, handle in self.bodies:
            pose = placed.poses[k]
            handle.position, handle.wxyz = pose[:3, 3], quaternions(pose[:3, :3])
        if self.bars is not None:
            self.bars.points = _segments(self.figure, "link", k)
        if self.muscles is not None:
            self.muscles.points, self.muscles.colors = _strands(self.figure, k)
        for kind, handle in self.arrows.items():
            ends = _segments(self.figure, kind, k)
            long = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) > SHORTEST
            handle.visible = bool(long.any())
            if handle.visible:
                handle.points = ends[long]


class Viewer:
    """A page at `url` that shows motions: `show` one, `watch` a solve, `stay` while someone looks.

    `host` and `port` are where it is served: this machine alone unless the host says otherwise.
    Raises ValueError where the extra `view` is not installed.
    """

    def __init__(self, host: str = HOST, port: int = PORT) -> None:
        self.server: Viser = _start_server(host, port)
        self.url = f"http://{host}:{self.server.get_port()}"
        self.shown: Shown | None = None
        self.spent, self.began = 0.0, time.monotonic()
        gui = self.server.gui
        self.words = gui.add_markdown("")
        self.clock = gui.add_slider("time (s)", min=0.0, max=1.0, step=1e-4, initial_value=0.0)
        self.plays = gui.add_checkbox("play", initial_value=True)
        self.speed = gui.add_slider("speed", min=0.1, max=2.0, step=0.1, initial_value=1.0)
        self.clock.on_update(lambda _: self._turn())

    def show(self, solution: Solution, words: str = "") -> None:
        """Show a motion, with `words` of markdown beside it, in place of what is shown."""
        check_solution("show", solution)
        figure = stick(solution, solution.times(FRAMES))
        with self.server.atomic():
            self.server.scene.reset()
            self.shown = build_scene(self.server, figure, _upward(solution), CELLS)
        self.words.content = words or f"{solution.status}, objective {solution.objective:.6g}"
        self.clock.value = min(float(self.clock.value), solution.duration)
        self.clock.max = solution.duration
        self._turn()

    def watch(self, iteration: Iteration) -> None:
        """Show the motion that a solver has arrived at: a `watch` of `solve`.

        It takes at most a fifth of the solver's time.
        """
        begin = time.monotonic()
        if iteration.motion is None or self.spent > SHARE * (begin - self.began):
            return
        self.show(
            iteration.motion(),
            f"iteration {iteration.number}, objective {iteration.objective:.6g}, "
            f"violation {iteration.violation:.1e}",
        )
        self.spent += time.monotonic() - begin

    def stay(self, seconds: float = np.inf) -> None:
        """Play the motion for so many `seconds` (s), or until Ctrl-C, and serve no more."""
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                time.sleep(1 / RATE)
                if self.plays.value and self.shown is not None:
                    step = float(self.speed.value) / RATE
                    whole = float(self.shown.figure.t[-1])
                    self.clock.value = (float(self.clock.value) + step) % whole
                    self._turn()
        except KeyboardInterrupt:
            return
        finally:
            self.close()

    def close(self) -> None:
        """Serve no more."""
        _stop_server(self.server)

    def _turn(self) -> None:
        if self.shown is not None:
            with self.server.atomic():
                times = self.shown.figure.t
                self.shown.at(int(np.abs(times - float(self.clock.value)).argmin()))


def build_scene(server: Viser, figure: Stick, up: np.ndarray, cells: int) -> Shown:
    """Fill a server's scene with a figure in space, its meshes on a grid of so many cells; return
    what moves."""
    scene, seen = server.scene, figure.extremes
    low, high = seen.min(axis=0), seen.max(axis=0)
    extent, middle = float((high - low).max()) or 1.0, (low + high) / 2
    scene.set_up_direction(tuple(up))
    server.initial_camera.look_at = tuple(middle)
    server.initial_camera.position = tuple(middle + AWAY * extent * _aside(up, high - low))
    for k, floor in enumerate(figure.floors):
        corners = floor[np.array([[0, 1, 2], [0, 2, 3]])]
        _mesh(scene, f"/ground/{k}", Solid(link=-1, corners=corners), (EARTH, FLOOR), cells)
    bodies = []
    for k, each in enumerate(figure.solids):
        look = (GREY, STILL) if each.still else (_rgb(COLOURS[5]), BODY)
        most = VEIL if figure.arrows and not each.still else 1.0
        handle = _mesh(scene, f"/bodies/{k}", each.solid, look, cells, most)
        if not each.still:
            bodies.append((each, handle))
    bars = None
    if figure.bars["link"]:
        bars = scene.add_line_segments(
            "/bars", _segments(figure, "link", 0), colors=_rgb(COLOURS[0]), thickness=THICK * extent
        )
    arrows = {
        kind: scene.add_arrows(
            f"/{kind}",
            _segments(figure, kind, 0),
            colors=_rgb(figure.colours[kind][0]),
            shaft_radius=SHAFT * extent,
            head_radius=HEAD * extent,
            head_length=2 * HEAD * extent,
        )
        for kind in figure.arrows
    }
    muscles = None
    if figure.muscles:
        ends, colours = _strands(figure, 0)
        muscles = scene.add_line_segments(
            "/muscles", ends, colors=colours, thickness=STRAND * extent
        )
    return Shown(figure, bodies, bars, arrows, muscles)


def _mesh(
    scene: Viser,
    name: str,
    solid: Solid,
    look: tuple[str | Sequence[float], float],
    cells: int,
    most: float = 1.0,
) -> Viser:
    places, faces = coarsen_mesh(
        solid.corners, float(np.ptp(solid.corners, axis=(0, 1)).max()) / cells
    )
    own = solid.colour
    colour, opacity = look if own is None else (tuple(round(255 * v) for v in own[:3]), own[3])
    opacity = min(opacity, most)
    return scene.add_mesh_simple(
        name,
        places.astype(np.float32),
        faces.astype(np.uint32),
        color=colour,
        opacity=None if opacity >= 1 else opacity,
        side="double",
        flat_shading=False,
    )


def _segments(figure: Stick, kind: str, k: int) -> np.ndarray:
    """Return the ends (S, 2, 3; m) of bars or arrows of a kind at instant k."""
    pairs = figure.bars.get(kind) or figure.arrows.get(kind, ())
    return figure.places[k][np.array(pairs)].astype(np.float32)


def _strands(figure: Stick, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends (S, 2, 3; m) of the pieces of muscles at instant k, and their colours there,
    as active as they are."""
    ends = [list(pairwise(muscle.places)) for muscle in figure.muscles]
    tones = [activation_colour(float(muscle.activation[k])) for muscle in figure.muscles]
    colours = np.repeat(tones, [2 * len(pairs) for pairs in ends], axis=0)
    places = figure.places[k][np.concatenate(ends)].astype(np.float32)
    return places, np.round(255 * colours**GAMMA).astype(np.uint8).reshape(-1, 2, 3)


def _upward(solution: Solution) -> np.ndarray:
    """Return the unit vector (3,) against gravity, z where there is none."""
    gravity = np.array(solution.problem.tree.gravity, dtype=float)
    return -gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, 1.0])


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


def _aside(up: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the unit vector (3,) from what is looked at to the eye: mostly along its shortest side
    across, and somewhat above it."""
    level = size + np.abs(up) * (1 + size.max())
    across = np.eye(3)[level.argmin()]
    along = np.cross(up, across)
    way = across + 0.6 * along + 0.4 * up
    return way / np.linalg.norm(way)


def _start_server(host: str, port: int) -> Viser:
    """Return a server, which says nothing; raise ValueError where the extra is not installed."""
    _check_place(host, port)
    try:
        import viser
    except ImportError:
        raise ValueError(f"the viewer needs viser: {install_hint('view')}") from None
    with redirect_stdout(io.StringIO()):
        return viser.ViserServer(host=host, port=port, verbose=False)


def _check_place(host: str, port: int) -> None:
    """Raise ValueError for a port that is none, and for a host that is not of this machine, for
    which viser would wait for ever."""
    if not 0 <= port <= LAST_PORT:
        raise ValueError(f"port: expected a number of 0 to {LAST_PORT}, got {port}")
    try:
        family, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as place:
            place.bind(address)
    except OSError as error:
        raise ValueError(f"host {host!r}: cannot be served from here: {error.strerror}") from None


def _stop_server(server: Viser) -> None:
    with redirect_stdout(io.StringIO()):
        server.stop()
