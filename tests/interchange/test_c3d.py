"""C3D files: markers and force plates in SI."""

import sys

import numpy as np
import pytest

from ocp import read_table
from ocp.interchange import markers, wrenches

FRAMES = 8


def test_without_the_library_the_hint_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    with pytest.raises(ModuleNotFoundError, match=r"need ezc3d: install the extra `data`"):
        read_table(tmp_path / "walk.c3d")


@pytest.fixture
def path(tmp_path):
    """Two markers at 100 Hz, in mm, one unseen once; a plate at 200 Hz under 700 N."""
    ezc3d = pytest.importorskip("ezc3d", reason="needs the extra `data`")
    c3d = ezc3d.c3d()
    point, analog, plate = (c3d["parameters"][n] for n in ("POINT", "ANALOG", "FORCE_PLATFORM"))
    point["UNITS"]["value"], point["RATE"]["value"] = ["mm"], [100]
    point["LABELS"]["value"] = ("KNEE", "HIP")
    analog["RATE"]["value"], analog["UNITS"]["value"] = [200], ["N"] * 3 + ["Nmm"] * 3
    analog["LABELS"]["value"] = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
    points = np.ones((4, 2, FRAMES))
    points[:3] = np.arange(6.0 * FRAMES).reshape(3, 2, FRAMES)
    points[:3, 1, 4] = np.nan
    forces = np.zeros((1, 6, 2 * FRAMES))
    forces[0, 2], forces[0, 3, ::2] = -700.0, 2000.0
    c3d["data"]["points"], c3d["data"]["analogs"] = points, forces
    x, y = np.array([200.0, 0.0, 0.0, 200.0]), np.array([0.0, 0.0, 600.0, 600.0])
    values = {
        "USED": [1],
        "TYPE": [2],
        "CHANNEL": np.arange(1, 7).reshape(6, 1),
        "CORNERS": np.array([x, y, 0 * x]).reshape(3, 4, 1),
        "ORIGIN": np.zeros((3, 1)),
    }
    for name, value in values.items():
        plate[name]["value"] = value
    c3d.write(str(tmp_path / "walk.c3d"))
    return tmp_path / "walk.c3d"


def test_markers_are_in_metres_with_their_gaps(path):
    seen = markers(read_table(path))
    np.testing.assert_allclose(seen.values["KNEE"][:, 2], (0.002, 0.018, 0.034), rtol=1e-6)
    assert np.isnan(seen.values["HIP"]).any(axis=0).tolist() == [k == 4 for k in range(FRAMES)]
    np.testing.assert_allclose(np.diff(seen.t), 0.01)


def test_a_plate_gives_the_wrench_about_the_origin(path):
    wrench = wrenches(read_table(path)).values["plate_1"]
    middle, force = np.array([0.1, 0.3, 0.0]), np.array([0.0, 0.0, 700.0])
    np.testing.assert_allclose(wrench[3:].T, [force] * FRAMES, rtol=1e-6)
    moment = np.cross(middle, force) + (1.0, 0.0, 0.0)  # the mean of 2 and 0 N m
    np.testing.assert_allclose(wrench[:3].T, [moment] * FRAMES, rtol=1e-6)


def test_what_is_no_c3d_is_refused_by_name(path):
    path.write_bytes(b"no c3d" * 200)
    with pytest.raises(ValueError, match=r"walk\.c3d: cannot be read as C3D"):
        read_table(path)
