"""Scattered products of blocks, compiled from C (scatter.c) with their numbers as tables."""

from collections.abc import Callable, Sequence
from importlib import resources

import casadi as ca
import numpy as np

from ocp.codegen.compiler.c_tables import casadi_function, table
from ocp.codegen.compiler.shared_library import begin_load
from ocp.codegen.linear_maps import BlockProduct, Given, are_disjoint, block_products

# Without these a compiler makes no vectors of the sums
FREE = "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing"
FLAGS = ("-O3", "-fPIC", "-shared", *FREE)
WIDE = 32  # pairs that the C takes at once
NAME = "scatter"
TYPES = """struct entry { int input, nonzero, place; };
struct stretch { int from, to, length; };
struct product {
  int stride, slots, last, runs, longest, entries, alone;
  const int *starts; const struct entry *entry; const double *weight;
  const int *ends; const struct stretch *stretch;
};
"""
BODY = """  if (!res[0]) return 0;
  if (!ONCE)
    for (long k = 0; k < {count}; ++k) res[0][k] = 0;
  for (int k = 0; k < {products}; ++k) add(products + k, arg, w, res[0]);"""


def compile_scatter(
    given: Given, targets: Sequence[np.ndarray], count: int
) -> Callable[[], ca.Function]:
    """Begin to compile the sum of scattered products, and return what waits for it.

    Both raise NoCompiler with the reason if there is no machine code.

    Args:
        given: products, and the shapes of the values that they multiply.
        targets: nonzeros (runs, K, pairs) that results of each product go to, -1 for nowhere.
        count: nonzeros of the result.

    Returns:
        A function that returns the CasADi function (values, ...) -> (count, 1).
    """
    return begin_load(
        NAME,
        {"scatter.c": _c_text(given, targets, count)},
        lambda library: ca.external(NAME, str(library)),
        flags=FLAGS,
    )


def _c_text(given: Given, targets: Sequence[np.ndarray], count: int) -> str:
    shapes = [shape for _, every in given for shape in every]
    products = block_products(given, targets, WIDE)
    work = max(each.stride * (each.product.shape[1] * each.longest + each.columns)
               for each in products)  # fmt: skip
    nonzeros = ", ".join(str(rows) for rows, _ in shapes)
    records = ", ".join(_record(number, each) for number, each in enumerate(products))
    return "".join(
        [
            TYPES,
            *(_tables(number, each) for number, each in enumerate(products)),
            f"enum {{ INPUTS = {len(shapes)}, ONCE = {int(are_disjoint(targets, count))} }};\n",
            f"static const int nonzeros[] = {{{nonzeros}}};\n",
            f"static const struct product products[] = {{{records}}};\n",
            resources.files(__package__).joinpath("scatter.c").read_text(),
            casadi_function(
                NAME, BODY.format(count=count, products=len(products)), shapes, [(count, 1)], work
            ),
        ]
    )


def _record(number: int, each: BlockProduct) -> str:
    """Return the C initializer of a product."""
    sizes = each.stride, each.product.shape[1], each.columns, len(each.product.runs), each.longest
    counts = len(each.first), int(each.first.sum())
    entries = f"(const struct entry *)entry{number}"
    stretches = f"(const struct stretch *)stretch{number}"
    names = f"starts{number}", entries, f"weight{number}", f"ends{number}", stretches
    return "{" + ", ".join([*map(str, (*sizes, *counts)), *names]) + "}"


def _tables(number: int, each: BlockProduct) -> str:
    """Return the C tables of a product; entries that are copied come before those added."""
    product = each.product
    order = np.argsort(~each.first, kind="stable")
    entries = np.column_stack([each.source, each.entry, each.place])[order]
    starts = [start for start, _ in product.runs]
    weights = [
        product.weight[start:end].reshape(-1, each.columns).ravel(order="F")
        for start, end in product.runs
    ]
    return "".join(
        [
            table(f"starts{number}", "int", [*starts, product.runs[-1][1]]),
            table(f"entry{number}", "int", entries.ravel()),
            table(f"weight{number}", "double", np.concatenate(weights)),
            table(f"ends{number}", "int", each.ends),
            table(f"stretch{number}", "int", each.stretches.ravel()),
        ]
    )
