"""Reports of solutions: plain data, lines of text, data frames."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.report.data_frames import to_dataframe
    from ocp.report.report import describe, summary

__all__ = [
    "describe",
    "summary",
    "to_dataframe",
]

__getattr__, __dir__ = lazy_names(__name__)
