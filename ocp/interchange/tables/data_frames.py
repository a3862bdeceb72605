"""Tables as those of pandas and xarray."""

from typing import Any

from ocp.interchange.tables.table import Table, check_table
from ocp.version import import_extra


def as_pandas(table: Table) -> Any:
    """Return a table as a pandas.DataFrame, the labels its columns and the time (s) its index.

    Its `attrs["units"]` are {label: unit}. Raises ImportError saying how to install pandas.
    """
    check_table("as_pandas", table)
    pandas = import_extra("pandas", "data")
    index = pandas.Index(table.t.copy(), name="time")
    frame = pandas.DataFrame(table.values.T.copy(), index=index, columns=list(table.labels))
    frame.attrs["units"] = dict(zip(table.labels, table.units))
    return frame


def as_xarray(table: Table) -> Any:
    """Return a table as an xarray.Dataset over `time` (s), a variable with `units` for each column.

    Raises ImportError saying how to install xarray.
    """
    check_table("as_xarray", table)
    xarray = import_extra("xarray", "data")
    variables = {
        label: ("time", row.copy(), {"units": unit})
        for label, row, unit in zip(table.labels, table.values, table.units)
    }
    time = ("time", table.t.copy(), {"units": "s"})
    return xarray.Dataset(variables, coords={"time": time}, attrs={"source": table.source})
