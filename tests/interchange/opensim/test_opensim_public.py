"""Public models, which are no part of the project, beside OpenSim: `OPENSIM_MODELS` names a folder
that has them. `-rP` prints how far forces are apart."""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_states import frames, states_of, torques

from ocp import load_model
from ocp.interchange import ModelWarning

FILES = sorted(Path(os.environ.get("OPENSIM_MODELS") or os.devnull).rglob("*.osim"))
pytestmark = [
    pytest.mark.commands,
    needs_opensim,
    pytest.mark.skipif(not FILES, reason="needs models in OPENSIM_MODELS"),
]


def one_coordinate_turns_twice(tree):
    """Whether several turns of a joint follow one coordinate, by no straight lines."""
    leaders = [
        (each.name.rpartition("_")[0], each.follows.coordinate)
        for each in tree.joints
        if each.follows is not None and each.kind == "revolute"
    ]
    return len(set(leaders)) < len(leaders)


@pytest.mark.parametrize("path", FILES or [Path("none.osim")], ids=lambda path: path.name)
def test_a_public_model_moves_as_opensim_moves_it(path, tmp_path):
    newest = tmp_path / path.name
    opensim_answers(MODELS, converted={"model": str(path), "to": str(newest)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        tree = replace(load_model(newest), elements=())
    states = states_of(tree, 2)
    curved = one_coordinate_turns_twice(tree)
    request = {"model": str(newest), "states": states}
    given = opensim_answers(MODELS, mechanics=request, **({"lagrange": request} if curved else {}))
    for k, state in enumerate(states):
        ours, places = frames(tree, state), given["mechanics"][k]["places"]
        for link, (rotation, place) in places.items():
            np.testing.assert_allclose(ours[link][:3, 3], place, atol=1e-9)
            np.testing.assert_allclose(ours[link][:3, :3].ravel(), rotation, atol=1e-9)
        needed = torques(tree, state)
        forces = given["lagrange" if curved else "mechanics"][k]["forces"]
        largest = max(map(abs, forces.values()), default=0.0)
        apart = max((abs(needed[name] - force) for name, force in forces.items()), default=0.0)
        print(f"{path.name}: forces {apart / (largest or 1.0):.1e} of the largest apart")
        for name, force in forces.items():
            assert needed[name] == pytest.approx(force, abs=1e-8 * largest)
