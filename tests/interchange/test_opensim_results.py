"""Tables of OpenSim's own tools are read as by OpenSim."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from opensim_child import needs_opensim

from ocp import read_table
from ocp.interchange import coordinates
from ocp.models.arms.two_link import two_link

# OpenSim brings a CasADi of its own, which no process can have beside ours.
TOOLS = Path(__file__).parent.parent / "opensim_tools.py"
pytestmark = [pytest.mark.commands, needs_opensim]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder of results, and {file: what OpenSim reads of it}."""
    folder = tmp_path_factory.mktemp("results")
    command = [sys.executable, str(TOOLS)]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_results_of_every_tool_are_read_as_by_opensim(results):
    folder, seen = results
    kinds = ("dynamics", "Kinematics_q", "BodyKinematics_pos", "StaticOptimization_force", "kin")
    assert len(seen) >= 14 and all(any(kind in name for name in seen) for kind in kinds)
    for name, expected in seen.items():
        table = read_table(folder / name)
        assert list(table.labels) == expected["labels"]
        np.testing.assert_array_equal(table.t, expected["t"])
        np.testing.assert_array_equal(table.values.T, expected["values"])


def test_degrees_of_inverse_kinematics_become_radians(results):
    folder, seen = results
    angles = coordinates(read_table(folder / "kinematics.mot"), two_link())
    degrees = np.array(seen["kinematics.mot"]["values"])[:, 1]
    np.testing.assert_allclose(angles.values["elbow"][0], np.radians(degrees), rtol=1e-12)
    assert angles.values["elbow"][0, 5] == pytest.approx(0.5, abs=1e-3)
