"""Feedback: linear-quadratic along a plan, and by repeated solves of a shifted problem."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.mpc.disturbed_motion import Followed, Noise, Spread, follow, spread
    from ocp.mpc.planned_noise import NoisePlan, solve_under_noise, verify_under_noise
    from ocp.mpc.receding_horizon import Replan, Tracked, simulated_plant, track
    from ocp.mpc.regulator import Feedback, exponential, feedback
    from ocp.mpc.standing_plant import Standing

__all__ = [
    "Feedback",
    "Followed",
    "Noise",
    "NoisePlan",
    "Replan",
    "Spread",
    "Standing",
    "Tracked",
    "exponential",
    "feedback",
    "follow",
    "simulated_plant",
    "solve_under_noise",
    "spread",
    "track",
    "verify_under_noise",
]

__getattr__, __dir__ = lazy_names(__name__)
