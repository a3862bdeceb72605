"""Random first guesses that wander off the straight motion, the same for the same seed."""

from itertools import chain

import numpy as np

from ocp.problem import Problem
from ocp.solution.starts import Guess
from ocp.transcription.transcribe import Transcription, transcribe
from ocp.transcription.variables import split

WAYPOINTS = 25  # of a random first guess
WAVES = np.arange(1, 5)  # half waves between its ends


def wandering(
    statement: Problem,
    transcription: Transcription,
    number: int,
    *,
    seed: int = 0,
    spread: float = 1.0,
) -> Guess:
    """Return the Guess of start `number` of a multistart: 0 is the straight motion.

    The others wander off it by `spread` times (rad or m) a random sum of half waves, zero at both
    ends, the same for the same `seed` and number; modal amplitudes stay, since links bend little.
    """
    straight = transcribe(statement, transcription)
    points, *_ = split(straight.layout, straight.guess)
    s = np.linspace(0.0, 1.0, WAYPOINTS)
    q = points @ straight.problem.motion.values(s).T
    if number:
        away = spread * _heights(len(q), (seed, number)) @ np.sin(np.pi * WAVES[:, None] * s)
        away[list(chain(*statement.tree.amplitude_rows))] = 0.0
        q += away
    return Guess(q=q)


def _heights(dof: int, seed: tuple[int, int]) -> np.ndarray:
    """Return random heights (dof, waves) of half waves, the shorter the lower."""
    return np.random.default_rng(seed).standard_normal((dof, len(WAVES))) / np.sqrt(WAVES)
