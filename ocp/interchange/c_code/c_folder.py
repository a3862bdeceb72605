"""Dynamics of a tree as a folder of C99: source, header, a check of its numbers, and CMake."""

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.codegen.c_source import c_array, c_function, c_prototype
from ocp.dynamics.catalogue import AUTO
from ocp.dynamics.formulation import Formulation
from ocp.interchange.c_code.tree_functions import PARAMETERS, tree_functions
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import parameters_of
from ocp.storage.atomic_files import write
from ocp.version import VERSION

SEED = 20061  # of the place at which a folder's check compares
REACH = 0.5  # rad, m and their rates: of that place
TOLERANCE = 1e-12  # relative: C libraries differ in the last bits of sines
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def export_c(
    tree: Tree,
    folder: str | PathLike[str],
    *,
    name: str | None = None,
    formulation: Formulation | str = AUTO,
) -> None:
    """Write the dynamics of a tree as C99 that needs neither Python nor memory of its own.

    Functions take plain pointers; matrices stand column by column. The folder has NAME.c, NAME.h,
    `check.c`, which compares every function with the numbers of this program, and CMakeLists.txt.

    Args:
        tree: the robot or body; parameters that it leaves open become a last argument `p`.
        folder: for the files, made if it is not there.
        name: with which files and functions begin, by default that of the folder.
        formulation: of the dynamics, or its name.

    Raises:
        ValueError: the name is no word of C, or the tree has states of elements, or stays.
        OSError: nothing can be written there.
    """
    folder = Path(folder)
    name = folder.name if name is None else name
    if not WORD.fullmatch(name):
        raise ValueError(f"export_c: name: expected a word of C such as 'arm', got {name!r}")
    functions = tree_functions(tree, formulation)
    files = {
        f"{name}.c": c_source(name, functions),
        f"{name}.h": c_header(name, functions, _words(tree, functions)),
        "check.c": _check(name, functions, [each.value for each in parameters_of(tree)]),
        "CMakeLists.txt": _cmake(name),
    }
    folder.mkdir(exist_ok=True)
    for file, text in files.items():
        write(folder / file, text)


def c_source(name: str, functions: Mapping[str, ca.Function]) -> str:
    """Return the C source of functions, whose names begin with a `name`."""
    parts = [c_function(each, f"{name}_{key}") for key, each in functions.items()]
    return "\n".join([f'#include <math.h>\n\n#include "{name}.h"\n', *parts])


def c_header(name: str, functions: Mapping[str, ca.Function], words: str) -> str:
    """Return the C header of functions, whose names begin with a `name`, under some words."""
    guard = f"{name.upper()}_H"
    lines = [f"/* {words} */", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for key, each in functions.items():
        sizes = [
            f"{part}: {rows} x {columns}"
            for part, (rows, columns) in [
                *zip(each.name_in(), map(each.size_in, range(each.n_in()))),
                *zip(each.name_out(), map(each.size_out, range(each.n_out()))),
            ]
        ]
        lines += [f"/* {', '.join(sizes)} */", f"{c_prototype(each, f'{name}_{key}')};", ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def _words(tree: Tree, functions: Mapping[str, ca.Function]) -> str:
    """Return the comment of a header: what the entries of its vectors are."""
    rows = ", ".join(each.name for each in tree.moving)
    lines = [
        f"Dynamics of a tree by ocp {VERSION}, in SI units; matrices stand column by column.",
        f"q, qd, qdd, tau: {rows}",
    ]
    if "positions" in functions:
        lines.append(f"places: {', '.join(point.name for point in tree.points)}")
    known = [f"{each.name} ({each.unit or '1'})" for each in parameters_of(tree)]
    if known:
        lines.append(f"{PARAMETERS}: {', '.join(known)}")
    return "\n   ".join(lines).replace("*/", "* /")


def _check(name: str, functions: Mapping[str, ca.Function], values: list[float]) -> str:
    """Return the source of a program that compares all functions at a random place."""
    random = np.random.default_rng(SEED)
    known: dict[str, np.ndarray] = {PARAMETERS: np.array(values)}
    calls, arrays, largest = [], [], 0
    for key, function in functions.items():
        given = []
        for k, part in enumerate(function.name_in()):
            fresh = random.uniform(-REACH, REACH, function.size1_in(k))
            given.append(known.setdefault(part, fresh))
        results = function.call([ca.DM(each) for each in given])
        expected = np.concatenate([np.array(each).ravel("F") for each in results])
        arrays.append(c_array(f"{key}_expected", expected.tolist()))
        sizes = [function.numel_out(k) for k in range(function.n_out())]
        largest = max(largest, sum(sizes))
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
        pointers = [*function.name_in(), *(f"found + {start}" for start in starts)]
        calls.append(f"    {name}_{key}({', '.join(pointers)});\n")
        calls.append(f'    worst = compare("{key}", {key}_expected, {sum(sizes)}, worst);\n')
    largest = max(
        sum(each.numel_out(k) for k in range(each.n_out())) for each in functions.values()
    )
    inputs = {part for each in functions.values() for part in each.name_in()}
    given_arrays = [c_array(part, known[part].tolist()) for part in sorted(inputs)]
    return CHECK.format(
        name=name,
        tolerance=TOLERANCE,
        size=largest,
        arrays="".join([*given_arrays, *arrays]),
        calls="".join(calls),
    )


CHECK = """#include <math.h>
#include <stdio.h>

#include "{name}.h"

{arrays}
static double found[{size}];

static double compare(const char *what, const double *expected, int size, double worst) {{
    double off = 0.0, scale = 1.0;
    for (int k = 0; k < size; k++) {{
        off = fmax(off, fabs(found[k] - expected[k]));
        scale = fmax(scale, fabs(expected[k]));
    }}
    printf("%s: %.1e of %.3g\\n", what, off, scale);
    return fmax(worst, off / scale);
}}

int main(void) {{
    double worst = 0.0;
{calls}    return worst <= {tolerance!r} ? 0 : 1;
}}
"""


def _cmake(name: str) -> str:
    """Return the text of CMakeLists.txt: a library, and the check as a test."""
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
add_library({name} {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(NOT MSVC)
    target_compile_options({name} PRIVATE -ffp-contract=off)
    target_link_libraries({name} PUBLIC m)
endif()
add_executable(check check.c)
target_link_libraries(check {name})
enable_testing()
add_test(NAME check COMMAND check)
"""
