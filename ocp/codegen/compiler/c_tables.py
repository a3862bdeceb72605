"""C text of constant tables and of CasADi's interface to a function of dense matrices.

Tables are written as strings, which a compiler reads ten times sooner than numbers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

LETTERS = tuple(f"\\{byte:03o}" for byte in range(256))
LINE = 1000  # bytes on a line of text
TABLE = """static const union {{ char bytes[{size}]; double aligned; }} {name}_bytes = {{
{text}}};
#define {name} ((const {kind} *)(const void *){name}_bytes.bytes)
"""
FUNCTION = """
int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{
{body}
  return 0;
}}
long long {name}_n_in(void) {{ return {inputs}; }}
long long {name}_n_out(void) {{ return {outputs}; }}
static const long long {name}_shapes[][3] = {{{shapes}}};
const long long *{name}_sparsity_in(long long i) {{ return {name}_shapes[i]; }}
const long long *{name}_sparsity_out(long long i) {{ return {name}_shapes[{inputs} + i]; }}
int {name}_work(long long *arg, long long *res, long long *iw, long long *w) {{
  *arg = {inputs}, *res = {outputs}, *iw = 0, *w = {work};
  return 0;
}}
"""
KINDS = {"int": np.int32, "double": np.float64}


def table(name: str, kind: str, values: ArrayLike) -> str:
    """Return C text that makes `name` a pointer to `values`, "int" or "double" ones."""
    data = np.ascontiguousarray(values, dtype=KINDS[kind]).tobytes()
    lines = [data[k : k + LINE] for k in range(0, len(data), LINE)] or [b""]
    text = "".join(f'"{"".join(map(LETTERS.__getitem__, line))}"\n' for line in lines)
    return TABLE.format(size=len(data) + 1, name=name, text=text, kind=kind)


def casadi_function(
    name: str,
    body: str,
    inputs: Sequence[tuple[int, int]],
    outputs: Sequence[tuple[int, int]],
    work: int = 0,
) -> str:
    """Return the C text of a function that CasADi can load.

    Args:
        name: of the function.
        body: statements, of the arrays arg, res and w.
        inputs, outputs: shapes of the dense matrices.
        work: numbers that it uses at w.
    """
    shapes = ", ".join(f"{{{rows}, {columns}, 1}}" for rows, columns in (*inputs, *outputs))
    counts = {"inputs": len(inputs), "outputs": len(outputs), "work": work}
    return FUNCTION.format(name=name, body=body, shapes=shapes, **counts)
