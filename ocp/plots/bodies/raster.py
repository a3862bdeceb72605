"""Solids as pixels: nearest surfaces by depth, shaded smoothly by one sun, and shadows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SUN = np.array([0.36, -0.44, 0.82])  # to the right, away and up
CREASE = 0.85  # cosine of the angle over which a surface has an edge
FINE = 2  # pixels computed for one that is shown, along each side
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
    high and so many pixels in a metre, and what it covers (m)."""
    surface = _facing(surface, camera)
    corners = surface.corners @ camera.axes.T
    box, size = _frame(corners, FINE * scale, 0)
    face, weights = _nearest(corners, box, size)
    image = np.zeros((*size, 4))
    seen = face >= 0
    normals = (weights[seen][:, :, None] * surface.normals[face[seen]]).sum(axis=1)
    image[seen, :3] = _shade(surface.colours[face[seen]], _unit(normals), camera)
    image[seen, 3] = 1.0
    return _averaged(image), box


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
    face, _ = _nearest(cast, box, size)
    mask = (face >= 0).astype(float)
    for axis in (0, 1, 0, 1):
        mask = np.mean([np.roll(mask, k, axis) for k in range(-SOFT, SOFT + 1)], axis=0)
    return mask, box


def _facing(surface: Surface, camera: Camera) -> Surface:
    """Return the triangles that face the eye: others of closed bodies are hidden."""
    sides = surface.corners[:, 1:] - surface.corners[:, :1]
    kept = np.cross(sides[:, 0], sides[:, 1]) @ camera.axes[2] > 0
    return Surface(surface.corners[kept], surface.normals[kept], surface.colours[kept])


def _frame(corners: np.ndarray, scale: float, margin: int) -> tuple[Box, tuple[int, int]]:
    """Return the box about triangles, and its rows and columns of pixels, multiples of FINE."""
    flat = corners[..., :2].reshape(-1, 2) if len(corners) else np.zeros((1, 2))
    low, high = flat.min(axis=0) * scale - margin, flat.max(axis=0) * scale + margin
    low, high = np.floor(low / FINE) * FINE, (np.floor(high / FINE) + 1) * FINE
    (left, bottom), (right, top) = low / scale, high / scale
    columns, rows = (high - low).astype(int)
    return (float(left), float(right), float(bottom), float(top)), (int(rows), int(columns))


def _nearest(corners: np.ndarray, box: Box, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest triangle in each pixel (H, W), -1 where none is, and the weights of
    its corners (H, W, 3); `corners` (F, 3, 3) are across, along and toward the eye."""
    scale = size[1] / (box[1] - box[0])
    spots = (corners[:, :, :2] - (box[0], box[2])) * scale - 0.5
    a, ab, ac = spots[:, 0], spots[:, 1] - spots[:, 0], spots[:, 2] - spots[:, 0]
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    solid = np.abs(area) > 1e-9
    first = np.ceil(spots[:, :, 1].min(axis=1)).astype(int)
    counts = (np.floor(spots[:, :, 1].max(axis=1)).astype(int) - first + 1) * solid
    which, y = _counted(first, counts)  # rows of triangles
    # Weights of corners b and c grow by these over a step across, from these at x = 0
    over = np.where(solid, area, 1.0)
    slopes = np.column_stack([ac[:, 1] / over, -ab[:, 1] / over])[which]
    rise = y - a[which, 1]
    base = np.column_stack([-rise * ac[which, 0], rise * ab[which, 0]]) / over[which, None]
    base -= a[which, :1] * slopes
    slopes = np.column_stack([-slopes.sum(axis=1), slopes])
    base = np.column_stack([1 - base.sum(axis=1), base])
    with np.errstate(divide="ignore", invalid="ignore"):
        edges = -base / slopes
    left = np.where(slopes > 0, edges, -np.inf).max(axis=1)
    right = np.where(slopes < 0, edges, np.inf).min(axis=1)
    begin = np.ceil(np.clip(left - 1e-6, 0, size[1])).astype(int)
    end = np.floor(np.clip(right + 1e-6, -1, size[1] - 1)).astype(int)
    row, x = _counted(begin, np.maximum(end - begin + 1, 0))  # pixels of rows
    heights = corners[which, :, 2]
    near = (base * heights).sum(axis=1), (slopes * heights).sum(axis=1)
    order = np.argsort((near[0][row] + near[1][row] * x).astype(np.float32))
    winner = np.full(size[0] * size[1], -1)
    winner[(y[row] * size[1] + x)[order]] = order  # what is written last stands before the rest
    seen = winner >= 0
    last, step = row[winner[seen]], x[winner[seen]]
    face, weights = np.full(len(winner), -1), np.zeros((len(winner), 3))
    face[seen] = which[last]
    weights[seen] = base[last] + slopes[last] * step[:, None]
    return face.reshape(size), weights.reshape(*size, 3)


def _counted(first: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of entries, each as often as it counts, and integers on from its first."""
    owner = np.repeat(np.arange(len(counts)), counts)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, first[owner] + step


def _shade(colours: np.ndarray, normals: np.ndarray, camera: Camera) -> np.ndarray:
    """Return colours (P, 3) in the light of sun and sky, as the page that plays has them."""
    normals = normals * np.where(normals @ camera.axes[2] < 0, -1.0, 1.0)[:, None]
    direct = np.maximum(normals @ camera.sun, 0.0)[:, None]
    share = 0.5 + 0.5 * (normals @ camera.up)[:, None]
    sky = (1 - share) * (0.47, 0.45, 0.43) + share * (0.62, 0.66, 0.72)
    half = _unit(camera.sun + camera.axes[2])
    shine = 0.1 * np.maximum(normals @ half, 0.0)[:, None] ** 40 * direct
    light = colours**2.2 * (0.75 * sky + 0.82 * direct) + shine
    return np.clip(light, 0.0, 1.0) ** (1 / 2.2)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _averaged(image: np.ndarray) -> np.ndarray:
    """Return a picture (H, W, 4) of fewer pixels, each the mean of FINE squared."""
    rows, columns = image.shape[0] // FINE, image.shape[1] // FINE
    cells = image.reshape(rows, FINE, columns, FINE, 4)
    cover = cells[..., 3].mean(axis=(1, 3))
    tone = (cells[..., :3] * cells[..., 3:]).mean(axis=(1, 3)) / np.maximum(cover, 1e-9)[..., None]
    return np.concatenate([tone, cover[..., None]], axis=2)
