"""Tables in files: what is written is read, in SI, and what cannot be read is refused by line."""

from math import pi

import numpy as np
import pytest

from ocp import read_table, save_table, with_limits
from ocp.interchange import Table, coordinates, markers, wrenches
from ocp.models.arms.two_link import two_link

T = np.linspace(0.0, 0.05, 6)
KINDS = ("force_v", "force_p", "torque_")
LABELS = ("shoulder", "elbow")
TRC = """PathFileType\t4\t(X/Y/Z)\twalk.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
{rate}\t100\t6\t2\t{unit}\t100\t1\t6
Frame#\tTime\tKNEE\t\t\tHIP
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

"""
MOT = "walk\nversion=1\nnRows=6\nnColumns=3\n{header}\nendheader\ntime\tshoulder\telbow\n"


def table(**changes):
    values = np.vstack([np.sin(T), np.cos(T) / 3])
    stated = {"t": T, "labels": LABELS, "values": values, "units": ("rad", "rad")}
    return Table(**{**stated, **changes})


def trc(tmp_path, unit="mm", rate="100", **rows):
    """A .trc file of two markers; `rows` {"rowK": text} replace rows."""
    lines = [f"{k + 1}\t{0.01 * k:g}\t1\t2\t3\t{k}\t5\t6" for k in range(6)]
    for name, text in rows.items():
        lines[int(name[3:])] = text
    path = tmp_path / "walk.trc"
    path.write_text(TRC.format(unit=unit, rate=rate) + "\n".join(lines) + "\n")
    return path


def mot(tmp_path, header="inDegrees=no", rows=None):
    """A .mot file of two coordinates."""
    path = tmp_path / "walk.mot"
    rows = rows or [f"{0.01 * k:g}\t{k}\t90" for k in range(6)]
    path.write_text(MOT.format(header=header) + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("ending", [".mot", ".sto", ".csv"])
def test_what_is_written_is_read_to_the_last_digit(tmp_path, ending):
    values = table().values.copy()
    values[1, 2] = np.nan
    path = tmp_path / f"walk{ending}"
    save_table(table(values=values), path)
    read = read_table(path)
    np.testing.assert_array_equal(read.values, values)
    np.testing.assert_array_equal(read.t, T)
    assert (read.labels, read.units) == (LABELS, ("rad", "rad"))


def test_markers_are_written_and_read_with_their_gaps(tmp_path):
    values = np.arange(36.0).reshape(6, 6) / 7
    values[:3, 4] = np.nan
    labels = [f"{name}.{axis}" for name in ("KNEE", "HIP") for axis in "xyz"]
    save_table(Table(t=T, labels=labels, values=values, units=["m"] * 6), tmp_path / "a.trc")
    read = read_table(tmp_path / "a.trc")
    np.testing.assert_array_equal(read.values, values)
    assert read.labels == tuple(labels) and read.header["Units"] == "m"
    assert markers(read).gaps("KNEE") == ((pytest.approx(0.03), pytest.approx(0.05)),)


def test_millimetres_become_metres(tmp_path):
    read = read_table(trc(tmp_path))
    assert read.column("HIP.x")[3] == pytest.approx(0.003) and set(read.units) == {"m"}
    np.testing.assert_allclose(markers(read).values["KNEE"][:, 0], (1e-3, 2e-3, 3e-3))


def test_empty_entries_are_gaps(tmp_path):
    read = read_table(trc(tmp_path, row2="3\t0.02\t\t\t\t2\t5\t6"))
    assert np.isnan(read.column("KNEE.x")).tolist() == [False, False, True, False, False, False]


def test_markers_and_forces_as_laboratories_write_them_are_read(tmp_path):
    """Marker names with dots, tabs at the ends of lines, times that are rounded."""
    head = TRC.replace("KNEE", "R.ASIS").replace("walk.trc", "walk.trc\t").replace("HIP", "HIP\t\t")
    rows = [f"{k + 1}\t{k / 60:.3f}\t604.17\t1035.3\t125.2\t1\t2\t3\t" for k in range(6)]
    (tmp_path / "a.trc").write_text(head.format(unit="mm", rate="60.00") + "\n".join(rows))
    seen = markers(read_table(tmp_path / "a.trc"))
    assert list(seen.values) == ["R.ASIS", "HIP"]
    np.testing.assert_allclose(seen.values["R.ASIS"][:, 0], (0.60417, 1.0353, 0.1252))
    labels = [f"{p}ground_{k}{a}" for p in ("", "1_") for k in KINDS for a in "xyz"]
    text = "grf\nversion=1\nnRows=6\nnColumns=19\ninDegrees=yes\nendheader\n"
    rows = [f"{k / 600}" + " \t1.5" * 18 for k in range(6)]
    (tmp_path / "a.mot").write_text(text + "\t".join(["time", *labels]) + "\n" + "\n".join(rows))
    pushed = wrenches(read_table(tmp_path / "a.mot"))
    assert list(pushed.values) == ["ground", "1_ground"]


def test_degrees_of_a_header_become_radians(tmp_path):
    angles = coordinates(read_table(mot(tmp_path, "inDegrees=yes")), two_link())
    np.testing.assert_allclose(angles.values["elbow"], pi / 2)


def test_units_after_labels_are_converted(tmp_path):
    path = tmp_path / "walk.csv"
    path.write_text(
        "time (ms),shoulder (deg),tip [mm]\n" + "\n".join(f"{k},180,5" for k in range(6))
    )
    read = read_table(path)
    assert read.t[5] == pytest.approx(0.005) and read.units == ("rad", "m")
    assert read.column("shoulder")[0] == pytest.approx(pi) and read.column("tip")[0] == 0.005


def test_semicolons_and_remarks_are_read(tmp_path):
    path = tmp_path / "walk.csv"
    path.write_text("# from a lab\ntime;shoulder\n" + "\n".join(f"{k};2" for k in range(6)))
    assert read_table(path).column("shoulder").tolist() == [2.0] * 6


def test_old_headers_with_blanks_are_read(tmp_path):
    path = tmp_path / "walk.sto"
    head = "name walk\ndatacolumns 2\ndatarows 6\nrange 0 5\nendheader\ntime elbow\n"
    path.write_text(head + "\n".join(f" {k}   {k / 2}" for k in range(6)))
    read = read_table(path)
    assert read.labels == ("elbow",) and read.header["name"] == "walk"
    assert read.column("elbow")[5] == 2.5


SENTENCES = """
Units are S.I. units (second, meters, Newtons, ...)
If the header above contains a line with 'inDegrees', this indicates whether rotational values
nRows of zeros are left out, units = none of these
units of columns = none
"""


def test_sentences_of_a_header_say_nothing_of_columns(tmp_path):
    read = read_table(mot(tmp_path, f"inDegrees=yes\n{SENTENCES}"))
    assert read.units == ("", "") and read.degrees
    assert set(read.header) == {"name", "version", "nRows", "nColumns", "inDegrees"}


def test_forces_at_a_point_with_a_moment_are_wrenches_about_the_origin():
    rng = np.random.default_rng(0)
    force, point, torque = rng.standard_normal((3, 3, 6))
    kinds = ("force_1_v", "force_1_p", "torque_1_")
    labels = [f"ground_{kind}{axis}" for kind in kinds for axis in "xyz"]
    seen = wrenches(Table(t=T, labels=labels, values=np.vstack([force, point, torque])))
    moment = np.array([np.cross(p, f) for p, f in zip(point.T, force.T)]).T + torque
    np.testing.assert_allclose(seen.values["ground_1"], np.vstack([moment, force]), atol=1e-15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unit": "inch"}, r"walk.trc: line 3: Units: unit 'inch': expected one of s, ms, m, cm"),
        ({"unit": "N"}, r"walk.trc: line 3: Units: expected m or mm, got 'N'"),
        ({"rate": "200"}, r"line 3: DataRate is 200 Hz, but its times are 0.01 s apart"),
        ({"row3": "4\t0.03\t1\t2\tabc\t3\t5\t6"}, r"line 10, column 'KNEE.z': .* got 'abc'"),
        (
            {"row3": "4\t0.03\t1\t2"},
            r"walk.trc: line 10: expected 8 entries with tabs between, got 4",
        ),
        ({"row3": "4\t0.02\t1\t2\t3\t3\t5\t6"}, r"line 10: time: 0.02 s does not come after 0.02"),
        ({"row3": "4\t\t1\t2\t3\t3\t5\t6"}, r"walk.trc: line 10: time: expected a number"),
        ({"row3": "4 0.03 1 2 3 3 5 6"}, r"line 10: expected 8 entries with tabs between, got 1"),
        ({"rate": "nan"}, r"line 3: DataRate is nan Hz, but its times are 0.01 s apart"),
    ],
)
def test_bad_markers_are_refused_by_file_line_and_column(tmp_path, change, words):
    with pytest.raises(ValueError, match=words):
        read_table(trc(tmp_path, **change))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("HIP", "KNEE", "walk.trc: line 4: marker 'KNEE' is named twice"),
        ("X1\tY1\tZ1", "Z1\tX1\tY1", "walk.trc: line 5: expected columns in the order X, Y, Z"),
        ("\t2\tmm\t", "\t2\t", "walk.trc: line 3: expected 8 entries, as line 2 has words, got 7"),
        ("KNEE\t\t\tHIP", "", "walk.trc: line 4: expected 2 markers, got 0"),
        ("PathFileType", "Path", "walk.trc: line 1: expected PathFileType and five lines"),
    ],
)
def test_bad_headers_of_markers_are_refused_by_line(tmp_path, old, new, words):
    path = trc(tmp_path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=words):
        read_table(path)


def test_a_marker_that_jumps_to_the_origin_was_not_seen(tmp_path):
    rows = {f"row{k}": f"{k + 1}\t{0.01 * k:g}\t900\t2\t3\t1\t5\t6" for k in range(6)}
    rows["row2"] = "3\t0.02\t0\t0\t0\t1\t5\t6"
    words = (
        r"line 9, t = 0.02 s: marker 'KNEE' is at 0, 0, 0, and 0.9 m from there at 0.01 s; if it"
    )
    with pytest.raises(ValueError, match=words):
        markers(read_table(trc(tmp_path, **rows)))


@pytest.mark.parametrize(
    ("header", "rows", "words"),
    [
        ("inDegrees=no", ["0 1 2"] * 6, "line 8: expected 3 entries with tabs between, got 1"),
        ("inDegrees=no", ["0\t1_0\t2"] * 6, "line 8, column 'shoulder': .* number, got '1_0'"),
        ("inDegrees=no", ["0\t1\t2,5"] * 6, "line 8, .* a number with a decimal point, got '2,5'"),
        ("inDegrees=perhaps", None, "inDegrees: expected yes or no, got 'perhaps'"),
        ("units=rad", None, "units: expected 2, one for each column, got 1"),
        ("units=rad,furlong", None, "column 'elbow': unit 'furlong': expected one of"),
        ("inDegrees=no", [f"{k}\t1\tinf" for k in range(6)], "line 8, column 'elbow': .* got inf"),
    ],
)
def test_bad_motions_are_refused_by_file_line_and_column(tmp_path, header, rows, words):
    with pytest.raises(ValueError, match=words):
        read_table(mot(tmp_path, header, rows))


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("nRows=7", "walk.mot: nRows: the header says 7, got 6 rows, which are read as they are"),
        ("nColumns=4", "walk.mot: nColumns: the header says 4, got 3 columns, which are read as"),
    ],
)
def test_a_header_that_counts_otherwise_is_told(tmp_path, header, words):
    with pytest.warns(UserWarning, match=words):
        assert read_table(mot(tmp_path, header)).values.shape == (2, 6)


@pytest.mark.parametrize("header", ["version=1", "inDegrees=no"])
def test_degrees_that_are_told_to_be_radians_or_nothing_are_refused(tmp_path, header):
    words = r"line 8, column 'elbow': 90 rad is 14.3 turns; if these are degrees.* say inDegrees="
    with pytest.raises(ValueError, match=words):
        coordinates(read_table(mot(tmp_path, header)), two_link())
    stated = coordinates(read_table(mot(tmp_path, f"{header}\nunits=rad,rad")), two_link())
    assert stated.values["elbow"][0, 0] == 90.0


def test_one_column_in_degrees_tells_of_those_that_are_small(tmp_path):
    table = read_table(mot(tmp_path, "version=1"))
    with pytest.raises(ValueError, match="column 'elbow': 90 rad is 14.3 turns"):
        coordinates(table, two_link(), joints=("shoulder",))


def test_turns_that_a_joint_does_not_reach_warn_of_degrees(tmp_path):
    rows = [f"{0.1 * k}\t{-0.5 * k}\t{k}" for k in range(6)]  # deg, of a joint of +-2 rad
    arm = with_limits(two_link(), position={"elbow": 2.0})
    with pytest.warns(UserWarning, match="column 'elbow': 5 rad is 0.8 turns; if .* in the header"):
        coordinates(read_table(mot(tmp_path, "version=1", rows)), arm)
    for header in ("inDegrees=no", "units=rad,rad"):  # said: taken as it is
        coordinates(read_table(mot(tmp_path, header, rows)), arm)
    coordinates(read_table(mot(tmp_path, "version=1", rows)), two_link())  # which turns freely
    rows = [f"{0.1 * k}\t{-0.5 * k}\t{1.8 * k}" for k in range(6)]  # up to 9, more than a turn
    with pytest.warns(UserWarning, match="9 rad is 1.4 turns; .* although the header says inDegr"):
        coordinates(read_table(mot(tmp_path, "inDegrees=no", rows)), two_link())


@pytest.mark.parametrize("header", ["INDEGREES=yes", "indegrees = Yes", "inDegrees yes"])
def test_a_header_is_read_however_it_is_spelled(tmp_path, header):
    angles = coordinates(read_table(mot(tmp_path, header)), two_link())
    np.testing.assert_allclose(angles.values["elbow"], pi / 2)


def test_files_as_other_programs_leave_them_are_read(tmp_path):
    """A mark of UTF-8, ends of lines of Windows, tabs at the ends, many words for missing."""
    rows = [f"{0.01 * k:g}\t{k}\t{word}\t" for k, word in enumerate(("NaN", "", "1.#IND", "#N/A"))]
    rows += ["0.04\t4\t-nan(ind)\t", "0.05\t5\t0.5\t"]
    path = mot(tmp_path, rows=rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    read = read_table(path)
    assert np.isnan(read.column("elbow")).tolist() == [True] * 5 + [False]
    table = tmp_path / "walk.csv"
    table.write_text("time;elbow;\n" + "".join(f"{k};{k / 2};\n" for k in range(6)))
    assert read_table(table).labels == ("elbow",)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.mot", "", "a.mot: expected a line 'endheader' below the header, got none"),
        ("a.trc", "", "a.trc: line 1: expected PathFileType"),
        ("a.csv", "", "a.csv: expected a line of labels, got none"),
        ("a.csv", "time,knee\n", "a.csv: expected rows of numbers, got none"),
        ("a.csv", "0,1\n1,2\n", r"a.csv: line 1: expected the label 'time' \(s\) first, got '0'$"),
        ("a.csv", "frame,hip\n1,2\n", "first, got 'frame'; divide what it counts by the sampling"),
        ("a.csv", "time\n1\n", "a.csv: line 1: expected labels of columns beside time, got none"),
        ("a.csv", "time,,hip\n0,1,2\n", "a.csv: line 1: column 2 has no label"),
        ("a.csv", "time,hip,hip\n0,1,2\n", "a.csv: line 1: column 'hip': the label is used twice"),
        (
            "a.csv",
            "time,hip\n0,1\n1\n",
            "a.csv: line 3: expected 2 entries with commas between, got",
        ),
        ("a.csv", f"time,hip\n0,{'9' * 140000}\n", "a.csv: line 2: field larger than"),
        ("a.csv", "time,hip (inch)\n0,1\n", "a.csv: column 'hip': unit 'inch': expected one of"),
        ("a.csv", "time (h),hip\n0,1\n", "a.csv: line 1: time: expected s or ms, got 'h'"),
        ("a.csv", "time,hip\n0,\u0661\n", "a.csv: line 2, column 'hip': expected a number"),
        ("a.csv", b"time,hip\n0,1\xb0\n", r"a.csv: line 2: expected a text file in UTF-8.*\(b0 0a"),
    ],
)
def test_tables_that_cannot_be_read_are_refused_by_file_and_line(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=words):
        read_table(path)


@pytest.mark.parametrize("name", ["a.mot", "a.trc", "a.csv"])
def test_a_folder_is_no_table(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(OSError, match=name):
        read_table(tmp_path / name)


def test_plates_that_bear_nothing_have_no_centre_of_pressure(tmp_path):
    labels = [f"ground_{kind}{axis}" for kind in KINDS for axis in "xyz"]
    values = np.ones((9, 6))
    values[:3, :2], values[3:, :2] = 0.0, np.nan
    pushed = wrenches(Table(t=T, labels=labels, values=values)).values["ground"]
    np.testing.assert_array_equal(pushed[:, 0], 0.0)
    assert np.isfinite(pushed).all()
    lost = Table(t=T, labels=labels[:4] + labels[5:], values=values[1:], source="walk.mot")
    with pytest.raises(ValueError, match=r"walk.mot: no column 'ground_force_py'; it has ground_"):
        wrenches(lost)
    with pytest.raises(ValueError, match="expected columns NAME.x"):  # moments are no markers
        markers(Table(t=T, labels=labels, values=values))


def test_a_marker_that_was_never_seen_is_refused(tmp_path):
    rows = {f"row{k}": f"{k + 1}\t{0.01 * k:g}\t\t\t\t1\t5\t6" for k in range(6)}
    with pytest.raises(ValueError, match=r"walk.trc: 'KNEE': all 6 samples are missing"):
        markers(read_table(trc(tmp_path, **rows)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: markers(table()), "expected columns NAME.x, NAME.y, NAME.z in m, got none"),
        (lambda: markers(table(labels=("A.x", "A.z"), units=())), "'A': no column in m for y"),
        (lambda: coordinates(table(labels=("a", "b")), two_link()), "no column has the name of a"),
        (lambda: coordinates(table(units=("m", "m")), two_link()), "'shoulder': expected rad, got"),
        (lambda: coordinates(table(), two_link(), joints=["knee"]), "no column|unknown joint"),
        (lambda: wrenches(table()), "expected columns of forces, as ground_force_vx"),
        (lambda: table(labels=("a", "a")), "column 'a': the label is used twice"),
        (lambda: table(t=T[::-1]), "table: line 2: time: 0.04 s does not come after 0.05 s"),
        (lambda: table(values=np.zeros((2, 5))), r"expected values \(2, 6\)"),
        (lambda: table().column("knee"), "no column 'knee'; it has shoulder, elbow"),
        (lambda: read_table("walk.xls"), "walk.xls: expected a file that ends in .mot, .sto"),
        (lambda: save_table(table(), "walk.xls"), "expected a file that ends in .mot, .sto, .trc"),
    ],
)
def test_what_is_no_table_of_that_kind_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_files_without_a_header_or_with_other_bytes_are_refused(tmp_path):
    path = tmp_path / "walk.mot"
    path.write_text("time\tknee\n")
    with pytest.raises(ValueError, match="expected a line 'endheader'"):
        read_table(path)
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ValueError, match="expected a text file"):
        read_table(path)
    with pytest.raises(OSError, match=r"none\.mot"):
        read_table(tmp_path / "none.mot")


@pytest.mark.parametrize("meaning", [markers, lambda file: coordinates(file, two_link()), wrenches])
def test_a_file_in_place_of_its_table_says_how_it_is_read(meaning):
    with pytest.raises(ValueError, match=r"expected a Table, got str .*; read_table\('a.mot'\)"):
        meaning("a.mot")
