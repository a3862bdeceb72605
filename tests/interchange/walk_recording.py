"""The recording of the how-to on joint moments: `python tests/interchange/walk_recording.py`.

A predicted step in place of a laboratory's: markers with 1 mm of noise at 100 Hz, two force plates
at 500 Hz.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from c3d_files import c3d_bytes  # noqa: E402

from ocp import Solution, Solver  # noqa: E402
from ocp.interchange import force_table, marker_table, wrenches  # noqa: E402
from ocp.models.human.markers import cluster_names, clustered  # noqa: E402
from ocp.problems.gait import TASK  # noqa: E402

FILE = ROOT / "ocp" / "cli" / "howto" / "walk.c3d"
FRAME, SAMPLE, NOISE = 100.0, 5, 0.001  # Hz; samples a frame; m
AXES = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float)  # of plates, columns: z down
CORNERS = np.array([[0.3, -0.3, -0.3, 0.3], [0, 0, 0, 0], [0.3, 0.3, -0.3, -0.3]])  # m


def recording(solution: Solution, seed: int = 0) -> bytes:
    """The step of a solution as a C3D file in m, N and N m, y up."""
    body = clustered(solution.problem.tree)
    marked = replace(solution, problem=replace(solution.problem, tree=body))
    names = cluster_names(body)
    table = marker_table(marked, points=names, rate=FRAME)
    count = len(table.t)
    rate = (count - 1) / solution.duration
    places = table.values.reshape(len(names), 3, count).transpose(2, 0, 1)
    places = places + NOISE * np.random.default_rng(seed).standard_normal(places.shape)
    points = np.concatenate([places, np.zeros((count, len(names), 1))], axis=2)
    plates = wrenches(force_table(solution, rate=SAMPLE * rate))
    times = np.arange(count * SAMPLE) / (SAMPLE * rate)
    channels = []
    for rows in plates.values.values():
        known = np.array([np.interp(times, plates.t, row) for row in np.nan_to_num(rows)])
        channels += [*(AXES.T @ known[3:]), *(AXES.T @ known[:3])]
    samples = np.array(channels).T.reshape(count, SAMPLE, -1)
    used = len(plates.values)
    parameters = {
        "POINT:RATE": rate,
        "POINT:SCALE": -1.0,
        "POINT:FRAMES": np.int16(count),
        "POINT:DATA_START": np.int16(0),
        "POINT:LABELS": list(names),
        "POINT:UNITS": ["m"],
        "ANALOG:RATE": SAMPLE * rate,
        "ANALOG:GEN_SCALE": 1.0,
        "ANALOG:SCALE": np.ones(6 * used),
        "ANALOG:OFFSET": np.zeros(6 * used, dtype=np.int16),
        "ANALOG:UNITS": [*["N"] * 3, *["Nm"] * 3] * used,
        "ANALOG:LABELS": [f"C{k + 1}" for k in range(6 * used)],
        "FORCE_PLATFORM:USED": np.int16(used),
        "FORCE_PLATFORM:TYPE": np.full(used, 2, dtype=np.int16),
        "FORCE_PLATFORM:ZERO": np.array([0, 0], dtype=np.int16),
        "FORCE_PLATFORM:CHANNEL": np.arange(1, 6 * used + 1, dtype=np.int16).reshape(used, 6).T,
        "FORCE_PLATFORM:CORNERS": np.repeat(CORNERS[:, :, None], used, axis=2),
        "FORCE_PLATFORM:ORIGIN": np.zeros((3, used)),
    }
    return c3d_bytes(points, samples, parameters)


if __name__ == "__main__":
    FILE.write_bytes(recording(TASK.method(TASK.problem(), TASK.transcription, Solver()).require()))
