"""Records are dataclasses in everything but how quickly they are made."""

import dataclasses
import inspect
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from ocp.records import dataclass

OPTIONS = {"frozen": True, "slots": True, "kw_only": True}
ROOT = Path(__file__).parent.parent
WINGS = ("mechanics", "motion", "dynamics", "problem", "transcription", "solution")


def body(made):
    """A record class of many kinds of fields, made by one decorator or the other."""

    @made(**OPTIONS)
    class Body:
        """A body."""

        KINDS: ClassVar[int] = 3
        name: str
        mass: float = 1.0
        parts: list[int] = dataclasses.field(default_factory=list)
        note: Any = dataclasses.field(default=None, repr=False, compare=False)
        twice: float = dataclasses.field(default=0.0, init=False)

        def __post_init__(self):
            object.__setattr__(self, "twice", 2 * self.mass)

    return Body


OURS, THEIRS = body(dataclass), body(dataclasses.dataclass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A record that can be written."""

    place: tuple[float, ...]
    name: str = "kept"


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """A record that is itself alone."""

    value: Any


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A record with a hash of its own."""

    number: int

    def __hash__(self):
        return 7


def test_it_is_called_shown_and_replaced_as_a_dataclass():
    given = {"name": "arm", "parts": [1], "note": "x"}
    one, other = OURS(**given), THEIRS(**given)
    assert repr(one) == repr(other)
    assert str(inspect.signature(OURS)) == str(inspect.signature(THEIRS))
    assert dataclasses.asdict(one) == dataclasses.asdict(other)
    assert dataclasses.replace(one, mass=3.0).twice == 6.0
    assert OURS.__match_args__ == THEIRS.__match_args__ and OURS.__slots__ == THEIRS.__slots__
    assert OURS.__init__.__qualname__ == THEIRS.__init__.__qualname__


def test_every_record_gets_what_its_factory_makes_anew():
    assert OURS(name="a").parts == [] and OURS(name="a").parts is not OURS(name="a").parts


@pytest.mark.parametrize("given", [{}, {"name": "a", "weight": 1.0}])
def test_it_refuses_what_a_dataclass_refuses(given):
    words = []
    for kind in (OURS, THEIRS):
        with pytest.raises(TypeError) as refused:
            kind(**given)
        words.append(str(refused.value))
    assert words[0] == words[1]


def test_it_is_frozen():
    record = OURS(name="arm")
    for change in (lambda: setattr(record, "mass", 2.0), lambda: delattr(record, "mass")):
        with pytest.raises(dataclasses.FrozenInstanceError, match="mass"):
            change()
    assert record.mass == 1.0


def test_it_is_compared_and_hashed_by_its_fields():
    assert OURS(name="a", note=1) == OURS(name="a", note=2) != OURS(name="b")
    assert OURS(name="a") != THEIRS(name="a")
    assert hash(Kept(place=(1.0,))) == hash(Kept(place=(1.0,))) != hash(Kept(place=(2.0,)))
    assert hash(Numbered(number=1)) == 7 and Numbered(number=1) == Numbered(number=1)
    assert Alone(1) != Alone(1) and len({Alone(1), Alone(1)}) == 2


def test_an_array_equals_itself():
    array = np.arange(3)

    @dataclass(frozen=True, slots=True)
    class Held:
        value: np.ndarray

    assert (Held(array) == Held(array)) is True


def test_it_is_written_and_read_again():
    record = Kept(place=(1.0, 2.0))
    assert pickle.loads(pickle.dumps(record)) == record


@pytest.mark.parametrize("made", [dataclass, dataclasses.dataclass])
def test_one_record_extends_another(made):
    @made(**OPTIONS)
    class Longer(Kept):
        """A record with one more field."""

        length: float = 1.0

    record = Longer(place=(0.0,), length=2.0)
    assert dataclasses.replace(record, name="b") == Longer(place=(0.0,), name="b", length=2.0)
    assert record != Kept(place=(0.0,)) and repr(record).endswith("name='kept', length=2.0)")
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.length = 3.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        Kept(place=()).name = "b"


def test_records_that_may_change_stay_as_they_are():
    @dataclass
    class Count:
        number: int = 0

    count = Count()
    count.number = 2
    assert count == Count(2)


def test_records_that_every_solve_loads_are_made_here():
    loaded = (path for wing in WINGS for path in (ROOT / "ocp" / wing).rglob("*.py"))
    slow = [
        path.name
        for path in loaded
        if "@dataclass" in (text := path.read_text(encoding="utf-8"))
        and "from ocp.records import dataclass" not in text
    ]
    assert slow == []
