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


def written(path, edit=lambda c3d: None):
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
    edit(c3d)
    c3d.write(str(path))
    return path


@pytest.fixture
def path(tmp_path):
    return written(tmp_path / "walk.c3d")


def stated(group, name, value):
    """What states a parameter of a file."""

    def edit(c3d):
        c3d["parameters"][group][name]["value"] = value

    return edit


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


@pytest.mark.parametrize(("unit", "size"), [("m", 1.0), ("cm", 0.01), ("MM", 0.001), ("M", 1.0)])
def test_lengths_come_in_the_units_of_the_file(tmp_path, unit, size):
    read = read_table(written(tmp_path / "walk.c3d", stated("POINT", "UNITS", [unit])))
    np.testing.assert_allclose(read.column("KNEE.x")[3], 3.0 * size, rtol=1e-6)


@pytest.mark.parametrize(
    ("group", "name", "value", "words"),
    [
        ("POINT", "UNITS", ["inch"], "walk.c3d: unit 'inch': expected one of s, ms, m"),
        ("POINT", "UNITS", [], "walk.c3d: expected a unit of m, got none"),
        ("POINT", "LABELS", ("A", "A"), "walk.c3d: POINT:LABELS: marker 'A' is named twice"),
        ("POINT", "LABELS", ("A", ""), "walk.c3d: POINT:LABELS: marker 2 has no name"),
    ],
)
def test_bad_parameters_are_refused_by_name(tmp_path, group, name, value, words):
    path = written(tmp_path / "walk.c3d", stated(group, name, value))
    with pytest.raises(ValueError, match=words):
        read_table(path)


def test_plates_that_cannot_be_read_leave_the_markers(tmp_path):
    path = written(tmp_path / "walk.c3d", stated("FORCE_PLATFORM", "TYPE", [9]))
    with pytest.warns(
        UserWarning, match=r"walk\.c3d: its force plates cannot be read, and are left"
    ):
        read = read_table(path)
    assert list(markers(read).values) == ["KNEE", "HIP"]
    with pytest.raises(ValueError, match="expected columns of forces"):
        wrenches(read)


def test_forces_alone_are_read_and_a_file_of_neither_is_refused(tmp_path):
    def without(c3d):
        c3d["parameters"]["POINT"]["LABELS"]["value"] = ()
        c3d["data"]["points"] = np.ones((4, 0, FRAMES))

    assert list(wrenches(read_table(written(tmp_path / "a.c3d", without))).values) == ["plate_1"]

    def bare(c3d):
        without(c3d)
        c3d["parameters"]["FORCE_PLATFORM"]["USED"]["value"] = [0]

    with pytest.raises(ValueError, match=r"b\.c3d: expected markers or force plates, got neither"):
        read_table(written(tmp_path / "b.c3d", bare))


def test_a_file_that_was_cut_off_is_refused(path):
    content = path.read_bytes()
    path.write_bytes(content[:2048])
    with pytest.raises(
        ValueError, match=r"walk\.c3d: the header says 8 frames, got 6: it is cut off"
    ):
        read_table(path)
    for length in (0, 1, 600, 1500):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"walk\.c3d: cannot be read as C3D"):
            read_table(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match=r"walk\.c3d"):
        read_table(path)
