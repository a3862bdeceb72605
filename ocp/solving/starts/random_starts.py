"""Random first guesses around the straight motion, reproducible by their seed."""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.motion.basis import transfer
from ocp.problem import Problem
from ocp.solving.starts.warm_start import Guess, waypoints
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase, transcribe_phase
from ocp.transcription.transcription_settings import Transcription, settings_of_parts
from ocp.transcription.variables.layout import join_variables, motion_at, split_variables

WAYPOINTS = 25  # of a random first guess
WAVES = np.arange(1, 5)  # half waves between its ends
SAMPLES = np.linspace(0.0, 1.0, WAYPOINTS)
SAMPLED = 10  # times as often as a basis has points


def random_guess(
    statement: Problem,
    transcription: Transcription,
    number: int,
    *,
    seed: int = 0,
    spread: float = 1.0,
) -> Guess | dict[str, Guess]:
    """Return the Guess of start `number` of a multistart; of phases {name: Guess}.

    Args:
        statement: a Problem.
        transcription: of its straight motion.
        number: 0 is the straight motion; others add a random sum of half waves, zero at both ends.
            Modal amplitudes stay, since links bend little.
        seed: of the random numbers: the same for the same seed and number.
        spread: size of the waves (rad or m).

    Raises:
        ValueError: for a number or a seed below zero.
    """
    for what, value in (("number", number), ("seed", seed)):
        if value < 0:
            raise ValueError(f"{what}: expected a whole number of at least 0, got {value}")
    guesses = {}
    for k, (name, settings) in enumerate(settings_of_parts(statement, transcription).items()):
        own = (seed, number, k) if name else (seed, number)
        guesses[name] = _phase_guess(statement.parts[name], settings, number, own, spread)
    return guesses.get("", guesses)


def _phase_guess(
    statement: Problem,
    transcription: Transcription,
    number: int,
    seed: tuple[int, ...],
    spread: float,
) -> Guess:
    """Return a Guess that wanders off the straight motion, unless its number is 0."""
    straight = transcribe_phase(statement, transcription)
    points, *_ = split_variables(straight.layout, straight.guess)
    q = points @ straight.problem.motion.values(SAMPLES).T
    if number:
        q += random_detour(statement.tree, seed, spread, SAMPLES)
    return Guess(q=q)


def random_detour(tree: Tree, seed: tuple[int, ...], spread: float, s: np.ndarray) -> np.ndarray:
    """Return a random deviation (n, N) from a motion at s (N,), zero at both ends."""
    away = spread * _heights(tree.dof, seed) @ np.sin(np.pi * WAVES[:, None] * s)
    away[list(chain(*tree.amplitude_rows))] = 0.0
    return away


def random_unknowns(
    transcribed: Transcribed,
    x: np.ndarray,
    seed: tuple[int, ...],
    spread: float,
    stretch: float,
) -> np.ndarray:
    """Return unknowns that wander off others, in `stretch` times the duration where it is free; of
    phases each by itself."""
    x = transcribed.expand(x)
    parts = list(zip(transcribed.names, transcribed.parts, transcribed.columns))
    own = [
        _wander(part, x[columns], (*seed, k) if name else seed, spread, stretch)
        for k, (name, part, columns) in enumerate(parts)
    ]
    joined = transcribed.join_phases(own)
    if transcribed.only_part:
        return transcribed.shrink(joined)
    kept, away = transcribed.join_phases([x[columns] for _, _, columns in parts]), x.copy()
    moved = np.unique(np.concatenate([columns for _, _, columns in parts]))
    away[moved] += joined[moved] - kept[moved]
    return away


def _wander(
    part: TranscribedPhase, x: np.ndarray, seed: tuple[int, ...], spread: float, stretch: float
) -> np.ndarray:
    """Return variables of a phase beside x (size,)."""
    problem, layout = part.problem, part.layout
    points, duration, lifted = split_variables(layout, x)
    motion = motion_at(layout, x)
    basis: Any = part.transcription.method.guide(motion) or motion
    s = np.linspace(0.0, 1.0, SAMPLED * basis.points)
    away = random_detour(problem.tree, seed, spread, s)
    if structure(problem.tree).closed:
        curve = points @ motion.values(s).T + away
        points = waypoints(replace(problem, motion=motion), basis, curve)
    else:
        points = points + transfer(basis, basis.fit(away, s), motion)
    duration = float(np.clip(stretch * duration, *problem.duration))
    return join_variables(layout, points, duration, lifted, motion)


def _heights(dof: int, seed: tuple[int, ...]) -> np.ndarray:
    """Return random heights (dof, waves) of half waves, the shorter the lower."""
    return np.random.default_rng(seed).standard_normal((dof, len(WAVES))) / np.sqrt(WAVES)
