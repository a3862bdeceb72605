"""Contact of feet in each phase of a running step or a jump."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ocp import Tree
from ocp.mechanics import array, positions
from ocp.models.human import FEET, SOLES, TOUCHING
from ocp.problem import Foot, Ground, Pin, Support

UP = (0.0, 1.0, 0.0)
STRIKES = {"heel": ("heel", "flat", "toes"), "mid": ("flat", "toes"), "fore": ("toes",)}
FLIGHT = "flight"
# What holds the right foot in each phase of stance: its part that bears, its points and the axes
# in which they rest, and the corners of what bears
REAR, FORE = FEET["right"]
HEEL = 0.02  # m: length of what bears of the heel alone [assumed]
WAYS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "heel": (REAR, {"heel_r": "xyz", "heel_med_r": "y"}),
    "flat": (REAR, {"heel_r": "xyz", "ball_med_r": "xy", "ball_lat_r": "y", "toe_r": "y"}),
    "toes": (FORE, {"ball_med_r": "xyz", "ball_lat_r": "y", "toe_r": "xy"}),
}
CORNERS = {
    "flat": SOLES["right"],
    "toes": tuple(f"{name}_r" for name in ("ball_med", "ball_lat", "toe_lat", "toe_med")),
}
NEVER = (np.inf, -np.inf)  # when a foot in swing bears


def stance(
    body: Tree, phase: str, width: float, *, first: bool, last: bool, both: bool = False
) -> Ground:
    """Return the ground of a phase of stance: the right foot on its heel, flat, or on ball and
    toes, half the `width` (m) to the right, its heel at Z = 0 where it is flat, or `both` feet. Its
    force starts from zero in the `first` phase and returns to it in the `last`."""
    spots = _spots(body, width)
    link, pins = WAYS[phase]
    support = Support(
        link=link,
        when=(0.0, 1.0),
        pins=[Pin(point=name, axes=axes, target=spots[name]) for name, axes in pins.items()],
        polygon=_polygon(phase, spots),
    )
    bears = (0.0 if first else -np.inf, 1.0 if last else np.inf)
    center = (spots["heel_r"] + spots["toe_r"]) / 2
    foot = Foot(name="right", supports=(support,), center=center, bears=bears)
    if both:
        return Ground(feet=(foot, _other(foot)), normal=UP, sharing="smooth")
    return Ground(feet=(foot,), normal=UP)


def swinging(*sides: str) -> Ground:
    """Return the ground under feet that swing, for what keeps them above it."""
    feet = [Foot(name=side, supports=(), center=(0.0, 0.0, 0.0), bears=NEVER) for side in sides]
    return Ground(feet=feet, normal=UP)


def _other(foot: Foot) -> Foot:
    """Return the left foot beside a right one, its mirror image."""
    image = np.array([-1.0, 1.0, 1.0])
    (support,) = foot.supports
    link = FEET["left"][FEET["right"].index(support.link)]
    pins = [
        replace(pin, point=pin.point.removesuffix("r") + "l", target=image * np.array(pin.target))
        for pin in support.pins
    ]
    polygon = [image * np.array(corner) for corner in support.polygon]
    mirrored = replace(support, link=link, pins=pins, polygon=polygon)
    center = image * np.array(foot.center)
    return replace(foot, name="left", supports=(mirrored,), center=center)


def _polygon(phase: str, spots: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    if phase in CORNERS:
        return [spots[name] for name in CORNERS[phase]]
    ways = (0.0, HEEL), (HEEL, 0.0)
    sides = zip(("heel_med_r", "heel_lat_r"), ways)
    return [spots[name] + (0.0, 0.0, ahead) for name, pair in sides for ahead in pair]


def _spots(body: Tree, width: float) -> dict[str, np.ndarray]:
    """Return {point: place (3, m)} of the right foot where it stands flat."""
    names = sorted({*SOLES["right"], *TOUCHING["right"]})
    places = [array(place).ravel() for place in positions(body, np.zeros(body.dof), names)]
    heel = places[names.index("heel_r")]
    return {name: place - heel + (-width / 2, 0.0, 0.0) for name, place in zip(names, places)}
