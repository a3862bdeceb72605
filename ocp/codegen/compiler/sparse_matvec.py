"""Constant sparse matrices times vectors, compiled from C (sums.c) with the matrices as tables.

CasADi's own products copy each matrix first.
"""

from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path

import casadi as ca

from ocp.codegen.compiler.c_tables import casadi_function, table
from ocp.codegen.compiler.shared_library import begin_load
from ocp.codegen.linear_maps import Sums

FLAGS = ("-O2", "-fPIC", "-shared", "-ffp-contract=off", "-fno-strict-aliasing")
TYPE = "struct sum { int rows; const int *starts, *from; const double *weight; };\n"


def compile_sums(functions: Mapping[str, Sums]) -> Callable[[], dict[str, ca.Function]]:
    """Begin to compile functions, and return what waits for them.

    Both raise NoCompiler with the reason if there is no machine code.
    """
    body = resources.files(__package__).joinpath("sums.c").read_text()
    source = "".join([TYPE, body, *(_c_text(name, each) for name, each in functions.items())])

    def load(library: Path) -> dict[str, ca.Function]:
        return {name: ca.external(name, str(library)) for name in functions}

    return begin_load("sums", {"sums.c": source}, load, flags=FLAGS)


def _c_text(name: str, sums: Sums) -> str:
    """Return the C text of a function."""
    tables, calls = [], []
    for part in sums.parts():
        own = f"{name}_{part.name}"
        tables += [
            table(f"{own}_starts", "int", part.starts),
            table(f"{own}_from", "int", part.places),
            table(f"{own}_weight", "double", part.weights),
            f"static const struct sum {own} = {{{part.rows}, {own}_starts, {own}_from, "
            f"{own}_weight}};\n",
        ]
        result = f"res[{part.result}]"
        calls.append(
            f"  if ({result}) add_rows(&{own}, arg[{part.vector}], {int(part.first)}, {result});"
        )
    outputs = [shape for shape, _ in sums.results]
    return "".join([*tables, casadi_function(name, "\n".join(calls), sums.shapes, outputs)])
