"""Solids and meshes that show links in pictures; they carry no force."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import freeze, numbers, rigid_pose, set_fields
from ocp.spelling import suggest_fields

SIZES = {  # what the numbers of a kind's size are, in order
    "box": ("length along x", "length along y", "length along z"),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "ellipsoid": ("radius along x", "radius along y", "radius along z"),
    "mesh": ("scale along x", "scale along y", "scale along z"),
    "loft": ("height", "centre x", "centre y", "radius x", "radius y", "roundness"),
}


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Visual:
    """A solid or a mesh that shows a link, at a `pose` (4x4) in the link's frame.

    `kind` is "box" (`size`: lengths along x, y, z), "sphere" (radius), "cylinder" or "capsule"
    (radius, length along z, of a capsule without its caps), "ellipsoid" (radii along x, y, z; all
    in m), "mesh": the file at `path`, in its own units times `size` (three scales, which may mirror
    it), or "loft": a skin over sections across z, rows (k, 6) of their height, centre x and y,
    radii x and y (all in m) and the power p of |x|^p + |y|^p = 1, an ellipse with 2. `colour` is
    red, green, blue and opacity, of 0 to 1 each; None where none is given. Scenery may be borne
    `between` two points: its frame is midway, x from the first to the second, z upward. Raises
    ValueError naming the kind and what is wrong.
    """

    kind: str
    size: Numbers = (1.0, 1.0, 1.0)
    path: str = ""
    pose: Numbers = (
        (1.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 1.0),
    )
    colour: Sequence[float] | None = None
    between: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.kind not in SIZES:
            raise ValueError(f"visual: kind: expected one of {', '.join(SIZES)}, got {self.kind!r}")
        label, words = f"visual {self.kind}", SIZES[self.kind]
        set_fields(self, size=freeze(_size(label, words, self.size)))
        set_fields(self, pose=freeze(rigid_pose(f"{label}: pose", self.pose)))
        if not isinstance(self.path, str) or bool(self.path) != (self.kind == "mesh"):
            wanted = "the file of the mesh" if self.kind == "mesh" else "none"
            raise ValueError(f"{label}: path: expected {wanted}, got {self.path!r}")
        set_fields(self, between=tuple(self.between))
        if len({*self.between}) not in (0, 2) or isinstance(self.between, str):
            raise ValueError(f"{label}: between: expected two points, got {self.between!r}")
        if self.colour is not None:
            colour = numbers(f"{label}: colour", self.colour, (4,))
            if (colour < 0).any() or (colour > 1).any():
                raise ValueError(
                    f"{label}: colour: expected red, green, blue and opacity of 0 to 1, got "
                    f"{colour.tolist()}"
                )
            set_fields(self, colour=freeze(colour))


def _size(label: str, words: Sequence[str], size: Numbers) -> np.ndarray:
    if label == "visual loft":
        return _sections(label, words, size)
    entries = numbers(f"{label}: size ({', '.join(words)})", size, (len(words),))
    wrong = entries == 0 if words[0].startswith("scale") else entries <= 0
    if wrong.any():
        raise ValueError(
            f"{label}: {words[int(np.argmax(wrong))]}: expected a number "
            f"{'other than' if words[0].startswith('scale') else 'above'} 0, got "
            f"{entries[wrong][0]:g}"
        )
    return entries


def _sections(label: str, words: Sequence[str], size: Numbers) -> np.ndarray:
    count = len(size) if isinstance(size, Sequence | np.ndarray) else 0
    rows = numbers(f"{label}: size (rows of {', '.join(words)})", size, (count, len(words)))
    if count < 2 or not ((np.diff(rows[:, 0]) > 0).all() and (rows[:, 3:] > 0).all()):
        raise ValueError(
            f"{label}: expected two or more sections of rising height, with radii and roundness "
            f"above 0, got {rows.tolist()}"
        )
    return rows
