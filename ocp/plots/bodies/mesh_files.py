"""Files of meshes as triangles: STL, written in words or in bytes, OBJ, COLLADA with its colours,
and polygons of VTK in words."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from ocp.storage.atomic_files import bytes_of

HEADER, RECORD = 84, 50  # bytes of STL: before the triangles, and of each
BOUND = "instance_material"
Triangles = np.ndarray  # (F, 3, 3)
Colour = tuple[float, ...] | None  # red, green, blue and opacity; None where a file states none
Part = tuple[Triangles, Colour]
Known = Mapping[str, ElementTree.Element]  # elements by their "#id"


def mesh_parts(path: str | Path) -> tuple[Part, ...]:
    """Return the triangles (F, 3, 3) of a mesh by their colours, in the file's own units.

    Raises ValueError naming the file if it is none of .stl, .obj, .dae and .vtp, no regular file,
    or holds no triangles; OSError if it cannot be read.
    """
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: expected a mesh as one of {', '.join(READERS)}")
    data = bytes_of(path)
    try:
        parts = tuple(reader(data))
    except (ValueError, IndexError, KeyError, ElementTree.ParseError) as error:
        raise ValueError(f"{path}: not a mesh: {error}") from None
    count = sum(len(faces) for faces, _ in parts)
    if not count or not all(np.isfinite(faces).all() for faces, _ in parts):
        raise ValueError(f"{path}: not a mesh: {count} triangles of finite corners")
    return parts


def _stl(data: bytes) -> Iterator[Part]:
    """Yield the triangles of STL; in bytes its size is what the count of triangles says."""
    count = int.from_bytes(data[80:HEADER], "little")
    if len(data) >= HEADER + RECORD * count and len(data) > HEADER:
        kind = np.dtype([("numbers", "<f4", (4, 3)), ("attribute", "<u2")])
        yield np.frombuffer(data, kind, count, HEADER)["numbers"][:, 1:].astype(float), None
        return
    words = data.decode("ascii", "replace").split()
    corners = [words[k + 1 : k + 4] for k, word in enumerate(words) if word == "vertex"]
    yield np.array(corners, dtype=float).reshape(-1, 3, 3), None


def _obj(data: bytes) -> Iterator[Part]:
    """Yield the triangles of OBJ, polygons as fans of them."""
    corners: list[list[float]] = []
    faces: list[list[int]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        kind, *words = line.split() or [""]
        if kind == "v":
            corners.append([float(word) for word in words[:3]])
        elif kind == "f":
            known = [int(word.partition("/")[0]) for word in words]
            ring = [number - 1 if number > 0 else len(corners) + number for number in known]
            faces += ([ring[0], a, b] for a, b in pairwise(ring[1:]))
    rings = np.array(faces, dtype=int).reshape(-1, 3)
    yield np.array(corners, dtype=float).reshape(-1, 3)[rings], None


def _vtp(data: bytes) -> Iterator[Part]:
    """Yield the triangles of VTK's polygons, fans of them, and of its strips."""
    root = ElementTree.fromstring(data)
    for piece in root.iterfind("PolyData/Piece"):
        corners = _vtk_numbers(piece.find("Points/DataArray")).reshape(-1, 3)
        faces: list[tuple[int, int, int]] = []
        for kind in ("Polys", "Strips"):
            arrays = {each.get("Name"): each for each in piece.iterfind(f"{kind}/DataArray")}
            order = _vtk_numbers(arrays.get("connectivity")).astype(int)
            ends = _vtk_numbers(arrays.get("offsets")).astype(int)
            for ring in np.split(order, ends[:-1]) if len(ends) else ():
                if kind == "Polys":
                    faces += [(ring[0], a, b) for a, b in pairwise(ring[1:])]
                else:  # every other triangle of a strip is turned round
                    strips = enumerate(zip(ring, ring[1:], ring[2:]))
                    faces += [(b, a, c) if k % 2 else (a, b, c) for k, (a, b, c) in strips]
        yield corners[np.array(faces, dtype=int).reshape(-1, 3)], None


def _vtk_numbers(array: ElementTree.Element | None) -> np.ndarray:
    """Return the numbers of an array of VTK, none for one that is not there."""
    if array is not None and array.get("format") != "ascii":
        raise ValueError("its numbers are not in words (format ascii)")
    return np.array(("" if array is None else array.text or "").split(), dtype=float)


def _dae(data: bytes) -> Iterator[Part]:
    """Yield the triangles of COLLADA, each geometry where the nodes of the scene place it, in m."""
    root = ElementTree.fromstring(data)
    for part in root.iter():
        part.tag = part.tag.rpartition("}")[2]
    known = {f"#{part.get('id')}": part for part in root.iter() if part.get("id")}
    unit = root.find("asset/unit")
    scale = 1.0 if unit is None else float(unit.get("meter", "1"))
    scene = root.find("library_visual_scenes/visual_scene")
    for node in () if scene is None else scene.findall("node"):
        for faces, colour in _of_node(node, known, np.eye(4)):
            yield scale * faces, colour


def _of_node(node: ElementTree.Element, known: Known, pose: np.ndarray) -> Iterator[Part]:
    """Yield the triangles of a node and of those in it."""
    for part in node:
        numbers = np.array((part.text or "").split(), dtype=float) if part.tag in MOVES else None
        if numbers is not None:
            pose = pose @ MOVES[part.tag](numbers)
    for part in node:
        if part.tag == "node":
            yield from _of_node(part, known, pose)
        if part.tag == "instance_geometry":
            bound = {each.get("symbol"): each.get("target") for each in part.iter(BOUND)}
            for faces, symbol in _of_geometry(known[part.get("url", "")], known):
                colour = _colour(known, bound.get(symbol, f"#{symbol}"))
                yield faces @ pose[:3, :3].T + pose[:3, 3], colour


def _colour(known: Known, material: str | None) -> Colour:
    """Return the diffuse colour of a material, None where it has none or a picture instead.

    It is opaque: what its fourth number means depends on the program that wrote it.
    """
    stated = known.get(material or "")
    instance = None if stated is None else stated.find("instance_effect")
    effect = None if instance is None else known.get(instance.get("url", ""))
    shares = "" if effect is None else effect.findtext(".//diffuse/color", "")
    colour = np.clip([float(word) for word in shares.split()[:3]], 0.0, 1.0).tolist()
    return (*colour, 1.0) if len(colour) == 3 else None


def _of_geometry(
    geometry: ElementTree.Element, known: Known
) -> Iterator[tuple[Triangles, str | None]]:
    """Yield the triangles of a geometry, and the symbol of their material."""
    for part in geometry.findall("mesh/*"):
        if part.tag not in ("triangles", "polylist"):
            continue
        inputs = part.findall("input")
        corner = next(each for each in inputs if each.get("semantic") == "VERTEX")
        step = 1 + max(int(each.get("offset", "0")) for each in inputs)
        place = known[corner.get("source", "")].find("input[@semantic='POSITION']")
        source = known["" if place is None else place.get("source", "")]
        corners = np.array(source.findtext("float_array", "").split(), dtype=float).reshape(-1, 3)
        rows = np.array(part.findtext("p", "").split(), dtype=int).reshape(-1, step)
        order = rows[:, int(corner.get("offset", "0"))]
        counts = np.array(part.findtext("vcount", "").split(), dtype=int)
        ends = np.cumsum(counts if len(counts) else np.full(len(order) // 3, 3))
        rings = np.split(order, ends[:-1]) if len(order) else []
        fans = [(ring[0], a, b) for ring in rings for a, b in pairwise(ring[1:])]
        yield corners[np.array(fans, dtype=int).reshape(-1, 3)], part.get("material")


def _translation(numbers: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = numbers
    return pose


def _rotation(numbers: np.ndarray) -> np.ndarray:
    """Return the pose of a turn about an axis (3) by an angle in degrees (Rodrigues' formula)."""
    x, y, z = numbers[:3] / np.linalg.norm(numbers[:3])
    cross, angle = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.radians(numbers[3])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return pose


MOVES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "matrix": lambda numbers: numbers.reshape(4, 4),
    "translate": _translation,
    "rotate": _rotation,
    "scale": lambda numbers: np.diag([*numbers, 1.0]),
}
READERS: Mapping[str, Callable[[bytes], Iterator[Part]]] = {
    ".stl": _stl,
    ".obj": _obj,
    ".dae": _dae,
    ".vtp": _vtp,
}
