"""Tables as those of pandas and xarray, where they are installed."""

from importlib import import_module
from typing import Any

from ocp.interchange.table import Table
from ocp.version import needs


def as_pandas(table: Table) -> Any:
    """Return a table as a pandas.DataFrame, the labels its columns and the time (s) its index.

    Its `attrs["units"]` are {label: unit}. Raises ImportError saying how to install pandas.
    """
    pandas = _library("pandas")
    index = pandas.Index(table.t.copy(), name="time")
    frame = pandas.DataFrame(table.values.T.copy(), index=index, columns=list(table.labels))
    frame.attrs["units"] = dict(zip(table.labels, table.units))
    return frame


def as_xarray(table: Table) -> Any:
    """Return a table as an xarray.Dataset over `time` (s), a variable for each column, with its
    `units`.

    Raises ImportError saying how to install xarray.
    """
    xarray = _library("xarray")
    variables = {
        label: ("time", row.copy(), {"units": unit})
        for label, row, unit in zip(table.labels, table.values, table.units)
    }
    time = ("time", table.t.copy(), {"units": "s"})
    return xarray.Dataset(variables, coords={"time": time}, attrs={"source": table.source})


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ModuleNotFoundError(f"this view needs {name}: {needs('data')}") from None
