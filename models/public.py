"""Robots from public files: those of the package example-robot-data (extra `robots`)."""

import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

from ocp import Tree
from ocp.interchange import ModelWarning, load_model
from ocp.version import MissingExtra, install_hint

ROBOTS = "cmeel.prefix/share/example-robot-data/robots"


def public_files() -> Path:
    """Return the folder of the public files; raise MissingExtra if it is not installed."""
    try:
        return Path(str(metadata.distribution("example-robot-data").locate_file(ROBOTS)))
    except metadata.PackageNotFoundError:
        raise MissingExtra(
            f"the public robots' files are needed: {install_hint('robots')}"
        ) from None


def public_robot(file: str, **options: Any) -> Tree:
    """Return the tree of a `file` below the public folder, without a word on what it lacks.

    `options` are those of `load_model`. Raises MissingExtra if the files are not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_model(public_files() / file, **options)
