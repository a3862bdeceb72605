"""Fatigue of muscles in three compartments (Xia & Frey Law 2008), and measured endurance.

A share of the motor units is active, one is fatigued, and the rest waits:

    dA/dt = C - F A,   dM/dt = F A - R M,   rest = 1 - A - M

A drive C recruits resting units toward the active share that a task asks for, up to all that rest,
and lets go of those that are too many. Endurance is the time until the rest can no longer make up
for what tires.
"""

from dataclasses import dataclass
from math import log

from ocp.mechanics.muscles.force_curves import namespace
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import positive, set_fields
from ocp.spelling import suggest_fields

# Rates F and R (1/s): of the elbow those of Frey-Law, Looft & Heitsman (2012), table 1, found for
# holds; of its flexors those of Rakshit et al. (2021), table 2, found for the decline of torque.
RATES = {
    "elbow": (0.00912, 0.00094),
    "elbow flexors, women": (0.00965, 0.00197),
    "elbow flexors, men": (0.01302, 0.00188),
}
# Constants b0 (s) and b1 of Frey Law & Avin (2010), table 2: endurance = b0 share^b1.
ENDURANCE = {
    "ankle": (34.71, -2.06),
    "elbow": (17.98, -2.21),
    "grip": (33.55, -1.61),
    "knee": (19.38, -1.88),
    "shoulder": (14.86, -1.83),
    "trunk": (22.69, -2.27),
}
BAND = 0.29, 0.47  # of endurance, each way: narrowest and widest 95 % prediction interval of 2010
DRIVE = 10.0  # 1/s: Xia & Frey Law's factor of recruitment, arbitrary as they say
REST = 0.05  # share of the largest force about which a muscle begins to rest: assumed
WIDTH = 1e-3  # of a share, over which recruitment is rounded where all rest is called


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Fatigue:
    """Rates at which the motor units of a muscle tire and recover.

    Args:
        tiring: F (1/s), active units to fatigued ones.
        recovery: R (1/s), fatigued units to resting ones.
        rest_factor: by how much faster they recover where nothing is asked for (Looft, Herkert &
            Frey-Law 2018: 15 at the elbow, for intermittent tasks); 1 for the law of 2008.

    Raises:
        ValueError: for a rate that is not positive.
    """

    tiring: float
    recovery: float
    rest_factor: float = 1.0

    def __post_init__(self) -> None:
        for name in ("tiring", "recovery", "rest_factor"):
            set_fields(self, **{name: positive(f"fatigue: {name}", getattr(self, name))})


ELBOW = Fatigue(tiring=RATES["elbow"][0], recovery=RATES["elbow"][1])


def fatigue_rates(
    task: Matrix, active: Matrix, fatigued: Matrix, fatigue: Fatigue, drive: float = DRIVE
) -> tuple[Matrix, Matrix]:
    """Rates of the active and of the fatigued share.

    C = drive min(task - A, rest) where the task asks for more than is active, else drive (task - A)
    (Xia & Frey Law 2008, eq. 1-6); the minimum is rounded over a share of 0.001.

    Args:
        task: share of the largest force that the task asks for.
        active: active share A.
        fatigued: fatigued share M.
        fatigue: the rates of the muscle.
        drive: rate of recruitment (1/s).

    Returns:
        dA/dt and dM/dt (1/s).
    """
    rest = 1 - active - fatigued
    wanted = task - active
    excess = wanted - rest
    sqrt = namespace(excess).sqrt
    recruited = drive * (wanted - (excess + sqrt(excess**2 + WIDTH**2)) / 2)
    return recruited - fatigue.tiring * active, fatigued_rate(task, active, fatigued, fatigue)


def fatigued_rate(task: Matrix, active: Matrix, fatigued: Matrix, fatigue: Fatigue) -> Matrix:
    """Rate of the fatigued share where the active one is known, as where activation is it.

    dM/dt = F A - R M, with R times `rest_factor` where nothing is asked for, rounded over a share
    of 0.05 of the task.

    Args:
        task: share of the largest force that the task asks for.
        active: active share A.
        fatigued: fatigued share M.
        fatigue: the rates of the muscle.

    Returns:
        dM/dt (1/s).
    """
    recovery: Matrix = fatigue.recovery
    if fatigue.rest_factor != 1:
        rests = namespace(task).exp(-((task / REST) ** 2))
        recovery = recovery * (1 + (fatigue.rest_factor - 1) * rests)
    return fatigue.tiring * active - recovery * fatigued


def hold_endurance(share: float, fatigue: Fatigue) -> float:
    """Time for which a rested muscle can hold a share of its largest force.

    The active share is the task's as long as units rest, so that M rises by F share - R M from 0 to
    1 - share:

        T = -ln(1 - R (1 - share) / (F share)) / R

    Args:
        share: of the largest force, above 0, at most 1.
        fatigue: the rates of the muscle.

    Returns:
        The time (s), infinite where recovery keeps up.

    Raises:
        ValueError: for a share outside 0 and 1.
    """
    share = _checked_share(share)
    left = 1 - fatigue.recovery * (1 - share) / (fatigue.tiring * share)
    return -log(left) / fatigue.recovery if left > 0 else float("inf")


def measured_endurance(share: float, joint: str = "elbow") -> float:
    """Mean measured endurance of a hold, b0 share^b1, of 369 data in 194 publications.

    People differ from it: the 95 % prediction interval is 29 to 47 % wide, each way.

    Args:
        share: of the largest force, above 0, at most 1; most data lie above 0.25.
        joint: one of `ENDURANCE`.

    Returns:
        The time (s) (Frey Law & Avin 2010, table 2).

    Raises:
        ValueError: for another joint, or a share outside 0 and 1.
    """
    if joint not in ENDURANCE:
        raise ValueError(f"endurance: expected one of {', '.join(ENDURANCE)}, got {joint!r}")
    scale, exponent = ENDURANCE[joint]
    return scale * _checked_share(share) ** exponent


def _checked_share(share: float) -> float:
    share = positive("endurance: share", share)
    if share > 1:
        raise ValueError(f"endurance: share: expected at most 1, got {share:g}")
    return share
