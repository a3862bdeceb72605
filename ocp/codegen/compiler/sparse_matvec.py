"""Constant sparse matrices times vectors as machine code: C of ours (sums.c), with the numbers and
places of a program as its tables. CasADi's own products copy each matrix first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.codegen.compiler.c_tables import table
from ocp.codegen.compiler.shared_library import begin_load

FLAGS = ("-O2", "-fPIC", "-shared", "-ffp-contract=off", "-fno-strict-aliasing")
TYPE = "struct sum { int rows; const int *starts, *from; const double *weight; };\n"
FUNCTION = """
int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{
{calls}
  return 0;
}}
long long {name}_n_in(void) {{ return {inputs}; }}
long long {name}_n_out(void) {{ return {outputs}; }}
static const long long {name}_shapes[][3] = {{{shapes}}};
const long long *{name}_sparsity_in(long long i) {{ return {name}_shapes[i]; }}
const long long *{name}_sparsity_out(long long i) {{ return {name}_shapes[{inputs} + i]; }}
"""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sums:
    """A function of matrices of given `shapes`; each of its `results`, (shape, parts), is the sum
    of parts, (number of a matrix, constant matrix that its entries are multiplied by)."""

    shapes: Sequence[tuple[int, int]]
    results: Sequence[tuple[tuple[int, int], Sequence[tuple[int, ca.DM]]]]

    def __repr__(self) -> str:
        return f"Sums({len(self.results)} of {len(self.shapes)})"


def compile_sums(functions: Mapping[str, Sums]) -> Callable[[], dict[str, ca.Function]]:
    """Begin to compile functions, and return what waits for them.

    Both raise NoCompiler with the reason if machine code cannot be had.
    """
    body = resources.files(__package__).joinpath("sums.c").read_text()
    source = "".join([TYPE, body, *(_text(name, each) for name, each in functions.items())])

    def load(library: Path) -> dict[str, ca.Function]:
        return {name: ca.external(name, str(library)) for name in functions}

    return begin_load("sums", {"sums.c": source}, load, flags=FLAGS)


def _text(name, sums):
    """Return the C text of a function."""
    tables, calls = [], []
    for number, (_, parts) in enumerate(sums.results):
        for place, (vector, matrix) in enumerate(parts):
            own = f"{name}_{number}_{place}"
            across = matrix.T
            pattern = across.sparsity()
            tables += [
                table(f"{own}_starts", "int", pattern.colind()),
                table(f"{own}_from", "int", pattern.row()),
                table(f"{own}_weight", "double", np.array(across.nonzeros())),
                f"static const struct sum {own} = {{{matrix.shape[0]}, {own}_starts, {own}_from, "
                f"{own}_weight}};\n",
            ]
            first = int(place == 0)
            calls.append(
                f"  if (res[{number}]) summed(&{own}, arg[{vector}], {first}, res[{number}]);"
            )
    shapes = [*sums.shapes, *(shape for shape, _ in sums.results)]
    written = ", ".join(f"{{{rows}, {columns}, 1}}" for rows, columns in shapes)
    ends = FUNCTION.format(
        name=name,
        calls="\n".join(calls),
        inputs=len(sums.shapes),
        outputs=len(sums.results),
        shapes=written,
    )
    return "".join([*tables, ends])
