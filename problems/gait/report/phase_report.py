"""A walk in phases in numbers: its rhythm beside measured ones, and each side for itself."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ocp import Problem, Solution
from ocp.mechanics import body_weight
from ocp.problems.gait.report.gait_cycle import JOINTS
from ocp.problems.gait.report.measured_curves import trapezoid
from ocp.problems.gait.statement.strides import OTHER
from ocp.solution import dense_instants, traces

# Of men who walk freely, at any speed, a step's length over their rate is 0.0072 m min (Inman,
# Ralston & Todd 1981), stance 62 % of the cycle, 113 steps/min at 1.37 m/s (Perry 1992): both books
# as they are commonly quoted [not read at their source]. Winter's group at natural cadence, with
# strides of 1.14 s at 1.325 m/s (Winter 1991, as the normative curves carry it), has 0.00717 m min;
# the ratio is constant above 62 m/min (Murakami & Otaka 2017). Of the cycle stance is 64.2 - 3.5 v
# %, v in m/s (Kirtley, Whittle & Jefferson 1985).
WALK_RATIO = 0.0072
PERRY = {"stance_percent": 62.0, "double_percent": 24.0, "cadence_steps_min": 113.0}
WINTER = {"speed_m_s": 1.325, "cadence_steps_min": 120 / 1.14, "step_m": 1.325 * 1.14 / 2}
STANCE, SHORTER = 64.2, 3.5  # % of the cycle, and by 1 m/s
MINUTE = 60.0  # s


def rhythm(solution: Solution) -> dict[str, Any]:
    """Return speed, rate and length of steps, and what of the stride is stance, of a walk in
    phases; with Inman's rate and length at that speed, Perry's and Winter's, and the stance that
    Kirtley's line has at that speed."""
    way = float(np.linalg.norm(solution.problem.symmetry.shift))
    halves = 1 if mirrored(solution.problem) else 2
    time = solution.duration / halves
    speed = way / solution.duration
    rate = float(np.sqrt(MINUTE * speed / WALK_RATIO))  # per min
    times = stance_times(solution)
    stance, usual = sum(times.values()) / 2, STANCE - SHORTER * speed
    return {
        "speed_m_s": speed,
        "step_m": way / halves,
        "cadence_steps_min": MINUTE / time,
        "stance_percent": 100.0 * stance / (2 * time),
        "double_percent": 100.0 * (2 * stance - 2 * time) / (2 * time),
        "inman": {"cadence_steps_min": rate, "step_m": MINUTE * speed / rate},
        "perry": PERRY,
        "winter": WINTER,
        "kirtley": {"stance_percent": usual, "double_percent": 2 * usual - 100.0},
    }


def mirrored(problem: Problem) -> bool:
    """Tell whether a walk is one step, which its image continues."""
    index = problem.symmetry.index if problem.symmetry else ()
    return tuple(index) != tuple(range(len(index)))


def stance_times(solution: Solution) -> dict[str, float]:
    """Return {foot: how long it bears in a stride (s)}."""
    times = dict.fromkeys(OTHER, 0.0)
    for phase in solution.phases.values():
        for foot in phase.problem.ground.feet:
            for support in foot.supports:
                start = max(support.when[0], foot.bears[0])
                end = min(support.when[1], foot.bears[1])
                times[foot.name] += max(end - start, 0.0) * phase.duration
    if mirrored(solution.problem):  # the next step is the other side's
        return dict.fromkeys(times, sum(times.values()))
    return times


def sides(solution: Solution) -> dict[str, dict[str, float]]:
    """Return {side: its numbers} of a walk in phases: how long it bears, its share of the stride,
    how far it steps, peaks of the ground's force on it in body weights, and of torques (N m)."""
    values: dict[str, dict[str, list[float]]] = {side: {} for side in OTHER}
    for phase in solution.phases.values():
        for side, peaks in _peaks(phase).items():
            for name, value in peaks.items():
                values[side].setdefault(name, []).append(value)
    ends = {"braking_BW": min, "plantarflexion_Nm": min}
    image = mirrored(solution.problem)
    chosen: dict[str, dict[str, float]] = {
        side: {name: ends.get(name, max)(entries) for name, entries in peaks.items()}
        for side, peaks in values.items()
    }
    if image:
        names = chosen["right"]
        both = {n: ends.get(n, max)(chosen[side][n] for side in OTHER) for n in names}
        chosen = dict.fromkeys(OTHER, both)
    stride = solution.duration * (2 if image else 1)
    times, pushes, steps = stance_times(solution), impulses(solution), step_lengths(solution)
    return {
        side: {
            "stance_s": times[side],
            "duty_factor": times[side] / stride,
            "step_m": steps[side],
            **chosen[side],
            **pushes[side],
        }
        for side in OTHER
    }


def step_lengths(solution: Solution) -> dict[str, float]:
    """Return {side: how far (m) its foot steps before the other one}."""
    halves = 1 if mirrored(solution.problem) else 2
    usual = float(np.linalg.norm(solution.problem.symmetry.shift)) / halves
    return {side: solution.parameters.get(f"{side}_step", usual) for side in OTHER}


def impulses(solution: Solution) -> dict[str, dict[str, float]]:
    """Return {side: braking and propulsion}, the integrals over a stride of the force on its foot
    where that points back and where it points ahead, in body weights times s."""
    sums = {side: np.zeros(2) for side in OTHER}
    for phase in solution.phases.values():
        t, forces = _forces(phase)
        for side, (_, _, forward) in forces.items():
            parts = np.minimum(forward, 0.0), np.maximum(forward, 0.0)
            sums[side] += [trapezoid(t) @ part for part in parts]
    if mirrored(solution.problem):  # each foot does in the next step what the other does in this
        sums = dict.fromkeys(OTHER, sum(sums.values()))
    return {
        side: {"braking_impulse_BWs": float(back), "propulsion_impulse_BWs": float(ahead)}
        for side, (back, ahead) in sums.items()
    }


def _forces(phase: Solution) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return times (N,) of a phase, and {side: force on its foot (3, N), left, up and forward, in
    body weights}."""
    wanted = {foot: lambda at, foot=foot: at.reaction.force(foot) for foot in OTHER}
    t = dense_instants(phase) * phase.duration
    curves, weight = traces(phase, wanted, t), body_weight(phase.problem.tree)
    return t, {foot: curves[foot] / weight for foot in OTHER}


def _peaks(phase: Solution) -> dict[str, dict[str, float]]:
    """Return {side: {peak: its value}} of one phase."""
    tree = phase.problem.tree
    t, forces = _forces(phase)
    tau = phase.tau(t)
    peaks = {}
    for side in OTHER:
        _, vertical, forward = forces[side]
        torques = {
            name: tau[tree.coordinate(f"{joint}_{side[0]}")] for name, joint in JOINTS.items()
        }
        peaks[side] = {
            "vertical_BW": float(vertical.max()),
            "braking_BW": float(forward.min()),
            "propulsion_BW": float(forward.max()),
            "plantarflexion_Nm": float(torques["ankle"].min()),
            "knee_Nm": float(np.abs(torques["knee"]).max()),
            "hip_Nm": float(np.abs(torques["hip"]).max()),
        }
    return peaks


def walk_report(solution: Solution) -> dict[str, Any]:
    """Return the report of a walk in phases, plain data ready for JSON."""
    return {
        "rhythm": rhythm(solution),
        "sides": sides(solution),
        "objective": solution.objective,
        "phases_s": solution.durations,
    }


def walk_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report of a walk in phases as lines of text."""
    return [f"{label:<28}{text}" for label, text in _lines(report)]


def _lines(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    now = report["rhythm"]
    inman, perry, winter, line = (now[name] for name in ("inman", "perry", "winter", "kirtley"))
    yield "walk", f"{now['speed_m_s']:.3f} m/s, {report['objective']:.6g} in all"
    yield (
        "steps",
        f"{now['cadence_steps_min']:.1f} steps/min of {now['step_m']:.3f} m; Inman at this speed "
        f"{inman['cadence_steps_min']:.0f} of {inman['step_m']:.2f} m; Winter "
        f"{winter['cadence_steps_min']:.0f} of {winter['step_m']:.2f} m at "
        f"{winter['speed_m_s']:.4g} m/s; Perry {perry['cadence_steps_min']:.0f} at 1.37 m/s",
    )
    yield (
        "stance",
        f"{now['stance_percent']:.1f} % of the stride, both feet {now['double_percent']:.1f} %; "
        f"Kirtley at this speed {line['stance_percent']:.1f} and {line['double_percent']:.1f} %, "
        f"Perry {perry['stance_percent']:.0f} and {perry['double_percent']:.0f} %",
    )
    yield "phases", ", ".join(f"{name} {T:.4f} s" for name, T in report["phases_s"].items())
    right, left = report["sides"]["right"], report["sides"]["left"]
    for name in right:
        what, _, unit = name.rpartition("_")
        unit = {"factor": "", "s": " s", "m": " m", "BW": " BW", "BWs": " BW s", "Nm": " N m"}[unit]
        yield (
            f"  {(what if unit else name).replace('_', ' ')}",
            f"right {right[name]:+.4g}{unit}, left {left[name]:+.4g}{unit}, "
            f"right less left {right[name] - left[name]:+.3g}",
        )
