"""The book: hand-written pages, notebooks run while it is built, docstrings and a gallery.

Pages are Markdown files beside the code they explain; they keep their places in the book, so that
links between them hold in a clone and in the site. Nothing is asked of a network.
"""

import argparse
import importlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ocp.cli.book import gallery, reference
from ocp.cli.book.notebooks import run_notebooks
from ocp.cli.exit_status import DONE, FAILED, REFUSED, refuse
from ocp.cli.flags import read_line
from ocp.version import VERSION, install_hint

SETTINGS = {
    "project": "ocp",
    "author": "ocp contributors",
    "copyright": "ocp contributors",
    "version": VERSION,
    "release": VERSION,
    "root_doc": "index",
    "extensions": [
        "myst_parser",
        "sphinx.ext.autodoc",
        "sphinx_gallery.gen_gallery",
        "ocp.cli.book.formulas",
        "ocp.cli.book.reference",
    ],
    "html_math_renderer": "mathml",
    "html_static_path": ["_static"],
    "html_css_files": ["book.css"],
    "smartquotes": False,
    "html_theme": "furo",
    "html_title": f"ocp {VERSION}",
    "html_show_sourcelink": False,
    "myst_heading_anchors": 3,
    "myst_enable_extensions": ["dollarmath"],
    "autodoc_preserve_defaults": True,
    "autodoc_member_order": "bysource",
    "autodoc_default_options": {"members": True},
    "autodoc_typehints_format": "short",
    "python_use_unqualified_type_names": True,
    "maximum_signature_line_length": 88,
    "suppress_warnings": ["config.cache", "ref.python"],  # two wings may use one name
}


def command(arguments: Sequence[str] | None = None) -> int:
    """Build the site as the command line asks for and return the exit status."""
    parser = argparse.ArgumentParser(prog="ocp docs", description=__doc__.splitlines()[0])
    parser.add_argument("directory", metavar="DIR", help="where to; its index.html is the start")
    parser.add_argument(
        "--solve", action="store_true", help="solve the gallery anew, in place of its pictures"
    )
    flags = read_line(parser, arguments)
    try:
        clean = build(Path(flags.directory), solved=flags.solve)
    except REFUSED as error:
        return refuse("ocp docs", error)
    if clean:
        print(f"read {Path(flags.directory, 'index.html')}")
    return DONE if clean else FAILED


def build(directory: Path, *, solved: bool = False) -> bool:
    """Write the site to a directory and tell whether it was built without a warning.

    `solved`: whether the gallery's problems are solved while it is built. Raises ValueError if
    the extra `docs` is not installed, the directory holds something else, or a cell of a notebook
    fails.
    """
    make = _sphinx()
    if directory.exists() and any(directory.iterdir()) and not (directory / ".buildinfo").exists():
        raise ValueError(f"{directory}: holds something that is no site; give an empty directory")
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "book")
        copy_pages(source)
        run_notebooks(source)
        reference.write_pages(source / "reference")
        settings = SETTINGS | gallery.write_scripts(source / "problems", solved=solved)
        site = make(
            srcdir=source,
            confdir=None,
            outdir=directory,
            doctreedir=Path(folder, "doctrees"),
            buildername="html",
            confoverrides=settings,
            status=sys.stdout,
            warning=sys.stderr,
            warningiserror=True,
        )
        try:
            site.build()
        except importlib.import_module("sphinx.errors").SphinxError as error:
            print(error, file=sys.stderr)
            return False
    return site.statuscode == 0


def pages() -> dict[str, Path]:
    """Return {place in the book: file} of the hand-written pages, such as `ocp/cli/tutorial.md`.

    The first of them, `ocp/cli/book/index.md`, is the start: `index.md`.
    """
    places = _files("*.md")
    return {"index.md": places.pop("ocp/cli/book/index.md"), **places}


def _files(pattern: str) -> dict[str, Path]:
    """Return {place in the book: file} of the files of a pattern, in all rooms."""
    packages = {"ocp": "ocp", "models": "ocp.models", "problems": "ocp.problems"}
    roots = {
        name: Path(importlib.import_module(package).__path__[0])
        for name, package in packages.items()
    }
    return {
        Path(name, path.relative_to(root)).as_posix(): path
        for name, root in roots.items()
        for path in sorted(root.rglob(pattern))
        if name != "ocp" or path.relative_to(root).parts[0] not in roots
    }


def pictures() -> dict[str, Path]:
    """Return {place in the book: file} of the pictures that pages show."""
    return _files("*.jpg")


def copy_pages(source: Path) -> None:
    """Copy the pages, their pictures and their style to their places under a folder."""
    style = {"_static/book.css": Path(__file__).with_name("book.css")}
    for place, path in (pages() | pictures() | style).items():
        target = source / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _sphinx() -> type:
    """Return Sphinx's application; raise ValueError if the extra is not there."""
    try:
        for theme_or_extension in ("furo", "myst_parser", "sphinx_gallery"):
            importlib.import_module(theme_or_extension)
        return importlib.import_module("sphinx.application").Sphinx
    except ModuleNotFoundError as error:
        raise ValueError(f"the book needs {error.name}: {install_hint('docs')}") from None
