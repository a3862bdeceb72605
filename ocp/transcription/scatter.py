"""Products of kernels' values put in their places by machine code: C of ours (scatter.c), with the
numbers and places of a program as its tables."""

from importlib import resources

import casadi as ca
import numpy as np

from ocp.solvers.machine_code import load_compiled
from ocp.transcription.products import Product

FLAGS = ("-O3", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math")
WIDE = 32  # pairs that the C takes at once

TYPES = """struct entry { int input, nonzero, place; };
struct product {
  int pairs, stride, slots, last, runs, longest, entries;
  const int *starts; const struct entry *entry; const double *weight; const int *where;
};
"""
ENDS = """
int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{
  if (!res[0]) return 0;
  for (long k = 0; k < {count}; ++k) res[0][k] = 0;
  for (int k = 0; k < {products}; ++k) add(products + k, arg, w, res[0]);
  return 0;
}}
long long {name}_n_in(void) {{ return {inputs}; }}
long long {name}_n_out(void) {{ return 1; }}
static const long long shapes[][3] = {{{shapes}}};
const long long *{name}_sparsity_in(long long i) {{ return shapes[i]; }}
const long long *{name}_sparsity_out(long long i) {{ return shapes[{inputs}]; }}
int {name}_work(long long *arg, long long *res, long long *iw, long long *w) {{
  *arg = {inputs}, *res = 1, *iw = 0, *w = {work};
  return 0;
}}
"""


def scattered(given, wheres, count: int) -> ca.MX:
    """Return the nonzeros (count,) of a sum of products, ((products, values), ...), that go to the
    places `wheres` (runs, K, pairs) of each product among them, -1 for nowhere.

    Raises NoCompiler with the reason if machine code cannot be had.
    """
    values = [value for _, every in given for value in every]
    source = _source(given, wheres, count, values)
    function = load_compiled(
        "scatter",
        {"scatter.c": source},
        lambda library: ca.external("scatter", str(library)),
        flags=FLAGS,
    )
    return function(*values)


def _source(given, wheres, count, values):
    """Return the C text."""
    tables, products, work, first, rest = [], [], 0, 0, iter(wheres)
    for each, own in given:
        sizes = np.array([value.shape[0] for value in own])
        for product in each:
            number, stride = len(products), -(-product.shape[0] // WIDE) * WIDE
            tables.append(_tables(number, product, stride, sizes, first, next(rest)))
            (pairs, slots), last = product.shape, product.weight.shape[2]
            longest = max(end - start for start, end in product.runs)
            work = max(work, stride * (slots * longest + last))
            parts = pairs, stride, slots, last, len(product.runs), longest, len(product.place)
            names = f"starts{number}", f"entry{number}", f"weight{number}", f"where{number}"
            products.append("{" + ", ".join([*map(str, parts), *names]) + "}")
        first += len(own)
    nonzeros = ", ".join(str(value.shape[0]) for value in values)
    shapes = [
        *(f"{{{value.shape[0]}, {value.shape[1]}, 1}}" for value in values),
        f"{{{count}, 1, 1}}",
    ]
    ends = {"count": count, "products": len(products), "inputs": len(values), "work": work}
    body = resources.files(__package__).joinpath("scatter.c").read_text()
    return "".join(
        [
            TYPES,
            *tables,
            f"enum {{ INPUTS = {len(values)} }};\nstatic const int nonzeros[] = {{{nonzeros}}};\n",
            f"static const struct product products[] = {{{', '.join(products)}}};\n",
            body,
            ENDS.format(name="scatter", shapes=", ".join(shapes), **ends),
        ]
    )


def _tables(number: int, product: Product, stride: int, sizes, first: int, where) -> str:
    """Return the tables of a product: where its runs start, what goes to which place of its blocks,
    of which of the values from the `first` on, its weights, and where results go."""
    ends = np.cumsum(sizes)
    own = np.searchsorted(ends, product.nonzero, side="right")
    slot, pair = np.divmod(product.place, product.shape[0])
    entry = [own + first, product.nonzero - (ends - sizes)[own], slot * stride + pair]
    starts = [start for start, _ in product.runs]
    last = product.weight.shape[2]
    weights = [
        product.weight[start:end].reshape(-1, last).ravel(order="F") for start, end in product.runs
    ]
    parts = {
        f"int starts{number}": [*starts, product.runs[-1][1]],
        f"struct entry entry{number}": np.transpose(entry).ravel(),
        f"double weight{number}": np.concatenate(weights),
        f"int where{number}": np.ravel(where),
    }
    listed = {name: ",".join(map(repr, np.asarray(part).tolist())) for name, part in parts.items()}
    return "".join(f"static const {name}[] = {{{text}}};\n" for name, text in listed.items())
