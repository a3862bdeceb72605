"""Metabolic power of a muscle by the laws of Bhargava, Umberger and Uchida, with smooth maxima.

Heat of activation and maintenance, heat of shortening and work add to the power; all are counted
per kilogram of muscle and multiplied by its mass at last. The papers print switches and clamps: in
their place stand rounded maxima (x + sqrt(x^2 + w^2)) / 2 of stated widths w, which are off by at
most w / 2, and of which none is flat. With widths of 0 the laws are as printed.
"""

from dataclasses import dataclass
from math import pi

from ocp.mechanics.elements.joint_elements import graph_number
from ocp.mechanics.muscles.force_curves import active_force, namespace
from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import positive, set_fields
from ocp.spelling import suggest_fields

DENSITY = 1059.7  # kg/m3, of muscle (Mendez & Keys 1960)
TENSION = 0.25e6  # N/m2, OpenSim's default of largest isometric stress
LEAST_HEAT = 1.0  # W/kg: resting heat, below which no muscle falls (Umberger et al. 2003)
BASAL = 1.2  # W/kg of the whole body (Koelewijn et al. 2019 and OpenSim)
AEROBIC = 1.5  # factor of Umberger's heats with oxygen
SLOW_LIMIT = 100.0  # W/kg: the most that slow fibres heat in shortening (Umberger et al. 2003)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Smoothing:
    """Widths over which switches and clamps of metabolic laws are rounded; 0 for kinks.

    Args:
        power: of total power and of heat (W/kg).
        velocity: of shortening against lengthening (optimal lengths/s).
        length: of the kinks over fibre length (optimal lengths).
        signal: of activation above excitation.

    Raises:
        ValueError: for a negative width.
    """

    power: float = 0.5
    velocity: float = 0.05
    length: float = 0.02
    signal: float = 0.02

    def __post_init__(self) -> None:
        for name in ("power", "velocity", "length", "signal"):
            set_fields(self, **{name: positive(f"smoothing: {name}", getattr(self, name), True)})


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Energetics:
    """What a muscle's metabolic power depends on beside its state.

    Args:
        force: largest isometric force F0 (N).
        length: optimal fibre length l0 (m).
        slow_twitch: share of slow fibres.
        max_velocity: largest shortening velocity (optimal lengths/s).
        tension: largest isometric stress (N/m2), by which force and length give the mass.

    Raises:
        ValueError: for a number that is not positive, or a share above 1.
    """

    force: Number
    length: Number
    slow_twitch: float = 0.5
    max_velocity: float = 10.0
    tension: float = TENSION

    def __post_init__(self) -> None:
        for name, unit in (("force", "N"), ("length", "m")):
            number = positive(f"energetics: {name}", getattr(self, name), unit=unit)
            set_fields(self, **{name: number})
        for name in ("max_velocity", "tension"):
            set_fields(self, **{name: positive(f"energetics: {name}", getattr(self, name))})
        share = positive("energetics: slow_twitch", self.slow_twitch, True)
        if share > 1:
            raise ValueError(f"energetics: slow_twitch: expected at most 1, got {share:g}")

    @property
    def mass(self) -> Matrix:
        """Mass of the muscle (kg), density F0 l0 / tension."""
        return DENSITY * graph_number(self.force) * graph_number(self.length) / self.tension


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FibreState:
    """State of a muscle's fibres: numbers, arrays or expressions.

    Args:
        excitation: u, between 0 and 1.
        activation: a, between 0 and 1.
        length: over the optimal one.
        velocity: m/s, negative in shortening.
        active: active force along the fibre (N).
        passive: passive force along the fibre (N), damping included.
        isometric: value of the active force-length curve; None for `active_force(length)`.
    """

    excitation: Matrix
    activation: Matrix
    length: Matrix
    velocity: Matrix
    active: Matrix
    passive: Matrix = 0.0
    isometric: Matrix = None

    @property
    def curve(self) -> Matrix:
        """Value of the active force-length curve."""
        return active_force(self.length) if self.isometric is None else self.isometric


def bhargava_2004(
    fibre: FibreState,
    muscle: Energetics,
    smoothing: Smoothing = Smoothing(),
    *,
    negative_work: bool = True,
    force_dependent: bool = False,
) -> Matrix:
    """Metabolic power of a muscle after Bhargava, Pandy & Anderson (2004), as OpenSim smooths it.

    heat = 40 u_s + 133 u_f + g(l) (74 u_s + 111 u_f) + alpha v_short,   power = heat - F_active v
    u_s = s sin(pi u / 2),   u_f = (1 - s)(1 - cos(pi u / 2));   g: 1/2 to 1 to 0 over l
    alpha = F/4, or by force 0.16 a f_L F0 + 0.18 F in shortening and 0.157 F in lengthening

    Args:
        fibre: state of the fibres.
        muscle: its energetics.
        smoothing: widths of its maxima.
        negative_work: whether work on a lengthening muscle is given back.
        force_dependent: whether alpha is the force-dependent one.

    Returns:
        Power (W), where heat and work together are at least 0 and heat at least 1 W/kg.
    """
    slow, fast = _fibre_shares(fibre.excitation, muscle.slow_twitch)
    knees = [_ramp(fibre.length - at, smoothing.length) for at in (0.5, 1.0, 1.5)]
    maintained = 0.5 + knees[0] - 3 * knees[1] + 2 * knees[2]
    heat = 40 * slow + 133 * fast + maintained * (74 * slow + 111 * fast)
    shortening, lengthening = _speeds(fibre, muscle, smoothing)
    total = fibre.active + fibre.passive
    if force_dependent:
        alpha = 0.16 * fibre.activation * fibre.curve * graph_number(muscle.force) + 0.18 * total
        shortened = alpha * shortening - 0.157 * total * lengthening
    else:
        shortened = 0.25 * total * shortening
    work = _work(fibre, muscle, shortening, negative_work)
    heat = heat + shortened / muscle.mass
    return muscle.mass * _total_power(heat, work, smoothing)


def umberger_2003(
    fibre: FibreState, muscle: Energetics, smoothing: Smoothing = Smoothing()
) -> Matrix:
    """Metabolic power of a muscle after Umberger, Gerritsen & Martin (2003), with oxygen.

    heat = 1.5 (A^0.6 (128 (1 - r) + 25) (0.4 + 0.6 f_L where l > 1) + S f_L where l > 1)
    S = A^2 (r min(p v, 100) + q v (1 - r)) in shortening, 4 A p v in lengthening
    p = 100 / (vmax / 2.5),   q = 153 / vmax,   r = s,   A = u, or (u + a) / 2 where a > u

    Args:
        fibre: state of the fibres.
        muscle: its energetics.
        smoothing: widths of its maxima.

    Returns:
        Power (W): heat, at least 1 W/kg, and work, that on a lengthening muscle given back.
    """
    heat, work = _umberger(fibre, muscle, smoothing, muscle.slow_twitch, 4.0, True)
    return muscle.mass * _with_least_heat(heat, work, smoothing)


def umberger_2010(
    fibre: FibreState, muscle: Energetics, smoothing: Smoothing = Smoothing()
) -> Matrix:
    """Metabolic power of a muscle after Umberger (2010): as in 2003, but lengthening heats by 0.3
    in place of 4, and work on a lengthening muscle is not given back.

    Args:
        fibre: state of the fibres.
        muscle: its energetics.
        smoothing: widths of its maxima.

    Returns:
        Power (W).
    """
    heat, work = _umberger(fibre, muscle, smoothing, muscle.slow_twitch, 0.3, False)
    return muscle.mass * _with_least_heat(heat, work, smoothing)


def uchida_2016(
    fibre: FibreState, muscle: Energetics, smoothing: Smoothing = Smoothing()
) -> Matrix:
    """Metabolic power of a muscle after Uchida, Hicks, Dembia & Delp (2016): Umberger's of 2003
    with slow fibres recruited first, r = u_s / (u_s + u_f), and a total of at least 0.

    It is OpenSim's Umberger2010MuscleMetabolicsProbe.

    Args:
        fibre: state of the fibres, its excitation above 0.
        muscle: its energetics.
        smoothing: widths of its maxima.

    Returns:
        Power (W).
    """
    slow, fast = _fibre_shares(fibre.excitation, muscle.slow_twitch)
    heat, work = _umberger(fibre, muscle, smoothing, slow / (slow + fast), 4.0, True)
    return muscle.mass * _total_power(heat, work, smoothing)


def basal_rate(mass: Matrix, coefficient: float = BASAL, exponent: float = 1.0) -> Matrix:
    """Metabolic power of a body at rest, coefficient mass^exponent.

    Args:
        mass: of the body (kg).
        coefficient: W/kg^exponent.
        exponent: of the mass.

    Returns:
        Power (W).
    """
    return coefficient * mass**exponent


def efficiency(work: Matrix, energy: Matrix) -> Matrix:
    """Efficiency of positive work: people's is 0.2 to 0.3.

    Args:
        work: positive work of fibres or joints (J), or their mean power (W).
        energy: metabolic energy spent on it (J), or mean power (W).

    Returns:
        Their ratio.
    """
    return work / energy


def _umberger(
    fibre: FibreState,
    muscle: Energetics,
    smoothing: Smoothing,
    slow: Matrix,
    lengthens: float,
    negative_work: bool,
) -> tuple[Matrix, Matrix]:
    """Return heat and work (W/kg), `slow` being the share of slow fibres at work and `lengthens`
    the heat of lengthening over that of slow fibres in shortening."""
    signal = fibre.excitation + _ramp(fibre.activation - fibre.excitation, smoothing.signal) / 2
    beyond = _step(fibre.length - 1, smoothing.length) * (1 - fibre.curve)  # where l > 1
    heat = signal**0.6 * (128 * (1 - slow) + 25) * (1 - 0.6 * beyond)
    speeds = _speeds(fibre, muscle, smoothing)
    shortening, lengthening = (speed / graph_number(muscle.length) for speed in speeds)
    of_slow, of_fast = 100 / (muscle.max_velocity / 2.5), 153 / muscle.max_velocity
    most = SLOW_LIMIT - _ramp(SLOW_LIMIT - of_slow * shortening, smoothing.power)
    shortened = signal**2 * (slow * most + (1 - slow) * of_fast * shortening)
    stretched = signal * lengthens * of_slow * lengthening
    heat = AEROBIC * (heat + (shortened + stretched) * (1 - beyond))
    return heat, _work(fibre, muscle, speeds[0], negative_work)


def _fibre_shares(excitation: Matrix, share: float) -> tuple[Matrix, Matrix]:
    """Return the recruited slow and fast fibres of a share of slow ones (Bhargava et al. 2004)."""
    functions = namespace(excitation)
    angle = pi / 2 * excitation
    return share * functions.sin(angle), (1 - share) * (1 - functions.cos(angle))


def _speeds(fibre: FibreState, muscle: Energetics, smoothing: Smoothing) -> tuple[Matrix, Matrix]:
    """Return the speeds (m/s) of shortening and lengthening, both at least 0."""
    width = smoothing.velocity * graph_number(muscle.length)
    shortening = _ramp(-fibre.velocity, width)
    return shortening, shortening + fibre.velocity


def _work(fibre: FibreState, muscle: Energetics, shortening: Matrix, negative: bool) -> Matrix:
    """Return the power of the active force (W/kg), with or without that on a lengthening muscle."""
    return fibre.active * (-fibre.velocity if negative else shortening) / muscle.mass


def _total_power(heat: Matrix, work: Matrix, smoothing: Smoothing) -> Matrix:
    """Return the total (W/kg), raised by heat to at least 0, with the least heat."""
    raised = heat + _ramp(-(heat + work), smoothing.power)
    return _with_least_heat(raised, work, smoothing)


def _with_least_heat(heat: Matrix, work: Matrix, smoothing: Smoothing) -> Matrix:
    """Return heat and work (W/kg) together, with at least the resting heat."""
    return LEAST_HEAT + _ramp(heat - LEAST_HEAT, smoothing.power) + work


def _ramp(x: Matrix, width: float) -> Matrix:
    """Return max(x, 0), rounded over a width."""
    if not width:
        return x * (x > 0)
    return (x + namespace(x).sqrt(x**2 + width**2)) / 2


def _step(x: Matrix, width: float) -> Matrix:
    """Return 1 where x > 0, else 0, rounded over a width."""
    if not width:
        return (x > 0) * 1.0
    return 0.5 + 0.5 * namespace(x).tanh(x / width)
