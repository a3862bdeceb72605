"""Products of kernels' values put in their places by machine code: C of ours (scatter.c), with the
numbers and places of a program as its tables."""

from collections.abc import Callable
from importlib import resources

import casadi as ca
import numpy as np

from ocp.codegen.block_product import Product
from ocp.codegen.compiler.c_tables import table
from ocp.codegen.compiler.shared_library import begin_load
from ocp.index_sets import distinct

FREE = "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing"
FLAGS = ("-O3", "-fPIC", "-shared", *FREE)
WIDE = 32  # pairs that the C takes at once

TYPES = """struct entry { int input, nonzero, place; };
struct stretch { int from, to, length; };
struct product {
  int stride, slots, last, runs, longest, entries, alone;
  const int *starts; const struct entry *entry; const double *weight;
  const int *ends; const struct stretch *stretch;
};
"""
ENDS = """
int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{
  if (!res[0]) return 0;
  if (!ONCE)
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


def compile_scatter(given, wheres, count: int) -> Callable[[], ca.Function]:
    """Begin to compile the function (values, ...) -> the nonzeros (count,) of a sum of products,
    ((products, shapes of the values), ...), that go to the places `wheres` (runs, K, pairs) of each
    product among them, -1 for nowhere; return what waits for it.

    Both raise NoCompiler with the reason if machine code cannot be had.
    """
    shapes = [shape for _, every in given for shape in every]
    return begin_load(
        "scatter",
        {"scatter.c": _source(given, wheres, count, shapes)},
        lambda library: ca.external("scatter", str(library)),
        flags=FLAGS,
    )


def _source(given, wheres, count, shapes):
    """Return the C text."""
    tables, products, work, first, rest = [], [], 0, 0, iter(wheres)
    for each, own in given:
        sizes = np.array([rows for rows, _ in own])
        for product in each:
            number, stride = len(products), -(-product.shape[0] // WIDE) * WIDE
            alone = len(distinct(product.place)[0])
            tables.append(_tables(number, product, stride, sizes, first, next(rest)))
            slots, last = product.shape[1], product.weight.shape[2]
            longest = max(end - start for start, end in product.runs)
            work = max(work, stride * (slots * longest + last))
            parts = stride, slots, last, len(product.runs), longest, len(product.place), alone
            entries = f"(const struct entry *)entry{number}"
            stretches = f"(const struct stretch *)stretch{number}"
            names = f"starts{number}", entries, f"weight{number}", f"ends{number}", stretches
            products.append("{" + ", ".join([*map(str, parts), *names]) + "}")
        first += len(own)
    every = np.concatenate([np.ravel(each) for each in wheres])
    once = np.count_nonzero(every >= 0) == count  # no two of them go to the same place
    nonzeros = ", ".join(str(rows) for rows, _ in shapes)
    written = [f"{{{rows}, {columns}, 1}}" for rows, columns in (*shapes, (count, 1))]
    ends = {"count": count, "products": len(products), "inputs": len(shapes), "work": work}
    body = resources.files(__package__).joinpath("scatter.c").read_text()
    return "".join(
        [
            TYPES,
            *tables,
            f"enum {{ INPUTS = {len(shapes)}, ONCE = {int(once)} }};\n",
            f"static const int nonzeros[] = {{{nonzeros}}};\n",
            f"static const struct product products[] = {{{', '.join(products)}}};\n",
            body,
            ENDS.format(name="scatter", shapes=", ".join(written), **ends),
        ]
    )


def _tables(number: int, product: Product, stride: int, sizes, first: int, where) -> str:
    """Return the tables of a product: where its runs start, what goes to which place of its blocks,
    of which of the values from the `first` on, its weights, and where results go."""
    ends = np.cumsum(sizes)
    own = np.searchsorted(ends, product.nonzero, side="right")
    slot, pair = np.divmod(product.place, product.shape[0])
    entry = np.array([own + first, product.nonzero - (ends - sizes)[own], slot * stride + pair])
    alone = np.unique(product.place, return_index=True)[1]
    more = np.setdiff1d(np.arange(len(product.place)), alone)
    entry = entry[:, np.append(alone, more)]
    run, stretch = stretches_of(where, stride)
    starts = [start for start, _ in product.runs]
    last = product.weight.shape[2]
    weights = [
        product.weight[start:end].reshape(-1, last).ravel(order="F") for start, end in product.runs
    ]
    return "".join(
        [
            table(f"starts{number}", "int", [*starts, product.runs[-1][1]]),
            table(f"entry{number}", "int", np.transpose(entry).ravel()),
            table(f"weight{number}", "double", np.concatenate(weights)),
            table(f"ends{number}", "int", np.searchsorted(run, np.arange(len(where) + 1))),
            table(f"stretch{number}", "int", stretch.ravel()),
        ]
    )


def stretches_of(where, stride):
    """Return the runs of stretches (n,), and (place among a run's results, place that it goes to,
    length) of each, (n, 3): results that stand side by side, and go to neighbouring places."""
    there = where >= 0
    on = there[..., 1:] & there[..., :-1] & (where[..., 1:] == where[..., :-1] + 1)
    begin, end = there.copy(), there.copy()
    begin[..., 1:] &= ~on
    end[..., :-1] &= ~on
    run, column, pair = np.nonzero(begin)
    length = np.nonzero(end)[2] - pair + 1
    return run, np.transpose([column * stride + pair, where[begin], length])
