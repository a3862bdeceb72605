"""Files of results: npz archives, problem data, atomic writing."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.storage.atomic_files import check_writable, plain, versions, write
    from ocp.storage.result_files import load, save

__all__ = [
    "check_writable",
    "load",
    "plain",
    "save",
    "versions",
    "write",
]

__getattr__, __dir__ = lazy_names(__name__)
