"""Language of the house: docstrings, names and sizes that anyone can read."""

import ast
import re
from collections import Counter
from functools import cache

import pytest
from sources import ROOT, modules

tomllib = pytest.importorskip("tomllib")  # Python 3.11
CLAUSES = re.compile(r"(Return|Yield|Tell|Draw|Write) (what|who|whose|where|how|those)\b")
QUESTIONS = re.compile(r"(What|Where|Whose|Who|How|Whether)\b")
BUDGETS = tomllib.loads((ROOT / "tests" / "budgets.toml").read_text(encoding="utf-8"))
SAME_MEANING = {"reader"}  # of each format of files
PARTICIPLES = {
    *("given", "taken", "said", "told", "known", "found", "met", "put", "kept", "begun", "seen"),
    *("shown", "drawn", "grown", "written", "made", "held", "left", "bent", "built", "split"),
    *("spent", "sent", "felt", "heard", "worn", "torn", "born", "broken", "chosen", "driven"),
    *("fallen", "gone", "lain", "laid", "lost", "meant", "run", "sought", "stood", "struck"),
    *("thrown", "understood", "bound", "led", "hung"),
}
NOUNS = {"fixed", "run", "bound", "split", "seed", "speed", "feed", "need", "bed"}  # and verbs


def bare_participle(name):
    """Tell whether a name is a participle alone, which says neither a thing nor an act."""
    word = name.lstrip("_")
    if "_" in word or word in NOUNS:
        return False
    return word in PARTICIPLES or word.endswith("ed")


def is_property(node):
    """Tell whether a function is a property of a record."""
    return any("property" in ast.unparse(each) for each in node.decorator_list)


@cache
def definitions():
    """All functions of all modules, with the places of these."""
    nodes = ((path, node) for path, tree in modules().items() for node in ast.walk(tree))
    return [(path, node) for path, node in nodes if isinstance(node, ast.FunctionDef)]


@cache
def functions():
    """Names of the functions of `ocp` but properties, which say a state, with their modules."""
    ours = ((path, node) for path, node in definitions() if path.parts[0] == "ocp")
    return [(str(path), node.name) for path, node in ours if not is_property(node)]


def test_docstrings_of_modules_begin_with_a_noun_phrase():
    first = {path: ast.get_docstring(tree) or "" for path, tree in modules().items()}
    assert [str(path) for path, text in first.items() if QUESTIONS.match(text)] == []


def test_docstrings_of_functions_name_what_they_return():
    told = [
        (str(path), node.name)
        for path, node in definitions()
        if CLAUSES.match(ast.get_docstring(node) or "")
    ]
    assert told == []


def test_no_public_function_is_named_by_a_bare_participle():
    named = [(path, name) for path, name in functions() if name[0] != "_" and bare_participle(name)]
    assert named == []


def test_few_private_functions_are_named_by_a_bare_participle():
    named = [(path, name) for path, name in functions() if name[0] == "_" and bare_participle(name)]
    assert len(named) <= BUDGETS["names"]["private_participles"], named


def test_a_name_of_a_file_has_one_meaning_in_its_wing():
    places = Counter(
        (path.parts[1], path.stem)
        for path in modules()
        if path.parts[0] == "ocp" and not path.stem.startswith("__")
    )
    twice = [place for place, count in places.items() if count > 1]
    assert [place for place in twice if place[1] not in SAME_MEANING] == []


def test_wings_keep_to_their_budgets_of_lines():
    lines = Counter()
    for path in modules():
        wing = path.parts[1] if path.parts[0] == "ocp" and len(path.parts) > 2 else path.parts[0]
        lines[wing] += (ROOT / path).read_text(encoding="utf-8").count("\n")
    over = {w: n for w, n in lines.items() if n > BUDGETS["lines"].get(w, 0)}
    assert over == {}, "raise a budget only with a reason in CHANGELOG.md"


def test_the_glossary_is_short():
    text = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| (?!term|---)", text, re.MULTILINE)
    assert len(terms) <= 80
