"""The gallery: problems and comparisons that come with the package, listed or solved.

`ocp list` prints what there is, by what one wants to do and by kind. `ocp list --solve` solves
every problem with its default flags, certifies it, and prints a row for each as soon as it is
ready.
"""

import argparse
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from ocp.cli.commands.certified_list import add_table_flags, certify_problems
from ocp.cli.exit_status import DONE, INTERRUPTED, REFUSED, refuse
from ocp.cli.flags import read_line, relative_tolerance, split_names
from ocp.studies.store.function_addresses import gallery
from ocp.studies.study_tables import align_columns
from ocp.studies.task import Task

# What one wants to do, and the problems to begin from
GOALS = (
    ("move an arm in least time or effort", ("two_link_time", "two_link_lift", "two_link_effort")),
    ("switch torques exactly, in arcs or free intervals", ("two_link_arcs", "pr_mixed")),
    ("reach past an obstacle, carry a cup upright", ("ur5_reach", "panda_carry")),
    ("pick a load up and put it down, throw", ("box_pick", "five_bar_pick", "throw")),
    ("swing up what is driven too little", ("cart_pole_swing", "acrobot_swing", "sohl_swing")),
    ("plan anew while it moves", ("cart_pole_mpc", "ur5_replan")),
    ("close loops, hang loads by cables", ("four_bar_effort", "slider_crank", "hoist")),
    ("store energy in springs, bend links", ("spring_arm", "flexible_slew")),
    ("follow recorded markers and forces", ("track_walk",)),
    ("walk or trot with a robot", ("quadruped_trot", "anymal_trot", "g1_step", "biped_walk")),
    ("hop; let a solve find its contacts", ("pogo_hop", "unscheduled_hop", "unscheduled_walk")),
    ("predict a person's walk", ("gait", "gait_start", "gait_stop", "carry", "cart_push")),
    ("run, jump, rise, somersault", ("running", "jump", "sit_to_stand", "somersault")),
    ("move by muscles", ("squat_to_stand", "muscle_walk", "muscle_gait")),
    ("lift a box, and see what the back bears", ("lifting", "lift_aside", "lift_step")),
)


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
        relative_tolerance("--verify", flags.verify)
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

    words = "leave these problems out"
    solving.add_argument("--without", metavar="NAME,...", help=words)
    words = "solve those of these kinds, as human,gait"
    solving.add_argument("--topics", metavar="KIND,...", help=words)
    add_table_flags(solving)
    return parser


def _problem_names(flags: argparse.Namespace) -> list[str]:
    """Return the names of the problems to solve; raise ValueError naming one to leave out that is
    not among them, or a kind that there is not."""
    names = flags.solve or list(tasks())
    topics = split_names(flags.topics or "")
    known = {topic_of(name) for name in tasks()}
    strange = next((topic for topic in topics if topic not in known), None)
    if strange is not None:
        raise ValueError(f"--topics: {strange}: expected some of {', '.join(sorted(known))}")
    if topics:
        names = [name for name in names if topic_of(name) in topics]
    without = split_names(flags.without or "")
    odd = next((name for name in without if name not in names), None)
    if odd is not None:
        raise ValueError(f"--without: {odd}: expected one of {', '.join(names)}")
    return [name for name in names if name not in without]


def gallery_table() -> str:
    """Return the gallery as text: names by what one wants to do, then problems by their kind, with
    the places where values of them are published."""
    goals = [(f"  {goal}", ", ".join(names)) for goal, names in GOALS]
    lines = align_columns([("TO", "BEGIN WITH"), *goals]).splitlines()
    width = max(map(len, tasks()))
    topic = ""
    for name, task in sorted(tasks().items(), key=lambda entry: topic_of(entry[0])):
        if topic_of(name) != topic:
            topic = topic_of(name)
            lines += ["", topic.upper().replace("_", " ")]
        words = first_line(inspect.getmodule(task.problem) or ModuleType(name))
        lines.append(f"  {name:<{width}}  {words}")
        if sources := "; ".join(dict.fromkeys(entry.source for entry in task.published)):
            lines.append(f"  {'':<{width}}  published: {sources}")
    lines += ["", "`ocp run NAME` solves one, `ocp run NAME --help` says its flags, `ocp app NAME`"]
    lines += ["moves its parameters on a page, `ocp list --solve` solves and certifies all,"]
    lines += ["`ocp papers` computes what is published."]
    return "\n".join(lines)


def topic_of(name: str) -> str:
    """Return the kind of a problem of the gallery: the folder that states it."""
    return gallery()[name].split(".")[2]
