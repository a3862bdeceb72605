"""A torso on one leg with a point foot hops on with the least squared torques per metre.

Stance, flight, and a landing that stops the foot: stride and times are found. By default it is the
torso and one leg of the robot RABBIT (Westervelt, Grizzle & Koditschek 2003).
"""

from ocp import (
    BSpline,
    Constraint,
    Ground,
    Parameter,
    Phase,
    Problem,
    Radau,
    Task,
    Transcription,
    continuous,
    friction,
    impact,
    joint_limits,
    path,
    point_contact,
    squares,
    torque_limits,
    unilateral,
)
from ocp.cli import main
from ocp.mechanics import positive
from ocp.models.walkers.five_link import SHANK, THIGH, TORSO, Segment
from ocp.models.walkers.monoped import monoped
from ocp.problem import INSIDE, periodic

UP = (0.0, 1.0, 0.0)
LINKS = TORSO, THIGH, SHANK
Numbers = tuple[float, float, float]  # one for each of these
DRIVEN = [3, 4]  # rows of hip and knee
SPAN = (0.1, 0.6)  # s: of stance and flight
# Forces rise steeply where limits set in and the foot leaves, and no equal knots of a spline meet
# these instants: its law is off in between, that of a mesh of high order hardly
MESH = Transcription(method=Radau(intervals=30, order=6))


def problem(
    speed: float = 1.0,
    torque: float = 400.0,
    masses: Numbers = tuple(each.mass for each in LINKS),
    lengths: Numbers = tuple(each.length for each in LINKS),
    centres: Numbers = tuple(each.centre for each in LINKS),
    inertias: Numbers = tuple(each.inertia for each in LINKS),
    gravity: float = 9.81,
    grip: float = 0.8,
    points: int = 24,
) -> Problem:
    """`speed`: of hopping (m/s); `torque`: limit at hip and knee (N m); `masses`: of torso, thigh
    and shank (kg); `lengths`: theirs (m); `centres`: where their mass is, from the hip, the hip and
    the knee (m); `inertias`: about these (kg m2); `gravity`: its strength (m/s2); `grip`:
    coefficient of friction; `points`: control points per joint and phase,
    where splines are planned.
    """
    positive("speed", speed)
    links = [
        Segment(mass=mass, length=length, centre=centre, inertia=inertia)
        for mass, length, centre, inertia in zip(masses, lengths, centres, inertias, strict=True)
    ]
    hopper = monoped(torque, *links, gravity=gravity)
    stride = Parameter("stride", 0.8 * speed, "m", lower=0.05 * speed, upper=2.0 * speed, free=True)
    ground = Ground(feet=(point_contact(hopper, "foot"),), normal=UP)
    motion = BSpline(points=points, degree=5)
    pushing = unilateral(hopper, ground), friction(hopper, ground, coefficient=grip)
    hop = periodic(hopper, shift={"x": stride}, qdd=False)
    return Problem(
        tree=hopper,
        phases=(
            Phase("stance", motion=motion, duration=SPAN, ground=ground, constraints=pushing),
            Phase("flight", motion=motion, duration=SPAN, constraints=(above(),)),
        ),
        links=(continuous(), impact("foot", normal=UP, friction=grip, symmetry=hop)),
        objective=squares("effort per metre", lambda at: at.tau[DRIVEN] / stride.sqrt()),
        constraints=(joint_limits(hopper), torque_limits(hopper), pace(stride, speed)),
    )


def above() -> Constraint:
    """Keep the foot above the ground between lift-off and landing."""
    return path("swing", lambda at: at.position("foot")[1], lower=0.0, when=INSIDE, units="m")


def pace(stride: Parameter, speed: float) -> Constraint:
    """Require a stride to take as long as it does at a speed (m/s)."""
    return Constraint(
        name="pace",
        function=lambda durations: stride - speed * sum(durations.values()),
        lower=0.0,
        upper=0.0,
        when="durations",
        units="m",
    )


TASK = Task(problem, transcription=MESH)

if __name__ == "__main__":
    main(TASK)
