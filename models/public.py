"""Robots from public files: those of the package example-robot-data (extra `robots`)."""

import warnings
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from ocp import Tree
from ocp.interchange import ModelWarning, load_model

ROBOTS = "cmeel.prefix/share/example-robot-data/robots"


def public_files() -> Path:
    """Return the folder of the public files; raise ModuleNotFoundError if it is not installed."""
    try:
        return Path(str(metadata.distribution("example-robot-data").locate_file(ROBOTS)))
    except metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            "the public robots' files are an extra of ocp: pip install 'ocp-motion[robots]'"
        ) from None


def public_robot(file: str, **options: Any) -> Tree:
    """Return the tree of a `file` below the public folder, without a word on what it lacks.

    `options` are those of `load_model`. Raises ModuleNotFoundError if the files are not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_model(public_files() / file, **options)


def with_limits(tree: Tree, *, torque: float = 1.0, **limits: Any) -> Tree:
    """Return a tree of which all driven joints have `limits`, as jerk=50.0 (rad/s3 or m/s3).

    `torque`: limits of torques and forces, as a part of those that the tree has.
    """
    joints = []
    for joint in tree.joints:
        if joint.actuated and joint.screw is not None and joint.follows is None:
            bounds = tuple(torque * bound for bound in joint.torque)
            joint = replace(joint, torque=bounds, **limits)
        joints.append(joint)
    return replace(tree, joints=joints)
