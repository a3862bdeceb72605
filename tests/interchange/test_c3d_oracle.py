"""C3D files beside the library ezc3d, which reads and writes what processors of Intel do."""

import numpy as np
import pytest
from c3d_files import DEC, FRAMES, INTEL, plain_file
from test_c3d import loaded

from ocp import read_table

ezc3d = pytest.importorskip("ezc3d", reason="needs the extra `oracles`")
PLATE = {
    "USED": [1],
    "TYPE": [2],
    "CHANNEL": np.arange(1, 7).reshape(6, 1),
    "CORNERS": np.array([[200.0, 0, 0, 200], [0, 0, 600, 600], [0] * 4]).reshape(3, 4, 1),
    "ORIGIN": np.array([[10.0], [20.0], [-50.0]]),
}


def written(path):
    """Two markers at 100 Hz, in mm, one unseen once; a plate at 200 Hz, with scales."""
    c3d = ezc3d.c3d()
    point, analog, plate = (c3d["parameters"][n] for n in ("POINT", "ANALOG", "FORCE_PLATFORM"))
    point["UNITS"]["value"], point["RATE"]["value"] = ["mm"], [100]
    point["LABELS"]["value"] = ("KNEE", "HIP")
    analog["RATE"]["value"], analog["UNITS"]["value"] = [200], ["N"] * 3 + ["Nmm"] * 3
    analog["LABELS"]["value"] = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
    rng = np.random.default_rng(0)
    points = np.ones((4, 2, FRAMES))
    points[:3] = 1e3 * rng.standard_normal((3, 2, FRAMES))
    points[:3, 1, 4] = np.nan
    c3d["data"]["points"] = points
    c3d["data"]["analogs"] = 500 * rng.standard_normal((1, 6, 2 * FRAMES))
    for name, value in PLATE.items():
        plate[name]["value"] = value
    c3d.write(str(path))


def check_beside(path):
    """Compare markers, forces and moments with those of the library."""
    table, c3d = read_table(path), ezc3d.c3d(str(path), extract_forceplat_data=True)
    points = 1e-3 * np.where(c3d["data"]["meta_points"]["residuals"] < 0, np.nan, 1.0)
    points = points * c3d["data"]["points"][:3]
    for k, name in enumerate(("KNEE", "HIP")):
        ours = [table.column(f"{name}.{axis}") for axis in "xyz"]
        np.testing.assert_allclose(ours, points[:, k], rtol=1e-12)
    (plate,) = c3d["data"]["platform"]
    for part, unit in (("force", 1.0), ("moment", 1e-3)):
        begin = {"force": "force_v", "moment": "torque_"}[part]
        ours = np.array([table.column(f"plate_1_{begin}{axis}") for axis in "xyz"])
        theirs = unit * plate[part].reshape(3, FRAMES, -1).mean(axis=2)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * np.abs(theirs).max())


def test_what_the_library_writes_is_read_as_by_it(tmp_path):
    written(tmp_path / "walk.c3d")
    check_beside(tmp_path / "walk.c3d")


@pytest.mark.parametrize("scale", [-1.0, 0.5])
@pytest.mark.parametrize("processor", [INTEL, DEC])
def test_numbers_of_processors_are_read_as_by_the_library(tmp_path, processor, scale):
    (tmp_path / "walk.c3d").write_bytes(plain_file(processor, scale))
    check_beside(tmp_path / "walk.c3d")


@pytest.mark.parametrize("kind", [2, 3, 4])  # of kind 1 it has moments of the other sign
def test_plates_are_read_as_by_the_library(tmp_path, kind):
    (tmp_path / "walk.c3d").write_bytes(loaded(kind))
    check_beside(tmp_path / "walk.c3d")
