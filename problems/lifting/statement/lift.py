"""A box lifted from the floor, predicted for a human from effort and stability.

Both feet stand still, the hands hold the box level, each carries half of it as a point mass (Xiang,
Arora & Abdel-Malek 2010). `--pareto` sweeps the weights of the two objectives; `--maximum` makes
the mass of the box a free parameter and asks for the heaviest one.

Joints have passive tissue and strength over the angle; effort is what people spare who stand, by
the weights of walking (`human_cost`). Without these (`passive=False`), and for the heaviest box,
effort is that of torques over constant limits, and ranges are narrower.

Beside measured lifts, with 9 kg: L5/S1 is extended by up to 185 N m here; men and women lifting 10
kg by peaks of about 200 N m (an error of 20 N m being 10 % of them: Faber et al. 2020). The lumbar
joints bend by 46 deg and the knees by 23 deg; those of handlers by 54 (SD 11) and about 72 (30)
deg, of novices by 66 (15) and 53 (33) deg (Plamondon et al. 2010). Measured backs are bent
by 78-97 % of their range when the moment is largest (Dolan, Mannion & Adams 1994). L5/S1 is sheared
by 607 N without the muscles' forces, which make that 1100-1400 N with 10.5 kg (Kingma et al. 2004).
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ocp import BSpline, Parameter, Problem
from ocp.mechanics import check_argument_records, nominal
from ocp.models.human import Person, somebody
from ocp.problems.lifting.report.niosh import Work
from ocp.problems.lifting.statement.constraints import HANDLING, stated
from ocp.problems.lifting.statement.graded_knots import graded
from ocp.problems.lifting.statement.lifting_task import Accuracy, Box, Goal, Manner, Spot
from ocp.problems.lifting.statement.scene import scened
from ocp.problems.lifting.statement.standing_body import lifter, stance, started


def problem(
    box: Box = Box(),
    start: Spot = Spot(),
    end: Spot = Spot(high=1.37, ahead=0.46),
    manner: Manner = Manner(),
    goal: Goal = Goal(),
    work: Work = HANDLING,
    accuracy: Accuracy = Accuracy(),
    person: Person = Person(),
    passive: bool | None = None,
) -> Problem:
    """Return a lift of a box from start to end.

    Args:
        box: its mass and sizes.
        start: of the hands; start_height and start_ahead on the command line.
        start_height: of the hands at the start (m).
        start_ahead: of the hands before the ankles at the start (m).
        end: likewise, before the feet as they stand then.
        end_height: and at the end (m).
        end_ahead: likewise (m).
        manner: how it is done.
        goal: the objective.
        work: how often and how long, for what is reported beside it.
        accuracy: fineness of the motion, and tolerances.
        person: whose body.
        passive: joints have tissue and strength over the angle, by which effort counts, by default
            but for the heaviest box; without, narrower ranges.

    Raises:
        ValueError: a value that no lift can have, by the name of its flag.
    """
    check_argument_records(problem, locals())
    _check_numbers(*nominal((box, {"time": manner.time, "feet": manner.feet}, goal.weight)))
    if goal.maximum:
        box = replace(box, mass=Parameter("box_mass", box.mass, "kg", lower=0.0, free=True))
    tissue = not goal.maximum if passive is None else passive
    spares = tissue and not goal.maximum  # rates of torques count
    usual = 13 if spares else 11 if goal.maximum else 9
    points = usual if accuracy.points is None else accuracy.points
    motion = graded(points) if spares else BSpline(points=points)
    who, mirrors = somebody(person), manner.symmetric and not manner.turn
    body = lifter(who, mirrors, tissue)
    feet = replace(stance(body, manner.feet), sharing="smooth" if spares else "straight")
    turned = replace(end, angle=np.radians(manner.turn))
    scene = scened(who, body, feet, (box, start, turned), mirrors=mirrors)
    style = started(scene.limited, manner.style)
    return stated(scene, motion, manner, *style, goal=goal, work=work, accuracy=accuracy)


def _check_numbers(box: Box, others: Mapping[str, float], weight: float) -> None:
    """Raise ValueError for a size or time that is not positive, or a weight outside [0, 1]."""
    sizes = {"box": box.mass, "depth": box.depth, "height": box.height, "width": box.width}
    for what, value in (sizes | dict(others)).items():
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive number, got {value}")
    if not 0 <= weight <= 1:
        raise ValueError(f"weight: expected a number from 0 to 1, got {weight}")
