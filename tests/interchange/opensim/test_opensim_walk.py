"""The script of the page walks by the muscles of 2D_gait.osim, and OpenSim reads what it writes."""

import os
import re
import shutil
from pathlib import Path

import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers

from ocp import read_table
from ocp.interchange import opensim as wing

PAGE = Path(wing.__file__).parent / "opensim_models.md"
SCRIPT = re.search(r"^```py\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL).group(1)
NAME = "2D_gait.osim"
FILE = next(Path(os.environ.get("OPENSIM_MODELS") or os.devnull).rglob(NAME), None)


def test_the_script_is_short():
    lines = SCRIPT.splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 100


@pytest.mark.commands
@needs_opensim
@pytest.mark.skipif(FILE is None, reason=f"needs {NAME} in the folder OPENSIM_MODELS")
@pytest.mark.filterwarnings("ignore")
def test_the_script_walks_and_opensim_reads_its_states(tmp_path, monkeypatch, capsys):
    """It asks a certificate of 1e-2 itself."""
    shutil.copy(FILE, tmp_path / NAME)
    monkeypatch.chdir(tmp_path)
    exec(compile(SCRIPT, "page", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) == pytest.approx(0.4838, rel=2e-2)
    table = read_table("walk.sto")
    request = {"model": NAME, "table": "walk.sto"}
    seen = opensim_answers(MODELS, states_of_table=request)["states_of_table"]
    for name in ("pelvis_tx", "hip_flexion_r", "knee_angle_l"):
        (row,) = [k for k, label in enumerate(table.labels) if label.endswith(f"{name}/value")]
        assert seen[name] == pytest.approx(table.values[row].tolist(), abs=1e-6)
    assert seen["pelvis_tx"][-1] == pytest.approx(0.65, abs=1e-6)
