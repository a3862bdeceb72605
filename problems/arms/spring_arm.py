"""An arm swings to and fro between two postures, on springs whose best stiffness is found.

The stiffness is that which takes least squared torque. Springs rest midway, so that the way back
is the way there mirrored. The drives have rotors behind gears, the bearings are viscous. One link
of inertia I about its hinge, rotor included, would need no torque at all without friction, if it
swings at resonance,

    k = I (pi / T)^2

T being the time from rest to rest. With friction d it is a linear system x' = A x + b tau of
(q, q'), whose least effort for a stiffness k follows from its Gramian,

    J(k) = e' W^-1 e,   W = int exp(A s) b b' exp(A' s) ds,   e = x_1 - exp(A T) x_0
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp import (
    Armature,
    BSpline,
    Damper,
    Parameter,
    Problem,
    Solution,
    Spring,
    Task,
    Views,
    at_end,
    at_start,
    effort,
    mass_matrix,
    plot,
)
from ocp.cli import main
from ocp.models.arms.two_link import two_link
from ocp.plots import plot_elements

REACH = (0.6, 1.0)  # rad: how far each joint swings to both sides [chosen]
ROTOR = 2e-5  # kg m2 [of the order of small servo motors; chosen]
STIFF = 20.0  # N m/rad: where the search begins
MOST = 500.0  # N m/rad
GOLDEN = (np.sqrt(5) - 1) / 2


def problem(
    links: int = 2,
    swing: float = 0.5,
    damping: float = 0.05,
    gear: float = 50.0,
    springs: bool = True,
    points: int = 22,
) -> Problem:
    """`links`: one or two; `swing`: time from rest to rest (s); `damping`: of each bearing (N m
    s/rad); `gear`: how much faster the rotors turn; `springs`: whether there are any; `points`:
    control points per joint.
    """
    if links not in (1, 2):
        raise ValueError(f"links: expected 1 or 2, got {links}")
    arm = two_link()
    arm = replace(arm, links=arm.links[:links], joints=arm.joints[:links], points=())
    elements: list[Any] = []
    for name in arm.names:
        elements.append(Armature(joint=name, inertia=ROTOR, gear=gear))
        elements += [Damper(joint=name, damping=damping)] if damping else []
        if springs:
            k = Parameter(f"{name}_k", STIFF, "N m/rad", lower=0.0, upper=MOST, free=True)
            elements.append(Spring(joint=name, stiffness=k))
    arm = replace(arm, elements=tuple(elements))
    reach = np.array(REACH[:links])
    return Problem(
        tree=arm,
        motion=BSpline(points=points, degree=5),
        duration=swing,
        objective=effort(),
        constraints=(*at_start(arm, q=-reach, qd=0.0), *at_end(arm, q=reach, qd=0.0)),
    )


def resonance(inertia: float, swing: float) -> float:
    """Return the stiffness (N m/rad) with which one link swings in that time (s) by itself."""
    return float(inertia * (np.pi / swing) ** 2)


def least_effort(k: float, inertia: float, damping: float, swing: float) -> float:
    """Return the least effort (N2 m2 s) of one link with a spring of stiffness k (N m/rad)."""
    system = np.array([[0.0, 1.0], [-k / inertia, -damping / inertia]])
    values, vectors = np.linalg.eig(system)
    back = np.linalg.inv(vectors)

    def flow(t: float) -> np.ndarray:
        return np.real(vectors @ np.diag(np.exp(values * t)) @ back)

    abscissae, weights = np.polynomial.legendre.leggauss(60)
    pushes = [flow((1 + x) * swing / 2) @ [0.0, 1 / inertia] for x in abscissae]
    gramian = sum(np.outer(push, push) * w for push, w in zip(pushes, weights)) * swing / 2
    lacking = np.array([REACH[0], 0.0]) - flow(swing) @ [-REACH[0], 0.0]
    return float(lacking @ np.linalg.solve(gramian, lacking))


def best(inertia: float, damping: float, swing: float) -> tuple[float, float]:
    """Return the stiffness (N m/rad) of the least effort of one link, and that effort, by golden
    sections about resonance."""
    middle = resonance(inertia, swing)
    lower, upper = middle / 2, 2 * middle

    def cost(k: float) -> float:
        return least_effort(k, inertia, damping, swing)

    while upper - lower > 1e-9 * middle:
        left, right = upper - GOLDEN * (upper - lower), lower + GOLDEN * (upper - lower)
        lower, upper = (lower, right) if cost(left) < cost(right) else (left, upper)
    return (lower + upper) / 2, cost((lower + upper) / 2)


def report(solution: Solution) -> dict[str, Any]:
    """Return the springs that were found, the greatest torques (N m), and of one link the closed
    form."""
    tree, swing = solution.problem.tree, solution.duration
    entry: dict[str, Any] = {
        "springs": {
            each.joint: each.stiffness for each in tree.elements if isinstance(each, Spring)
        },
        "torques": np.abs(solution.tau(solution.times())).max(axis=1).tolist(),
    }
    if tree.dof == 1 and entry["springs"]:
        inertia = float(mass_matrix(tree, [0.0]))
        damping = sum(float(each.damping) for each in tree.elements if isinstance(each, Damper))
        stiffness, cost = best(inertia, damping, swing)
        entry |= {"resonance": resonance(inertia, swing), "stiffness": stiffness, "effort": cost}
    return {"spring_arm": entry}


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry = data["spring_arm"]
    found = [
        f"{'spring':<22}{joint}: {stiffness:.6g} N m/rad"
        for joint, stiffness in entry["springs"].items()
    ]
    torques = ", ".join(f"{torque:.4g}" for torque in entry["torques"])
    found.append(f"{'torques':<22}at most {torques} N m")
    if "resonance" in entry:
        found.append(
            f"{'closed form':<22}k = {entry['stiffness']:.6g} N m/rad, J = {entry['effort']:.6g}; "
            f"resonance at {entry['resonance']:.6g} N m/rad"
        )
    return found


def draw(solution: Solution, file: str | Path) -> None:
    """Draw the overview to the file, and the elements to that with "-elements" added."""
    plot(solution, file)
    plot_elements(solution, Path(file).with_stem(f"{Path(file).stem}-elements"))


TASK = Task(problem, views=Views(plot=draw, report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)
