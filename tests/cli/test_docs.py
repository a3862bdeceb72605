"""The book: pages are all reached, links lead somewhere, samples run as they are printed."""

import importlib.util
import inspect
import json
import re
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from ocp.cli.book import build_book, gallery, notebooks, pictures, reference
from ocp.cli.commands import list_problems

ROOT = Path(__file__).parents[2]
PAGES, PICTURES = build_book.pages(), build_book.pictures()
DOOR = {name: ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")}
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def blocks(path, language):
    """Code of a page's fenced blocks in a language."""
    text = path.read_text(encoding="utf-8")
    return [code for kind, code in FENCED.findall(text) if kind == language]


CLOCKED = ("howto/mpc_under_gravity.md", "howto/three_solvers.md")  # what they print has times
WRITTEN = PAGES | DOOR
SAMPLED = [  # how-tos have a test of their own
    place
    for place, path in WRITTEN.items()
    if blocks(path, "python") and (place.endswith(CLOCKED) or "/howto/" not in place)
]


@pytest.mark.pages
@pytest.mark.parametrize("place", SAMPLED)
def test_the_samples_of_a_page_run_one_after_the_other(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": "__main__"}
    for code in blocks(WRITTEN[place], "python"):
        exec(compile(code, place, "exec"), names)


def test_the_start_leads_to_every_page_and_to_nothing_else():
    listed = re.findall(r"^/(\S+)$", PAGES["index.md"].read_text(encoding="utf-8"), re.MULTILINE)
    made = {"gallery/index", "reference/index"}
    assert {f"{name}.md" for name in listed if name not in made} == set(PAGES) - {"index.md"}
    assert len(listed) == len(set(listed)) and made <= set(listed)


def test_links_between_pages_lead_somewhere():
    scripts = {f"gallery/{name}.rst" for name in [*list_problems.tasks(), "gait_speeds", "index"]}
    for place, path in WRITTEN.items():
        for link in LINK.findall(path.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                known = link.lstrip("/") in {*PAGES, *PICTURES, *scripts}
                assert known or (place in DOOR and (ROOT / link).exists()), (place, link)


def test_the_front_door_is_short():
    text = DOOR["README.md"].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120 and len(text.split()) <= 900


def test_commands_of_the_pages_name_problems_that_are_there():
    words = re.compile(r"ocp (?:run|study|compare)\s+(\w[\w./|]*)")
    for place, path in WRITTEN.items():
        for name in words.findall(path.read_text(encoding="utf-8")):
            assert name.startswith("NAME") or name in list_problems.tasks(), (place, name)


def test_modules_that_the_pages_run_are_there():
    words = re.compile(r"python -m (problems\.\w+|ocp\.\w+)")
    for place, path in (PAGES | {"README.md": DOOR["README.md"]}).items():
        for name in set(words.findall(path.read_text(encoding="utf-8"))) - {"problems.NAME"}:
            module = name if name.startswith("ocp.") else f"ocp.{name}"
            assert importlib.util.find_spec(module), (place, name)


def test_every_public_name_says_what_it_is():
    silent = [name for name, value in reference.public().items() if not reference.summary(value)]
    assert silent == []


def parameters(value):
    """Names of what a function takes, or a record holds; what every one of its kind takes aside."""
    if not inspect.isroutine(value) and not inspect.isclass(value):
        return []
    try:
        names = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in names if name not in COMMON]


COMMON = {
    *("tree", "solution", "problem", "path", "name", "args", "kwds", "options", "self"),
    *("transcription", "solver", "guess", "watch", "at", "q", "qd", "qdd", "tau", "ground"),
    *("statement", "task", "duration", "times", "t", "loads", "formulation", "motion", "parent"),
    *("home", "over", "kwargs", "axes", "scene", "plane", "body", "value", "nlp", "settings"),
}


def missing(value):
    """Parameters of which neither the docstring nor the metadata of a field says anything."""
    explained = fields(value) if is_dataclass(value) else ()
    helped = {one.name for one in explained if one.metadata.get("help")}
    said = (inspect.getdoc(value) or "").lower()
    return [
        name
        for name in parameters(value)
        if name not in helped and not any(part[:4] in said for part in name.lower().split("_"))
    ]


def test_every_public_name_says_what_its_parameters_are():
    """A parameter is said where its name, or the first letters of a word of it, are in the text."""
    silent = {name: missing(value) for name, value in reference.public().items() if missing(value)}
    assert silent == {}


def test_a_docstring_becomes_what_it_says_and_nothing_else():
    lines = ["Return `q` of *all* joints_, |x|.", "", "  tau = M qdd + h", "", "- one", "- two"]
    assert list(reference.restructured_text(lines)) == [
        *("", r"\ Return \ ``q``\  of \*all\* joints\_, \|x\|.", "", "::", ""),
        *("     tau = M qdd + h", "", "", "- one", "- two", ""),
    ]


def test_a_line_of_the_reference_has_one_formula():
    lines = ["Return it.", "", "  f = 4/3 k,   k = E^2 / 2", "  g  = 2 f   (N)"]
    page = list(reference.restructured_text(lines))
    assert page[5:9] == ["     f = 4/3 k", "         k = E^2 / 2", "     g  = 2 f   (N)", ""]


def test_lists_of_a_docstring_are_lists_of_its_page():
    lines = ["Return it.", "", "Args:", "    q: angles (n,),", "        rad.", "Raises:"]
    page = list(reference.restructured_text([*lines, "    ValueError: none."]))
    assert page[4:] == [
        *("**Args**", "", "- ``q``: angles (n,), rad.", "", "", "**Raises**", ""),
        *("- ``ValueError``: none.", "", ""),
    ]


def test_signatures_name_the_types_of_the_source():
    shown, result = reference._process_signature(
        *(
            None,
            "function",
            "ocp.inverse_dynamics",
            importlib.import_module("ocp").inverse_dynamics,
        ),
        *(None, "(tree: Tree, q: Any, qd: ~typing.Any, loads: Any = ())", "Any"),
    )
    assert shown == "(tree: Tree, q: Matrix, qd: Matrix, loads: Any=())" and result == "Matrix"
    types = {"t": "ArrayLike | None", "at": "Callable[[Matrix], Matrix]"}
    given = "(t: Buffer | _SupportsArray[dtype[Any]] = None, *, at: ~typing.Any, n: int = 3)"
    wanted = "(t: ArrayLike | None=None, *, at: Callable[[Matrix], Matrix], n: int=3)"
    assert reference._with_types(given, types) == wanted
    assert reference._with_types("(t=<object at 0x1>)", types) == "(t=<object at 0x1>)"


def test_every_picture_of_the_gallery_belongs_to_a_problem_and_is_small():
    shown = pictures.gallery_pictures()
    assert len(shown) >= 30 and set(shown) <= set(list_problems.tasks())
    assert all(path.stat().st_size < 30_000 for path in shown.values())


def test_unsolved_pages_of_the_gallery_show_the_picture_that_is_shipped():
    task = list_problems.tasks()["two_link_time"]
    page = gallery.script("two_link_time", task, "two_link_time.py", solved=False)
    place = "ocp/cli/book/pictures/arms/two_link_time.jpg"
    assert f".. image:: /{place}" in page and f"thumbnail_path = '{place}'" in page
    assert place in PICTURES


def test_the_front_page_has_three_doors_with_pictures():
    text = PAGES["index.md"].read_text(encoding="utf-8")
    doors = re.findall(r"^```{container} door\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [re.findall(r"\*\*(\w+)\*\*", door) for door in doors] == [
        *(["Robots"], ["Humans"], ["Solvers"]),
    ]
    assert all(door.count(".jpg)") == 1 and door.count("](/ocp/cli/howto/") for door in doors)
    assert text.count("```{toctree}\n") == text.count("\n:hidden:\n")


HOWTOS = sorted(place for place in PAGES if place.startswith("ocp/cli/howto/"))


@pytest.mark.pages
@pytest.mark.parametrize("place", [place for place in HOWTOS if not place.endswith(CLOCKED)])
def test_a_how_to_prints_what_its_page_says(place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (script,) = blocks(PAGES[place], "python")
    exec(compile(script, place, "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out.splitlines()
    text = PAGES[place].read_text(encoding="utf-8")
    assert printed and [line for line in printed if line not in text] == []


def test_a_how_to_has_one_whole_script_and_its_limits():
    assert len(HOWTOS) == 8
    for place in HOWTOS:
        text = PAGES[place].read_text(encoding="utf-8")
        assert len(blocks(PAGES[place], "python")) == 1 and "**Limits.**" in text, place


def test_a_notebook_shows_what_its_cells_print_return_and_draw(tmp_path):
    cells = (
        "x = 3\nprint(x)\nx + 1",
        "from matplotlib.figure import Figure\nFigure().savefig('a.png')",
        "from ocp.problems.arms.two_link_time import problem\nproblem()",
    )
    text = (
        "# A title\n\n[Words](/a.md).\n\n" + "\n".join(f"```python\n{c}\n```" for c in cells) + "\n"
    )
    parts = notebooks.run_page(text, "a.md")
    page = notebooks.as_page(parts, tmp_path / "a.md")
    head, link = page.splitlines()[0], page.splitlines()[2]
    assert head == "# A title" and "{download}`As a notebook for Jupyter <a.ipynb>`" in link
    assert page.count("```python\n") == 3 and ":class: output\n\n3\n`````" in page
    assert ":class: output\n\n4\n`````" in page and page.count('<div class="output">') == 1
    assert "(a-1.png)" in page and (tmp_path / "a-1.png").read_bytes().startswith(b"\x89PNG")
    book = json.loads(notebooks.as_notebook(parts))
    kinds = [cell["cell_type"] for cell in book["cells"]]
    assert kinds == ["markdown", "code", "code", "code"]
    assert "](/a.md)" not in book["cells"][0]["source"] and book["nbformat"] == 4
    outputs = [each["output_type"] for cell in book["cells"][1:] for each in cell["outputs"]]
    assert outputs == ["stream", "execute_result", "display_data", "execute_result"]


def test_a_cell_that_fails_is_named_and_leaves_the_folder_as_it_was():
    before = Path.cwd()
    text = "# A\n\n```python\nx = 1\n```\n\n```python\n1 / 0\n```\n"
    with pytest.raises(ValueError, match=r"a\.md, cell 2: ZeroDivisionError: division by zero"):
        notebooks.run_page(text, "a.md")
    assert Path.cwd() == before


def test_six_notebooks_are_run_for_the_book():
    places = [place for place in PAGES if place.startswith(f"{notebooks.FOLDER}/")]
    assert len(places) == 6
    for place in places:
        assert len(blocks(PAGES[place], "python")) >= 4, place


@pytest.mark.pages
def test_a_script_of_the_gallery_solves_draws_and_compares(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = gallery.script(
        "two_link_time", list_problems.tasks()["two_link_time"], "two_link_time.py"
    )
    exec(compile(code, "two_link_time", "exec"), {})
    assert (tmp_path / "two_link_time.png").exists()
    assert "printed  0.392  (Barman 2020, section 4.1)\n  ours     0.392" in capsys.readouterr().out


def test_arguments_of_a_problem_are_a_list_on_its_page_of_the_gallery():
    text = gallery.script("lifting", list_problems.tasks()["lifting"], "lifting.py", solved=False)
    assert "\n# **Args**\n#\n# - ``box``: its mass and sizes.\n# - ``start``: " in text


@pytest.mark.parametrize("solved", [True, False])
def test_the_gallery_claims_only_what_was_solved(tmp_path, monkeypatch, solved):
    monkeypatch.setattr(gallery, "within_reach", list)  # all of them, none of which is stated
    gallery.write_scripts(tmp_path, solved=solved)
    front = (tmp_path / "scripts" / "GALLERY_HEADER.rst").read_text()
    page = (tmp_path / "scripts" / "two_link_time.py").read_text()
    assert ("solved while this page was made" in front) == solved
    assert ("It was not solved for this page." in page) != solved


def test_without_the_extra_the_book_says_how_to_get_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "furo", None)
    assert build_book.command([str(tmp_path / "site")]) == 2
    assert "needs furo: install the extra `docs`" in capsys.readouterr().err


def test_a_folder_that_holds_something_else_is_left_alone(monkeypatch, tmp_path, capsys):
    (tmp_path / "letter.txt").write_text("dear reader")
    monkeypatch.setattr(build_book, "_sphinx", lambda: None)
    assert build_book.command([str(tmp_path)]) == 2
    assert "holds something that is no site" in capsys.readouterr().err


def test_every_wing_is_in_the_reference():
    folders = {path.parent.name for path in (ROOT / "ocp").glob("*/__init__.py")}
    folders -= {"models", "problems"}  # which are linked here, and have pages of their own
    assert folders == set(reference.WINGS)
    assert all(importlib.import_module(f"ocp.{wing}").__doc__ for wing in folders)
