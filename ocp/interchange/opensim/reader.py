"""Models of OpenSim's files: bodies, joints, coordinates, and what acts on them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ocp.interchange.opensim.acting.contacts import spheres_of
from ocp.interchange.opensim.acting.forces import drives_of, elements_of
from ocp.interchange.opensim.acting.paths import Surroundings
from ocp.interchange.opensim.acting.wires import wires_of
from ocp.interchange.opensim.bodies import link_of, seats_of
from ocp.interchange.opensim.constraints import loops_of, markers_of, with_stand
from ocp.interchange.opensim.coordinates import prescribed_of, ranges_of, ways_of
from ocp.interchange.opensim.geometry import FOLDER, visuals_of
from ocp.interchange.opensim.joints import Moving, row_of_joint
from ocp.interchange.opensim.old_versions import model_of
from ocp.interchange.opensim.properties import Objects, name_of, numbers_of, objects_of
from ocp.interchange.reader_notes import Remarks, merge_remarks
from ocp.interchange.xml_elements import Element
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.visuals import Visual

DOWN = (0.0, -9.80665, 0.0)


def read_opensim(
    root: Element,
    path: Path,
    *,
    repair: Sequence[str] = (),
    gravity: ArrayLike | None = None,
    folders: Sequence[Path] = (),
) -> tuple[Tree, Remarks]:
    """Return the Tree of an .osim file's root element, and by kind the remarks on it.

    Args:
        root: <OpenSimDocument>.
        path: of the file.
        repair: as of `load_model`.
        gravity: (3,), m/s2, instead of the file's.
        folders: where meshes may be but beside the file.

    Raises:
        ValueError: the message names file, line and element.
    """
    model = model_of(root)
    objects = objects_of(model)
    with root.located_errors(), np.errstate(over="ignore", invalid="ignore"):
        ways = ways_of(objects)
        drives, idle = drives_of(objects, ways)
        moving = Moving(ways=ways, ranges=ranges_of(objects), drives=drives)
        shown, lost = visuals_of(objects, path, folders)
        tree, remarks = _bodies(objects, moving, repair, shown)
        loops, ends = loops_of(objects)
        down = numbers_of(model, "gravity", 3, DOWN) if gravity is None else gravity
        points = [*markers_of(objects), *spheres_of(objects), *ends]
        tree = with_stand(replace(tree, gravity=down), loops, points)
        around = Surroundings(objects=objects, tree=tree, ways=ways)
        elements, left_out = elements_of(around)
        wires, ends, said = wires_of(around)
        tree = replace(tree, points=(*tree.points, *ends))
        return replace(tree, elements=elements, stays=wires), {
            **remarks,
            f"looks are left out, as of meshes that are in no folder {FOLDER} beside": lost,
            "actuators of coordinates that stand or follow others are left out": idle,
            "coordinates that the file prescribes over time are free": prescribed_of(objects),
            **merge_remarks([left_out, said]),
        }


def _bodies(
    objects: Objects, moving: Moving, repair: Sequence[str], shown: Mapping[str, Sequence[Visual]]
) -> tuple[Tree, Remarks]:
    """Return the bodies and joints of a model as they are shown, and by kind the remarks on
    them."""
    bodies = {name_of(each): each for each in objects.of("Body") if name_of(each) != GROUND}
    links = {name: link_of(each, repair) for name, each in bodies.items()}
    rows = []
    for seat in seats_of(objects):
        with seat.element.located_errors():
            link = replace(links[seat.child][0], visuals=tuple(shown.get(seat.child, ())))
            rows.append(row_of_joint(seat, link, moving))
    tree = Tree(
        joints=[joint for row, _ in rows for joint in row],
        links=[link for _, row in rows for link in row],
    )
    return tree, merge_remarks([words for _, words in links.values()])
