"""The squat to stand by torques beside OpenSim Moco, and by nine muscles, in one run.

    python -m problems.benchmarks.muscles.compare_squat --model squatToStand_3dof9musc.osim

By torques both are stated as Moco's example has it, on 25 intervals by Hermite and Simpson. By
muscles it is `ocp run squat_to_stand --verify 1e-2`. Seconds are of the processor, one thread, and
of building and solving; of the muscles they are of the whole command.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ocp import HermiteSimpson, Solution, Transcription, solve
from ocp.problems.benchmarks.muscles.moco import answer_of, parse_command, run
from ocp.problems.human.squat_to_stand import SQUAT, STRONGEST, problem

INTERVALS = 25
COORDINATES = {"ankle": "ankle_angle_r", "knee": "knee_angle_r", "hip": "hip_flexion_r"}


def request(solution: Solution, model: Path) -> dict:
    """Return the request to Moco."""
    tree = solution.problem.tree
    bounds = {joint.name: joint.position for joint in tree.joints}
    return {
        "model": str(model.resolve()),
        "duration": solution.duration,
        "intervals": INTERVALS,
        "coordinates": {
            COORDINATES[name]: (torque, bounds[name], first, 0.0)
            for torque, (name, first) in zip(STRONGEST, SQUAT.items())
        },
    }


def table(model: Path | None) -> Iterator[str]:
    """Yield the lines: torques by both, and muscles."""
    yield f"{'':16}{'J':>10}{'iterations':>12}{'seconds':>9}"
    begun = time.process_time()
    ours = solve(
        problem(torques=True), Transcription(method=HermiteSimpson(intervals=INTERVALS))
    ).require()
    seconds = time.process_time() - begun
    yield _row("torques, ocp", ours.objective, ours.statistics["iterations"], seconds)
    if model is not None:
        moco, _ = answer_of("squat_by_moco", request(ours, model))
        word = "" if moco["success"] else "not converged"
        yield _row("torques, Moco", moco["objective"], moco["iterations"], moco["seconds"], word)
        apart = abs(ours.objective / moco["objective"] - 1)
        yield f"J {apart:.2%} apart, in {seconds / moco['seconds']:.3f} of Moco's time"
    command = (sys.executable, "-m", "ocp", "run", "squat_to_stand", "--verify", "1e-2")
    done = run(command, Path.cwd())
    said = dict(line.split(None, 1) for line in done.printed.splitlines() if " " in line.strip())
    count = int(said["status"].split()[-2])
    objective, certificate = float(said["objective"].split()[0]), said["certificate"]
    yield _row("muscles, ocp", objective, count, done.seconds, certificate)


def _row(name: str, objective: float, count: int, seconds: float, word: str = "") -> str:
    """Return the line of a solve."""
    return f"{name:16}{objective:10.5f}{count:12d}{seconds:9.2f}  {word}".rstrip()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = parse_command(__doc__, "squatToStand_3dof9musc.osim", arguments)
    for line in table(given.model):
        print(line, flush=True)


if __name__ == "__main__":
    main()
