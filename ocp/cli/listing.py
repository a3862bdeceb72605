"""What comes with the package: problems that are solved, and comparisons."""

import argparse
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Sequence
from types import ModuleType

from ocp.cli.flags import read_line
from ocp.studies.addresses import GALLERY
from ocp.studies.tables import aligned
from ocp.studies.task import Task

DONE = 0
HEADER = ("name", "published values", "problem")


def modules() -> dict[str, ModuleType]:
    """Return {name: module} of all that runs and comes with the package."""
    package = importlib.import_module(GALLERY)
    names = sorted(entry.name for entry in pkgutil.iter_modules(package.__path__))
    modules = {
        name: importlib.import_module(f"{GALLERY}.{name}") for name in names if name[0] != "_"
    }
    return {
        name: module for name, module in modules.items() if hasattr(module, "TASK") or _runs(module)
    }


def _runs(module: ModuleType) -> bool:
    """Return whether `python -m` runs a module, or a package."""
    if hasattr(module, "__path__"):
        return importlib.util.find_spec(f"{module.__name__}.__main__") is not None
    return 'if __name__ == "__main__"' in inspect.getsource(module)


def tasks() -> dict[str, Task]:
    """Return {name: Task} of the problems that come with the package."""
    return {
        name: module.TASK
        for name, module in modules().items()
        if isinstance(getattr(module, "TASK", None), Task) and _own(module)
    }


def _own(module: ModuleType) -> bool:
    """Tell whether a module's task is its own, and not one that it takes from another problem."""
    return hasattr(module, "__path__") or "\nTASK = " in inspect.getsource(module)


def first_line(module: ModuleType) -> str:
    """Return the first line of what a module says of itself."""
    return (inspect.getdoc(module) or "").partition("\n")[0]


def run(arguments: Sequence[str]) -> int:
    """Print the gallery as the command line asks and return the exit status."""
    parser = argparse.ArgumentParser(prog="ocp list", description=run.__doc__)
    read_line(parser, arguments)
    print(listing())
    return DONE


def listing() -> str:
    """Return the gallery as text: names, where values are published, and what is solved."""
    rows = [
        (name, _sources(task), first_line(inspect.getmodule(task.problem) or ModuleType(name)))
        for name, task in tasks().items()
    ]
    return (
        aligned([HEADER, *rows]) + "\n\n`ocp run NAME` solves one, `ocp run NAME --help` its flags"
    )


def _sources(task: Task) -> str:
    return "; ".join(dict.fromkeys(entry.source for entry in task.published)) or "-"
