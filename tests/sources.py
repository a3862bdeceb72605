"""Modules of the house, parsed once for all tests of its order and language."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
WINGS = ("ocp", "models", "problems")


@cache
def modules():
    """Trees of all modules, by their places below ROOT."""
    places = [each for wing in WINGS for each in (ROOT / wing).rglob("*.py")]
    return {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in places}
