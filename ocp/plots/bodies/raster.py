"""Solids as pixels: nearest surfaces by depth, shaded smoothly by one sun, and shadows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SUN = np.array([0.36, -0.44, 0.82])  # to the right, away and up
CREASE = 0.85  # cosine of the angle over which a surface has an edge
FINE = 2  # pixels computed for one that is shown, along each side
GAMMA = 2.2  # of colours: their power that is light
SOFT = 2  # pixels that the edge of a shadow is blurred by
Box = tuple[float, float, float, float]  # left, right, low, high


@dataclass(frozen=True, slots=True)
class Surface:
    """Triangles `corners` (F, 3, 3; m) with `normals` (F, 3, 3) and `colours` (F, 3), 0 to 1."""

    corners: np.ndarray
    normals: np.ndarray
    colours: np.ndarray


@dataclass(frozen=True, slots=True)
class Camera:
    """A view along parallel rays: rows of `axes` (3, 3) are across and along the picture and toward
    the eye, `up` (3,) is against gravity and `sun` (3,) to where light comes from."""

    axes: np.ndarray
    up: np.ndarray
    sun: np.ndarray

    def flat(self, places: np.ndarray) -> np.ndarray:
        """Return places (..., 2; m) in the picture of places (..., 3; m)."""
        return places @ self.axes[:2].T


def corner_normals(places: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return unit normals (F, 3, 3) at the corners of triangles (F, 3) of places (V, 3), smooth but
    over creases."""
    corners = places[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    smooth = np.zeros_like(places)
    for k in range(3):
        np.add.at(smooth, faces[:, k], flat)
    unit = _unit(flat)
    meeting = _unit(smooth)[faces]
    sharp = (meeting * unit[:, None]).sum(axis=2) < CREASE
    return np.where(sharp[:, :, None], unit[:, None], meeting)


def render(surface: Surface, camera: Camera, scale: float) -> tuple[np.ndarray, Box]:
    """Return the picture (H, W, 4) of a surface, transparent where nothing is, its rows from low to
    high and so many pixels in a metre, and what it covers (m).

    Light is that of the corners and linear between them (Gouraud 1971), whose surfaces are fine.
    """
    corners = (surface.corners.reshape(-1, 3) @ camera.axes.T).reshape(-1, 3, 3)
    facing = np.flatnonzero(_areas(corners) > 0)  # others of closed bodies are hidden
    corners = corners[facing]
    box, size = _frame(corners, FINE * scale, 0)
    corners[..., :2] = (corners[..., :2] - (box[0], box[2])) * (FINE * scale) - 0.5
    light = _light(surface.colours[facing], surface.normals[facing], camera)
    values = np.concatenate([corners[..., 2:], light], axis=2)
    image = np.zeros((size[0] * size[1], 4), dtype=np.float32)
    pixel, rest = _nearest(corners[..., :2], values, size)
    image[pixel, :3], image[pixel, 3] = rest, 1.0
    return _averaged(image.reshape(*size, 4)), box


def shadow(
    surface: Surface, plane: tuple[np.ndarray, np.ndarray], camera: Camera, scale: float
) -> tuple[np.ndarray, Box]:
    """Return the share (H, W) of the sun's light that a surface takes from a plane, softly, and
    what the picture covers (m); the plane is a place and a unit normal (3, each)."""
    place, normal = plane
    heights = (surface.corners - place) @ normal
    cast = surface.corners - (heights / (camera.sun @ normal))[:, :, None] * camera.sun
    cast = cast[(heights > 0).any(axis=1)] @ camera.axes.T
    box, size = _frame(cast, scale, 4 * SOFT)
    cast[..., :2] = (cast[..., :2] - (box[0], box[2])) * scale - 0.5
    pixel, _ = _nearest(cast[..., :2], cast[..., 2:], size)
    mask = np.zeros(size)
    mask.flat[pixel] = 1.0
    for axis in (0, 1, 0, 1):
        mask = np.mean([np.roll(mask, k, axis) for k in range(-SOFT, SOFT + 1)], axis=0)
    return mask, box


def _frame(corners: np.ndarray, scale: float, margin: int) -> tuple[Box, tuple[int, int]]:
    """Return the box about triangles, and its rows and columns of pixels, multiples of FINE."""
    flat = corners[..., :2].reshape(-1, 2) if len(corners) else np.zeros((1, 2))
    low, high = flat.min(axis=0) * scale - margin, flat.max(axis=0) * scale + margin
    low, high = np.floor(low / FINE) * FINE, (np.floor(high / FINE) + 1) * FINE
    (left, bottom), (right, top) = low / scale, high / scale
    columns, rows = (high - low).astype(int)
    return (float(left), float(right), float(bottom), float(top)), (int(rows), int(columns))


def _areas(corners: np.ndarray) -> np.ndarray:
    """Return twice the area (F,) of triangles (F, 3, 2 or more) in the picture, positive where they
    run round it to the left."""
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]


def _nearest(
    spots: np.ndarray, values: np.ndarray, size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers (P,) of pixels of a picture of a size (rows, columns) that triangles
    cover, and what the nearest one has there (P, k).

    Corners of triangles are at `spots` (F, 3, 2) in pixels, and their `values` (F, 3, 1 + k) are
    heights toward the eye and others, all linear between corners.
    """
    area = _areas(spots)
    seen = np.flatnonzero(np.abs(area) > 1e-9)
    spots, values, area = spots[seen], values[seen], area[seen]
    first = np.ceil(spots[:, :, 1].min(axis=1)).astype(int)
    counts = np.floor(spots[:, :, 1].max(axis=1)).astype(int) - first + 1
    which, y = _counted(first, counts)  # rows of triangles
    begin, end = _ends_of_rows(spots, area, which, y)
    begin = np.ceil(np.clip(begin - 1e-6, 0, size[1])).astype(int)
    end = np.floor(np.clip(end + 1e-6, -1, size[1] - 1)).astype(int)
    row, x = _counted(begin, np.maximum(end - begin + 1, 0))  # pixels of rows
    # Values are planes over the picture: across, along, and at a triangle's first corner
    ab, ac = (spots[:, k] - spots[:, 0] for k in (1, 2))
    rise = (values[:, 1:] - values[:, :1]) / area[:, None, None]
    across = ac[:, 1:] * rise[:, 0] - ab[:, 1:] * rise[:, 1]
    along = ab[:, :1] * rise[:, 1] - ac[:, :1] * rise[:, 0]
    start = values[:, 0] - across * spots[:, 0, :1] - along * spots[:, 0, 1:]
    pixel = y[row] * size[1] + x
    level = (start[:, 0][which] + along[:, 0][which] * y).astype(np.float32)
    height = level[row] + across[:, 0].astype(np.float32)[which][row] * x.astype(np.float32)
    top = np.full(size[0] * size[1], -np.inf, dtype=np.float32)
    np.maximum.at(top, pixel, height)
    kept = np.flatnonzero(height == top[pixel])
    row = row[kept]
    face, up, on = which[row], y[row, None], x[kept, None]
    planes = (each[:, 1:].astype(np.float32) for each in (start, along, across))
    start, along, across = (each[face] for each in planes)
    return pixel[kept], start + along * up.astype(np.float32) + across * on.astype(np.float32)


def _ends_of_rows(
    spots: np.ndarray, area: np.ndarray, which: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return between which x (R,) each row of pixels crosses its triangle, `which` one at y."""
    left, right = np.full(len(y), -np.inf), np.full(len(y), np.inf)
    turn = np.sign(area)
    for k in range(3):
        (x, low), side = spots[:, k].T, spots[:, (k + 1) % 3] - spots[:, k]
        way = side[:, 1] * turn  # of an edge: up on the right, down on the left
        with np.errstate(divide="ignore", invalid="ignore"):
            lean = side[:, 0] / side[:, 1]
            edge = (x - lean * low)[which] + lean[which] * y
        left = np.where(way[which] < 0, np.maximum(left, edge), left)
        right = np.where(way[which] > 0, np.minimum(right, edge), right)
    return left, right


def _counted(first: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of entries, each as often as it counts, and integers on from its first."""
    owner = np.repeat(np.arange(len(counts)), counts)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, first[owner] + step


def _light(colours: np.ndarray, normals: np.ndarray, camera: Camera) -> np.ndarray:
    """Return the light (F, 3, 3) of colours (F, 3) at corners in sun and sky, as the page that
    plays has it; colours are its power 1 / GAMMA."""
    normals = normals * np.where(normals @ camera.axes[2] < 0, -1.0, 1.0)[..., None]
    direct = np.maximum(normals @ camera.sun, 0.0)[..., None]
    share = 0.5 + 0.5 * (normals @ camera.up)[..., None]
    sky = (1 - share) * (0.47, 0.45, 0.43) + share * (0.62, 0.66, 0.72)
    half = _unit(camera.sun + camera.axes[2])
    shine = 0.1 * np.maximum(normals @ half, 0.0)[..., None] ** 40 * direct
    return colours[:, None] ** GAMMA * (0.75 * sky + 0.82 * direct) + shine


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _averaged(image: np.ndarray) -> np.ndarray:
    """Return the picture (H, W, 4) of light in fewer pixels, each the mean of FINE squared."""
    rows, columns = image.shape[0] // FINE, image.shape[1] // FINE
    cells = image.reshape(rows, FINE, columns, FINE, 4)
    total = np.zeros((rows, columns, 4), dtype=image.dtype)
    for i, j in np.ndindex(FINE, FINE):  # much quicker than a mean over both axes
        total += cells[:, i, :, j]
    there = total[..., 3] > 0
    total[there, :3] = (total[there, :3] / total[there, 3:]).clip(0.0, 1.0) ** (1 / GAMMA)
    total[..., 3] /= FINE**2
    return total
