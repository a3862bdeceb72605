"""Files of xacro, the macro language of URDF, expanded by the package `xacro` of its authors."""

from collections.abc import Mapping
from pathlib import Path

from ocp.version import MissingExtra, install_hint


def expanded(path: Path, arguments: Mapping[str, object]) -> bytes:
    """Return the XML of a xacro file whose arguments have these values.

    It needs the extra `xacro`, which evaluates what the file states in Python. Raises ValueError
    naming the file, ModuleNotFoundError where the extra is missing.
    """
    try:
        import xacro
    except ImportError:
        raise MissingExtra(f"{path.name}: xacro is needed: {install_hint('xacro')}") from None
    try:
        words = {name: str(value) for name, value in arguments.items()}
        document = xacro.process_file(str(path), mappings=words)
    except Exception as error:  # of many kinds, and of those that the file's own words raise
        raise ValueError(f"{path}: cannot be expanded: {error}") from None
    content: bytes = document.toprettyxml(encoding="utf-8")
    return content
