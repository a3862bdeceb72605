"""Paths of the mesh files that a model names."""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

PACKAGES = "ROS_PACKAGE_PATH"


def mesh_path(name: str, model: Path, folders: Sequence[Path]) -> str:
    """Return the path of a mesh that a model's file names, or the name itself if there is no such
    file.

    A name is a path from the model's folder, or a URL of file, package or model. The folder of a
    package is looked for beside and above the model, then in `folders` and in ROS_PACKAGE_PATH.
    """
    url = urlparse(name)
    if url.scheme in ("package", "model"):
        inside = unquote(url.netloc + url.path).lstrip("/")
        known = os.environ.get(PACKAGES, "").split(os.pathsep)
        places = [*model.resolve().parents, *folders, *(Path(folder) for folder in known if folder)]
        candidates = [place / inside for place in places]
    elif url.scheme == "file":
        candidates = [Path(unquote(url.path))]
    else:
        candidates = [model.parent / name]
    return next((str(each) for each in candidates if each.is_file()), name)
