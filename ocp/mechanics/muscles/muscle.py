"""Muscle with activation, and a rigid or a compliant tendon, along a path, as an element of a tree.

Its fibres and tendon are those of `fibres`: De Groote, Kinney, Rao & Fregly (2016), with the
constants of OpenSim's DeGrooteFregly2016Muscle.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite

from ocp.mechanics.elements.element_states import StateVariable
from ocp.mechanics.elements.joint_elements import MotionState, graph_number, row_of
from ocp.mechanics.model.tree_validation import Mechanism, known_names
from ocp.mechanics.muscles.activation_dynamics import (
    FALL,
    RISE,
    SMOOTHING,
    activation_rate,
    excitation_for_rate,
)
from ocp.mechanics.muscles.fatigue import Fatigue, fatigued_rate
from ocp.mechanics.muscles.fibres import (
    Fibre,
    fibre_at,
    fibre_length,
    largest_speed,
    tendon_reach,
    tendon_slope,
    velocity_in_equilibrium,
)
from ocp.mechanics.muscles.force_curves import (
    FIBRE_STRAIN,
    OFFSET,
    SHORTEST,
    TENDON_STRAIN,
    VELOCITY,
    active_force,
    passive_energy,
    passive_force,
    tendon_energy,
    tendon_stiffness,
)
from ocp.mechanics.muscles.metabolics import TENSION
from ocp.mechanics.muscles.muscle_paths import Path, PointPath, PolynomialPath
from ocp.mechanics.values.parameters import Number, nominal
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_type, limits, positive, set_fields
from ocp.spelling import suggest_fields

TENDONS = "rigid", "compliant"
STEEPEST = 1.5  # rad: pennation below a right angle
LONGEST = 1.8  # optimal lengths, as OpenSim has it
HALVINGS = 60


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Muscle:
    """A muscle along a path, whose activation, and with a compliant tendon its force, are states.

    Args:
        name: by which reports, groups and states know it: "soleus.activation" is driven by the
            excitation, "soleus.force" is the tendon's force over F_0, "soleus.fatigued" the share
            of motor units that is tired.
        path: a PointPath, PolynomialPath or GivenPath.
        force: largest isometric force F_0 (N).
        fibre: optimal length l_0 of the fibres (m).
        slack: slack length l_s of the tendon (m).
        pennation: angle alpha_0 of the fibres to the tendon at optimal length (rad).
        tendon: "rigid" or "compliant".
        tendon_strain: strain of the tendon at F_0.
        fibre_strain: strain of the fibres at which they bear F_0 without activation.
        width: scale of the active curve's width.
        fastest: largest shortening velocity v_max (optimal lengths a second).
        stress: largest isometric stress (N/m2), by which force and optimal length give its mass.
        slow_twitch: share of its fibres that are slow, on which what it spends depends.
        damping: beta, over F_0 at v_max; above 0 for a compliant tendon whose fibres may be off.
        rise: time of coming on (s).
        fall: time of going off (s).
        smoothing: steepness of the switch between both; OpenSim's 0.1 hardly tells them apart.
        excitation: (lower, upper) bounds of the excitation.
        activation: (lower, upper) bounds of the activation, by default those of the excitation.
        tension: (lower, upper) bounds of the force of a compliant tendon, over F_0.
        fatigue: rates at which motor units tire: the fatigued share M is a state too, and those
            that are active are a (1 - M) of all; None for a muscle that does not tire.
        course: PointPath along which pictures show it; by default its path, if that is one.

    Raises:
        ValueError: naming the muscle, for numbers that are not positive, an unknown tendon, or an
            excitation that may go below the activation's bound.
    """

    name: str
    path: Path
    force: Number
    fibre: Number
    slack: Number
    pennation: float = 0.0
    tendon: str = TENDONS[0]
    tendon_strain: float = TENDON_STRAIN
    fibre_strain: float = FIBRE_STRAIN
    width: float = 1.0
    fastest: float = 10.0
    stress: float = TENSION
    slow_twitch: float = 0.5
    damping: float = 0.01
    rise: float = RISE
    fall: float = FALL
    smoothing: float = SMOOTHING
    excitation: tuple[float, float] = (0.01, 1.0)
    activation: tuple[float, float] | None = None
    tension: tuple[float, float] = (0.0, 5.0)
    fatigue: Fatigue | None = None
    course: PointPath | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"muscle: name: expected a word, got {self.name!r}")
        label = f"muscle {self.name!r}"
        if not isinstance(self.path, Path):
            raise ValueError(
                f"{label}: path: expected a PointPath, PolynomialPath or GivenPath, "
                f"got {self.path!r}"
            )
        if self.fatigue is not None:
            check_type(f"{label}: fatigue", self.fatigue, Fatigue)
        if self.course is not None:
            check_type(f"{label}: course", self.course, PointPath)
        for what, unit in (("force", "N"), ("fibre", "m"), ("slack", "m")):
            number = positive(f"{label}: {what}", getattr(self, what), unit=unit)
            set_fields(self, **{what: number})
        for what in ("tendon_strain", "fibre_strain", "width", "fastest", "stress", "rise", "fall"):
            set_fields(self, **{what: positive(f"{label}: {what}", getattr(self, what))})
        for what in ("damping", "smoothing", "pennation", "slow_twitch"):
            set_fields(self, **{what: positive(f"{label}: {what}", getattr(self, what), True)})
        if self.slow_twitch > 1.0:
            raise ValueError(f"{label}: slow_twitch: expected at most 1, got {self.slow_twitch:g}")
        if self.pennation > STEEPEST:
            raise ValueError(
                f"{label}: pennation: expected at most {STEEPEST} rad, got {self.pennation:g}"
            )
        if self.tendon not in TENDONS:
            raise ValueError(
                f"{label}: tendon: expected one of {', '.join(TENDONS)}, got {self.tendon!r}"
            )
        excitation = limits(f"{label}: excitation", self.excitation)
        if not (isfinite(excitation[0]) and isfinite(excitation[1])):
            raise ValueError(f"{label}: excitation: expected finite bounds, got {excitation}")
        activation = excitation if self.activation is None else self.activation
        activation = limits(f"{label}: activation", activation)
        if excitation[0] < activation[0]:
            raise ValueError(
                f"{label}: excitation: expected a lower bound of at least the activation's, "
                f"{activation[0]:g}, which it would leave, got {excitation[0]:g}"
            )
        tension = limits(f"{label}: tension", self.tension)
        if not tension[0] > -OFFSET:
            raise ValueError(
                f"{label}: tension: expected a lower bound above {-OFFSET:g}, that of a slack "
                f"tendon, got {tension[0]:g}"
            )
        set_fields(self, excitation=excitation, activation=activation, tension=tension)

    @property
    def compliant(self) -> bool:
        """Whether its tendon stretches."""
        return self.tendon == TENDONS[1]

    @property
    def line(self) -> PointPath | None:
        """Its course in space, None where its length alone is known."""
        return (
            self.path if self.course is None and isinstance(self.path, PointPath) else self.course
        )

    def joints(self, tree: Mechanism) -> tuple[str, ...]:
        """Return the coordinates on which its length depends."""
        return (
            self.path.joints(tree) if isinstance(self.path, PointPath) else tuple(self.path.joints)
        )

    @property
    def volume(self) -> Number:
        """Largest force times optimal length (N m), to which its volume is proportional."""
        return self.force * self.fibre

    @property
    def settling_time(self) -> float:
        """Time (s) in which a compliant tendon settles, fully active and at rest: 1 over the slope
        of dF/dt by F, k_T (1 + 0.2) v_max l_0 / (l_s (f_V'(0) + beta)); it is shorter below."""
        scale, slope, shift, _ = VELOCITY
        steepest = scale * slope / hypot(shift, 1.0) + self.damping
        slack, fibre = (float(nominal(number)) for number in (self.slack, self.fibre))
        stiffness = tendon_stiffness(self.tendon_strain) * (1 + OFFSET) / slack
        return steepest / (stiffness * self.fastest * fibre)

    @property
    def states(self) -> tuple[StateVariable, ...]:
        """Its activation, the force of a compliant tendon, and the fatigued share."""
        bounds = self.activation or self.excitation
        activation = StateVariable(
            name=f"{self.name}.activation",
            bounds=bounds,
            control=self.excitation,
            rest=bounds[0],
        )
        made = [activation]
        if self.compliant:
            rest = min(max(bounds[0], self.tension[0]), self.tension[1])
            made.append(StateVariable(name=f"{self.name}.force", bounds=self.tension, rest=rest))
        if self.fatigue is not None:
            made.append(StateVariable(name=f"{self.name}.fatigued", bounds=(0.0, 1.0)))
        return tuple(made)

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has what its path runs over, on links that do not
        bend."""
        if tree.flexible:
            raise ValueError(
                f"muscle {self.name!r}: links that bend ({', '.join(tree.flexible)}) have none"
            )
        self.path.check(f"muscle {self.name!r}", tree)
        if self.course is not None:
            self.course.check(f"muscle {self.name!r}: course", tree)

    def fibres(self, state: MotionState) -> Fibre:
        """Lengths, velocities and forces in a state of motion.

        Args:
            state: the state of motion, rates of the muscle's states with it.

        Returns:
            The Fibre.
        """
        fibre = fibre_at(self, *self.contraction(state))
        if not self.compliant:
            return fibre
        return replace(fibre, tendon=state.q[state.row(f"{self.name}.force")])

    def contraction(self, state: MotionState) -> tuple[Matrix, Matrix, Matrix]:
        """Return the length of its fibres along the tendon (m), the rate of that (m/s), and the
        share of all motor units that is active."""
        tendon, rate = graph_number(self.slack), _rate(self, state)
        if self.compliant:
            tendon = tendon_reach(self, state.q[state.row(f"{self.name}.force")])
            rate = rate - _tendon_rate(self, state)
        return self.path.length(state) - tendon, rate, _active_share(self, state)

    def tension_force(self, state: MotionState, pull: Matrix = None) -> Matrix:
        """Return its force (N) along the path, from its fibres' `pull` (over F_0) if known."""
        if self.compliant:
            return graph_number(self.force) * state.q[state.row(f"{self.name}.force")]
        return graph_number(self.force) * (self.fibres(state).pull if pull is None else pull)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        pull = self.tension_force(state)
        return {row: -pull * slope for row, slope in self.path.slope(state).items()}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the energy (J) that passive fibres store, and a compliant tendon."""
        tendon, stored = graph_number(self.slack), 0.0
        if self.compliant:
            tension = state.q[state.row(f"{self.name}.force")]
            tendon = tendon_reach(self, tension)
            stored = graph_number(self.slack) * tendon_energy(tension, self.tendon_strain)
        _, fibre = fibre_length(self, self.path.length(state) - tendon)
        stored += graph_number(self.fibre) * passive_energy(fibre, self.fibre_strain)
        return graph_number(self.force) * stored

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes out of the motion and does not store, negative where
        active fibres shorten."""
        fibre, stretch = self.fibres(state), _rate(self, state)
        taken = fibre.tendon * stretch
        shortens = fibre.velocity * largest_speed(self)
        taken -= passive_force(fibre.length, self.fibre_strain) * shortens
        if self.compliant:
            taken -= fibre.tendon * _tendon_rate(self, state)
        return graph_number(self.force) * taken

    def state_needs(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: excitation, or what its tendon lacks in equilibrium with its fibres, or
        by how much units tire faster than they do} that the rates of its states need."""
        row = state.row(f"{self.name}.activation")
        excitation = excitation_for_rate(
            state.qd[row], state.q[row], self.rise, self.fall, self.smoothing
        )
        needs = {row: excitation}
        return needs | self.undriven_needs(state)

    def undriven_needs(self, state: MotionState, pull: Matrix = None) -> dict[int, Matrix]:
        """Return {row of q: residual} of its states that nothing drives, where its fibres' `pull`
        (over F_0) is known, or not."""
        needs: dict[int, Matrix] = {}
        if self.compliant:
            row = state.row(f"{self.name}.force")
            needs[row] = state.q[row] - (self.fibres(state).pull if pull is None else pull)
        if self.fatigue is not None:
            row = state.row(f"{self.name}.fatigued")
            needs[row] = (state.qd[row] - _tiring_rate(self, state)) / self.fatigue.tiring
        return needs

    def state_rates(self, state: MotionState, controls: Matrix) -> dict[int, Matrix]:
        """Return {row of q: rate (1/s)} of its states under `controls` (n,)."""
        row = state.row(f"{self.name}.activation")
        activation = state.q[row]
        times = self.rise, self.fall, self.smoothing
        rates = {row: activation_rate(controls[row], activation, *times)}
        if self.fatigue is not None:
            rates[state.row(f"{self.name}.fatigued")] = _tiring_rate(self, state)
        if not self.compliant:
            return rates
        row = state.row(f"{self.name}.force")
        tension = state.q[row]
        along = self.path.length(state) - tendon_reach(self, tension)
        cosine, fibre = fibre_length(self, along)
        active = _active_share(self, state) * active_force(fibre, self.width)
        lacking = passive_force(fibre, self.fibre_strain) - tension / cosine
        velocity = velocity_in_equilibrium(active, self.damping, lacking)
        stretch = _rate(self, state) - velocity * largest_speed(self) / cosine
        return rates | {row: stretch * tendon_slope(self, tension)}

    def states_at_rest(self, tree: Mechanism, state: MotionState) -> dict[int, float]:
        """Return {row of q: value} of its states at rest in a posture: the tendon in equilibrium
        with its fibres.

        Raises ValueError naming the muscle and the coordinates where the fibre is shorter than 0.2
        or longer than 1.8 optimal lengths, or the polynomial of its path is outside its range.
        """
        label, known = f"muscle {self.name!r}", nominal(self)
        places = {name: float(state.q[state.row(name)]) for name in self.joints(tree)}
        if isinstance(self.path, PolynomialPath):
            self.path.check_range(label, places)
        length, activation = float(self.path.length(state)), self.states[0].rest
        tension = known.tension[1]

        def fibre(force: float) -> tuple[float, float]:
            tendon = tendon_reach(known, force) if self.compliant else known.slack
            return fibre_length(known, length - tendon)

        def lacking(force: float) -> float:
            cosine, reach = fibre(force)
            pull = activation * active_force(reach, self.width)
            return force - (pull + passive_force(reach, self.fibre_strain)) * cosine

        if self.compliant:
            tension = _bisect(lacking, known.tension)
        reach = float(fibre(tension)[1])
        if not SHORTEST <= reach <= LONGEST:
            where = ", ".join(f"{name} at {value:.4g}" for name, value in places.items())
            raise ValueError(
                f"{label}: its fibre has {reach:.3g} times its optimal length at the first guess, "
                f"with {where}: expected {SHORTEST} to {LONGEST}"
            )
        rest = {state.row(f"{self.name}.activation"): activation}
        if self.fatigue is not None:
            rest[state.row(f"{self.name}.fatigued")] = 0.0
        return rest | ({state.row(f"{self.name}.force"): tension} if self.compliant else {})


def muscles_of(
    tree: Mechanism, words: str | Sequence[str] = (), *, joint: str = ""
) -> tuple[Muscle, ...]:
    """Muscles of a tree, all of them or a group.

    Args:
        tree: the mechanism.
        words: names, or words that names have in them, as "calf"; none for all.
        joint: a coordinate on which the length of their paths depends; "" for any.

    Returns:
        The muscles, in the order of the tree's elements.

    Raises:
        ValueError: for a word that is in no muscle's name, or a joint that no muscle crosses.
    """
    known = tuple(each for each in tree.elements if isinstance(each, Muscle))
    names = [each.name for each in known]
    words = (words,) if isinstance(words, str) else tuple(words)
    for word in words:
        if not any(word in name for name in names):
            raise ValueError(
                f"muscles: {word!r} is in no name{known_names('muscles', names, word)}"
            )
    chosen = [each for each in known if not words or any(word in each.name for word in words)]
    if joint:
        row_of("muscles", tree, joint)
        chosen = [each for each in chosen if joint in each.joints(tree)]
        if not chosen:
            raise ValueError(f"muscles: none of {', '.join(names) or 'none'} crosses {joint!r}")
    return tuple(chosen)


def _bisect(function: Callable[[float], float], ends: tuple[float, float]) -> float:
    """Bisect for where a function that rises is zero, or the nearest of the ends, by bisection."""
    lower, upper = ends
    for _ in range(HALVINGS):
        middle = (lower + upper) / 2
        if function(middle) < 0:
            lower = middle
        else:
            upper = middle
    return (lower + upper) / 2


def _rate(muscle: Muscle, state: MotionState) -> Matrix:
    """Return dL/dt (m/s) of a muscle's path."""
    slope = muscle.path.slope(state)
    return sum((each * state.qd[row] for row, each in slope.items()), 0.0)


def _active_share(muscle: Muscle, state: MotionState) -> Matrix:
    """Return the share of all motor units that is active: a, or of those that are not tired."""
    activation = state.q[state.row(f"{muscle.name}.activation")]
    if muscle.fatigue is None:
        return activation
    return activation * (1 - state.q[state.row(f"{muscle.name}.fatigued")])


def _tiring_rate(muscle: Muscle, state: MotionState) -> Matrix:
    """Return the rate (1/s) of the fatigued share."""
    assert muscle.fatigue is not None
    active = _active_share(muscle, state)
    fatigued = state.q[state.row(f"{muscle.name}.fatigued")]
    return fatigued_rate(active, active, fatigued, muscle.fatigue)


def _tendon_rate(muscle: Muscle, state: MotionState) -> Matrix:
    """Return the rate (m/s) of the length of a compliant tendon."""
    row = state.row(f"{muscle.name}.force")
    return state.qd[row] / tendon_slope(muscle, state.q[row])
