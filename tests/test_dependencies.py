"""Versions of other packages are those that are tried."""

import re
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def test_casadi_is_of_the_newest_series_that_is_declared():
    """A newer one may have other bits, signatures and files: it is declared when it is tried."""
    line = re.search(r'"casadi>=([0-9.]+),<([0-9.]+)"', PROJECT.read_text(encoding="utf-8"))
    assert line is not None
    least, bound, own = (
        tuple(map(int, each.split(".")))[:2] for each in (*line.groups(), version("casadi"))
    )
    assert least <= own < bound == (own[0], own[1] + 1)
