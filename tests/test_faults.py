"""Deliberate faults fit the code that they break, and name tests that there are."""

from pathlib import Path

import pytest

tomllib = pytest.importorskip("tomllib")  # Python 3.11
ROOT = Path(__file__).parent.parent
AREAS = sorted((ROOT / "tests" / "faults").glob("*.toml"))


@pytest.mark.parametrize("area", AREAS, ids=[area.stem for area in AREAS])
def test_each_fault_changes_one_place_and_names_tests_that_there_are(area):
    for fault in tomllib.loads(area.read_text(encoding="utf-8"))["fault"]:
        text = (ROOT / fault["file"]).read_text(encoding="utf-8")
        assert text.count(fault["old"]) == 1, f"{fault['name']}: in {fault['file']}"
        assert fault["old"] != fault["new"] and fault["tests"], fault["name"]
        assert all((ROOT / test.split("::")[0]).is_file() for test in fault["tests"])
