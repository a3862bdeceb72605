"""Lazy names of a package, which load at first use (PEP 562).

So a solve loads neither pictures nor studies.
"""

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, for the names that it imports below `if
    TYPE_CHECKING:`, where type checkers find them."""

    @cache
    def homes() -> dict[str, str]:
        """Return {name: its module}, read at the first question."""
        loader: Any = vars(import_module(package))["__loader__"]
        late = [
            statement
            for block in ast.parse(loader.get_source(package)).body
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for statement in block.body
            if isinstance(statement, ast.ImportFrom)
        ]
        return {alias.name: str(each.module) for each in late for alias in each.names}

    def get(name: str) -> object:
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes()[name]), name)

    def names() -> list[str]:
        return sorted({*vars(import_module(package)), *homes()})

    return get, names
