"""C text of a scalar graph that is evaluated at several instants at once: every variable holds its
values at these, side by side, as the vector types of GCC and clang do.

Sums and products are those of vectors. Whatever else CasADi writes, as sines and conditions, stays
the same text, in a function that runs it once for every instant: results are the same to the last
bit.
"""

import re
from importlib import resources

import casadi as ca

from ocp.codegen.compiler.statement_folding import (
    Statement,
    count_uses,
    folded_lines,
    parse_body,
    variable_declaration,
)

LANES = 4  # instants at once, as measured: eight need more room than the quickest memory has
LARGEST = 50_000  # variables and results: what a stack has room for
NUMBER = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
ARITHMETIC = re.compile(rf"\((?:a\d+[-+*/]a\d+|-a\d+|{NUMBER}[-+*/]a\d+|a\d+[-+*/]{NUMBER})\)")
SQUARE = re.compile(r"\(casadi_sq\((a\d+)\)\)")
INPUT = re.compile(r"\(arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0\)")
VARIABLE = re.compile(r"\ba\d+\b")
ASSIGNED = re.compile(r"  (a\d+)=(.*);")

TYPES = f"""typedef double lanes __attribute__((vector_size({8 * LANES})));
enum {{ LANES = {LANES} }};
static const lanes none = {{0}};
static inline __attribute__((always_inline)) lanes square(lanes x) {{ return x * x; }}
"""
OPERATION = """static lanes {name}({parameters}) {{
  lanes result;
  for (int k = 0; k < LANES; ++k) {{ {scalars}result[k] = {expression}; }}
  return result;
}}
"""


def vectorize(text: str, function: ca.Function) -> str | None:
    """Return the C text of a scalar `function`, as CasADi generates it, with `mapped` beside it,
    the same at many instants; None where the text reads otherwise, or it is too large.

    The function itself is evaluated as at many instants of which there is one.
    """
    body = parse_body(text)
    if body is None or not _dense(function):
        return None
    sizes = [function.nnz_in(k) for k in range(function.n_in())]
    sizes += [function.nnz_out(k) for k in range(function.n_out())]
    if len({each.target for each in body.statements}) + sum(sizes) > LARGEST:
        return None
    operations: dict[tuple[str, int], str] = {}
    statements = [_at_once(each, operations) for each in body.statements]
    counts = {"INPUTS": function.n_in(), "OUTPUTS": function.n_out(), "ROOM": sum(sizes)}
    tables = (
        f"enum {{ {', '.join(f'{name} = {count}' for name, count in counts.items())} }};\n"
        f"static const int sizes[] = {{{', '.join(map(str, [*sizes, 0]))}}};\n"
    )
    return "".join(
        [
            body.before,
            TYPES,
            *(_operation(name, *what) for what, name in operations.items()),
            _function(statements, function),
            tables,
            resources.files(__package__).joinpath("lanes.c").read_text(),
            body.first,
            "  return over(1, arg, res);\n}\n",
            body.after.partition("}\n")[2],
        ]
    )


def _dense(function):
    """Tell whether all that a function takes and gives are columns without zeros."""
    patterns = [function.sparsity_in(k) for k in range(function.n_in())]
    patterns += [function.sparsity_out(k) for k in range(function.n_out())]
    return all(each.is_dense() and each.is_column() for each in patterns)


def _at_once(statement: Statement, operations: dict) -> Statement:
    """Return a statement of lanes; `operations` {(expression, number of operands): name} gets what
    is neither sum nor product."""
    value = statement.value
    taken, square = INPUT.fullmatch(value), SQUARE.fullmatch(value)
    if taken:
        return statement._replace(value=f"x{taken[1]}[{taken[2]}]")
    if square:
        return statement._replace(value=f"square({square[1]})")
    plain = ARITHMETIC.fullmatch(value) or not statement.operands or not statement.target
    if plain:
        return statement
    names = list(dict.fromkeys(statement.operands))
    places = {name: f"p{k}" for k, name in enumerate(names)}
    expression = VARIABLE.sub(lambda each: places[each[0]], value), len(names)
    name = operations.setdefault(expression, f"operation{len(operations)}")
    return statement._replace(value=f"{name}({', '.join(names)})", operands=names)


def _operation(name, expression, count):
    parameters = ", ".join(f"lanes q{k}" for k in range(count))
    scalars = "".join(f"casadi_real p{k} = q{k}[k]; " for k in range(count))
    return OPERATION.format(
        name=name, parameters=parameters, scalars=scalars, expression=expression
    )


def _function(statements, function):
    """Return the C function of all operations."""
    names = [f"  const lanes *x{k} = inputs[{k}];" for k in range(function.n_in())]
    names += [f"  lanes *r{k} = results[{k}];" for k in range(function.n_out())]
    lines = map(_spread, folded_lines(statements, _counted(statements)))
    head = "static void at_once(const lanes *const *inputs, lanes *const *results) {"
    return "\n".join([head, *names, *variable_declaration(statements, "lanes"), *lines, "}\n"])


def _counted(statements):
    """Return how often values are used; a number more than once unless in sums and products, as
    only there it may stand for lanes."""
    counts, latest = count_uses(statements), {}
    for number, each in enumerate(statements):
        if not (each.target and (ARITHMETIC.fullmatch(each.value) or not each.operands)):
            for name in each.operands:
                counts[latest[name]] += not statements[latest[name]].operands
        if each.target:
            latest[each.target] = number
    return counts


def _spread(line):
    """Return a line that gives a variable the same number at all instants, where it gives one."""
    given = ASSIGNED.fullmatch(line)
    number = given and not VARIABLE.search(given[2]) and "x" not in given[2]
    return f"  {given[1]}={given[2]}-none;" if number else line
