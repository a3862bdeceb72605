"""Files of a predicted walk as OpenSim's own readers see them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from opensim_child import needs_opensim

from ocp import Solver, Transcription, read_table, save_forces, save_motion, save_table
from ocp.interchange import force_table, marker_table, motion_table
from ocp.problems.gait import effort_step as problem
from ocp.problems.gait import walk

# OpenSim brings a CasADi of its own, which no process can have beside ours.
READER = """
import json, sys
import opensim
seen = {}
for name in sys.argv[1:]:
    if name.endswith(".trc"):
        table = opensim.TimeSeriesTableVec3(name)
        rows = [table.getRowAtIndex(k) for k in range(table.getNumRows())]
        many = range(table.getNumColumns())
        values = [[x for k in many for x in row[k].to_numpy().tolist()] for row in rows]
    else:
        table = opensim.TimeSeriesTable(name)
        values = table.getMatrix().to_numpy().tolist()
        opensim.STOFileAdapter.write(table, "again " + name)
    words = {key: table.getTableMetaDataString(key) for key in table.getTableMetaDataKeys()}
    labels, t = list(table.getColumnLabels()), list(table.getIndependentColumn())
    seen[name] = {"t": t, "labels": labels, "values": values, "words": words}
print(json.dumps(seen))
"""
pytestmark = [pytest.mark.commands, needs_opensim]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """{name: table that was written}, what OpenSim reads of it, and the folder."""
    step = walk(problem(), Transcription(), Solver()).require()
    folder = tmp_path_factory.mktemp("opensim")
    save_motion(step, folder / "walk.mot")
    save_motion(step, folder / "walk.sto")
    save_forces(step, folder / "forces.mot")
    save_table(marker_table(step), folder / "walk.trc")
    written = {
        "walk.mot": motion_table(step, quantities=("q",)),
        "walk.sto": motion_table(step),
        "forces.mot": force_table(step),
        "walk.trc": marker_table(step),
    }
    command = [sys.executable, "-c", READER, *written]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return written, json.loads(done.stdout.splitlines()[-1]), folder


@pytest.mark.parametrize("name", ["walk.mot", "walk.sto", "forces.mot"])
def test_opensim_reads_every_column_unit_and_time(files, name):
    expected, read = files[0][name], files[1][name]
    assert tuple(read["labels"]) == expected.labels
    assert read["words"]["units"] == ",".join(expected.units)
    assert read["words"]["inDegrees"] == "no"
    np.testing.assert_array_equal(read["t"], expected.t)
    np.testing.assert_array_equal(read["values"], expected.values.T)


def test_opensim_reads_our_markers(files):
    expected, read = files[0]["walk.trc"], files[1]["walk.trc"]
    assert [f"{name}.x" for name in read["labels"]] == list(expected.labels[::3])
    assert read["words"]["Units"] == "m"
    np.testing.assert_array_equal(read["t"], expected.t)
    np.testing.assert_array_equal(read["values"], expected.values.T)


@pytest.mark.parametrize("name", ["walk.mot", "walk.sto", "forces.mot"])
def test_what_opensim_writes_is_read(files, name):
    read, expected = read_table(files[2] / f"again {name}"), files[0][name]
    assert (read.labels, read.units) == (expected.labels, expected.units)
    np.testing.assert_allclose(read.values, expected.values, rtol=1e-12, atol=1e-12)
