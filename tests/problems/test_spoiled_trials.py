"""A good trial that is spoiled is refused, or doubted by name: in no way is it silently wrong."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from lab_trials import MASS, STATURE, standing, treading

from ocp.problems.lab import analyse, scale


@cache
def person():
    return scale(standing(), mass=MASS, stature=STATURE)


def said(markers, plates):
    """The words by which an analysis refuses or doubts."""
    try:
        return " | ".join(analyse(person(), markers, plates).doubts)
    except ValueError as error:
        return f"refused: {error}"


def markers_with(change):
    """The trial with its markers changed: {name: (3, N)} -> {name: (3, N)}, without plates."""
    markers, _ = treading()
    return replace(markers, values=change(dict(markers.values))), None


def plates_with(change):
    """The trial with its wrenches changed, in axes with z up."""
    markers, plates = treading()
    return markers, replace(plates, values=change(dict(plates.values)))


def exchanged(names, values):
    """Markers of the right under the names of the left, of those that end so, and the reverse."""
    other = {"R": "L", "L": "R"}
    swap = {n: other[n[0]] + n[1:] if n[0] in other and n[1:] in names else n for n in values}
    return {swap[name]: rows for name, rows in values.items()}


def aside(rows, way):
    """A wrench whose plate is taken to lie elsewhere by `way` (m)."""
    return np.vstack([rows[:3] + np.cross(way, rows[3:].T).T, rows[3:]])


def under_the_other_foot():
    """The trial whose plates' forces act where those of the other plate do: at the other heel."""
    markers, plates = treading()
    pushes = {}
    for name, heel in (("plate_r", "LHEE"), ("plate_l", "RHEE")):
        push = plates.values[name][3:]
        place = markers.values[heel] * ((1,), (1,), (0,))
        pushes[name] = np.vstack([np.cross(place.T, push.T).T, push])
    return markers, replace(plates, values=pushes)


LEGS = ("KNE", "KNM", "THI", "ANK", "MED", "TIB", "HEE", "TOE", "MT5")
ALL = (*LEGS, "ASI", "PSI", "SHO", "ELB", "WRA", "WRB")
RNG = np.random.default_rng(5)


def with_one(values, name, change):
    return {**values, name: change(values[name].copy())}


def lost(rows, share):
    rows[:, : int(share * rows.shape[1])] = np.nan
    return rows


def ghost(rows):
    rows[2, 30:32] += 0.3
    return rows


SPOILS = {
    "feet in place of metres": (
        lambda: markers_with(lambda v: {n: r / 0.3048 for n, r in v.items()}),
        "are they in feet",
    ),
    "millimetres": (lambda: markers_with(lambda v: {n: 1e3 * r for n, r in v.items()}), "millimet"),
    "left and right": (
        lambda: markers_with(lambda v: exchanged(ALL, v)),
        "left and right are exch",
    ),
    "legs": (lambda: markers_with(lambda v: exchanged(LEGS, v)), "left and right are exchanged"),
    "mirrored": (
        lambda: markers_with(lambda v: {n: r * ((1,), (-1,), (1,)) for n, r in v.items()}),
        "left and right are exchanged",
    ),
    "a marker lacks": (
        lambda: markers_with(lambda v: with_one(v, "RTIB", lambda r: lost(r, 0.5))),
        "marker RTIB is missing in 49 %",
    ),
    "a marker is another": (
        lambda: markers_with(lambda v: {**v, "LTHI": v["RTHI"], "RTHI": v["LTHI"]}),
        "its name is another's",
    ),
    "a ghost": (
        lambda: markers_with(lambda v: with_one(v, "LTIB", ghost)),
        "marker LTIB is",
    ),
    "plates side by side": (
        lambda: plates_with(
            lambda v: {n: aside(r, (0, 0.2 if n == "plate_r" else -0.2, 0)) for n, r in v.items()}
        ),
        "plates are exchanged",
    ),
    "plates one behind the other": (
        lambda: plates_with(
            lambda v: {n: aside(r, (0.6 if n == "plate_r" else -0.6, 0, 0)) for n, r in v.items()}
        ),
        "plates are exchanged",
    ),
    "pressures exchanged": (under_the_other_foot, "plates are exchanged, or it stands on a stair"),
    "forces of feet on plates": (
        lambda: plates_with(lambda v: {n: -r for n, r in v.items()}),
        "down",
    ),
    "pounds": (lambda: plates_with(lambda v: {n: 0.2248 * r for n, r in v.items()}), "other units"),
    "late": (
        lambda: (treading()[0], replace(treading()[1], t=treading()[1].t + 0.25)),
        "at other times",
    ),
}


def test_the_good_trial_has_no_such_doubt():
    words = said(*treading())
    assert not any(what in words for _, what in SPOILS.values())
    assert "refused" not in words


@pytest.mark.parametrize("name", list(SPOILS))
def test_a_spoiled_trial_is_told_by_name(name):
    make, what = SPOILS[name]
    assert what in said(*make())


@pytest.mark.parametrize("start", RNG.uniform(0.2, 0.5, 2))
def test_a_trial_cut_in_mid_step_is_told_by_name_wherever_it_is_cut(start):
    markers, plates = treading()
    assert "cut in mid-step" in said(markers.between(start, start + 1.0), plates)
