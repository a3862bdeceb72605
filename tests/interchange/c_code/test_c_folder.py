"""Dynamics of trees as folders of C99, which check themselves and build without a warning."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from compilers import compiler_needed
from flexible_trees import mixed
from muscled_arm import arm
from random_trees import random_tree
from refusals import refused

from ocp import Parameter
from ocp.codegen.compiler.shared_library import find_compiler
from ocp.interchange import export_c
from ocp.mechanics import ball
from ocp.models.mechanisms.four_bar import four_bar

STRICT = ["-std=c99", "-O0", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off"]


def branched():
    return random_tree(np.random.default_rng(3), 4)


def with_ball():
    tree = branched()
    [*others, last] = tree.joints
    return replace(tree, joints=[*others, ball(last.name, last.parent, home=last.home)])


def flexible():
    return mixed(11)[0]


def with_parameter():
    tree = random_tree(np.random.default_rng(5), 3, massless=0.0)
    [*others, last] = tree.links
    return replace(tree, links=[*others, replace(last, mass=Parameter("load", last.mass, "kg"))])


@compiler_needed
@pytest.mark.parametrize("tree", [branched, with_ball, flexible, with_parameter, four_bar])
def test_a_folder_checks_itself(tmp_path, tree):
    export_c(tree(), tmp_path / "body")
    command = [find_compiler(), *STRICT, "body.c", "check.c", "-o", "check", "-lm"]
    subprocess.run(command, cwd=tmp_path / "body", check=True)
    done = subprocess.run([tmp_path / "body" / "check"], capture_output=True, text=True, check=True)
    names = [line.split(":")[0] for line in done.stdout.splitlines()]
    assert {"inverse_dynamics", "forward_dynamics_slopes", "mass_matrix"} <= {*names}


@compiler_needed
def test_a_wrong_number_fails_the_check(tmp_path):
    export_c(branched(), tmp_path, name="body")
    source = tmp_path / "body.c"
    text = source.read_text()
    source.write_text(text.replace("sin(", "1.0000001 * sin(", 1))
    assert text != source.read_text()
    command = [find_compiler(), *STRICT, "body.c", "check.c", "-o", "check", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "check"], capture_output=True, check=False).returncode == 1


@pytest.mark.commands
@compiler_needed
@pytest.mark.skipif(shutil.which("cmake") is None, reason="this machine has no cmake")
def test_cmake_builds_and_tests_a_folder(tmp_path):
    export_c(four_bar(), tmp_path / "arm")
    for command in (
        ["cmake", "-S", "arm", "-B", "build"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_no_memory_is_asked_for(tmp_path):
    export_c(branched(), tmp_path, name="body")
    assert not {"malloc", "calloc", "realloc", "alloca"} & {
        word.split("(")[0] for word in (tmp_path / "body.c").read_text().split()
    }


def test_what_has_no_word_is_refused(tmp_path):
    with refused("export_c: name: expected a word of C such as 'arm', got 'my arm'"):
        export_c(branched(), tmp_path / "my arm")
    with refused("export_c: no word for states of elements, and the tree has "):
        export_c(arm(), tmp_path, name="arm")
    assert not any(tmp_path.iterdir())
