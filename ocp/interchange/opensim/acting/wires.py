"""PathActuators of OpenSim's models as wires: chosen tensions over points of bodies."""

from math import inf

from ocp.interchange.opensim.acting.paths import LeftOut, Surroundings, path_of
from ocp.interchange.opensim.coordinates import acts
from ocp.interchange.opensim.properties import bound_of, name_of, number_of
from ocp.interchange.reader_notes import Remarks
from ocp.interchange.xml_elements import Element
from ocp.mechanics.model.tree import Point
from ocp.mechanics.model.unilateral_joints import End, Stay, wire
from ocp.mechanics.muscles.muscle_paths import PathPoint, PointPath
from ocp.mechanics.muscles.wrapping.surfaces import SURFACES

ACTUATOR = "PathActuator"


def wires_of(around: Surroundings) -> tuple[list[Stay], list[Point], Remarks]:
    """Return the wires of a model, the points over which they run, and the remarks on them.

    The tension is the optimal force times the control, of which the part that pulls is kept.

    Args:
        around: the model.
    """
    wires: list[Stay] = []
    points: list[Point] = []
    left_out, pulling = [], []
    for each in around.objects.of(ACTUATOR):
        if not acts(each):
            continue
        try:
            with each.located_errors():
                ends, own = _ends(around, each)
                size = number_of(each, "optimal_force", 1.0)
                least, most = sorted(
                    size * bound_of(each, f"{end}_control", sign * inf) if size else 0.0
                    for end, sign in (("min", -1), ("max", 1))
                )
                if most <= 0:
                    raise LeftOut("it never pulls")
                pulling += [name_of(each)] if least < 0 else []
                wires.append(wire(name_of(each), ends, (max(least, 0.0), most)))
                points += own
        except LeftOut as reason:
            left_out.append(f"{name_of(each)} ({ACTUATOR}): {reason}")
    return wires, points, {"forces are left out": left_out, "wires pull and do not push": pulling}


def _ends(around: Surroundings, element: Element) -> tuple[list[End], list[Point]]:
    """Return the points of a wire as names of points of the tree, and those points."""
    path = path_of(around, element)
    if not isinstance(path, PointPath):
        raise LeftOut("wires over functions are not read")
    ends: list[End] = []
    points: list[Point] = []
    for number, each in enumerate(path.points):
        if isinstance(each, PathPoint):
            moving = any(not isinstance(entry, float) for entry in each.position)
            if moving or each.within is not None:
                raise LeftOut("wires over moving or conditional points are not read")
            name = f"{name_of(element)}_{number}"
            points.append(Point(name=name, link=each.link, position=each.position))
            ends.append(name)
        elif isinstance(each, SURFACES):
            raise LeftOut("wires over surfaces are not read")
        else:
            ends.append(each)
    return ends, points
