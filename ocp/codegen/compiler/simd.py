"""C text of a scalar graph that evaluates several instants at once, as vectors.

Every variable holds its values at LANES instants side by side, in the vector types of GCC and
clang. Sums and products are those of vectors. All else, as sines and conditions, keeps CasADi's
text in a function that runs it once for every instant: results have the same bits.
"""

import re
from collections.abc import Sequence
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
    """Return C text that CasADi generated for a scalar function, as vectors.

    The library also exports `mapped`, the same at many instants; the function itself is evaluated
    as at many of which there is one. None if the text is not as expected or too large.
    """
    body = parse_body(text)
    patterns = [function.sparsity_in(k) for k in range(function.n_in())]
    patterns += [function.sparsity_out(k) for k in range(function.n_out())]
    if body is None or not all(each.is_dense() and each.is_column() for each in patterns):
        return None
    sizes = [each.nnz() for each in patterns]
    if len({each.target for each in body.statements}) + sum(sizes) > LARGEST:
        return None
    operations: dict[tuple[str, int], str] = {}
    statements = [_vector_statement(each, operations) for each in body.statements]
    counts = {"INPUTS": function.n_in(), "OUTPUTS": function.n_out(), "ROOM": sum(sizes)}
    tables = (
        f"enum {{ {', '.join(f'{name} = {count}' for name, count in counts.items())} }};\n"
        f"static const int sizes[] = {{{', '.join(map(str, [*sizes, 0]))}}};\n"
    )
    return "".join(
        [
            body.before,
            TYPES,
            *(_operation(name, *each) for each, name in operations.items()),
            _vector_function(statements, function),
            tables,
            resources.files(__package__).joinpath("lanes.c").read_text(),
            body.first,
            "  return evaluate_instants(1, arg, res);\n}\n",
            body.after.partition("}\n")[2],
        ]
    )


def _vector_statement(statement: Statement, operations: dict[tuple[str, int], str]) -> Statement:
    """Return a statement of vectors.

    `operations` {(expression, number of operands): name} gets all that is neither sum nor product.
    """
    value = statement.value
    input_, square = INPUT.fullmatch(value), SQUARE.fullmatch(value)
    if input_:
        return statement._replace(value=f"x{input_[1]}[{input_[2]}]")
    if square:
        return statement._replace(value=f"square({square[1]})")
    if ARITHMETIC.fullmatch(value) or not statement.operands or not statement.target:
        return statement
    names = list(dict.fromkeys(statement.operands))
    places = {name: f"p{k}" for k, name in enumerate(names)}
    expression = VARIABLE.sub(lambda each: places[each[0]], value), len(names)
    name = operations.setdefault(expression, f"operation{len(operations)}")
    return statement._replace(value=f"{name}({', '.join(names)})", operands=names)


def _operation(name: str, expression: str, count: int) -> str:
    """Return the C function of an operation that runs once for every instant."""
    parameters = ", ".join(f"lanes q{k}" for k in range(count))
    scalars = "".join(f"casadi_real p{k} = q{k}[k]; " for k in range(count))
    return OPERATION.format(
        name=name, parameters=parameters, scalars=scalars, expression=expression
    )


def _vector_function(statements: Sequence[Statement], function: ca.Function) -> str:
    """Return the C function of all statements."""
    names = [f"  const lanes *x{k} = inputs[{k}];" for k in range(function.n_in())]
    names += [f"  lanes *r{k} = results[{k}];" for k in range(function.n_out())]
    lines = map(_spread_number, folded_lines(statements, _count_vector_uses(statements)))
    head = "static void at_once(const lanes *const *inputs, lanes *const *results) {"
    return "\n".join([head, *names, *variable_declaration(statements, "lanes"), *lines, "}\n"])


def _count_vector_uses(statements: Sequence[Statement]) -> list[int]:
    """Return the number of uses of each value.

    A number counts twice outside of sums and products, since only there it may stand for a vector.
    """
    counts = count_uses(statements)
    latest: dict[str, int] = {}
    for number, each in enumerate(statements):
        if not (each.target and (ARITHMETIC.fullmatch(each.value) or not each.operands)):
            for name in each.operands:
                counts[latest[name]] += not statements[latest[name]].operands
        if each.target:
            latest[each.target] = number
    return counts


def _spread_number(line: str) -> str:
    """Return an assignment of a number as one of a vector; other lines unchanged."""
    given = ASSIGNED.fullmatch(line)
    if given is None or VARIABLE.search(given[2]) or "x" in given[2]:
        return line
    return f"  {given[1]}={given[2]}-none;"
