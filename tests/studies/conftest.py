"""Every test of studies works in a folder of its own."""

import pytest
import study_cells

from ocp.studies.store import database


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """An empty working folder, short patience, nothing held."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    yield tmp_path
    while study_cells.HELD:
        study_cells.HELD.pop().close()
