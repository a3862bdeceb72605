"""A solved (or unsolved) motion as a value: curves, torques, reactions, multipliers, statistics; and its file."""
import io
import json
import os
import platform
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.dynamics import CHOICES, FORMULATIONS
from ocp.graph import trace, trace_joined
from ocp.ground import Foot, Ground, Pin, Support, slots
from ocp.layout import cuts, drives, internal, kernel_inputs
from ocp.loops import loop_loads
from ocp.mesh import Mesh, between, motion_of
from ocp.modes import Curve, Modes, Place
from ocp.nlp import Iteration
from ocp.problem import Objective, Problem, determined
from ocp.rows import Multipliers
from ocp.transcribe import Transcription
from ocp.tree import Joint, Link, Load, Loop, Point, Tree
from ocp.version import VERSION

FORMAT = "ocp solution 1"


class NotSolved(RuntimeError):
    """Raised by Solution.require when the solver did not converge; the message says where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The answer to a problem: control points (n, points), duration (s), and everything known of how they were found.

    Where torques and ground wrenches were variables, `lifted` (width, N) holds them at the `nodes` (N,). `multipliers` by constraint name;
    `terms` of the objective as (name, weight, value); `statistics` in plain numbers; `history` of
    Iterations; `explanation` lines when the solver failed; `verification` when it was asked for (files do not keep
    it). Times given to the methods are in s, a number or an array (N,).
    """

    problem: Problem
    transcription: Transcription
    points: np.ndarray
    duration: float
    objective: float
    terms: tuple
    status: str
    success: bool
    multipliers: Mapping
    statistics: Mapping
    nodes: np.ndarray = field(default_factory=lambda: np.empty(0))
    lifted: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    history: tuple = ()
    explanation: tuple = ()
    verification: object = None

    def q(self, t):
        """Return the coordinates (n,) or (n, N), rad or m."""
        return self.trace(lambda at: at.q, t)

    def qd(self, t):
        """Return the rates (n,) or (n, N), rad/s or m/s."""
        return self.trace(lambda at: at.qd, t)

    def qdd(self, t):
        """Return the accelerations (n,) or (n, N), rad/s2 or m/s2."""
        return self.trace(lambda at: at.qdd, t)

    def tau(self, t):
        """Return the joint torques or forces (n,) or (n, N), N m or N."""
        return self.trace(lambda at: at.tau, t)

    def loop_forces(self, t):
        """Return what the cut joints pass, (m,) or (m, N), N and N m, row by row as `ocp.loops.labels`: the force and moment on a loop's end."""
        return self.trace(lambda at: at.loop_forces, t)

    def reactions(self, t):
        """Return force (3, links) or (3, links, N) and moment, likewise, that each joint passes to its link, in the link's axes.

        They are the Newton-Euler ones whatever the formulation of the solve (Barman 2020, step 9), the ground's wrenches and the forces of
        cut joints being loads; the moment is about the anchor. With flexible links they are those of `ocp.dynamics.book`.
        """
        passed = FORMULATIONS["book" if self.problem.tree.flexible else "newton_euler"].reactions

        def both(at):
            tree, loads = _held(at)
            return ca.vertcat(*passed(tree, at.q, at.qd, at.qdd, loads))

        stacked = self.trace(both, t)                        # 3 forces and 3 moments, link by link
        shape = (6, len(self.problem.tree.joints), *np.shape(t))
        force_and_moment = stacked.reshape(shape, order="F")
        return force_and_moment[:3], force_and_moment[3:]

    def trace(self, function, t):
        """Return function(Instant), a vector of m entries, along the motion: (m,) or (m, N).

        Torques are those that the motion needs, or where they are polynomials of their own, these. Ground wrenches that were variables at
        nodes run straight between them, hold after the last, and are corrected to balance the motion exactly.
        """
        s = np.atleast_1d(np.asarray(t, dtype=float)) / self.duration
        if not ((s >= -1e-9) & (s <= 1 + 1e-9)).all():
            raise ValueError(f"time: expected within 0 and {self.duration:g} s, got {np.min(t):g} to {np.max(t):g} s")
        s = np.clip(s, 0.0, 1.0)
        values = trace(self.problem, self.transcription.dynamics, function, self._lifts)(self._inputs(s), s)
        return values if np.ndim(t) else values[:, 0]

    def trace_ends(self, function):
        """Return function(Instant at the start, Instant at the end), (m,)."""
        ends = self._inputs(np.array([0.0, 1.0]))
        return trace_joined(self.problem, self.transcription.dynamics, function, self._lifts)(ends.T.reshape(-1, 1))

    @property
    def stands(self):
        """Tell whether ground wrenches were variables."""
        return self.problem.ground is not None and len(self.nodes) > 0

    @property
    def _told(self):
        """The rows of what is lifted that hold forces of cut joints which nothing else determines."""
        first = len(drives(self.problem.tree))
        return slice(first, first if determined(self.problem.tree) else first + len(cuts(self.problem.tree)))

    @property
    def _lifts(self):
        """What the inputs of a trace end with: torques that are polynomials of their own, wrenches that were variables, or nothing."""
        if isinstance(self.problem.motion, Mesh):
            return "variables"
        return "given" if self.stands or not determined(self.problem.tree) else None

    def wrenches(self):
        """Return {foot: moment about the origin and force (6, N)} at the nodes, as they were found (N m, N)."""
        if not self.stands:
            raise ValueError("wrenches: of this solution no ground wrenches were variables")
        found, first = {}, internal(self.problem.tree)
        for k, (name, _) in enumerate(slots(self.problem.ground)):
            moment, force = np.split(self.lifted[first + 6 * k:first + 6 * k + 6], 2)
            center = np.array(self.problem.ground.foot(name).center)
            found[name] = found.get(name, 0.0) + np.vstack([moment + np.cross(center, force.T).T, force])
        return found

    def _inputs(self, s):
        y = kernel_inputs(self.problem, self.points, self.duration, s)
        if self._lifts == "variables":
            return np.vstack([y, self.lifted @ between(self.problem.motion, s).T])
        lines = [*self.lifted[self._told], *np.vstack([np.empty((0, len(self.nodes))), *(self.wrenches().values() if self.stands else ())])]
        return np.vstack([y, *(np.interp(s, self.nodes, line) for line in lines)])

    def times(self, count=201):
        """Return `count` equally spaced times (s) over the motion."""
        return np.linspace(0.0, self.duration, count)

    def require(self):
        """Return self if the solver converged; raise NotSolved with the explanation otherwise."""
        if not self.success:
            raise NotSolved("\n".join([f"not solved: {self.status}", *self.explanation]))
        return self

    def save(self, path):
        """Write one .npz file, whole or not at all: arrays, and under `header` a JSON text that says what they are."""
        buffer, t = io.BytesIO(), self.times()
        arrays = {"header": np.array(json.dumps(_header(self))), "points": self.points, "t": t, "q": self.q(t), "qd": self.qd(t),
                  "qdd": self.qdd(t), "tau": self.tau(t), "nodes": self.nodes, "lifted": self.lifted,
                  "history": np.array([[step.number, step.objective, step.violation, step.seconds] for step in self.history])}
        for k, multipliers in enumerate(self.multipliers.values()):
            arrays |= {f"multipliers_{k}_s": multipliers.s, f"multipliers_{k}_values": multipliers.values}
        np.savez_compressed(buffer, **arrays)
        write(path, buffer.getvalue())


def load(path, problem=None):
    """Read a Solution from its file; `problem` gives it back its constraints and objective, which a file cannot hold.

    Raises ValueError naming the file if it is no result, is damaged, or belongs to a model with other joints than the problem's.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']!r}")
        return _restore(header, arrays, problem)
    except _OtherModel as error:
        raise ValueError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not a result file of this program, or damaged ({error})") from None


def check_writable(path):
    """Raise OSError naming the path unless a file can be written there; nothing is left behind."""
    path = Path(path)
    if path.is_dir():
        raise OSError(f"{path}: is a directory, expected a file name")
    if not path.parent.is_dir():
        raise OSError(f"{path}: folder {path.parent} does not exist")
    if path.exists() and not os.access(path, os.W_OK):
        raise OSError(f"{path}: exists and cannot be overwritten")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(f"{path}: cannot write in folder {path.parent}: {error.strerror}") from None


def write(path, content):
    """Write bytes or text to a file, whole or not at all."""
    check_writable(path)
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def versions():
    """Return the versions that a result depends on."""
    return {"ocp": VERSION, "casadi": ca.__version__, "numpy": np.__version__, "python": platform.python_version()}


class _OtherModel(Exception):
    pass


def _held(at):
    """Return the instant's tree, with a point at the origin of each link on the ground, and its loads with the ground's among them."""
    loads, wrenches = [load.at(at.t) for load in at.loads], {} if at.ground is None else at.reaction.wrenches
    loads += loop_loads(at.tree, at.q, at.loop_forces) if at.tree.loops else ()
    for (_, link), (moment, force) in wrenches.items():
        arm = at.frames[at.tree.link_index(link)][:3, 3]
        loads.append(Load(point=f"origin of {link}", force=force, moment=moment - ca.cross(arm, force)))
    origins = [Point(name=f"origin of {link}", link=link) for link in dict.fromkeys(link for _, link in wrenches)]
    return replace(at.tree, points=(*at.tree.points, *origins)), tuple(loads)


def _header(solution):
    problem, transcription = solution.problem, solution.transcription
    loads = [None if callable(load.force) or callable(load.moment) else asdict(load) for load in problem.loads]
    return _plain({
        "format": FORMAT, "versions": versions(), "status": solution.status, "success": solution.success, "duration": solution.duration,
        "objective": solution.objective, "terms": solution.terms, "statistics": dict(solution.statistics),
        "explanation": solution.explanation, "tree": asdict(problem.tree), "motion": asdict(problem.motion), "loads": loads,
        "ground": None if problem.ground is None else asdict(problem.ground), "cyclic": problem.cyclic,
        "transcription": asdict(transcription) | {"dynamics": transcription.dynamics.name},
        "multipliers": [[name, multipliers.labels] for name, multipliers in solution.multipliers.items()],
        "joints": [joint.name for joint in problem.tree.moving],
        "arrays": {"t": "s", "q": "rad or m", "qd": "rad/s or m/s", "qdd": "rad/s2 or m/s2", "tau": "N m or N",
                   "points": "control points (joints, points), rad or m",
                   "history": "iteration, objective, largest violation, seconds"},
    })


def _plain(value):
    """Return JSON-ready data; infinities become the strings "inf" and "-inf", which the records read back."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    number = float(value)
    return number if np.isfinite(number) else str(number)


def _restore(header, arrays, problem):
    tree = _tree(header["tree"])
    if problem is None:
        loads = tuple(Load(**load) for load in header["loads"] if load is not None)
        problem = Problem(tree=tree, motion=motion_of(header["motion"]), duration=header["duration"], objective=Objective(terms=()),
                          loads=loads, ground=_ground(header["ground"]), cyclic=header["cyclic"])
    names = [joint.name for joint in problem.tree.moving]
    if names != header["joints"]:
        raise _OtherModel(f"belongs to another model: its joints are {', '.join(header['joints'])}; expected {', '.join(names)}")
    motion = motion_of(header["motion"])
    if motion != problem.motion:
        problem = replace(problem, motion=motion)
    settings = header["transcription"]
    if settings["dynamics"] not in CHOICES:
        settings["dynamics"] = "auto"
    points = arrays["points"]
    if points.shape != (len(names), motion.points) or not np.isfinite(points).all():
        raise ValueError(f"control points of shape {points.shape}, expected finite ones of shape {(len(names), motion.points)}")
    multipliers = {name: Multipliers(s=arrays[f"multipliers_{k}_s"], labels=tuple(labels), values=arrays[f"multipliers_{k}_values"])
                   for k, (name, labels) in enumerate(header["multipliers"])}
    history = tuple(Iteration(number=int(line[0]), objective=float(line[1]), violation=float(line[2]), seconds=float(line[3]))
                    for line in arrays["history"])
    return Solution(
        problem=problem, transcription=Transcription(**settings), points=points, duration=float(header["duration"]),
        nodes=arrays["nodes"], lifted=arrays["lifted"], objective=float(header["objective"]),
        terms=tuple(tuple(term) for term in header["terms"]), status=header["status"],
        success=header["success"], multipliers=multipliers, statistics=header["statistics"], history=history,
        explanation=tuple(header["explanation"]))


def _tree(data):
    links = tuple(Link(**link | {"modes": _modes(link.get("modes"))}) for link in data["links"])
    return Tree(links=links, joints=tuple(Joint(**joint) for joint in data["joints"]),
                points=tuple(Point(**point) for point in data["points"]), loops=tuple(Loop(**loop) for loop in data["loops"]),
                gravity=data["gravity"])


def _modes(data):
    if data is None:
        return None
    curves = tuple(Curve(about=curve["about"], value=tuple(curve["value"]), slope=tuple(curve["slope"])) for curve in data["curves"])
    return Modes(**data | {"places": tuple(Place(**place) for place in data["places"]), "curves": curves})


def _ground(data):
    if data is None:
        return None
    feet = []
    for foot in data["feet"]:
        supports = [Support(**support | {"pins": tuple(Pin(**pin) for pin in support["pins"])}) for support in foot["supports"]]
        feet.append(Foot(**foot | {"supports": tuple(supports), "bears": tuple(float(end) for end in foot["bears"])}))
    return Ground(feet=tuple(feet), normal=data["normal"])
