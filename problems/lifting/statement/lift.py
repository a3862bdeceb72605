"""A box lifted from the floor, predicted for a human from effort and stability.

Both feet stand still, the hands hold the box level, each carries half of it as a point mass (Xiang,
Arora & Abdel-Malek 2010). `--pareto` sweeps the weights of the two objectives; `--maximum` makes
the mass of the box a free parameter and asks for the heaviest one.

Joints have passive tissue and strength over the angle; the shares of both that a lift takes are its
effort (`exertion`). Without these (`passive=False`), and for the heaviest box, effort is that of
torques over constant limits, and ranges are narrower.

Beside measured lifts, with 9 kg: L5/S1 is extended by up to 223 N m here; men and women lifting 10
kg by peaks of about 200 N m (an error of 20 N m being 10 % of them: Faber et al. 2020). The lumbar
joints bend by 47 deg and the knees by 62 deg; those of handlers by 54 (SD 11) and about 72 (30)
deg, of novices by 66 (15) and 53 (33) deg (Plamondon et al. 2010). The back is bent by 95 % of its
range when its moment is largest, measured ones by 78-97 % (Dolan, Mannion & Adams 1994). L5/S1 is
sheared by 552 N without the muscles' forces, which make that 1100-1400 N with 10.5 kg (Kingma et
al. 2004).
"""

from collections.abc import Mapping

import numpy as np

from ocp import BSpline, Parameter, Problem
from ocp.mechanics import Open, nominal
from ocp.models.human import somebody
from ocp.problems.lifting.report.niosh import Work
from ocp.problems.lifting.statement.box_hold import Box, Spot
from ocp.problems.lifting.statement.constraints import Manner, stated
from ocp.problems.lifting.statement.scene import scened
from ocp.problems.lifting.statement.standing_body import lifter, stance, started


def problem(
    box: float | Open = 9.0,
    depth: float = 0.37,
    height: float = 0.365,
    width: float = 0.40,
    start_height: float | Open = 0.365,
    start_ahead: float | Open = 0.49,
    end_height: float | Open = 1.37,
    end_ahead: float | Open = 0.46,
    time: float | Open = 1.2,
    weight: float = 1.0,
    symmetric: bool = True,
    turn: float = 0.0,
    maximum: bool = False,
    points: int | None = None,
    person: str = "",
    stature: float | Open | None = None,
    mass: float | Open | None = None,
    sex: str | None = None,
    segments: str = "",
    feet: float | Open = 0.20,
    balance: str = "pressure",
    smooth: float | Open = 0.0025,
    still: bool = True,
    contact: float = 0.002,
    slip: float = 0.02,
    rate: float = 0.2,
    hours: float = 1.0,
    coupling: str = "poor",
    passive: bool | None = None,
    style: str = "",
) -> Problem:
    """`box`: its mass (kg), to begin with where `maximum` seeks it; `depth`: of the box, fore and
    aft (m); `height`: of the box (m); `width`: of the box, between the hands at the upper edge of
    its sides (m); `start_height`: of the hands at the start (m); `start_ahead`: of the hands before
    the ankles at the start (m); `end_height`: and at the end (m); `end_ahead`: likewise (m);
    `time`: of the lift (s); `weight`: of effort against stability, 1 is effort alone; `symmetric`:
    mirror the left side from the right; `turn`: by which the box ends to the left, about the middle
    of the ankles (deg), which frees the sides; `maximum`: find the heaviest box instead; `points`:
    control points per joint, by default 9, and 11 for the heaviest box, whose torques lean on their
    limits; `person`: of a percentile, f5, f50, f95, m5, m50 or m95, or else a man of 1.75 m and 75
    kg; `stature`: in place of that person's (m); `mass`: likewise (kg); `sex`: likewise, male or
    female; `segments`: the person's own, as thigh.length=0.45,shank.mass=3.4, of limbs also com and
    radii (a/b/c); `feet`: distance between the ankles (m); `balance`: pressure, of each foot in its
    polygon, or zmp, of both together in the hull; `smooth`: weight of accelerations beside effort;
    `still`: start and end without accelerations too; `contact`: tolerance of the place of feet and
    hands (m); `slip`: and of the feet's velocity (m/s); `rate`: of such lifts a minute, for what is
    reported beside it; `hours`: up to which that goes on, 1, 2 or 8 (h); `coupling`: of hands and
    box, good, fair or poor, as by table 6 of its manual that of a box higher than 0.30 m is;
    `passive`: joints have tissue and strength over the angle, by which effort counts, by default
    but for the heaviest box; without, narrower ranges; `style`: squat, with knees bent by 90 deg at
    least at the start, or stoop, by 20 at most, or what is best."""
    sought = Parameter("box_mass", box, "kg", lower=0.0, free=True) if maximum else box
    crate = Box(mass=sought, depth=depth, height=height, width=width)
    start = Spot(high=start_height, ahead=start_ahead)
    end = Spot(high=end_height, ahead=end_ahead, angle=np.radians(turn))
    manner = Manner(
        time=time,
        motion=BSpline(points=(11 if maximum else 9) if points is None else points),
        work=Work(rate=rate, hours=hours, coupling=coupling),
        weight=weight,
        smooth=smooth,
        maximum=maximum,
        balance=balance,
        still=still,
        contact=contact,
        slip=slip,
    )
    _check_numbers(*nominal((crate, {"time": time, "feet": feet}, weight)))
    who, mirrors = somebody(person, stature, mass, sex, segments), symmetric and not turn
    body = lifter(who, mirrors, not maximum if passive is None else passive)
    scene = scened(who, body, stance(body, feet), (crate, start, end), mirrors=mirrors)
    return stated(scene, manner, *started(scene.limited, style))


def _check_numbers(box: Box, others: Mapping[str, float], weight: float) -> None:
    """Raise ValueError for a size or time that is not positive, or a weight outside [0, 1]."""
    sizes = {"box": box.mass, "depth": box.depth, "height": box.height, "width": box.width}
    for what, value in (sizes | dict(others)).items():
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive number, got {value}")
    if not 0 <= weight <= 1:
        raise ValueError(f"weight: expected a number from 0 to 1, got {weight}")
