"""The nonlinear program of all blocks of rows and of the objective's terms, with its sparse
derivatives.

All instants of a block together are Y = M x, constant M holding the spline bases, so derivatives
over x are J M and the sum of M' H M, with J and H those of kernels. M is dense in blocks of few
inputs and few variables (`units`): their products are those of small dense matrices, and go to
their places by lists of these. The solver is given all that; letting it differentiate the mapped
graph costs many times more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import cast

import casadi as ca
import numpy as np

from ocp.codegen.function_map import map_function
from ocp.mechanics.values.parameters import Parameter, is_open, matrix, parameters_of
from ocp.mechanics.values.types import Matrix
from ocp.motion.free_knots import Moving, locate
from ocp.problem.objectives import SQUARED, Term
from ocp.solvers.nlp import NLP, Option, Values
from ocp.transcription.assembly.chain_rule_products import Block, curvatures, slopes, units_of
from ocp.transcription.assembly.scatter_gather import (
    MULTIPLIERS,
    VALUES,
    GatheredInputs,
    Gathering,
    Library,
    matrix_of,
    same_inputs,
    scatter_products,
    spread_matrix,
)
from ocp.transcription.constraint_rows import Group
from ocp.transcription.kernels.kernel_backends import VIRTUAL, KernelBackend
from ocp.transcription.kernels.user_functions import call_user_function, kernel_of
from ocp.transcription.problem_symbols import Program
from ocp.transcription.variables.layout import Layout


def assemble(
    blocks: Sequence[Block], variables: int, rows: int, library: Library | None = None
) -> tuple[Callable[[GatheredInputs], ca.MX], Callable[[GatheredInputs], ca.MX]]:
    """Return (values, jacobian) over all blocks as functions of what is Taken of x: MX (rows,), and
    MX (rows, variables) sparse, which a `library` of machine code may put in place (`placed`)."""

    def values(taken: GatheredInputs) -> ca.MX:
        together = taken.of(blocks[0]) if blocks else None
        summed = together.function(VALUES) if together else None
        if summed is not None:
            return summed(*(_values(block, taken) for block in blocks))
        total = ca.MX(rows, 1)
        for block in blocks:
            total += spread_matrix(block, rows) @ ca.vec(_values(block, taken))
        return ca.densify(total)

    @cache
    def scatter_function() -> Callable[[Sequence], ca.MX]:
        digests = ["slopes", *(block.digest for block in blocks)] if library else ()
        return scatter_products(
            lambda: [
                (
                    list(slopes(block, units_of(block.matrix, block.kernel.width))),
                    [(len(block.kernel.columns), len(block.s))],
                )
                for block in blocks
            ],
            (rows, variables),
            library,
            digests,
        )

    def jacobian(taken: GatheredInputs) -> ca.MX:
        return scatter_function()([[_slopes(block, taken)] for block in blocks])

    if library is not None:
        scatter_function()  # is compiled while kernels are
    return values, jacobian


def assemble_gradient(
    blocks: Sequence[Block], variables: int
) -> Callable[[GatheredInputs, ca.MX], ca.MX]:
    """Return gradient(Taken of x, weights (blocks,)) of the weighted sum of blocks of one value
    each, MX (variables,): what one constant matrix makes of the few slopes of each."""

    def gradient(taken: GatheredInputs, weights: ca.MX) -> ca.MX:
        total = ca.MX.zeros(variables)
        for number, block in enumerate(blocks):
            count, width = len(block.s), block.kernel.width
            slopes_of_it = np.arange(count * len(block.kernel.columns))
            entry = np.arange(count)[:, None] * width + block.kernel.columns
            size = len(slopes_of_it)
            weight = np.repeat(block.weight[0], len(block.kernel.columns))
            spread = matrix_of(count * width, size, entry.ravel(), slopes_of_it, weight)
            slope = ca.vec(_slopes(block, taken))
            total += weights[number] * ((block.matrix.T @ spread) @ slope)
        return total

    return gradient


def assemble_hessian(
    summands: Sequence[tuple[Sequence[Block], int]],
    variables: int,
    kind: str,
    library: Library | None = None,
) -> Callable[..., ca.MX]:
    """Return hessian(Taken of x, multipliers) over all blocks: MX (variables, variables), upper
    triangle.

    `summands` are ((blocks, number of rows that they are assembled to), ...), and there are as many
    columns of multipliers of these rows; `library` as of `assemble`.
    """

    def hessian(taken: GatheredInputs, *multipliers: ca.MX) -> ca.MX:
        curved = [
            (block, block.kernel.begin(kind), rows, own)
            for (blocks, rows), own in zip(summands, multipliers)
            for block in blocks
        ]
        alike = _with_same_inputs([each for each in curved if len(each[1][1])])
        digests: list = ["curvatures"]
        for members in alike if library else ():
            digests += [len(members), *(part for each in members for part in each[1][1:])]
            digests += [each[0].digest for each in members]
        firsts = [members[0][0] for members in alike]
        triangles = [[each[1][1:] for each in members] for members in alike]
        put = scatter_products(
            lambda: [
                (
                    list(curvatures(own, units_of(first.matrix, first.kernel.width))),
                    [(len(above), len(first.s)) for above, _ in own],
                )
                for first, own in zip(firsts, triangles)
            ],
            (variables, variables),
            library,
            digests,
        )
        return put(
            [
                [
                    _evaluate(block, function, taken, _block_multipliers(block, rows, own, taken))[
                        0
                    ]
                    for block, (function, _, _), rows, own in members
                ]
                for members in alike
            ]
        )

    return hessian


def _with_same_inputs(curved: Sequence[tuple]) -> list[list]:
    """Return lists of those whose blocks' inputs are the same, at the same instants."""
    together: list[list] = []
    for each in curved:
        for others in together:
            if same_inputs(each[0], others[0][0]):
                others.append(each)
                break
        else:
            together.append([each])
    return together


def _block_multipliers(block: Block, rows: int, multipliers: ca.MX, taken: GatheredInputs) -> ca.MX:
    """Return the multipliers (m, N) of a block's values, of those of the assembled rows."""
    together = taken.of(block)
    handed = together.function(MULTIPLIERS) if together else None
    if together is not None and handed is not None:
        number = next(k for k, each in enumerate(together.blocks) if each is block)
        return handed.call([multipliers])[number]
    own = spread_matrix(block, rows).T @ multipliers
    return ca.reshape(own, block.kernel.size, len(block.s))


def _values(block: Block, taken: GatheredInputs) -> ca.MX:
    if id(block) not in taken.values:
        taken.values[id(block)] = _evaluate(block, block.kernel.made["values"], taken)[0]
    return taken.values[id(block)]


def _slopes(block: Block, taken: GatheredInputs) -> ca.MX:
    slopes_there, taken.values[id(block)] = _evaluate(block, block.kernel.made["jacobian"], taken)
    return slopes_there


def _evaluate(
    block: Block, function: Callable[[], ca.Function], taken: GatheredInputs, *more: ca.MX
) -> list[ca.MX]:
    """Return values of a kernel's function, known by its getter, at all instants."""
    arguments = [taken(block), ca.DM(block.s).T, *more]
    kernel = function if taken.gathering else function()  # machine code may do without it
    return taken.at(kernel, len(block.s)).call(arguments)


Weights = Callable[[ca.MX], Matrix]  # x -> weights of the objective's terms
Rules = Sequence[tuple[np.ndarray, np.ndarray]]  # instants and weights of quadratures


def term_stacks(program: Program) -> tuple[Matrix, ...]:
    """Return the expressions of every objective term's function, a column each."""
    return tuple(
        call_user_function(f"objective {term.name!r}", term.function, program.inputs)
        for _, term in program.problem.objective.terms
    )


def objective_blocks(program: Program, stacks: Sequence[Matrix], rules: Rules) -> tuple[Block, ...]:
    """Return one block per objective term, whose assembled row is the term's value, unweighted.

    `stacks` are the terms' columns; of the `rules` (s, w) the first integrates, the second what
    depends on lifted quantities, and the third what contains rates.
    """
    terms = enumerate(program.problem.objective.terms)
    return tuple(
        _term_block(program, rules, number, term, stacks[number]) for number, (_, term) in terms
    )


def _term_block(program: Program, rules: Rules, number: int, term: Term, stack: Matrix) -> Block:
    what, layout = f"objective {term.name!r}", program.layout
    if term.kind not in SQUARED and stack.shape[0] != 1:
        raise ValueError(f"{what}: expected a scalar, got {stack.shape[0]} rows")
    on_nodes = bool(program.lifted_rows(stack).any())
    program.check_end(what, on_nodes and term.at_end)
    if term.kind == "integral":
        stack = program.inputs.measure * stack
    elif term.kind == "samples":  # whose kernel is of squares, and measures them
        stack = stack / ca.sqrt(program.inputs.measure)
    kind = "rates" if program.rated_rows(stack).any() else "path"
    inputs, (s, weight) = program.inputs_of(kind), rules[2 if kind == "rates" else bool(on_nodes)]
    if term.at_end:
        s, weight = np.ones(1), np.ones(1)
    elif term.instants:
        s, weight = np.array(term.instants), np.ones(len(term.instants))
    elif layout.moving:  # its kernels are measured by the width of their segments
        motion = cast(Moving, layout.problem.motion)
        weight = weight / np.diff(motion.breaks)[locate(motion, s)[0]]
    return Block(
        kernel=kernel_of(inputs, [(what, stack)], squares=term.kind in SQUARED),
        s=s,
        matrix=program.matrix_of(kind, s),
        target=np.full((1, len(s)), number),
        weight=weight[None, :],
    )


def constraint_blocks(asked_for: Sequence[Group], places: Sequence[np.ndarray]) -> list[Block]:
    """Return the blocks of the rows of g."""
    return [
        Block(
            kernel=group.kernel,
            s=group.s,
            matrix=group.matrix,
            target=row,
            weight=np.ones(row.shape),
        )
        for group, row in zip(asked_for, places)
        if (row >= 0).any()
    ]


def check_weights(weights: Sequence, freed: Iterable[Parameter]) -> None:
    """Raise ValueError for a weight that follows one of the parameters that are sought."""
    for each in set(parameters_of(list(weights))) & set(freed):
        raise ValueError(
            f"objective: weight: parameter {each.name!r} is free, and the least objective has "
            "it at a bound; expected a given one"
        )


def weight_function(layout: Layout, weights: Sequence) -> Callable:
    """Return the function of x that gives the weights of the objective's terms: constant ones, or
    where one is open those at the given parameters in x.

    Raises ValueError for one that follows a parameter which is sought.
    """
    if not is_open(list(weights)):
        constant = ca.DM(list(weights))
        return lambda x: constant
    check_weights(weights, layout.freed)
    names = ca.vertcat(*(each.expression for each in layout.values))
    weigh = ca.Function("weights", [names], [matrix(list(weights))])
    return lambda x: weigh(x[layout.parameters])


def nonlinear_program(
    terms: Sequence[Block],
    weights: Weights,
    blocks: Sequence[Block],
    bounds: Mapping[str, Option],
    *,
    differentiated: bool = True,
    sloped: bool = False,
    machine: KernelBackend | None = None,
) -> tuple[NLP, ca.Function | Values]:
    """Return the NLP of the weighted terms and the blocks' rows, and the terms (count,) alone,
    unweighted, of x; `weights`(x) are the terms', and `bounds` {lower, upper, g_lower, g_upper}
    give its sizes. Unless `differentiated`, its derivatives are left to the solver's front end;
    `sloped`, weights are differentiated too. The `machine`, a Finish, evaluates kernels and may put
    derivatives in their places."""
    size, rows, count = len(bounds["lower"]), len(bounds["g_lower"]), len(terms)
    x, p = ca.MX.sym("x", size), ca.MX.sym("p", 0)
    plain = partial(
        GatheredInputs,
        at=partial(map_function, threads=machine.threads) if machine else map_function,
    )
    quick, library = plain, None  # machine code, of which no derivatives are to be had
    if machine is not None and machine.kernels != VIRTUAL and differentiated:
        gathering = Gathering(terms, count, machine), Gathering(blocks, rows, machine)
        quick, library = (
            partial(GatheredInputs, at=machine.map_over, gathering=gathering),
            machine.scatter,
        )
    values_of_terms, _ = assemble(terms, size, count)
    values, slopes = assemble(blocks, size, rows, library)
    beside = quick(x)

    makes: dict[str, Callable[[GatheredInputs], ca.Function]] = {
        "objective": lambda taken: ca.Function(
            "f", [x], [ca.dot(weights(x), values_of_terms(taken))], ["x"], ["f"]
        ),
        "constraints": lambda taken: ca.Function("g", [x], [values(taken)], ["x"], ["g"]),
        "terms": lambda taken: ca.Function(
            "terms", [x], [values_of_terms(taken)], ["x"], ["terms"]
        ),
    }
    fast = quick is not plain and machine is not None and machine.quick
    functions: dict[str, Option] = {
        name: Values(make(quick(x)), partial(lambda make: make(plain(x)), make))
        if fast
        else make(plain(x))
        for name, make in makes.items()
    }
    own = functions.pop("terms")
    if not differentiated:
        return NLP(**bounds, **functions), own
    slope, matrix_of_rows = assemble_gradient(terms, size)(beside, weights(x)), slopes(beside)
    f, g = ca.dot(weights(x), values_of_terms(beside)), values(beside)
    if sloped:
        slope += ca.densify(ca.jacobian(weights(x), x).T @ values_of_terms(beside))
    nlp = NLP(
        gradient=ca.Function("grad_f", [x, p], [f, slope], ["x", "p"], ["f", "grad_f_x"]),
        jacobian=ca.Function("jac_g", [x, p], [g, matrix_of_rows], ["x", "p"], ["g", "jac_g_x"]),
        hessian=_hessians(terms, weights, (blocks, rows), size, sloped, library, quick),
        **bounds,
        **functions,
    )
    return nlp, own


def _hessians(
    terms: Sequence[Block],
    weights: Weights,
    rows: tuple[Sequence[Block], int],
    size: int,
    sloped: bool,
    library: Library | None,
    taken: Callable[[ca.MX], GatheredInputs],
) -> Callable[[str], ca.Function]:
    """Return hessian(kind), the upper triangle of the Lagrangian's, each kind built once, of terms
    and of the `rows` (blocks, number of them); `taken`(x) gives what is Taken of x."""

    @cache
    def hessian(kind: str) -> ca.Function:
        x, p = ca.MX.sym("x", size), ca.MX.sym("p", 0)
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", rows[1])
        summands = (terms, len(terms)), rows
        for block in (*terms, *rows[0]):
            block.kernel.begin(kind)
        summed = assemble_hessian(summands, size, kind, library)
        curvature = summed(taken(x), lam_f * weights(x), lam_g)
        if sloped:
            curvature += lam_f * _weight_curvature(terms, weights, size, x)
        inputs = ["x", "p", "lam_f", "lam_g"]
        symbols = [x, p, lam_f, lam_g]
        return ca.Function("hess_lag", symbols, [curvature], inputs, ["triu_hess_gamma_x_x"])

    return hessian


def _weight_curvature(terms: Sequence[Block], weights: Weights, size: int, x: ca.MX) -> ca.MX:
    """Return the upper triangle of the second derivatives of the weighted terms that open weights
    add."""
    values, slopes = assemble(terms, size, len(terms))
    fixed, turn = ca.MX.sym("terms", len(terms)), ca.jacobian(weights(x), x)
    bend = ca.Function("bend", [x, fixed], [ca.hessian(ca.dot(weights(x), fixed), x)[0]])
    crossed = turn.T @ slopes(GatheredInputs(x))
    return ca.triu(crossed + crossed.T + bend(x, values(GatheredInputs(x))))
