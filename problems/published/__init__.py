"""Every published number beside ours, as one table."""

from ocp.problems.published.row import HEADER, Row, percent, shown
from ocp.problems.published.table import ROWS, rows

__all__ = ["HEADER", "ROWS", "Row", "percent", "rows", "shown"]
