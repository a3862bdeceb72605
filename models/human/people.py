"""People to study: women and men of the 5th, 50th and 95th percentile, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ocp.mechanics import Open
from ocp.models.human.anthropometry import MASS, STATURE, usual_mass
from ocp.models.human.children import CHILDREN, child
from ocp.models.human.segments import parsed
from ocp.spelling import suggest_fields

# Stature (m) and mass (kg), each for itself: percentiles by nearest rank of the 1986 women and 4082
# men in the public working data of the 2012 Anthropometric Survey of U.S. Army Personnel (ANSUR II;
# Gordon et al. 2014, NATICK/TR-15/007). Soldiers stand for nobody but soldiers.
SURVEY = {
    "female": {5: (1.525, 51.3), 50: (1.626, 66.8), 95: (1.740, 87.1)},
    "male": {5: (1.648, 64.4), 50: (1.755, 84.6), 95: (1.870, 110.7)},
}
PEOPLE = {  # f5, f50, ..., m95
    f"{sex[0]}{percentile}": (sex, percentile)
    for sex, ranks in SURVEY.items()
    for percentile in ranks
}


def person(sex: str, percentile: int) -> dict[str, Any]:
    """Return {stature (m), mass (kg), sex}, keyword arguments of `human`, of a percentile.

    It is 5, 50 or 95, in both stature and mass. Raises ValueError for a sex or a percentile that
    the survey's table does not have.
    """
    if sex not in SURVEY or percentile not in SURVEY[sex]:
        known = ", ".join(map(str, SURVEY["male"]))
        raise ValueError(
            f"person: expected a sex of {', '.join(SURVEY)} and a percentile of {known}, "
            f"got {sex!r} and {percentile!r}"
        )
    stature, mass = SURVEY[sex][percentile]
    return {"stature": stature, "mass": mass, "sex": sex}


@suggest_fields
@dataclass(frozen=True, slots=True)
class Person:
    """Somebody by name, and what is known better of a person's own body.

    `name`: woman or man of a percentile, f5, f50, f95, m5, m50 or m95, a child of 5 to 18 years as
    girl10 or boy7, or else a man of 1.75 m and 75 kg; `stature`: in place of that person's (m);
    `mass`: in place of that person's (kg); `sex`: male or female, in place of that person's;
    `segments`: the person's own, as thigh.length=0.45,shank.mass=3.4, of limbs also com and radii
    (a/b/c).
    """

    name: str = field(default="", metadata={"flag": "person"})
    stature: float | Open | None = None
    mass: float | Open | None = None
    sex: Literal["male", "female"] | None = None
    segments: str | Mapping[str, Any] = ""  # or those of `human`


def somebody(who: Person = Person()) -> dict[str, Any]:
    """Return {stature (m), mass (kg), sex, segments, muscles (kg)} of a Person.

    These are keyword arguments of `human`.

    Raises ValueError for an unknown name or a text that cannot be read.
    """
    name, segments = who.name, who.segments
    own = dict(parsed(segments)) if isinstance(segments, str) else dict(segments)
    if name in CHILDREN:
        usual, age = CHILDREN[name]
        young = child(who.sex or usual, age, who.stature, who.mass)
        return young | {"segments": _joined(young["segments"], own)}
    if name and name not in PEOPLE:
        raise ValueError(
            f"person: expected one of {', '.join(PEOPLE)}, or a child of 5 to 18 years as girl10 "
            f"or boy7, got {name!r}"
        )
    grown: dict[str, Any] = {"stature": STATURE, "mass": MASS, "sex": "male"}
    if name:
        grown = person(*PEOPLE[name])
    given = {"stature": who.stature, "mass": who.mass, "sex": who.sex}
    grown |= {key: value for key, value in given.items() if value is not None}
    muscles = usual_mass(grown["stature"], grown["sex"])
    return grown | {"segments": own, "muscles": muscles}


def _joined(usual: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return segments with fields of one's own in place of usual ones."""
    return {**usual, **{name: usual.get(name, {}) | dict(own[name]) for name in own}}
