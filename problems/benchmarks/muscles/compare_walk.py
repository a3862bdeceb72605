"""The planar walk of 18 muscles, predicted from a cold start, beside OpenSim Moco's two solves.

    python -m problems.benchmarks.muscles.compare_walk --model 2D_gait.osim --limit 3600

Ours is `ocp run muscle_walk --verify 1e-2`, in a process of its own, imports and builds among its
seconds. Moco's example of this model tracks a step first and predicts one from there: squared
controls beside the motion followed, then cubed controls over the way, at most 50 intervals. The
motion that it is given to follow is our own step, since the recorded one is no part of this
package; bounds of coordinates and the speed are ours too. The model is that of the example (not
part of this package either). Seconds are of the processor, one thread; where a solve of Moco's is
stopped at the limit, what it had taken by then is a lower bound.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ocp import Solution, load
from ocp.models.human.muscles.planar_walker import LIMITS
from ocp.problems.benchmarks.muscles.moco import answer_of, parse_command, run
from ocp.problems.human.muscle_walk import BETWEEN

SAMPLES = 101  # of the motion that Moco follows
INTERVALS = 50  # of Moco's mesh, as in its example
SPEED = 1.2  # m/s
COORDINATES = {  # of Moco's model, and the coordinates that they are
    "pelvis_tx": "x",
    "pelvis_ty": "y",
    "pelvis_tilt": "tilt",
    "lumbar": "lumbar",
} | {
    f"{theirs}_{side}": f"{joint}_{side}"
    for theirs, joint in (("hip_flexion", "hip"), ("knee_angle", "knee"), ("ankle_angle", "ankle"))
    for side in "rl"
}
FARTHEST = 2.0  # m, of the way


def bounds(solution: Solution) -> dict[str, tuple[float, float]]:
    """Return {coordinate of Moco's model: bounds} of our statement."""
    tree = solution.problem.tree
    limits = {"x": (0.0, FARTHEST)} | BETWEEN
    limits["lumbar"] = tree.moving[tree.coordinate("lumbar")].position
    return {
        theirs: limits.get(ours) or LIMITS[ours.split("_")[0]]
        for theirs, ours in COORDINATES.items()
    }


def request(solution: Solution, model: Path) -> dict:
    """Return the request to Moco."""
    t = np.linspace(0.0, solution.duration, SAMPLES)
    q, tree = solution.q(t), solution.problem.tree
    return {
        "model": str(model.resolve()),
        "times": t.tolist(),
        "motion": {name: q[tree.coordinate(ours)].tolist() for name, ours in COORDINATES.items()},
        "bounds": bounds(solution),
        "intervals": INTERVALS,
        "speed": SPEED,
    }


def table(model: Path | None, limit: float) -> Iterator[str]:
    """Yield the lines: our walk, then Moco's tracking and prediction."""
    yield f"{'':24}{'J':>10}{'iterations':>12}{'seconds':>9}"
    with tempfile.TemporaryDirectory() as name:
        kept = Path(name) / "step.npz"
        walk = (sys.executable, "-m", "ocp", "run", "muscle_walk", "--verify", "1e-2")
        done = run((*walk, "--save", str(kept)), Path(name))
        if not kept.is_file():
            raise RuntimeError(f"ocp: {done.printed.strip()[-500:]}")
        step = load(kept)
    lines = done.printed.splitlines()
    said = next(line.split(None, 1)[1] for line in lines if line.startswith("certificate"))
    count = step.statistics["iterations"]
    yield row("ocp, cold start", step.objective, count, done.seconds, said)
    if model is None:
        return
    rows, whole = answer_of("walk_by_moco", request(step, model), limit)
    for name, each in rows.items():
        word = "" if each["success"] else "not converged"
        yield row(f"Moco, {name}", each["objective"], each["iterations"], each["seconds"], word)
    least = "" if all(each["success"] for each in rows.values()) else "at least "
    yield f"Moco's processor time over ours: {least}{whole / done.seconds:.1f}"


def row(name: str, objective: float, count: int, seconds: float, word: str) -> str:
    """Return the line of a solve."""
    return f"{name:24}{objective:10.4f}{count:12d}{seconds:9.1f}  {word}".rstrip()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = parse_command(__doc__, "2D_gait.osim", arguments, limit=3600.0)
    for line in table(given.model, given.limit):
        print(line, flush=True)


if __name__ == "__main__":
    main()
