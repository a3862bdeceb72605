"""Motions as tables of states and controls in the columns of an OpenSim model."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.interchange.opensim.acting.forces import DRIVE, MUSCLES
from ocp.interchange.opensim.bodies import seats_of
from ocp.interchange.opensim.coordinates import acts, ways_of
from ocp.interchange.opensim.joints import coordinate_names
from ocp.interchange.opensim.old_versions import model_of
from ocp.interchange.opensim.properties import Objects, name_of, number_of, objects_of, words_of
from ocp.interchange.tables.solution_tables import RATE, motion_times
from ocp.interchange.tables.table import Table
from ocp.interchange.xml_elements import file_content, parse_xml
from ocp.mechanics.model.quaternions_and_couplings import value_and_derivatives
from ocp.solution import Solution
from ocp.solution.validation import check_solution

Column = tuple[str, str, np.ndarray]  # label, unit and values (N,)


def opensim_states(solution: Solution, model: str | PathLike[str], *, rate: float = RATE) -> Table:
    """A motion as states and controls of an OpenSim model, for its viewer and its analyses.

    Columns are called by paths in the model, as "/jointset/hip/hip_flexion/value" and "/speed",
    "/forceset/soleus/activation" and "/normalized_tendon_force", and by "/forceset/soleus" for what
    excites it; coordinates that are locked or follow others are among them.

    Args:
        solution: the motion of a tree that `load_model` has read, or `save_model` written.
        model: path of the .osim file.
        rate: of its equal steps, at least (Hz).

    Returns:
        The Table, which `save_table` writes as .sto.

    Raises:
        ValueError: the model has a coordinate that the motion does not.
    """
    check_solution("opensim_states", solution)
    file = Path(model).name
    objects = objects_of(model_of(parse_xml(file_content(model), file)))
    t = motion_times(solution, rate)
    columns = [*_coordinates(solution, objects, t), *_forces(solution, objects, t)]
    return Table(
        t=t,
        labels=[label for label, _, _ in columns],
        units=[unit for _, unit, _ in columns],
        values=np.array([values for _, _, values in columns]),
        source=f"states of {file}",
    )


def _coordinates(solution: Solution, objects: Objects, t: np.ndarray) -> Iterator[Column]:
    """Yield value and speed of all coordinates of a model."""
    tree, ways = solution.problem.tree, ways_of(objects)
    q, qd = solution.q(t), solution.qd(t)
    known = {joint.name: row for row, joint in enumerate(tree.moving)}
    paths = {name_of(each): path for path, each in objects.paths if each.tag == "Coordinate"}
    for seat in seats_of(objects):
        for name in coordinate_names(seat.element):
            way = ways[name]
            path = paths[name]
            if not path.startswith("/jointset/"):  # of a file before version 4
                path = f"/jointset/{seat.name}/{name}"
            if way.leader is None:
                values, speeds = np.full(len(t), way.value), np.zeros(len(t))
            elif way.leader not in known:
                raise seat.element.wrong(f"the motion has no coordinate {way.leader!r}")
            else:
                row = known[way.leader]
                parts = [value_and_derivatives(way.curve, ca.DM(float(x))) for x in q[row]]
                values = np.array([float(value) for value, _, _ in parts])
                speeds = np.array([float(slope) for _, slope, _ in parts]) * qd[row]
            yield f"{path}/value", "", values
            yield f"{path}/speed", "", speeds


def _forces(solution: Solution, objects: Objects, t: np.ndarray) -> Iterator[Column]:
    """Yield states and controls of muscles and of what drives coordinates."""
    tree = solution.problem.tree
    q, tau = solution.q(t), solution.tau(t)
    known = {joint.name: row for row, joint in enumerate(tree.moving)}
    for path, each in objects.paths:
        if each.tag not in (*MUSCLES, DRIVE) or not acts(each):
            continue
        name = name_of(each)
        if each.tag == DRIVE:
            word = " ".join(words_of(each, "coordinate", "socket_coordinate"))
            row = known.get(word.rpartition("/")[2])
            size = number_of(each, "optimal_force", 1.0)
            if row is not None and size:
                yield path, "", tau[row] / size
            continue
        for state, column in (("activation", "activation"), ("force", "normalized_tendon_force")):
            row = known.get(f"{name}.{state}")
            if row is not None:
                yield f"{path}/{column}", "", q[row]
                if state == "activation":
                    yield path, "", tau[row]
