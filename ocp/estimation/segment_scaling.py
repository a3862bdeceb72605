"""Segments whose lengths are found from markers together with the motion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_validation import known_names
from ocp.mechanics.scaling import body_segments
from ocp.mechanics.values.validation import check_type, positive
from ocp.pickling import portable
from ocp.spelling import suggest_fields

SPREAD = 0.1  # of lengths of segments among people, relative to a body of their stature [assumed]


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """Segments of a tree whose length factors are to be found.

    Attributes:
        segments: {name: names of its links}: links of one segment have one factor, others keep
            their lengths; by default those of `ocp.mechanics.body_segments`.
        sides: two endings of names, as ("_r", "_l"), whose segments have the same factor.
        spread: standard deviation of a factor from 1 before anything is measured. (factor - 1)^2
            weighs (noise / spread)^2 beside squares of markers' deviations, so a segment that no
            marker determines keeps its length.
    """

    segments: Mapping[str, Sequence[str]] | None = None
    sides: tuple[str, str] | None = None
    spread: float = SPREAD

    def __post_init__(self) -> None:
        positive("scaling: spread", self.spread)
        if self.sides is not None and not _are_endings(self.sides):
            raise ValueError(
                'scaling: sides: expected two endings of names, as ("_r", "_l"), got '
                f"{self.sides!r}"
            )
        if self.segments is not None and self.sides is not None:
            raise ValueError("scaling: expected segments or sides, got both")

    def groups(self, what: str, tree: Tree) -> dict[str, tuple[str, ...]]:
        """Return {segment: its links} in a tree; raise ValueError, in the name of `what` asks, for
        links that are unknown or in two segments."""
        if self.segments is None:
            return body_segments(tree, self.sides)
        return _check_segments(f"{what}: scaling", tree, self.segments)


def _are_endings(sides: object) -> bool:
    """Tell whether these are two words."""
    return (
        isinstance(sides, tuple | list)
        and len(sides) == 2
        and all(isinstance(side, str) and side for side in sides)
    )


def _check_segments(
    what: str, tree: Tree, given: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the segments that are stated, checked."""
    owner: dict[str, str] = {}
    for name, links in check_type(f"{what}: segments", given, Mapping).items():
        if isinstance(links, str) or not links:
            raise ValueError(f"{what}: segment {name!r}: expected names of links, got {links!r}")
        for link in links:
            if link not in tree.link_names:
                raise ValueError(
                    f"{what}: segment {name!r}: unknown link {link!r}"
                    f"{known_names('links', tree.link_names, link)}"
                )
            if link in owner:
                raise ValueError(f"{what}: link {link!r} is in {owner[link]!r} and in {name!r}")
            owner[link] = name
    return {name: tuple(links) for name, links in given.items()}
