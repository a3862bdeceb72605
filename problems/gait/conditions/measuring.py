"""Measures of a walk in a condition: rhythm, excursions, work, likeness, certificate."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ocp import Solution, Tree, verify
from ocp.certificate import NotVerified
from ocp.models.human import worn
from ocp.problems.gait.card import report_card
from ocp.problems.gait.card.stride import Stride, stride_of
from ocp.problems.gait.report.gait_cycle import JOINTS

TOLERANCE = 1e-2  # of the certificate
EXCURSIONS = {"hip": "hip_flex", "knee": "knee_flex", "ankle": "ankle_df"}  # curves of the card
LIKE = {
    "hip": "hip_flex",
    "knee": "knee_flex",
    "ankle": "ankle_df",
    "abduction": "hip_abd",
    "vertical": "force_vertical",
}


def measured(solution: Solution) -> dict[str, float]:
    """Return {name: number} of a walk of the human, of one that was not found nothing.

    Units stand at the ends of names; kg are those of the body without what it wears, m those along
    the ground.
    """
    return measured_by(solution, report_card(solution)) if solution.success else {}


def measured_by(solution: Solution, card: Mapping[str, Any]) -> dict[str, float]:
    """Return {name: number} of a walk whose report card is known, those of `measured`."""
    now, curves, bare = card["numbers"], card["curves"], bare_share(solution.problem.tree)
    return {
        "speed_m_s": now["speed_m_s"],
        "step_m": now["stride_m"] / 2.0,
        "cadence_steps_min": now["cadence_steps_min"],
        "duty_factor": now["duty_factor"],
        "width_m": now["step_width_m"],
        **{f"{name}_deg": float(np.ptp(curves[curve])) for name, curve in EXCURSIONS.items()},
        "stance_knee_deg": now["stance_knee_deg"],
        "positive_J_kg_m": now["positive_work_J_kg_m"] / bare,
        "negative_J_kg_m": now["negative_work_J_kg_m"] / bare,
        **legs_work(stride_of(solution), bare),
        "metabolic_J_kg_m": now["metabolic"]["net_J_kg_m"] / bare,
        "up_mm": now["com_up_mm"],
        "sideways_mm": now["com_sideways_mm"],
        **{f"r_{name}": card["r"][curve] for name, curve in LIKE.items()},
        **certified(solution),
    }


def bare_share(tree: Tree) -> float:
    """Return the share of the body in what it weighs with all that it wears."""
    return 1.0 - sum(worn(tree).values()) / sum(float(link.mass) for link in tree.links)


def legs_work(stride: Stride, bare: float) -> dict[str, float]:
    """Return the work (J/kg/m) of hips, knees and ankles of both legs in the sagittal plane, which
    gait laboratories tell, the body being a `bare` share of the mass."""
    rows = [stride.tree.coordinate(f"{joint}_{side}") for joint in JOINTS.values() for side in "rl"]
    power = (stride.moments * stride.qd)[rows]
    per = bare * stride.mass * float(np.linalg.norm(stride.way)) / stride.duration
    return {
        f"legs_{sign}_J_kg_m": way
        * float(np.maximum(way * power, 0).sum(axis=0) @ stride.weights)
        / per
        for sign, way in (("positive", 1.0), ("negative", -1.0))
    }


def certified(solution: Solution) -> dict[str, float]:
    """Return whether a walk passes its certificate to TOLERANCE, 1 or 0, how far its objective is
    off its integral, and the worst violation, both relative, and what its segments gather (rad or
    m); what it fails by is said aside."""
    certificate = solution.verification or verify(solution)
    worst: Mapping = certificate.violations
    numbers = {
        "objective_off": float(certificate.objective_error or 0.0),
        "violation": max((each.relative for each in worst.values()), default=0.0),
        "gathered": float(certificate.deviations.gathered),
    }
    try:
        certificate.require(TOLERANCE)
    except NotVerified as error:
        print(error, file=sys.stderr)
        return {"certified": 0.0, **numbers}
    return {"certified": 1.0, **numbers}
