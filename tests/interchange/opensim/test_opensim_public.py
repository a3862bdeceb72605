"""Public models, which are no part of the project, beside OpenSim: `OPENSIM_MODELS` names a folder
that has them. `-rP` prints how far each is apart, or why it is refused."""

import os
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_states import frames, states_of, torques

from ocp import load_model
from ocp.interchange import ModelWarning
from ocp.mechanics import element_torques
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles import PathPoint, muscles_of

FILES = sorted(Path(os.environ.get("OPENSIM_MODELS") or os.devnull).rglob("*.osim"))
pytestmark = [
    pytest.mark.commands,
    needs_opensim,
    pytest.mark.skipif(not FILES, reason="needs models in OPENSIM_MODELS"),
]
ACTIVATION = 0.4


def one_coordinate_turns_twice(tree):
    """Whether several turns of a joint follow one coordinate, by no straight lines."""
    leaders = [
        (each.name.rpartition("_")[0], each.follows.coordinate)
        for each in tree.joints
        if each.follows is not None and each.kind == "revolute"
    ]
    return len(set(leaders)) < len(leaders)


def state_at(tree, state, rates=True):
    """A state of a tree with its elements, muscles at an activation and tendons without a force."""
    q, qd = np.zeros(tree.dof), np.zeros(tree.dof)
    for name, (value, rate, _) in state.items():
        q[tree.coordinate(name)], qd[tree.coordinate(name)] = value, rate * rates
    for each in muscles_of(tree):
        q[tree.coordinate(f"{each.name}.activation")] = ACTIVATION
    return State(tree=tree, q=ca.DM(q), qd=ca.DM(qd))


def places_apart(tree, state, places):
    """Largest distance (m), or difference of a rotation's entry, of bodies from OpenSim's."""
    ours = frames(tree, state)
    return max(
        max(
            np.abs(ours[link][:3, 3] - place).max(), np.abs(ours[link][:3, :3].ravel() - turn).max()
        )
        for link, (turn, place) in places.items()
    )


def forces_apart(needed, forces):
    """Largest difference of generalized forces over the largest of OpenSim's."""
    largest = max(map(abs, forces.values()), default=0.0) or 1.0
    return max((abs(needed[name] - force) for name, force in forces.items()), default=0.0) / largest


def passive_apart(tree, muscles, state, forces):
    """Largest difference of what acts by itself but muscles, over the largest generalized force."""
    others = [each for each in tree.elements if each not in muscles]
    loose, bare = replace(tree, elements=others), replace(tree, elements=())
    here = state_at(loose, state)
    given = np.array(ca.DM(element_torques(loose, here.q, here.qd))).ravel()
    needed = torques(bare, state)
    left = {name: force - given[loose.coordinate(name)] for name, force in needed.items()}
    return forces_apart(left, forces)


def paths_apart(tree, state, answer):
    """Largest differences (m) of lengths and of moment arms of paths of points from OpenSim's, arms
    where no loops are."""
    here, lengths, levers = state_at(tree, state), [0.0], [0.0]
    for each in muscles_of(tree):
        if not all(isinstance(point, PathPoint) for point in each.path.points):
            continue
        length, arms = answer[each.name]
        lengths.append(abs(float(ca.DM(each.path.length(here))) - length))
        slope = each.path.slope(here)
        for name, arm in {} if tree.loops else arms.items():
            row = tree.coordinate(name)
            levers.append(abs(float(ca.DM(slope.get(row, 0.0))) + arm))
    return max(lengths), max(levers)


def equilibrium_apart(tree, state, answer):
    """Largest difference, over the largest isometric force, of muscles along points from OpenSim's,
    and of compliant tendons from equilibrium at OpenSim's force."""
    here, off = state_at(tree, state, rates=False), [0.0]
    for each in muscles_of(tree):
        plain = all(isinstance(point, PathPoint) for point in each.path.points)
        if each.name not in answer or not plain:
            continue
        force, share = answer[each.name]
        if each.compliant:
            here.q[tree.coordinate(f"{each.name}.force")] = share
            fibre = each.fibres(here)
            off.append(abs(float(ca.DM(fibre.tendon - fibre.pull))))
        else:
            off.append(abs(float(ca.DM(each.tension_force(here))) - force) / each.force)
    return max(off)


@pytest.mark.parametrize("path", FILES or [Path("none.osim")], ids=lambda path: path.name)
def test_a_public_model_is_refused_by_name_or_moves_and_pulls_as_in_opensim(path, tmp_path):
    """As OpenSim's newest version has it, which rounds numbers of files before 4 to six digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            load_model(path)
        except ValueError as error:
            assert str(error).startswith(f"{path.name}:") and "\n" not in str(error)
            print(f"{path.name}: refused: {error}")
            return
    newest = tmp_path / path.name
    try:
        change = {"model": str(path), "to": str(newest)}
        opensim_answers(MODELS, converted=change, mechanics={"model": str(newest), "states": []})
    except subprocess.CalledProcessError as error:
        pytest.skip(f"OpenSim does not read it: {error.stderr.splitlines()[-1][:200]}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        tree = load_model(newest)
    bare, muscles = replace(tree, elements=()), muscles_of(tree)
    if not bare.dof:
        print(f"{path.name}: no coordinate moves")
        return
    states = states_of(bare, 2)
    still = [{name: [x, 0.0, 0.0] for name, (x, _, _) in each.items()} for each in states]
    request = {"model": str(newest), "states": states}
    names = [each.name.removesuffix("_damper") for each in tree.elements if each not in muscles]
    curved = one_coordinate_turns_twice(bare)
    given = opensim_answers(
        MODELS,
        mechanics=request,
        paths=request,
        passive={**request, "keep": names},
        muscle_forces={"model": str(newest), "states": still, "activation": ACTIVATION},
        **({"lagrange": request} if curved else {}),
    )
    apart = np.zeros(6)
    for k, state in enumerate(states):
        plain = given["mechanics"][k]["forces"]
        right = given["lagrange" if curved else "mechanics"][k]["forces"]
        mine = [
            places_apart(bare, state, given["mechanics"][k]["places"]),
            forces_apart(torques(bare, state), right),
            # OpenSim's own error of curved joints, in both, is none of the passive forces
            passive_apart(
                tree,
                muscles,
                state,
                {n: f - plain[n] + right[n] for n, f in given["passive"][k]["forces"].items()},
            ),
            *paths_apart(tree, state, given["paths"][k]),
            equilibrium_apart(tree, still[k], given["muscle_forces"][k]),
        ]
        apart = np.maximum(apart, mine)
    what = "places", "forces", "passive", "lengths", "arms", "equilibrium"
    print(f"{path.name}: " + ", ".join(f"{a} {b:.1e}" for a, b in zip(what, apart)))
    assert (apart < [1e-9, 1e-8, 1e-8, 1e-9, 1e-9, 1e-6]).all()
