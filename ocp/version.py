"""The version of the package and the name under which it is installed, their only home."""

from importlib import import_module
from typing import Any

VERSION = "0.2.0.dev0"
DISTRIBUTION = "ocp-motion"


def needs(extra: str) -> str:
    """Return how to install an extra of the distribution, as errors say it."""
    return f"install the extra `{extra}` (pip install '{DISTRIBUTION}[{extra}]')"


def library(name: str, extra: str) -> Any:
    """Return a library of an extra; raise ModuleNotFoundError saying how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise ModuleNotFoundError(f"this view needs {name}: {needs(extra)}") from None
