"""Gallery of the book: scripts for sphinx-gallery, which solves every problem, if asked."""

import inspect
import shutil
from collections.abc import Mapping
from pathlib import Path

from ocp.cli.book.pictures import gallery_pictures
from ocp.cli.book.reference import plain, restructured_text
from ocp.cli.commands.list_problems import tasks
from ocp.solution.solution import Solution
from ocp.solvers import Solver
from ocp.studies.store import function_addresses
from ocp.studies.store.argument_flags import Keywords
from ocp.studies.task import Task
from ocp.transcription.transcription_settings import transcription_of

PICTURES = "*.png"
HEADER = """\
Gallery
=======

Every problem that comes with the package, {state}; and the predicted step
at several speeds.

"""
SOLVED = "solved while this page was made unless its own page says otherwise"
UNSOLVED = "as it is stated; pictures are those that come with it, none was solved for this page"
NOTE = " It was not solved for this page."
SCRIPT = '''\
"""
{title}
{line}
{picture}
{words}
"""

# %%
# What is asked
# -------------
{parameters}
#
# .. literalinclude:: /{source}
#    :language: python
#
# What comes of it
# ----------------
# From a shell: ``ocp run {name} --plot {name}.png``.{note}

from ocp import Solver
from {module} import TASK

solution = TASK.method(TASK.problem(), TASK.transcription, Solver()).require(coarse=True)
TASK.views.plot(solution, "{name}.png")
solution

# %%
# What was published
# ------------------

from ocp.cli.book.gallery import beside

print(beside(TASK, solution))
{thumbnail}'''
PICTURE = """
.. image:: /{place}
   :alt: {name}, drawn when the package was made
"""
THUMBNAIL = "\n# sphinx_gallery_thumbnail_path = '{place}'\n"
SPEEDS = '''\
"""
gait_speeds
===========

The predicted step at five speeds, each from a standing start: effort and work over speed.
"""

from ocp.problems.benchmarks.motions.compare_gait import run

run(["speeds", "--plot", "gait_speeds.png"])

# sphinx_gallery_thumbnail_path = 'ocp/cli/book/pictures/gait/gait.jpg'
'''


def write_scripts(folder: Path, *, solved: bool = True) -> Keywords:
    """Write a script for each problem, and its source, below a folder; return Sphinx's settings."""
    scripts, sources = folder / "scripts", folder / "sources"
    scripts.mkdir(parents=True)
    sources.mkdir()
    header = HEADER.format(state=SOLVED if solved else UNSOLVED)
    known = within_reach(tasks()) if solved else []
    (scripts / "GALLERY_HEADER.rst").write_text(header, encoding="utf-8")
    for name, task in tasks().items():
        source = sources / f"{name}.py"
        shutil.copyfile(inspect.getfile(task.problem), source)
        text = script(name, task, f"problems/sources/{name}.py", solved=name in known)
        (scripts / f"{name}.py").write_text(text, encoding="utf-8")
    (scripts / "gait_speeds.py").write_text(SPEEDS, encoding="utf-8")
    patterns = "|".join([*known, "gait_speeds"])
    return {
        "exclude_patterns": ["problems/scripts/*"],
        "sphinx_gallery_conf": {
            "examples_dirs": "problems/scripts",
            "gallery_dirs": "gallery",
            "filename_pattern": f"/({patterns})\\.py$",
            "image_scrapers": ("ocp.cli.book.gallery.pictures",),
            "reset_modules": (),
            "within_subsection_order": "FileNameSortKey",
            "download_all_examples": False,
            "show_signature": False,
            "default_thumb_file": str(Path(__file__).with_name("no_picture.svg")),
            "write_computation_times": False,
            "plot_gallery": solved,
        },
    }


def within_reach(known: Mapping[str, Task]) -> list[str]:
    """Return the names of problems that can be stated: others lack an extra."""
    names = []
    for name, task in known.items():
        try:
            task.problem()
        except ModuleNotFoundError:
            continue
        names.append(name)
    return names


def script(name: str, task: Task, source: str, *, solved: bool = True) -> str:
    """Return the script that solves and shows a problem.

    Args:
        name: of the problem.
        task: that solves it.
        source: place of its file in the book.
        solved: whether it is solved while the book is built; a note says so if not.
    """
    module, own = inspect.getmodule(task.problem), gallery_pictures().get(name)
    place = own and f"ocp/cli/book/pictures/{own.parent.name}/{own.name}"
    told = "\n".join(restructured_text((inspect.getdoc(task.problem) or "").splitlines()))
    return SCRIPT.format(
        name=name,
        module=function_addresses.gallery()[name],
        title=name,
        line="=" * len(name),
        words=plain(inspect.getdoc(module) or ""),
        parameters="\n".join(f"# {line}".rstrip() for line in told.strip().splitlines()),
        source=source,
        note="" if solved else NOTE,
        picture=PICTURE.format(place=place, name=name) if place and not solved else "",
        thumbnail=THUMBNAIL.format(place=place) if place else "",
    )


def beside(task: Task, solution: Solution) -> str:
    """Return the published numbers of a task beside ours, each solved anew with its own settings.

    Where the source says too little to repeat it, and no data are ours, `solution` stands for ours.
    """
    lines = []
    for number in task.published:
        if number.comparable or number.arguments:
            stated = transcription_of(number.settings) if number.settings else task.transcription
            ours = number.ours(
                task.method(task.state(number.arguments), stated, Solver()).require(coarse=True)
            )
        else:
            ours = number.ours(solution)
        changed = ", ".join(f"{name} {value}" for name, value in number.arguments.items())
        lines += [
            f"{number.quantity}{', ' if changed else ''}{changed}",
            f"  printed  {number.value:g}  ({number.source})",
            f"  ours     {ours:.5g}",
            *([] if number.optimum is None else [f"  optimum  {number.optimum:.6g}"]),
            *([f"  {number.remark}"] if number.remark else []),
        ]
    return "\n".join(lines) or "No source prints an optimum of this problem."


def pictures(block: tuple, variables: Keywords, settings: Keywords) -> str:
    """Move the pictures that a block of code has written to where the site shows them."""
    from sphinx_gallery.scrapers import figure_rst

    moved = []
    for path in sorted(Path.cwd().glob(PICTURES), key=lambda path: len(path.stem)):
        target = next(iter(variables["image_path_iterator"]))
        shutil.move(path, target)
        moved.append(target)
    return figure_rst(moved, settings["src_dir"])
