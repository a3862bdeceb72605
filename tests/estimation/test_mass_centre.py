"""Mass centre of a trunk: found from moments that last, left where plates may err as much."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from lab_trials import MASS, STATURE, one_leg, seen, standing

from ocp.estimation import settle_mass_centre
from ocp.mechanics import poses
from ocp.problems.lab import analyse, scale

TRUNK = ("spine1_rot", "spine2_rot", "spine3_rot", "spine4_rot")
PLATES = (5.0, 0.01)
OFF = np.array((0.02, 0.0, -0.04))  # m: left and ahead, across gravity


@cache
def measured():
    """Somebody on one leg, whose masses are known: exact markers and plate."""
    person = scale(standing(), mass=MASS, stature=STATURE)
    return analyse(person, seen(one_leg()[1]), one_leg()[3], cutoff=6.0)


def misjudged(shift):
    """The fit with trunks whose mass centres are taken to be elsewhere (3,) m."""
    fit = measured().fit
    frames, links = poses(fit.tree, fit.q.mean(axis=1)), list(fit.tree.links)
    for name in TRUNK:
        at = fit.tree.link_index(name)
        turn = np.array(frames[at])[:3, :3]
        links[at] = replace(links[at], com=tuple(np.array(links[at].com) + turn.T @ shift))
    return replace(fit, tree=replace(fit.tree, links=tuple(links)))


def settled(shift, aside=np.zeros(3)):
    """What is found with trunks whose mass centres are taken to be elsewhere, and a plate whose
    pressure is told elsewhere (3,) m."""
    found = measured()
    known = np.zeros(len(found.fit.t), dtype=bool)
    known[10:-10] = True
    rows = found.feet.values["r"]
    off = np.vstack([rows[:3] + np.cross(aside, rows[3:].T).T, rows[3:]])
    feet, links = replace(found.feet, values={"r": off}), {"r": found.person.feet["r"]}
    return settle_mass_centre(misjudged(shift), feet, links, TRUNK, known=known, plates=PLATES)


@pytest.mark.parametrize(("share", "left"), [(0.4, 0.1), (1.0, 0.45)])
def test_it_is_found_where_it_is(share, left):
    """Nearly where the distance is small, and half of one that is large beside its deviation: the
    plate, which may err too, takes the rest."""
    fit, moved = settled(share * OFF)
    most = left * share * np.linalg.norm(OFF)
    assert moved[1] == pytest.approx(0.0, abs=1e-9)  # gravity does not tell
    assert np.linalg.norm(moved + share * OFF) < most
    true, own = misjudged(np.zeros(3)).tree, fit.tree
    for name in TRUNK:
        here, there = (tree.links[tree.link_index(name)].com for tree in (own, true))
        assert np.linalg.norm(np.subtract(here, there)) < most


@pytest.mark.parametrize("aside", [(0.0, 0.0, 0.0), (0.012, 0.0, -0.015)])
def test_it_stays_where_it_is_if_it_is_there_and_the_plate_errs(aside):
    fit, moved = settled(np.zeros(3), np.array(aside))
    assert not moved.any()
    assert fit.tree.links == measured().fit.tree.links
