"""The measured gait is what its sources say, and can be read at any percentage of the cycle."""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from ocp.models.human import normative
from ocp.models.human.measured import SOURCES

RECORDS = {name: normative(name) for name in SOURCES}


@pytest.mark.parametrize("name", SOURCES)
def test_a_record_has_curves_over_one_cycle_and_says_where_it_is_from(name):
    record = RECORDS[name]
    assert record.percent[0] == 0
    assert 98 <= record.percent[-1] <= 100
    assert (np.diff(record.percent) > 0).all()
    for mean, deviation in record.curves.values():
        assert len(mean) == len(record.percent) and np.isfinite(mean).all()
        if deviation is not None:
            assert len(deviation) == len(mean) and min(deviation) >= 0
    assert record.source and record.licence and record.caveats
    notes = files("ocp.models.human").joinpath("data", "README.md").read_text(encoding="utf-8")
    assert f"`{name}.csv`" in notes and record.licence.split()[0] in notes


def test_licences_of_the_records_stand_in_the_metadata_with_their_texts():
    tomllib = pytest.importorskip("tomllib")
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = project["license"].split(" AND ")
    notes = files("ocp.models.human").joinpath("data", "README.md").read_text(encoding="utf-8")
    own = {record.licence.partition(" (")[0].replace(" ", "-") for record in RECORDS.values()}
    own |= {f"CC-BY-{version}" for version in re.findall(r"licenses/by/([\d.]+)/", notes)}
    assert own <= set(stated) and len(stated) == len(own | {"MIT"})
    shipped = {path.name for pattern in project["license-files"] for path in root.glob(pattern)}
    assert shipped == {"LICENSE", "LICENSE-Apache-2.0.txt", "README.md"}


@pytest.mark.parametrize("name", SOURCES)
def test_a_curve_passes_through_its_samples_and_is_periodic(name):
    record = RECORDS[name]
    inner = np.array(record.percent[:-1])
    for quantity, (mean, _) in record.curves.items():
        np.testing.assert_allclose(record.mean(quantity, inner), mean[:-1])
        np.testing.assert_allclose(record.mean(quantity, inner + 200), mean[:-1], atol=1e-9)
    assert abs(record.mean("knee_flex_deg", 100.0) - record.mean("knee_flex_deg", 0.0)) < 0.3


def test_a_cycle_that_stops_short_of_its_end_is_closed_by_its_start():
    winter = RECORDS["winter"]
    knee, _ = winter.curves["knee_flex_deg"]
    assert winter.percent[-1] == 98
    assert winter.mean("knee_flex_deg", 99.0) == pytest.approx((knee[-1] + knee[0]) / 2)
    assert winter.mean("knee_flex_deg", 100.0) == knee[0]


def test_walking_has_the_shape_that_is_known_of_it():
    stance = np.linspace(0, 60, 601)
    vertical = RECORDS["winter"].mean("grf_vertical_BW", stance)
    assert [vertical[:300].max(), vertical[200:400].min(), vertical[300:].max()] == pytest.approx(
        [1.10, 0.72, 1.09], abs=0.01
    )
    for record in RECORDS.values():
        assert 58 < max(record.curves["knee_flex_deg"][0]) < 68
        assert 70 <= record.percent[np.argmax(record.curves["knee_flex_deg"][0])] <= 77
    braking = RECORDS["winter"].mean("grf_foreaft_BW", stance)
    assert braking[:300].min() < -0.15 and braking[300:].max() > 0.15


def test_a_spread_is_given_only_where_it_is_known():
    assert RECORDS["fukuchi"].spread("hip_flex_deg", 10.0) is None
    assert RECORDS["winter"].spread("hip_flex_deg", 0.0) == 5.64
    assert (
        min(RECORDS["winter"].curves["grf_vertical_BW"][1]) == 0.05
    )  # the floor that its caveat tells of
    assert "floor" in RECORDS["winter"].caveats[0]


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(
        ValueError, match="normative: expected one of winter, fukuchi, falisse, got 'perry'"
    ):
        normative("perry")
    with pytest.raises(ValueError, match="unknown quantity 'hip'; it has hip_flex_deg"):
        RECORDS["fukuchi"].mean("hip", 0.0)
