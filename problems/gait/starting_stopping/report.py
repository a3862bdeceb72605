"""A first step and a last one in numbers, beside what people do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp import Solution
from ocp.mechanics import body_weight
from ocp.problems.gait.report.measured_curves import trapezoid
from ocp.solution import traces

SAMPLES = 201  # instants of each phase
SIDES = ("right", "left")
SIDE, UP, AHEAD = 0, 1, 2  # global axes: to the left, up, forward
# Of people who start: s and m as reviews have them (Winter 1995; Yiou et al. 2017), speeds over
# the steady one (Breniere & Do 1986; Jian et al. 1993), steps until walking is steady (2 of them:
# Jian et al. 1993; 3 by mechanical energy: Miller & Verstraete 1996) [recalled but the last]
STARTING: Mapping[str, tuple[float, float]] = {
    "heel_off_s": (0.4, 0.6),
    "strike_s": (1.1, 1.3),
    "pressure_back_m": (0.03, 0.05),
    "pressure_aside_m": (0.03, 0.05),
    "first_strike": (0.7, 0.9),
    "steps": (2, 3),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A motion of phases along time `t` (N,): the centre of mass and its velocity (3, N; m, m/s),
    the centre of pressure (3, N; m), the force on each foot (3, N; body weights), and when each
    phase `begins` (s), the end of the last one by the name ""."""

    t: np.ndarray
    mass: np.ndarray
    velocity: np.ndarray
    pressure: np.ndarray
    forces: Mapping[str, np.ndarray]
    begins: Mapping[str, float]

    def at(self, when: float) -> int:
        """Return the number of the first instant at a time (s) or after."""
        return int(np.searchsorted(self.t, when - 1e-9))

    def speed(self, phase: str) -> float:
        """Return the forward speed (m/s) of the centre of mass as a phase begins, or "" ends."""
        return float(self.velocity[AHEAD, self.at(self.begins[phase])])


def course(solution: Solution) -> Course:
    """Return the Course of a first step or a last one."""
    weight, begins, now = body_weight(solution.problem.tree), {}, 0.0
    parts: list[dict[str, np.ndarray]] = []
    for name, phase in solution.phases.items():
        t = phase.times(SAMPLES)
        wanted: dict[str, Any] = {
            "mass": lambda at: at.center_of_mass,
            "pressure": lambda at: at.reaction.pressure(),
        }
        wanted |= {side: lambda at, side=side: at.reaction.force(side) for side in SIDES}
        curves = traces(phase, wanted, t)
        velocity = np.gradient(curves["mass"], t, axis=1, edge_order=2)
        parts.append({**curves, "velocity": velocity, "t": now + t[None]})
        begins[name] = now
        now += phase.duration
    joined = {name: np.hstack([part[name] for part in parts]) for name in parts[0]}
    return Course(
        t=joined["t"][0],
        mass=joined["mass"],
        velocity=joined["velocity"],
        pressure=joined["pressure"],
        forces={side: joined[side] / weight for side in SIDES},
        begins={**begins, "": now},
    )


def start_report(solution: Solution) -> dict[str, Any]:
    """Return when the heel and the toes of the first foot go off and it strikes (s), how far the
    centre of pressure goes back and to that foot until the heel is off (m), what it bears then, how
    fast the centre of mass is (m/s) then and as the foot strikes, of the steady walk as one does,
    how hard each foot pushes ahead (body weights), and what people do."""
    way = course(solution)
    steady, begins = way.speed(""), way.begins
    before = slice(0, way.at(begins["unloading"]) + 1)
    path = way.pressure[:, before] - way.pressure[:, :1]
    back, aside = int(path[AHEAD].argmin()), int(path[SIDE].argmax())
    load = way.forces["left"][UP, before]
    return {
        "start": {
            "heel_off_s": begins["unloading"],
            "toe_off_s": begins["first swing"],
            "strike_s": begins["second double"],
            "second_strike_s": begins[""],
            "pressure_back_m": float(-path[AHEAD, back]),
            "pressure_back_at_s": float(way.t[back]),
            "pressure_aside_m": float(path[SIDE, aside]),
            "pressure_aside_at_s": float(way.t[aside]),
            "first_foot_bears_BW": float(load.max()),
            "heel_off_m_s": way.speed("unloading"),
            "toe_off_m_s": way.speed("first swing"),
            "strike_m_s": way.speed("second double"),
            "steady_m_s": steady,
            "first_strike": way.speed("second double") / steady,
            "propulsion_BW": {side: float(way.forces[side][AHEAD].max()) for side in SIDES},
            "people": {name: list(pair) for name, pair in STARTING.items()},
        }
    }


def stop_report(solution: Solution) -> dict[str, Any]:
    """Return the speed of the centre of mass (m/s) as feet strike and land, that of the steady walk
    as one strikes, each foot's braking (body weights, s), the time of rest (s), and the distance of
    the centre of pressure ahead of the centre of mass after the last strike (m)."""
    way = course(solution)
    steady, begins = way.speed("double"), way.begins
    last = way.at(begins["last double"])
    before = way.pressure[AHEAD] - way.mass[AHEAD]
    k = last + int(before[last:].argmax())
    brakes = {side: np.minimum(way.forces[side][AHEAD], 0.0) for side in SIDES}
    return {
        "stop": {
            "steady_m_s": steady,
            "last_strike_s": begins["last double"],
            "last_strike": way.speed("last double") / steady,
            "landing_s": begins["settling"],
            "landing": way.speed("settling") / steady,
            "rest_s": begins[""],
            "braking_BW": {side: float(-brakes[side].min()) for side in SIDES},
            "braking_BWs": {side: float(-trapezoid(way.t) @ brakes[side]) for side in SIDES},
            "pressure_before_mass_m": float(before[k]),
            "pressure_before_mass_at_s": float(way.t[k]),
        }
    }


def start_lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report of a first step as lines of text."""
    entry, people = data["start"], data["start"]["people"]
    back, aside = (
        f"{1e3 * entry[name]:.1f} mm at {entry[when]:.3f} s"
        for name, when in (
            ("pressure_back_m", "pressure_back_at_s"),
            ("pressure_aside_m", "pressure_aside_at_s"),
        )
    )
    rows = {
        "before the first heel is off": f"pressure {1e3 * entry['pressure_back_m']:.0f} mm back, "
        f"{1e3 * entry['pressure_aside_m']:.0f} mm to the first foot; it strikes at "
        f"{100 * entry['first_strike']:.0f} % of the steady speed",
        "heel off": f"{entry['heel_off_s']:.3f} s, {_range(people['heel_off_s'])} s",
        "toe off": f"{entry['toe_off_s']:.3f} s",
        "first strike": f"{entry['strike_s']:.3f} s, {_range(people['strike_s'])} s; "
        f"the second one {entry['second_strike_s']:.3f} s",
        "centre of pressure back": f"{back}, {_range(people['pressure_back_m'], 1e3)} mm",
        "and to the first foot": f"{aside}, {_range(people['pressure_aside_m'], 1e3)} mm; that "
        f"foot bears {entry['first_foot_bears_BW']:.2f} of the weight at most",
        "speed": f"{entry['heel_off_m_s']:.3f} m/s at heel off, {entry['toe_off_m_s']:.3f} at toe "
        f"off, {entry['strike_m_s']:.3f} at the first strike",
        "of the steady walk's": f"{100 * entry['first_strike']:.0f} % of {entry['steady_m_s']:.3f} "
        f"m/s at its strikes, {_range(people['first_strike'], 100)} %",
        "pushes ahead": _both(entry["propulsion_BW"]),
    }
    return [f"{label:<30}{text}" for label, text in rows.items()]


def stop_lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report of a last step as lines of text."""
    entry = data["stop"]
    steady = f"of {entry['steady_m_s']:.3f} m/s at strikes of the steady walk"
    rows = {
        "last strike": f"{entry['last_strike_s']:.3f} s, at {100 * entry['last_strike']:.0f} % "
        f"{steady}",
        "feet side by side": f"{entry['landing_s']:.3f} s, at {100 * entry['landing']:.0f} %",
        "at rest": f"{entry['rest_s']:.3f} s",
        "brakes": f"{_both(entry['braking_BW'])}, in all {_both(entry['braking_BWs'])} s",
        "pressure before the mass": f"{1e3 * entry['pressure_before_mass_m']:.0f} mm at "
        f"{entry['pressure_before_mass_at_s']:.3f} s",
    }
    return [f"{label:<30}{text}" for label, text in rows.items()]


def _range(pair: Sequence[float], times: float = 1.0) -> str:
    """Return the range of people's values in words, so many times it."""
    return f"people {times * pair[0]:g} to {times * pair[1]:g}"


def _both(values: Mapping[str, float]) -> str:
    """Return the forces of both feet as words."""
    return ", ".join(f"{side} {value:.3f}" for side, value in values.items()) + " BW"
