"""The comparison of tables: orders of errors, memory, the optimum that tables give, speed."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from ocp.dynamics import tabulate
from ocp.dynamics.tables.tensor_splines import bytes_in_words
from ocp.problems.benchmarks.dynamics import compare_tables
from ocp.problems.benchmarks.dynamics.compare_tables import (
    curves,
    memory_table,
    optimum_table,
    orders,
    run,
    settings,
    speeds,
)


def lines(text):
    """The cells of a table's lines."""
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.fixture(scope="module")
def small():
    """The Records of the pendulum's tables."""
    arms = {"pendulum": compare_tables.ARMS["pendulum"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare_tables, "ARMS", arms)
        yield list(compare_tables.errors())


@pytest.fixture(scope="module")
def replayed():
    """The Speeds of both motions of two links."""
    return speeds()


def test_errors_fall_by_the_order_of_the_splines_in_every_form(small):
    falls = orders(small)
    assert {one.form for one in small} == {"", "configuration", "raibert", "albus"}
    for one, fall in zip(small, falls):
        assert fall is None or fall == pytest.approx(one.degree + 1, abs=0.4)
    assert sum(fall is not None for fall in falls) == 18


def test_albus_tables_are_the_largest_and_no_better(small):
    known = {(one.form, one.degree, one.points): one for one in small}
    for degree, points in ((1, 33), (3, 17), (5, 9)):
        whole, split = (known[form, degree, points] for form in ("albus", "configuration"))
        assert whole.size > 3 * split.size
        assert whole.error == pytest.approx(split.error, rel=0.1)


def test_memory_is_that_of_the_tables_that_are_made(monkeypatch):
    monkeypatch.setattr(compare_tables, "JOINTS", (1, 2))
    rows = lines(memory_table())
    assert rows[0] == ["1", "configuration", "104 bytes", "168 bytes", "296 bytes"]
    assert rows[5] == ["2", "albus", "8.4 MB", "283 MB", "12.7 GB"]
    made = tabulate(compare_tables.general_chain(2), settings("configuration", 2, 9, 1))
    assert bytes_in_words(made.splines.bytes) == rows[3][2]


def test_the_optimum_by_tables_is_within_what_certificates_state(monkeypatch):
    monkeypatch.setattr(compare_tables, "GRIDS", (9,))
    monkeypatch.setattr(compare_tables, "LARGER", ("raibert",))
    for row in lines(optimum_table())[1:]:
        apart, (stated, _, bound) = float(row[5]), row[6].partition(",")[0].split()
        assert abs(apart) <= float(bound) and float(stated) == pytest.approx(apart, rel=0.05)


def test_what_is_dropped_grows_with_the_square_of_the_speed_and_so_does_its_share(replayed):
    for motion in ("lift", "minimum time"):
        chosen = [one for one in replayed if one.motion == motion]
        dropped = np.array([one.dropped for one in chosen])
        np.testing.assert_allclose(dropped[1:] / dropped[:-1], 4.0, rtol=1e-6)
        share = dropped / [one.torque for one in chosen]
        assert (np.diff(share) > 0).all() and share[0] < share[-1] / 10


def test_the_picture_has_both_panels(small, replayed, tmp_path):
    two = [replace(one, arm="two links") for one in small]
    first, second = curves(two, replayed)
    assert len(first.curves) == 9 and len(second.curves) == 2
    compare_tables.panels(tmp_path / "tables.png", [first, second])
    with Image.open(tmp_path / "tables.png") as picture:
        assert picture.size[0] > 1000


def test_bad_arguments_say_what_is_wrong(capsys):
    assert run(["memory", "--plot", "picture.txt"]) == 2
    assert "picture.txt" in capsys.readouterr().err
    assert run(["size"]) == 2
    words = "expected some of optimum, error, memory, coriolis, got 'size'\n"
    assert capsys.readouterr().err.endswith(words)
