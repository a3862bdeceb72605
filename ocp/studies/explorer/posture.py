"""Postures of a model from a file: joints move within their limits, and nothing is solved."""

import math
import re
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.certificate.contact_violations import polygon_margin
from ocp.interchange import load_model
from ocp.mechanics.kinematics.kinematics import center_of_mass, positions
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree
from ocp.plots import scene_data, still_motion
from ocp.studies.store.argument_flags import Keywords

MODELS = (".urdf", ".xacro", ".xml", ".mjcf", ".osim")  # endings of files that are models
SOLE = "sole: "  # a switch of a link that may have one
WHOLE = {False: math.pi, True: 1.0}  # rad and m: either way, of joints without limits
BROUGHT = 10_000_000  # bytes of a file that a page brings
MESH = re.compile(rb"""filename\s*=\s*("[^"]*"|'[^']*')""")
LOWEST = 1e-3  # m: soles no more than that above the lowest one bear


@dataclass(kw_only=True)
class Posed:
    """The model of a file at a `path`, on the `soles` of some links: what its page moves and says.

    The `content` is that of a file that a page brought, which is at no place. Raises ValueError
    where the file is no model.
    """

    path: Path
    content: bytes | None = None
    soles: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = self._read(())

    def _read(self, soles: tuple[str, ...]) -> Tree:
        """Return the tree on the soles of some links; a file that was brought is read alone."""
        with warnings.catch_warnings(record=True) as told, tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("always")
            if self.content is None:
                tree = load_model(self.path, soles=soles)
            else:
                path = Path(folder) / self.path
                path.write_bytes(self.content)
                tree = _without_meshes(load_model(path, soles=soles))
        self.remarks = [f"{each.message}" for each in told]
        return tree

    @property
    def sliding(self) -> dict[str, tuple[int, Joint]]:
        """The joints that move, {name: (row of q, Joint)}, but for balls and states of elements."""
        rows = enumerate(self.tree.moving)
        simple = {k: each for k, each in rows if not each.ball and each.kind != "state"}
        return {each.name: (k, each) for k, each in simple.items()}

    @cached_property
    def feet(self) -> tuple[str, ...]:
        """Names of the links at the ends of branches, of files whose soles are found."""
        if self.path.suffix.lower() not in (".urdf", ".xacro"):
            return ()
        names = enumerate(self.tree.link_names)
        return tuple(name for k, name in names if k not in self.tree.parents)

    def message(self) -> Keywords:
        """Return the message on a model: sliders within its joints' limits, links with soles."""
        sliders = []
        for name, (row, joint) in self.sliding.items():
            slides = joint.kind in ("prismatic", "screw")
            far = WHOLE[slides]
            least, most = (end if math.isfinite(end) else None for end in joint.position)
            ends = {"least": least, "most": most}
            lower, upper = max(joint.position[0], -far), min(joint.position[1], far)
            value = min(max(self.tree.neutral[row], lower), upper)
            unit = "m" if slides else "rad"
            ends |= {"lower": lower, "upper": upper, "value": value}
            sliders.append({"name": name, "unit": unit} | ends)
        switches = [
            {"name": SOLE + name, "value": False, "words": (), "whole": False} for name in self.feet
        ]
        parts = {"flags": [], "files": [], "pushed": [], "model": self.path.name}
        return parts | {"sliders": sliders, "switches": switches}

    def answer(self, values: Mapping[str, float], switched: Keywords) -> Keywords:
        """Return the message on a posture: its scene, and what is known of it."""
        soles = tuple(name for name in self.feet if switched.get(SOLE + name))
        if soles != self.soles:
            self.soles, self.tree = soles, self._read(soles)
        q = self._coordinates(values)
        known = self._facts(q)
        card = [[name, f"{float(link.mass):.4g} kg"] for name, link in self._heavy().items()]
        return {
            "status": "solved",
            "values": dict(values),
            "switched": switched,
            "pushed": False,
            "lines": self.remarks[:6],
            "facts": known,
            "card": [["masses", ""], *card],
            "script": "\n".join(
                ["from ocp import load_model", "", f"tree = load_model({self.path.name!r})"]
            ),
        }

    def scene(self, values: Mapping[str, float], triangles: int) -> Keywords:
        """Return the scene of a posture, as the player takes it, without curves."""
        scene = scene_data(
            still_motion(self.tree, self._coordinates(values)),
            title=self.path.name,
            triangles=triangles,
        )
        spots = self._spots(self._coordinates(values)) @ np.array(scene["axes"]).T
        return scene | {"sections": [], "traces": [], "legend": [], "marks": spots.tolist()}

    def _coordinates(self, values: Mapping[str, float]) -> np.ndarray:
        """Return q (n,) of values by the joints' names."""
        q = np.array(self.tree.neutral)
        for name, (row, _) in self.sliding.items():
            q[row] = values[name]
        return q

    def _spots(self, q: np.ndarray) -> np.ndarray:
        """Return the places (k, 3; m) of the soles' points."""
        names = [point.name for point in self.tree.points if point.link in self.soles]
        places = positions(self.tree, ca.DM(q), names) if names else ()
        return np.array([np.array(place).ravel() for place in places]).reshape(-1, 3)

    def _heavy(self) -> dict:
        """Return {name: link} of the links with a mass."""
        pairs = zip(self.tree.link_names, self.tree.links)
        return {name: link for name, link in pairs if float(link.mass)}

    def _facts(self, q: np.ndarray) -> list[list[str]]:
        """Return (name, text) of what a posture is."""
        tree, links = self.tree, self._heavy()
        total = sum(float(link.mass) for link in links.values())
        known = [
            ["links with a mass", f"{len(links)}"],
            ["coordinates", f"{tree.dof}"],
            ["mass", f"{total:.4g} kg"],
        ]
        if not links:
            return known
        centre = np.array(center_of_mass(tree, ca.DM(q))).ravel()
        known.append(["centre of mass", ", ".join(f"{part:.3f}" for part in centre) + " m"])
        spots = self._spots(q)
        if not len(spots):
            return known
        up = -np.array(tree.gravity, dtype=float)
        up = up / np.linalg.norm(up) if up.any() else np.array([0.0, 0.0, 1.0])
        heights = spots @ up
        low = spots[heights < heights.min() + LOWEST]
        known.append(["sole points, that bear", f"{len(spots)}, {len(low)}"])
        if len(low) > 2:
            beneath = centre + (float((low @ up).mean()) - centre @ up) * up
            room = float(polygon_margin(low, beneath[:, None], up.tolist())[0])
            where = "within the soles" if room >= 0 else "off the soles"
            known.append(["centre of mass", f"{where} by {1000 * abs(room):.0f} mm"])
        return known


def is_model(name: str) -> bool:
    """Tell whether a name is that of a model's file."""
    return Path(name).suffix.lower() in MODELS


def brought_model(name: str, content: bytes) -> Posed:
    """Return the model of a URDF that a page brings: data alone.

    No macros are expanded, no entities read and no other file: bodies of meshes stay out.

    Raises ValueError for a file that is none, or too large.
    """
    stem = re.sub(r"\W+", "_", Path(name).stem) or "model"
    if Path(name).suffix.lower() != ".urdf":
        raise ValueError(f"{name}: expected a file named .urdf")
    if len(content) > BROUGHT:
        raise ValueError(f"{name}: it has more than {BROUGHT / 1e6:g} MB")
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError(f"{name}: a model of one's own has no document type, nor entities")
    return Posed(path=Path(f"{stem}.urdf"), content=MESH.sub(b'filename="none.stl"', content))


def _without_meshes(tree: Tree) -> Tree:
    """Return a tree whose bodies are rods of their mass where some of them would be meshes."""
    if not any(visual.kind == "mesh" for link in tree.links for visual in link.visuals):
        return tree
    return replace(tree, links=tuple(replace(link, visuals=()) for link in tree.links))
