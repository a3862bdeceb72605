"""Version and distribution name of the package, and errors for missing extras."""

from importlib import import_module
from types import ModuleType

VERSION = "0.3.0"
DISTRIBUTION = "ocp-motion"


def install_hint(extra: str) -> str:
    """Return the command that installs an extra of the distribution, as errors say it."""
    return f"install the extra `{extra}` (pip install '{DISTRIBUTION}[{extra}]')"


class MissingExtra(ModuleNotFoundError):
    """Raised if an extra of the distribution is missing; the message says how to install it."""


def import_extra(name: str, extra: str) -> ModuleType:
    """Return a library of an extra; raise MissingExtra saying how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(f"this view needs {name}: {install_hint(extra)}") from None
