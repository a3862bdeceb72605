"""Files of xacro, the macro language of URDF, expanded by the package `xacro` of its authors."""

from collections.abc import Mapping
from pathlib import Path

from ocp.interchange.xml_elements import check_includes
from ocp.version import MissingExtra, install_hint

INCLUDE = rb"<xacro:include\b[^>]*?\bfilename\s*=\s*[\"\']([^\"\']+)"


def expand_macros(path: Path, arguments: Mapping[str, object]) -> bytes:
    """Return the XML of a xacro file with its macros expanded, by the extra `xacro`.

    Expressions of the file are evaluated in Python.

    Args:
        path: of the file.
        arguments: {name: value} of the file's arguments.

    Raises:
        ValueError: the file cannot be expanded; the message names it.
        ModuleNotFoundError: the extra is missing.
    """
    try:
        import xacro
    except ImportError:
        raise MissingExtra(f"{path.name}: xacro is needed: {install_hint('xacro')}") from None
    check_includes(path, INCLUDE)
    try:
        words = {name: str(value) for name, value in arguments.items()}
        document = xacro.process_file(str(path), mappings=words)
    except Exception as error:  # of many kinds, and of those that the file's own words raise
        raise ValueError(f"{path}: cannot be expanded: {error}") from None
    content: bytes = document.toprettyxml(encoding="utf-8")
    return content
