"""Receding-horizon control: repeated solves of a shifted problem."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.mpc.receding_horizon import Replan, Tracked, simulated_plant, track

__all__ = [
    "Replan",
    "Tracked",
    "simulated_plant",
    "track",
]

__getattr__, __dir__ = lazy_names(__name__)
