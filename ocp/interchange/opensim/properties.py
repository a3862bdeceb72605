"""Properties of OpenSim's objects: numbers, words, flags and lists in the content of XML elements,
and the objects of a file by their class and by their path."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan

import numpy as np

from ocp.interchange.xml_elements import ENDLESS, Element
from ocp.mechanics.kinematics.spatial import rotate_x, rotate_y, rotate_z, translate

FLAGS = {"true": True, "1": True, "false": False, "0": False}
SOCKETS = ("socket_{}", "socket_{}_connectee_name", "{}")  # of version 4, its drafts, and before
DEFAULTS = "defaults"  # where a model has objects that are none of its own
DRAFT = "connectors"  # where early drafts of version 4 have them


def words_of(owner: Element, *tags: str) -> tuple[str, ...]:
    """Return the words of the first property of these tags that an object states; () for none."""
    for tag in tags:
        known = owner.one(tag)
        if known is not None:
            return tuple(known.content.split())
    return ()


def numbers_of(
    owner: Element, tag: str, count: int | None = None, default: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Return a property as finite numbers.

    Args:
        owner: the object.
        tag: of the property.
        count: how many; None for any number of them, but at least one.
        default: what stands for a property that is not there; None where it must be there.

    Raises:
        ValueError: naming file, line and property.
    """
    known = owner.one(tag)
    if known is None or (default is not None and not known.content):
        if default is None:
            raise owner.wrong(f"<{tag}> is missing")
        return tuple(default)
    words = known.content.split()
    try:
        values = tuple(float(word) for word in words)
    except ValueError:
        values = ()
    right = len(values) == count if count is not None else bool(values)
    if not right or not all(abs(value) < ENDLESS for value in values):
        wanted = {None: "finite numbers", 1: "a finite number"}.get(
            count, f"{count} finite numbers"
        )
        raise known.wrong(f"expected {wanted}, got {known.content[:80]!r}")
    return values


def number_of(owner: Element, tag: str, default: float | None = None) -> float:
    """Return a property as a finite number, `default` where it is not there."""
    return numbers_of(owner, tag, 1, None if default is None else (default,))[0]


def flag_of(owner: Element, tag: str, default: bool = False) -> bool:
    """Return a property that is true or false, `default` where it is not there."""
    known = owner.one(tag)
    if known is None or not known.content:
        return default
    value = FLAGS.get(known.content.lower())
    if value is None:
        raise known.wrong(f"expected true or false, got {known.content[:80]!r}")
    return value


def socket_of(owner: Element, *names: str) -> str:
    """Return the name of the object behind a socket of one of these names, "" for none."""
    for name in names:
        for form in SOCKETS:
            words = words_of(owner, form.format(name))
            if words:
                return " ".join(words)
        for each in () if owner.one(DRAFT) is None else owner.child(DRAFT).children:
            if each.attributes.get("name") == name:
                return " ".join(words_of(each, "connectee_name"))
    return ""


def members_of(owner: Element, *tags: str) -> tuple[Element, ...]:
    """Return the objects of a set, or of a list, of one of these tags."""
    for tag in tags:
        known = owner.one(tag)
        if known is not None:
            inner = known.one("objects")
            return tuple((known if inner is None else inner).children)
    return ()


def name_of(element: Element) -> str:
    """Return the name of an object, which it must have."""
    return element.text("name")


def pose_of(place: Sequence[float], turn: Sequence[float]) -> np.ndarray:
    """Return the pose (4x4) of a place (3, m) and of turns (3, rad) about x, y, z one after the
    other, each about the axis that the ones before have turned."""
    pose: np.ndarray = translate(*place) @ rotate_x(turn[0]) @ rotate_y(turn[1]) @ rotate_z(turn[2])
    return pose


@dataclass(frozen=True, kw_only=True)
class Objects:
    """All objects of a model in the file's order, each with its path, as "/bodyset/pelvis"."""

    model: Element
    paths: Sequence[tuple[str, Element]]

    @cached_property
    def _by_path(self) -> dict[str, list[Element]]:
        known: dict[str, list[Element]] = {}
        for path, each in self.paths:
            known.setdefault(path, []).append(each)
        return known

    @cached_property
    def _by_name(self) -> dict[str, list[Element]]:
        known: dict[str, list[Element]] = {}
        for _, each in self.paths:
            known.setdefault(each.attributes.get("name", ""), []).append(each)
        return known

    def of(self, *classes: str) -> list[Element]:
        """Return the objects of some classes."""
        return [element for _, element in self.paths if element.tag in classes]

    def path_of(self, element: Element) -> str:
        """Return the path of an object."""
        return next(path for path, each in self.paths if each is element)

    def find(
        self, owner: Element, word: str, classes: Collection[str] | Callable[[str], bool]
    ) -> Element:
        """Return the object that a socket of another names: by its path, by a path from the owner,
        or by its name alone.

        Args:
            owner: whose socket it is.
            word: what it says.
            classes: which are possible there.

        Raises:
            ValueError: naming the owner; there is no such object, or several have the name.
        """
        fits = classes if callable(classes) else classes.__contains__
        start = "" if word.startswith("/") else self.path_of(owner)
        whole = _normal_path(f"{start}/{word}")
        outer = _normal_path(f"{start}/../{word}")
        last = word.rstrip("/").rpartition("/")[2]
        inside = "/" + "/".join(whole.split("/")[2:])  # drafts of version 4 put the model first
        for path in (whole, outer, inside):
            for each in self._by_path.get(path, ()):
                if fits(each.tag):
                    return each
        named = [each for each in self._by_name.get(last, ()) if fits(each.tag)]
        if len(named) != 1:
            raise owner.wrong(
                f"expected the name of another object of the file, got {word!r}, which "
                f"{'none has' if not named else f'{len(named)} have'}"
            )
        return named[0]


def objects_of(model: Element) -> Objects:
    """Return the objects of a model, those within others among them."""
    return Objects(model=model, paths=list(_walk(model, "")))


def _walk(owner: Element, path: str) -> Iterator[tuple[str, Element]]:
    waiting = [(each, path) for each in reversed(owner.children) if each.tag != DEFAULTS]
    while waiting:
        element, above = waiting.pop()
        name = element.attributes.get("name", "")
        here = f"{above}/{name}" if name else above
        yield here, element
        waiting += [(each, here) for each in reversed(element.children)]


def _normal_path(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def bound_of(element: Element, tag: str, default: float) -> float:
    """Return a bound, which may be infinite; raise ValueError for another word."""
    words = words_of(element, tag)
    try:
        value = float(words[0]) if len(words) == 1 else default
    except ValueError:
        value = float("nan")
    if isnan(value) or len(words) > 1:
        raise element.wrong(f"<{tag}>: expected a number, got {' '.join(words)!r}")
    return value
