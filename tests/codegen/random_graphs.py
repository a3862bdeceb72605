"""Random scalar graphs, and their bits: a program tells how many have those of CasADi."""

import sys
from functools import cache

import casadi as ca
import numpy as np

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan]
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "and": ca.logic_and,
    "or": ca.logic_or,
    "if": lambda x, y: ca.if_else(x, y, 0),
    "pow": lambda x, y: x**y,
    "fmod": ca.fmod,
    "atan2": ca.atan2,
    "hypot": ca.hypot,
    "fmin": ca.fmin,
    "fmax": ca.fmax,
    "copysign": ca.copysign,
}
UNARY = {
    "neg": lambda x: -x,
    "sq": lambda x: x * x,
    "twice": lambda x: 2 * x,
    "inv": lambda x: 1 / x,
    "not": ca.logic_not,
    **{
        name: getattr(ca, name)
        for name in (
            *("sqrt", "fabs", "sign", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
            *("tanh", "asinh", "acosh", "atanh", "exp", "log", "expm1", "log1p", "floor", "ceil"),
            "erf",
        )
    },
}
# Operations whose results every C library and processor have alike (unlike the sign of no number)
EXACT = ("fabs", "sign", "neg", "sq", "twice", "inv", "floor", "ceil", "not", "sqrt")
EXACT_OF_TWO = (
    *("add", "sub", "sub", "mul", "mul", "div", "le", "lt", "eq", "ne", "and", "or", "if"),
    "fmod",
)


def bits(values) -> list[np.ndarray]:
    """Numbers as their bits, all NaNs alike."""
    arrays = [np.array(each, dtype=float) for each in values]
    return [np.where(np.isnan(each), np.nan, each).view(np.int64) for each in arrays]


def same(one, other) -> bool:
    return all(np.array_equal(*each) for each in zip(bits(one), bits(other)))


@cache
def drawn(seed: int, size: int = 500) -> ca.Function:
    """A random graph whose instructions stay in the order in which they are drawn, of operands near
    and far."""
    one_of = ["sin", "cos", "tanh", "atan", "fabs", "sign", "neg", "sq", "twice", "inv"]
    two_of = ["add", "sub", "sub", "mul", "mul", "div", "le", "if", "fmin", "atan2"]
    one_of, two_of = (one_of, two_of) if seed % 3 == 0 else (one_of[:4], two_of[:5])
    numbers = np.random.default_rng(seed)

    def kind() -> str:
        number = numbers.random()
        if number < 0.12:
            return str(numbers.choice(one_of[: 4 if seed % 3 else None]))
        return str(numbers.choice(two_of if number < 0.25 and seed % 3 == 0 else two_of[:5]))

    return graph(numbers, size, kind)


def graph(numbers, size, kind) -> ca.Function:
    """A random graph of as many operations, each of a `kind` that is drawn."""
    x, y = ca.SX.sym("x", 7), ca.SX.sym("y", 3)
    made = [*ca.vertsplit(x), *ca.vertsplit(y), ca.SX(0.7), ca.SX(-1.3)]
    for _ in range(size):
        one, other = (
            made[-numbers.integers(1, min(24, len(made)))]
            if numbers.random() < 0.8
            else made[numbers.integers(len(made))]
            for _ in range(2)
        )
        name = kind()
        made.append(UNARY[name](one) if name in UNARY else BINARY[name](one, other))
    outputs = ca.vertcat(*made[12:], made[0], made[-5], 3.5), ca.vertcat(*made[40:90:3])
    return ca.Function("drawn", [x, y], outputs)


def exact(seed: int) -> ca.Function:
    """A random graph of EXACT operations; one in fifty has more memory than short offsets reach."""
    numbers = np.random.default_rng(seed)
    return graph(
        numbers,
        200 if seed % 50 else 2500,
        lambda: str(numbers.choice(EXACT if numbers.random() < 0.3 else EXACT_OF_TWO)),
    )


def inputs_of(seed: int, count: int) -> list[np.ndarray]:
    """Inputs of a random graph at many instants, some of them special numbers."""
    numbers = np.random.default_rng(seed)
    found = [numbers.normal(size=(size, count)) for size in (7, 3)]
    found[0][numbers.integers(7), numbers.integers(count)] = numbers.choice(SPECIAL)
    return found


def count_same(count: int) -> int:
    """Return how many of so many random graphs have the bits of CasADi's virtual machine."""
    from ocp.codegen.assembler import assemble_map

    total = 0
    for seed in range(count):
        function, instants = drawn(seed), 1 + seed % 9
        inputs = inputs_of(seed, instants)
        made = assemble_map(function, instants)
        total += same(made.call(inputs), function.map(instants).call(inputs))
    return total


if __name__ == "__main__":
    from ocp.codegen.assembler import new_code

    print(new_code().name, count_same(int(sys.argv[1])))
