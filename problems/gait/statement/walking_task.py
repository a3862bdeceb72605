"""Arguments of a step: gait, muscles, terrain, burdens, goal, rules and accuracy."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Final, Literal

from ocp.mechanics import Open
from ocp.spelling import suggest_fields

HUMAN: Final = "human"
ELASTIC: Final = "elastic"
LIVING = HUMAN, ELASTIC  # objectives of people with strength over angle and tissue
PERCENTILE = 84.13  # of strength: a mean and a standard deviation, as of most torque limits


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Gait:
    """Speed, length and timing of steps.

    `speed`: of walking (m/s), by default as 1.2 m/s is to the legs of the man of 1.75 m; `step`:
    length of a step (m), by default as 0.6 m is to those legs; `width`: distance between the feet
    (m); `stride`: half, the step that its image continues, phases, the same stated in phases, or
    full, both steps; `free_timing`: find how long single and double support last and how long steps
    are; `free`: find step, width, toe_out, those named, separated by commas, of a step in one
    phase; `toe_out`: feet turned outward (deg); `heel_off`: when the heel may leave the ground, of
    the step, by default 0.6, of walks of effort alone 0.75; `crouch`: by which knees are bent at
    least, always (deg).
    """

    speed: float | Open | None = None
    step: float | Open | None = None
    width: float | Open = 0.1
    stride: Literal["half", "phases", "full"] = "half"
    free_timing: bool = False
    free: str = ""
    toe_out: float | Open = 0.0
    heel_off: float | None = None
    crouch: float = 0.0


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Muscles:
    """Strength of a person, and stiffness of toes and of thighs that touch.

    `age`: years, of whose strength, 5 to 110; `percentile`: of strength at that age, 1 to 99;
    `hips`, `knees`, `ankles`, `trunk`, `arms`: share of their strength that these joints have, on
    both sides; `ankle_strength`: of the right ankle, of its own; `toes`: stiffness of those of the
    objectives human and elastic (N m/rad); `thighs`: Young's modulus of the flesh by which those of
    these objectives touch, 26.1 as measured (Isogai et al. 2022), 0 where they go through each
    other (kPa).
    """

    age: float | None = None
    percentile: float | Open = PERCENTILE
    hips: float | Open = 1.0
    knees: float | Open = 1.0
    ankles: float | Open = 1.0
    trunk: float | Open = 1.0
    arms: float | Open = 1.0
    ankle_strength: float = 1.0
    toes: float | Open = 0.0
    thighs: float | Open = 0.0


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Terrain:
    """Slope of the ground, or stairs.

    `slope`: of the ground, upward (deg); `rise`: of stairs, of which every step takes one (m),
    below 0 down.
    """

    slope: float | Open = 0.0
    rise: float = 0.0


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Burdens that are worn or held.

    `backpack`: mass behind T6 (kg); `hands`: weight in each hand (N); `load`: worn on trunk, waist,
    thigh, shank and foot or held in hands, as trunk=10,foot=2, of limbs on each side or on one, as
    hand_r=5 (kg); `shank_mass`: put on the right shank (kg); `springs`: at rest in standing, across
    joints of both sides or of one, of an exoskeleton or a foot, as ankle_df=150 (N m/rad).
    """

    backpack: float | Open = 0.0
    hands: float | Open = 0.0
    load: str = ""
    shank_mass: float | Open = 0.0
    springs: str | Mapping[str, float | Open] = ""


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Objective of the walk.

    `objective`: elastic, what people spare with their tissue and strength, the work of their
    muscles behind tendons among it, human, the same without tendons, an upright head and as smooth
    motion, or effort, torque or constant; by default elastic; `smooth`: weight of
    accelerations beside it, by default 0.03 of elastic, of others 0.0025.
    """

    objective: Literal["elastic", "human", "effort", "torque", "constant"] | None = None
    smooth: float | Open | None = None


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Constraints of a step beyond its speed and its contacts.

    `balance`: pressure, of each foot in its polygon, or zmp, of both together in the hull; `split`:
    share double support by distance instead of freely; `dissipative`: the ground takes energy from
    feet and gives none, which their tolerances alone allow it, by default of elastic; `jump`: let
    accelerations and forces jump from step to step, as six control points need; `hold`: feet in
    their places throughout, or at both ends; `without`: families of constraints to leave out,
    separated by commas, of angles, torques, contact, balance, coupling, avoidance, symmetry,
    clearance and places.
    """

    balance: Literal["pressure", "zmp"] = "pressure"
    split: bool = False
    dissipative: bool | None = None
    jump: bool = False
    hold: Literal["throughout", "ends"] = "throughout"
    without: str = ""


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Fineness of the motion, and tolerances of contacts.

    `points`: control points per joint, by default 28, whose knots stand where contacts change, of
    the objective human 10, of walks of effort alone 8; `contact`: tolerance of the contact points'
    place (m), by default 0.0005, of human and effort 0.002; `slip`: and of their velocity (m/s), by
    default 0.005, of these 0.1; `exact`: feet stand without either, between the nodes too;
    `pieces`: of the step, between knots of joints that follow exact feet and of tendons' forces.
    """

    points: int | None = None
    contact: float | Open | None = None
    slip: float | Open | None = None
    exact: bool = False
    pieces: int = 64


# Of effort the tolerances are the thesis' (Barman 2020); those of elastic people are so close that
# closer ones change the objective by 4 % more (walk_of_people.md), and take so many points
LOOSE = Accuracy(points=8, contact=0.002, slip=0.1)
USUAL = MappingProxyType(
    {HUMAN: replace(LOOSE, points=10), ELASTIC: Accuracy(points=28, contact=0.0005, slip=0.005)}
)


def usual_accuracy(objective: str, accuracy: Accuracy = Accuracy()) -> Accuracy:
    """Return an accuracy whose open fields are those usual of an objective."""
    usual = USUAL.get(objective, LOOSE)
    names = (each.name for each in fields(accuracy) if getattr(accuracy, each.name) is None)
    return replace(accuracy, **{name: getattr(usual, name) for name in names})
