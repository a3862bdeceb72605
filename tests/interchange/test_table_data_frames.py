"""Tables as those of pandas and xarray."""

import sys

import numpy as np
import pytest

from ocp.interchange import Table, as_pandas, as_xarray

T = np.linspace(0.0, 1.0, 5)
TABLE = Table(t=T, labels=("knee", "hip"), values=np.outer((1, 2), T), units=("rad", "m"))


@pytest.mark.parametrize(("view", "name"), [(as_pandas, "pandas"), (as_xarray, "xarray")])
def test_without_the_library_the_hint_says_how_to_install_it(monkeypatch, view, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"needs {name}: install the extra `data`"):
        view(TABLE)


def test_a_frame_has_times_labels_and_units():
    pytest.importorskip("pandas", reason="needs the extra `data`")
    frame = as_pandas(TABLE)
    assert list(frame.columns) == ["knee", "hip"] and frame.index.name == "time"
    np.testing.assert_array_equal(frame["hip"], 2 * T)
    assert frame.attrs["units"] == {"knee": "rad", "hip": "m"}


def test_a_dataset_has_times_variables_and_units():
    pytest.importorskip("xarray", reason="needs the extra `data`")
    data = as_xarray(TABLE)
    np.testing.assert_array_equal(data["hip"].sel(time=1.0), 2.0)
    assert data["hip"].attrs["units"] == "m" and data["time"].attrs["units"] == "s"
