"""The gallery: problems and comparisons that come with the package, listed or solved.

`ocp list` prints what there is. `ocp list --solve` solves every problem with its default flags,
certifies it, and prints a row for each as soon as it is ready.
"""

import argparse
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from ocp.cli.commands.certified_list import certify_problems
from ocp.cli.exit_status import DONE, INTERRUPTED, REFUSED, refuse
from ocp.cli.flags import read_line, split_names
from ocp.studies.store.qualified_names import gallery
from ocp.studies.tables import align_columns
from ocp.studies.task import Task

HEADER = ("name", "published values", "problem")


def modules() -> dict[str, ModuleType]:
    """Return {name: module} of all that runs and comes with the package."""
    modules = {
        name: importlib.import_module(module)
        for name, module in sorted(gallery().items())
        if _may_run(module)
    }
    return {
        name: module for name, module in modules.items() if hasattr(module, "TASK") or _runs(module)
    }


def _may_run(name: str) -> bool:
    """Tell whether the text of a module, or a `__main__` of a package, lets it run."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    if spec.submodule_search_locations:
        return Path(spec.origin).with_name("__main__.py").exists()
    text = Path(spec.origin).read_text(encoding="utf-8")
    return "\nTASK" in text or 'if __name__ == "__main__"' in text


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


def command(arguments: Sequence[str]) -> int:
    """Print the gallery, or solve it, as the command line asks and return the exit status.

    Status 0: listed, or all solved and certified; 1: some are not; 2: bad arguments.
    """
    flags = read_line(_parser(), arguments)
    try:
        if flags.solve is None:
            usual = _parser().parse_args([])
            for name, value in vars(flags).items():
                if value != getattr(usual, name):
                    raise ValueError(f"--{name}: is a flag of --solve")
            print(gallery_table())
            return DONE
        return certify_problems(_problem_names(flags), flags)
    except KeyboardInterrupt:
        print("\nocp list: interrupted", file=sys.stderr)
        return INTERRUPTED
    except REFUSED as error:
        return refuse("ocp list", error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ocp list",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = "solve and certify all problems, or those named: of the gallery, files or modules"
    parser.add_argument("--solve", nargs="*", metavar="NAME", help=words)
    solving = parser.add_argument_group("with --solve")

    def add(name: str, kind: type, default: object, metavar: str, words: str) -> None:
        text = words if default is None else f"{words} (default: {default:g})"
        solving.add_argument(f"--{name}", type=kind, default=default, metavar=metavar, help=text)

    add("without", str, None, "NAME,...", "leave these problems out")
    add("verify", float, 1e-2, "TOLERANCE", "tolerance of the certificates")
    add("seconds", float, None, "NUMBER", "limit of each problem, its certificate included")
    add("workers", int, 1, "NUMBER", "problems at a time")
    add("csv", str, None, "FILE.csv", "write the rows as comma-separated values")
    add("json", str, None, "FILE.json", "write the rows as JSON")
    return parser


def _problem_names(flags: argparse.Namespace) -> list[str]:
    """Return the names of the problems to solve; raise ValueError naming one to leave out that is
    not among them."""
    names = flags.solve or list(tasks())
    without = split_names(flags.without or "")
    odd = next((name for name in without if name not in names), None)
    if odd is not None:
        raise ValueError(f"--without: {odd}: expected one of {', '.join(names)}")
    return [name for name in names if name not in without]


def gallery_table() -> str:
    """Return the gallery as text: names, where values are published, and what is solved."""
    rows = []
    for name, task in tasks().items():
        sources = "; ".join(dict.fromkeys(entry.source for entry in task.published))
        words = first_line(inspect.getmodule(task.problem) or ModuleType(name))
        rows.append((name, sources or "-", words))
    return (
        align_columns([HEADER, *rows])
        + "\n\n`ocp run NAME` solves one, `ocp run NAME --help` its flags, `ocp list --solve` all"
    )
