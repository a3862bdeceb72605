"""Dynamics of a tree, or motions of a plan, as a folder of C99: source, header, check, CMake."""

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.codegen.c_source import c_array, c_function, c_prototype
from ocp.dynamics.catalogue import AUTO
from ocp.dynamics.formulation_record import Formulation
from ocp.interchange.c_code.plan_folder import plan_files
from ocp.interchange.c_code.tree_functions import PARAMETERS, tree_functions
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import parameters_of
from ocp.solution.solution import Solution
from ocp.solving.plan import Plan
from ocp.storage.atomic_files import write
from ocp.version import VERSION

SEED = 20061  # of the place at which a folder's check compares
REACH = 0.5  # rad, m and their rates: of that place
TOLERANCE = 1e-12  # relative: C libraries differ in the last bits of sines
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def export_c(
    subject: Tree | Plan,
    folder: str | PathLike[str],
    *,
    name: str | None = None,
    formulation: Formulation | str = AUTO,
    former: Solution | None = None,
) -> None:
    """Write the dynamics of a tree, or the motions of a plan, as C99 that needs neither Python nor
    memory of its own.

    Functions take plain pointers; matrices stand column by column. The folder has NAME.c, NAME.h,
    `check.c`, which compares all with the numbers of this program, and CMakeLists.txt. That of a
    plan searches as `plan.solve` does first, takes the Newton steps of `plan.step`, and has a
    program `main` that reads moves.

    Args:
        subject: a robot or body, whose open parameters become a last argument `p`; or a plan.
        folder: for the files, made if it is not there.
        name: with which files and functions begin, by default that of the folder.
        formulation: of a tree's dynamics, or its name; a plan has its own.
        former: Solution from which the steps of a plan begin, by default the plan's.

    Raises:
        ValueError: the name is no word of C, or the tree has states of elements, or stays; the
            plan has phases, free knots, or what `plan.step` refuses.
        SolveError: the plan has no solution.
        OSError: nothing can be written there.
    """
    folder = Path(folder)
    name = folder.name if name is None else name
    if not WORD.fullmatch(name):
        raise ValueError(f"export_c: name: expected a word of C such as 'arm', got {name!r}")
    if isinstance(subject, Plan):
        files = plan_files(subject, former or subject.solve().require(), name)
    else:
        functions = tree_functions(subject, formulation)
        files = {
            f"{name}.c": c_source(name, functions),
            f"{name}.h": c_header(name, functions, _words(subject, functions)),
            "check.c": _check(name, functions, [each.value for each in parameters_of(subject)]),
        }
    files["CMakeLists.txt"] = _cmake(name, [each for each in files if each.endswith(".c")])
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


def _cmake(name: str, sources: Sequence[str]) -> str:
    """Return the text of CMakeLists.txt: a library, its programs, and the check as a test."""
    programs = [each.removesuffix(".c") for each in ("check.c", "main.c") if each in sources]
    library = [each for each in sources if each.removesuffix(".c") not in programs]
    made = "".join(
        f"add_executable({each} {each}.c)\ntarget_link_libraries({each} {name})\n"
        for each in programs
    )
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
if(CMAKE_CROSSCOMPILING)
    option(NATIVE "compile for the processor of this machine" OFF)
else()
    option(NATIVE "compile for the processor of this machine" ON)
endif()
add_library({name} {" ".join(library)})
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(NOT MSVC)
    target_compile_options({name} PRIVATE -ffp-contract=off)
    if(NATIVE)
        target_compile_options({name} PRIVATE -march=native)
    endif()
    target_link_libraries({name} PUBLIC m)
endif()
{made}enable_testing()
add_test(NAME check COMMAND check)
"""
