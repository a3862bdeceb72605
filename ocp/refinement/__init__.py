"""Refinement of meshes and splines, complementarity continuation, bang-bang arcs."""

from typing import TYPE_CHECKING

from ocp.lazy import later

if TYPE_CHECKING:
    from ocp.refinement.refine import refine

__all__ = [
    "refine",
]

__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.refinement.refine": ("refine",),
    },
)
