"""Publication: one version everywhere, a recipe that asks for what the project asks."""

import re
from pathlib import Path

import pytest

from ocp.version import DISTRIBUTION, VERSION

tomllib = pytest.importorskip("tomllib")  # Python 3.11
ROOT = Path(__file__).parent.parent
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = WHOLE["project"]
RECIPE = (ROOT / ".ci" / "conda" / "meta.yaml").read_text(encoding="utf-8")
CONDA = {"matplotlib-base": "matplotlib"}  # names there and here


def test_every_place_says_the_same_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    said = {
        "citation": re.search(r"^version: (.*)$", citation, re.MULTILINE)[1],
        "changes": re.search(r"^## \[(.*)\]", changes, re.MULTILINE)[1],
        "recipe": re.search(r'set version = "(.*)"', RECIPE)[1],
    }
    assert said == dict.fromkeys(said, VERSION) and f"name: {DISTRIBUTION}\n" in RECIPE


def test_the_recipe_runs_on_what_the_project_runs_on():
    (run,) = re.findall(r"^  run:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)
    asked = (line.strip(" -").partition(" ") for line in run.splitlines())
    needs = {CONDA.get(name, name) + bounds for name, _, bounds in asked}
    assert needs == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    entry = re.search(r"- (ocp) = (.*)", RECIPE)
    assert {entry[1]: entry[2]} == PROJECT["scripts"]


def test_the_recipe_is_built_with_what_builds_the_project_and_says_its_licences():
    (host,) = re.findall(r"^  host:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)
    needs = {line.strip(" -").replace(" ", "") for line in host.splitlines()}
    assert needs == {
        *WHOLE["build-system"]["requires"],
        "pip",
        f"python{PROJECT['requires-python']}",
    }
    assert re.search(r"license: (.*)", RECIPE)[1] == PROJECT["license"]


def test_classifiers_are_those_of_the_index():
    known = pytest.importorskip("trove_classifiers").classifiers
    assert set(PROJECT["classifiers"]) <= known


def test_what_the_recipe_and_the_sdist_name_is_there():
    packed = WHOLE["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    licences = re.findall(r"^    - ((?:LICENSE|models/).*)$", RECIPE, re.MULTILINE)
    assert len(licences) == 3 and all((ROOT / name).exists() for name in [*packed, *licences])
