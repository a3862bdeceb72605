"""C99 source of scalar graphs: functions of plain pointers that need no CasADi and no memory.

A function is one row of constants `v0`, `v1`, ... in the order of the graph, so its results are
those of CasADi's virtual machine to the last bit where the compiler fuses no operations
(`-ffp-contract=off`) and the C library is the same.
"""

import math
import re
from collections.abc import Mapping, Sequence

import casadi as ca

from ocp.codegen.assembler.casadi_reader import read_instructions

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORDS = """auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while"""
RESERVED = frozenset(WORDS.split())
OF_ONE = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log expm1 log1p sqrt
fabs floor ceil erf"""
OF_TWO = "pow fmod atan2 hypot copysign fmin fmax"
EXPRESSIONS: Mapping[int, str] = {
    **{getattr(ca, f"OP_{name.upper()}"): f"{name}({{0}})" for name in OF_ONE.split()},
    **{getattr(ca, f"OP_{name.upper()}"): f"{name}({{0}}, {{1}})" for name in OF_TWO.split()},
    ca.OP_CONSTPOW: "pow({0}, {1})",
    ca.OP_ASSIGN: "{0}",
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2.0 * {0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_LT: "({0} < {1}) ? 1.0 : 0.0",
    ca.OP_LE: "({0} <= {1}) ? 1.0 : 0.0",
    ca.OP_EQ: "({0} == {1}) ? 1.0 : 0.0",
    ca.OP_NE: "({0} != {1}) ? 1.0 : 0.0",
    ca.OP_NOT: "({0} == 0.0) ? 1.0 : 0.0",
    ca.OP_AND: "({0} != 0.0 && {1} != 0.0) ? 1.0 : 0.0",
    ca.OP_OR: "({0} != 0.0 || {1} != 0.0) ? 1.0 : 0.0",
    ca.OP_IF_ELSE_ZERO: "({0} != 0.0) ? {1} : 0.0",
    ca.OP_SIGN: "({0} < 0.0) ? -1.0 : (({0} > 0.0) ? 1.0 : {0})",
}


def c_prototype(function: ca.Function, name: str) -> str:
    """Return the C declaration of a function, without its last sign.

    Args:
        function: a CasADi function; its arguments' names are those of the pointers.
        name: that the function has in C.

    Raises:
        ValueError: a name is none of C.
    """
    inputs, outputs = function.name_in(), function.name_out()
    for each in (name, *inputs, *outputs):
        if not NAME.fullmatch(each) or each in RESERVED:
            raise ValueError(f"{each!r} is no name of a C function or pointer")
    pointers = [f"const double *{each}" for each in inputs]
    pointers += [f"double *{each}" for each in outputs]
    return f"void {name}({', '.join(pointers)})"


def c_function(function: ca.Function, name: str) -> str:
    """Return the C99 definition of a scalar function whose inputs and outputs are dense.

    Args:
        function: of SX expressions; entries of matrices are counted column by column.
        name: that the function has in C.

    Raises:
        ValueError: a name is none of C, an input or output is sparse, or an operation has no word
            in C99.
    """
    inputs, outputs = function.name_in(), function.name_out()
    for k, each in enumerate((*inputs, *outputs)):
        shape = (
            function.sparsity_in(k) if k < len(inputs) else function.sparsity_out(k - len(inputs))
        )
        if not shape.is_dense():
            raise ValueError(f"{name}: {each} is sparse; C functions take dense matrices")
    instructions = read_instructions(function)
    lines: list[str] = []
    held: dict[int, str] = {}  # the value that each place of CasADi's memory holds
    named: set[str] = set()
    columns = (column.tolist() for column in instructions)
    for k, (operation, place, first, second, constant) in enumerate(zip(*columns)):
        if operation == ca.OP_OUTPUT:
            lines.append(f"{outputs[place]}[{second}] = {held[first]};")
            named.add(outputs[place])
            continue
        if operation == ca.OP_INPUT:
            text = f"{inputs[first]}[{second}]"
            named.add(inputs[first])
        elif operation == ca.OP_CONST:
            text = c_number(constant)
        elif operation in EXPRESSIONS:
            text = EXPRESSIONS[operation].format(held[first], held[second])
        else:
            raise ValueError(f"{name}: operation {operation} of CasADi has no word in C99")
        held[place] = f"v{k}"
        lines.append(f"const double v{k} = {text};")
    lines += [f"(void){each};" for each in (*inputs, *outputs) if each not in named]
    body = "".join(f"    {line}\n" for line in lines)
    return f"{c_prototype(function, name)} {{\n{body}}}\n"


def casadi_source(functions: Mapping[str, ca.Function], name: str) -> str:
    """Return the C text of functions of any kind as CasADi writes it, for whole numbers of `int`.

    Args:
        functions: by what stands in their names behind `name` and a line.
        name: with which the names begin.
    """
    generator = ca.CodeGenerator(f"{name}_functions", {"casadi_int": "int"})
    for key, function in functions.items():
        symbols = [ca.MX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
        generator.add(ca.Function(f"{name}_{key}", symbols, function.call(symbols, True, False)))
    return str(generator.dump())


def with_dense_outputs(function: ca.Function, outputs: Sequence[int]) -> ca.Function:
    """Return a function of which these outputs are dense.

    Args:
        function: a CasADi function.
        outputs: their numbers.
    """
    symbols = [ca.MX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    results = function.call(symbols)
    for k in outputs:
        results[k] = ca.densify(results[k])
    return ca.Function(function.name(), symbols, results)


def c_number(value: float) -> str:
    """Return a number as a C constant that reads back the same."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return (
        repr(float(value)) if value >= 0 and math.copysign(1, value) > 0 else f"({float(value)!r})"
    )


def c_array(name: str, values: Sequence[float]) -> str:
    """Return the definition of a constant array, of one zero where there are no values."""
    numbers = ", ".join(map(c_number, values)) or "0.0"
    return f"static const double {name}[] = {{{numbers}}};\n"
