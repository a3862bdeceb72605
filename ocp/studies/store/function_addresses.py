"""Qualified names: modules by name or file, and addresses that other processes can follow.

An address is "module:name", or "/folder/file.py:name" for a file that was loaded by its path, which
is found again in any process on this computer, whatever folders of its own stand beside it. What no
other process finds has an address "here:role name" that this process alone can follow.
"""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ocp.spelling import suggestion
from ocp.studies.user_file_errors import told_by_line

GALLERY = "ocp.problems"
LOADED: dict[Path, ModuleType] = {}
HERE = "here"  # in place of a module: what only this process knows
_KEPT: dict[str, object] = {}


def module_at(name: str) -> ModuleType:
    """Return the module of a problem: NAME of the gallery, a file ending in .py, or package.module.

    Raises ValueError naming what is not there, or the line of one's own file that fails.
    """
    if name.endswith(".py"):
        return module_of_file(Path(name))
    add_import_folder(Path.cwd())
    own = told_by_line(Path.cwd().joinpath(*name.split(".")).with_suffix(".py"))
    for path, telling in ((gallery().get(name, f"{GALLERY}.{name}"), nullcontext()), (name, own)):
        try:
            with telling:
                return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name is None or not path.startswith(error.name):
                raise
    near = suggestion(name, gallery())
    raise ValueError(f"{name}: there is no such problem{near}; `ocp list` lists the gallery")


@cache
def gallery() -> Mapping[str, str]:
    """Return {name: dotted module} of what lies in the folders of the gallery."""
    package = importlib.import_module(GALLERY)
    root = Path(package.__path__[0])
    return {
        entry.name: ".".join([GALLERY, *Path(folder).parts, entry.name])
        for folder in (*reversed(package.FOLDERS), "")
        for entry in pkgutil.iter_modules([str(root / folder)])
        if not entry.name.startswith("_") and not (folder and entry.ispkg)
    }


def module_of_file(path: Path) -> ModuleType:
    """Return the module of a file, loaded once; its folder becomes one to import from.

    Raises ValueError naming a file that is not there, or the line of it that fails.
    """
    path = path.resolve()
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    if (main := sys.modules["__main__"]) is not None and _file(main) == path:
        return main
    if path not in LOADED:
        add_import_folder(path.parent)
        name = path.stem if path.stem not in sys.modules else f"{path.stem} of {path.parent}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ValueError(f"{path}: is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = LOADED[path] = module
        try:
            with told_by_line(path):
                spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name], LOADED[path]
            raise
    return LOADED[path]


def add_import_folder(folder: Path) -> None:
    """Let modules be imported from a folder, before any other of their names."""
    if str(folder) not in sys.path and not (folder == Path.cwd() and "" in sys.path):
        sys.path.insert(0, str(folder))


def address(function: object) -> str:
    """Return the address of a function; raise ValueError unless other processes find it there."""
    name = getattr(function, "__qualname__", repr(function))
    module = getattr(function, "__module__", None)
    place = None if module is None else _place(module)
    try:
        target = None if place is None else resolve(f"{place}:{name}")
    except (ImportError, AttributeError, ValueError):
        target = None
    if getattr(target, "__qualname__", None) != name:
        raise ValueError(
            f"{name}: expected a function of a module, which other processes can import by its name"
        )
    return f"{place}:{name}"


def kept_here(role: str, function: object) -> str:
    """Return an address of a function that this process alone can follow: by its role in a study
    and its name, of which the last one is kept."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    place = f"{HERE}:{role} {name}"
    _KEPT[place] = function
    return place


def bound_address(value: object, *neighbours: object) -> str | None:
    """Return the address of a value that a module binds to a name, or None.

    Modules of its neighbours are asked first.
    """
    names = [getattr(neighbour, "__module__", "") for neighbour in neighbours]
    for module in [sys.modules.get(name) for name in names] + list(sys.modules.values()):
        place = None if module is None else _place(module.__name__)
        for name, other in () if module is None else list(vars(module).items()):
            if other is value and place is not None:
                return f"{place}:{name}"
    return None


def named_value(neighbour: object, name: str, kind: type) -> Any:
    """Return the value at an address, or by that name in a function's module, if it is of a kind.

    Anything else is the name as it is.
    """
    if ":" in name:
        try:
            return resolve(name)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"{name}: {error}") from None
    module = sys.modules.get(getattr(neighbour, "__module__", ""))
    value = getattr(module, name, None)
    return value if isinstance(value, kind) else name


def resolve(text: str) -> Any:
    """Return the value at an address."""
    place, _, name = text.rpartition(":")
    if place == HERE:
        if text not in _KEPT:
            raise ValueError(f"{name}: was a function of another process, which none can be told")
        return _KEPT[text]
    target: object = (
        module_of_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    )
    for part in name.split("."):
        target = getattr(target, part)
    return target


def known_by(text: str) -> str:
    """Return an address without its folder: what a thing is known by, wherever its file stands."""
    place, _, name = text.rpartition(":")
    return f"{Path(place).stem}:{name}" if place.endswith(".py") else text


def _place(name: str) -> str | None:
    """Return by what another process finds a module of this one, None if it cannot."""
    module = sys.modules.get(name)
    file = None if module is None else _file(module)
    if module in LOADED.values():
        return str(file)
    if name == "__main__":
        spec = getattr(module, "__spec__", None)
        return spec.name if spec is not None else None if file is None else str(file)
    return name


def _file(module: ModuleType) -> Path | None:
    path = getattr(module, "__file__", None)
    return None if path is None else Path(path).resolve()
