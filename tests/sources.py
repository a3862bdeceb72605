"""Modules of the house, parsed once for all tests of its order and language."""

import ast
import gc
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
WINGS = ("ocp", "models", "problems")


@cache
def modules():
    """Trees of all modules, by their places below ROOT."""
    places = [each for wing in WINGS for each in (ROOT / wing).rglob("*.py")]
    gc.disable()  # millions of nodes, none of them garbage
    try:
        trees = {each.relative_to(ROOT): ast.parse(each.read_text("utf-8")) for each in places}
    finally:
        gc.freeze()
        gc.enable()
    return trees
