"""C3D files: markers and force plates in SI, whatever processor wrote them."""

from importlib.resources import files

import numpy as np
import pytest
from c3d_files import DEC, FRAMES, INTEL, MIPS, c3d_bytes, plain_file, plate_parameters, two_markers

from ocp import read_table
from ocp.interchange import markers, wrenches


def read(folder, content):
    """Table of a file with these bytes."""
    path = folder / "walk.c3d"
    path.write_bytes(content)
    return read_table(path)


@pytest.mark.parametrize("scale", [-1.0, 0.5])
@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
def test_markers_are_in_metres_with_their_gaps(tmp_path, processor, scale):
    seen = markers(read(tmp_path, plain_file(processor, scale)))
    np.testing.assert_allclose(seen.values["KNEE"][:, 2], (0.002, 0.018, 0.034), rtol=1e-6)
    assert np.isnan(seen.values["HIP"]).any(axis=0).tolist() == [k == 4 for k in range(FRAMES)]
    np.testing.assert_allclose(seen.t, 0.01 * np.arange(FRAMES), atol=1e-12)


@pytest.mark.parametrize("scale", [-1.0, 0.5])
@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
def test_a_plate_gives_the_wrench_about_the_origin(tmp_path, processor, scale):
    wrench = wrenches(read(tmp_path, plain_file(processor, scale))).values["plate_1"]
    middle, force = np.array([0.1, 0.3, 0.0]), np.array([0.0, 0.0, 700.0])
    np.testing.assert_allclose(wrench[3:].T, [force] * FRAMES, rtol=1e-6)
    moment = np.cross(middle, force) + (1.0, 0.0, 0.0)  # the mean of 2 and 0 N m
    np.testing.assert_allclose(wrench[:3].T, [moment] * FRAMES, rtol=1e-6)


def channels_of(kind, force, place, turn):
    """Channels (8 or 6,) of a plate under a force (N) at a place (m) on it, with a moment (N m)
    about its vertical; its own origin 0.05 m below the surface, sensors 0.12 and 0.2 m away."""
    x, y, z = force
    about_middle = np.cross(place, force) + (0, 0, turn)
    if kind == 1:
        return np.array([x, y, z, 1e3 * place[0], 1e3 * place[1], 1e3 * turn])
    moment = about_middle + np.cross((0.01, 0.02, -0.05), force)
    if kind in (2, 4):
        return np.array([x, y, z, *(1e3 * moment)])
    a, b, depth = 0.12, 0.2, 0.05
    mx, my, mz = about_middle + np.cross((0, 0, -depth), force)
    back = mz / (4 * b)
    sides = np.array([[1, 1, 1, 1], [b, b, -b, -b], [-a, a, a, -a], [1, -1, 1, -1]])
    ends = np.linalg.solve(sides, (z, mx, my, 0.0))
    turned = mz / (4 * a)
    return np.array([x / 2 - back, x / 2 + back, y / 2 + turned, y / 2 - turned, *ends])


FORCE, PLACE, TURN = np.array([30.0, -50.0, -700.0]), np.array([0.03, -0.1, 0.0]), 6.0
MATRIX = np.diag([2.0, 3, 4, 5, 6, 7]) + 0.1 * np.arange(36).reshape(6, 6) / 36


def loaded(kind, **others):
    """A file of one kind of plate under that load, its channels before any scale."""
    channels = channels_of(kind, FORCE, PLACE, TURN)
    origins = {1: (0, 0, 0), 2: (10, 20, -50), 3: (120, 200, -50), 4: (10, 20, -50)}
    extra = {"FORCE_PLATFORM__ORIGIN": np.array(origins[kind], dtype=float).reshape(3, 1)}
    if kind == 4:
        channels = np.linalg.solve(MATRIX, channels)
        extra["FORCE_PLATFORM__CAL_MATRIX"] = MATRIX[:, :, None]
    samples = np.tile(channels, (FRAMES, 2, 1))
    parameters = plate_parameters(kind, len(channels), **extra | others)
    return c3d_bytes(two_markers(), samples, parameters)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_every_kind_of_plate_tells_the_same_load(tmp_path, kind):
    table = read(tmp_path, loaded(kind))
    axes = np.array([[1, 0, 0], [0, -1, 0], [0, 0, -1]])  # of the plate: z into the ground
    force, moment = axes @ FORCE, axes @ (np.cross(PLACE, FORCE) + (0, 0, TURN))
    rows = {part: [table.column(f"plate_1_{part}{axis}") for axis in "xyz"] for part in PARTS}
    np.testing.assert_allclose(np.array(rows["force_v"]).T, [force] * FRAMES, rtol=1e-5)
    np.testing.assert_allclose(np.array(rows["torque_"]).T, [moment] * FRAMES, rtol=1e-5)


PARTS = ("force_v", "torque_")


@pytest.mark.parametrize("kind", [2, 4])
def test_an_origin_that_points_down_is_turned(tmp_path, kind):
    up = np.array([[10.0], [20.0], [-50.0]])
    tables = [read(tmp_path, loaded(kind, FORCE_PLATFORM__ORIGIN=sign * up)) for sign in (1, -1)]
    np.testing.assert_array_equal(tables[0].values, tables[1].values)


def test_channels_have_scales_offsets_and_units(tmp_path):
    plain, scaled = (
        read(tmp_path, content)
        for content in (
            loaded(2),
            loaded(
                2,
                ANALOG__GEN_SCALE=0.5,
                ANALOG__SCALE=np.array([2.0, 2, 2, 2e-3, 2e-3, 2e-3]),
                ANALOG__OFFSET=np.array([0, 0, 100, 0, 0, 0], dtype=np.int16),
                ANALOG__UNITS=["N"] * 3 + ["Nm"] * 3,
            ),
        )
    )
    lift = scaled.column("plate_1_force_vz") - plain.column("plate_1_force_vz")
    np.testing.assert_allclose(lift, 100.0, rtol=1e-6)
    sideways = [f"plate_1_force_v{axis}" for axis in "xy"]
    np.testing.assert_allclose(scaled.only(sideways).values, plain.only(sideways).values)
    turn = "plate_1_torque_z"
    np.testing.assert_allclose(scaled.column(turn), plain.column(turn), rtol=1e-6)


def test_integers_without_a_sign_are_read_so(tmp_path):
    samples = np.full((FRAMES, 2, 6), 2.0**15)
    samples[:, :, 2] += 700
    offsets = np.full(6, 2**15, dtype=np.uint16)
    others = {"ANALOG__FORMAT": ["UNSIGNED"], "ANALOG__OFFSET": offsets}
    parameters = plate_parameters(2, 6, POINT__SCALE=0.5, **others)
    content = c3d_bytes(two_markers(), samples - 2.0**16, parameters, scale=0.5)
    np.testing.assert_allclose(read(tmp_path, content).column("plate_1_force_vz"), -700.0)


@pytest.mark.parametrize(
    "counted",
    [
        {"POINT__LONG_FRAMES": 66000.0},
        {
            "TRIAL__ACTUAL_START_FIELD": np.array([11, 0], dtype=np.uint16),
            "TRIAL__ACTUAL_END_FIELD": np.array([66010 - 65536, 1], dtype=np.uint16),
        },
    ],
)
def test_more_frames_than_a_header_counts_are_all_read(tmp_path, counted):
    points = np.zeros((66000, 1, 4))
    points[:, 0, 0] = np.arange(66000)
    parameters = plate_parameters(2, 6, POINT__LABELS=["KNEE"], **counted)
    parameters = {name: each for name, each in parameters.items() if "PLATFORM" not in name}
    table = read(tmp_path, c3d_bytes(points, np.zeros((66000, 1, 0)), parameters, first=11))
    assert table.t[0] == pytest.approx(0.1) and len(table.t) == 66000
    assert table.column("KNEE.x")[-1] == pytest.approx(65.999)


def test_names_go_on_in_further_parameters(tmp_path):
    points = np.ones((FRAMES, 300, 4))
    names = [f"M{k}" for k in range(300)]
    labels = {"POINT__LABELS": names[:255], "POINT__LABELS2": names[255:]}
    parameters = plate_parameters(2, 6, **labels)
    table = read(tmp_path, c3d_bytes(points, np.zeros((FRAMES, 2, 6)), parameters))
    assert list(markers(table).values) == names


def test_what_is_no_c3d_is_refused_by_name(tmp_path):
    for content in (b"", b"\2", b"no c3d" * 200, plain_file()[:600]):
        with pytest.raises(ValueError, match=r"walk\.c3d: cannot be read as C3D"):
            read(tmp_path, content)
    with pytest.raises(ValueError, match=r"it is text, beginning 'no c3dno .*'; export it as C3D"):
        read(tmp_path, b"no c3d" * 200)
    with pytest.raises(ValueError, match=r"expected processor 84 .*, got 99"):
        read(tmp_path, plain_file(99))
    (tmp_path / "folder.c3d").mkdir()
    with pytest.raises((ValueError, OSError), match=r"folder\.c3d"):
        read_table(tmp_path / "folder.c3d")


@pytest.mark.parametrize(("unit", "size"), [("m", 1.0), ("cm", 0.01), ("MM", 0.001), ("M", 1.0)])
def test_lengths_come_in_the_units_of_the_file(tmp_path, unit, size):
    table = read(tmp_path, plain_file(POINT__UNITS=[unit]))
    np.testing.assert_allclose(table.column("KNEE.x")[3], 3.0 * size, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("POINT__UNITS", ["inch"], "walk.c3d: unit 'inch': expected one of s, ms, m"),
        ("POINT__UNITS", [], "walk.c3d: expected a unit of m, got none"),
        ("POINT__USED", np.int16(3), "walk.c3d: the header says 2, POINT:USED says 3"),
        ("ANALOG__USED", np.int16(5), "walk.c3d: the header says 6, ANALOG:USED says 5"),
        ("POINT__UNITS", 1.0, "walk.c3d: POINT:UNITS: expected texts, got numbers"),
        ("POINT__LABELS", ["A", "A"], "walk.c3d: POINT:LABELS: marker 'A' is named twice"),
        ("POINT__LABELS", ["A", ""], "walk.c3d: POINT:LABELS: marker 2 has no name"),
        ("POINT__LABELS", ["A"], "walk.c3d: POINT:LABELS: expected 2 names, got 1"),
        ("POINT__RATE", 0.0, "walk.c3d: POINT:RATE: expected a number above 0 Hz, got 0"),
        ("POINT__RATE", float("nan"), "walk.c3d: POINT:RATE: expected finite numbers, got nan"),
        ("POINT__RATE", ["fast"], "walk.c3d: POINT:RATE: expected numbers, got texts"),
        ("POINT__RATE", np.zeros(0), "walk.c3d: POINT:RATE: expected a number, got none"),
    ],
)
def test_bad_parameters_are_refused_by_name(tmp_path, name, value, words):
    with pytest.raises(ValueError, match=words):
        read(tmp_path, plain_file(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("TYPE", np.array([9], dtype=np.int16), "TYPE: expected one of 1, 2, 3, 4, got 9"),
        ("USED", np.int16(2), "TYPE: expected 1 numbers of plate 2, got 0"),
        ("CHANNEL", np.arange(5, 11, dtype=np.int16).reshape(6, 1), "expected 1 to 6, got 7"),
        ("CORNERS", np.zeros((3, 4, 1)), "CORNERS: those of plate 1 span no plane"),
        ("ORIGIN", np.zeros((2, 1)), "ORIGIN: expected 3 numbers of plate 1, got 2"),
    ],
)
def test_plates_that_cannot_be_read_leave_the_markers(tmp_path, name, value, words):
    words = rf"walk\.c3d: its force plates cannot be read, and are left out: .*{words}"
    with pytest.warns(UserWarning, match=words) as said:
        table = read(tmp_path, plain_file(**{f"FORCE_PLATFORM__{name}": value}))
    assert said[0].filename == __file__  # the line that asked for it
    assert list(markers(table).values) == ["KNEE", "HIP"]
    with pytest.raises(ValueError, match="expected columns of forces"):
        wrenches(table)


def test_forces_alone_are_read_and_a_file_of_neither_is_refused(tmp_path):
    none, parameters = np.zeros((FRAMES, 0, 4)), plate_parameters(2, 6, POINT__LABELS=[])
    alone = c3d_bytes(none, np.zeros((FRAMES, 2, 6)), parameters)
    assert list(wrenches(read(tmp_path, alone)).values) == ["plate_1"]
    bare = c3d_bytes(none, np.zeros((FRAMES, 2, 0)), parameters)
    with pytest.raises(ValueError, match=r"walk\.c3d: expected markers or force plates, got neit"):
        read(tmp_path, bare)


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    content = plain_file()
    start = 512 * (int.from_bytes(content[16:18], "little") - 1)
    with pytest.raises(
        ValueError, match=r"walk\.c3d: the header says 8 frames, got 6: it is cut off"
    ):
        read(tmp_path, content[: start + 6 * 4 * 20 + 40])


def test_the_recording_that_comes_with_the_package_bears_a_body():
    table = read_table(files("ocp.cli") / "howto" / "walk.c3d")
    pushed = wrenches(table)
    vertical = sum(rows[4] for rows in pushed.values.values())  # N, along y
    assert len(markers(table).values) == 63 and len(pushed.values) == 2
    assert np.nanmean(vertical) == pytest.approx(75 * 9.81, rel=0.05)
