"""Graphs of matrices as machine code: the bits of the virtual machine, which multiplies and adds in
the same order."""

import casadi as ca
import numpy as np
import pytest
from repeated_cases import for_each

from ocp.codegen.assembler import assemble_map, unsupported_reason
from ocp.codegen.assembler.matrix_graphs import steps_of_matrices

needed = pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason())


def stage(numbers, count):
    """A scalar graph of matrices that some use: two results, one of them sparse."""
    x = ca.SX.sym("x", count)
    made = list(ca.vertsplit(x))
    for _ in range(60):
        one, other = (made[numbers.integers(len(made))] for _ in range(2))
        made.append(ca.sin(one) * other if numbers.random() < 0.3 else one * other - 0.4 * one)
    places = numbers.permutation(12)[:7].tolist()
    sparse = ca.SX(ca.Sparsity.triplet(4, 3, [k % 4 for k in places], [k // 4 for k in places]))
    sparse.nz[:] = ca.vertcat(*made[-7:])
    return ca.Function("stage", [x], [ca.reshape(ca.vertcat(*made[20:32]), 3, 4), sparse, x[0]])


WAYS = [  # of two matrices, each as it is and dense
    lambda one, full, other, filled: one @ filled[:3, :],
    lambda one, full, other, filled: ca.mac(one, filled[:3, :], filled),
    lambda one, full, other, filled: one + other,
    lambda one, full, other, filled: one - filled,
    lambda one, full, other, filled: full * filled,
    lambda one, full, other, filled: ca.horzcat(one[:, 1], other[:, 0:2]),
    lambda one, full, other, filled: -one,
    lambda one, full, other, filled: 2 * one,
    lambda one, full, other, filled: ca.reshape(ca.vec(full), 3, 4).T,
    lambda one, full, other, filled: full**2,
]


def drawn(seed, size=25):
    """A random graph of matrices (4, 3), dense and sparse."""
    numbers = np.random.default_rng(seed)
    x, s = ca.MX.sym("x", 9), ca.MX.sym("s", 1)
    dense, sparse, _ = stage(numbers, 9)(x)
    constant = ca.DM(numbers.choice([0.0, 1.0, -1.0, 0.5, 2.0], size=(4, 3)))
    made = [dense.T, sparse, ca.MX(constant), ca.MX(ca.sparsify(constant)), sparse @ dense[:, :3]]
    for _ in range(size):
        one, other = (made[numbers.integers(len(made))] for _ in range(2))
        result = WAYS[numbers.integers(len(WAYS))](one, ca.densify(one), other, ca.densify(other))
        made.append(0.3 * ca.densify(result) if numbers.random() < 0.3 else result)
    last = ca.vertcat(*(ca.vec(ca.densify(each)) for each in made[-4:]))
    return ca.Function("drawn", [x, s], [last, ca.vec(ca.densify(made[-6])), s])


@needed
@for_each("seed", range(16))
def test_random_graphs_have_the_bits_of_the_virtual_machine(seed):
    function, numbers = drawn(seed), np.random.default_rng(seed)
    assert function.is_a("MXFunction")
    assert steps_of_matrices(function, {}) is not None
    for count in (1, 4, 7):
        inputs = [numbers.normal(size=(size, count)) for size in (9, 1)]
        made = assemble_map(function, count)
        assert made is not None
        for one, other in zip(made.call(inputs), function.map(count).call(inputs)):
            assert np.array_equal(np.array(one), np.array(other))


@needed
def test_a_product_with_zeros_alone_adds_nothing():
    x, y = ca.MX.sym("x", 4), ca.MX.sym("y", 2)
    zeros = ca.MX(ca.DM([[0.0, 1.0], [0.0, 2.0]]))[:, 0]  # which CasADi takes for numbers
    product = ca.mac(ca.reshape(x, 2, 2), zeros, y)
    function = ca.Function("sum", [x, y], [product + 1])
    assert steps_of_matrices(function, {}) is not None
    made = assemble_map(function, 3)
    inputs = [np.ones((4, 3)), np.arange(6.0).reshape(2, 3)]
    assert made is not None
    assert np.array_equal(np.array(made.call(inputs)[0]), inputs[1] + 1)


@needed
def test_what_is_not_known_is_expanded():
    x = ca.MX.sym("x", 9)
    function = ca.Function("norms", [x], [ca.norm_2(x) * x, ca.vec(ca.repmat(x, 1, 2))])
    assert steps_of_matrices(function, {}) is None
    made, inputs = assemble_map(function, 6), np.random.default_rng(0).normal(size=(9, 6))
    assert made is not None
    for one, other in zip(made.call([inputs]), function.map(6).call([inputs])):
        assert np.allclose(np.array(one), np.array(other), rtol=1e-15, atol=0)


@needed
def test_what_cannot_be_expanded_is_not_assembled():
    x = ca.MX.sym("x", 2)
    z = ca.MX.sym("z")
    root = ca.rootfinder("root", "newton", ca.Function("f", [z, x], [z**3 - x[0] * z - x[1]]))
    assert assemble_map(ca.Function("outer", [x], [root(1.0, x)]), 4) is None


@needed
def test_values_that_are_not_taken_any_more_make_room():
    """A chain of products has the room of a few of them, not of all."""
    x = ca.MX.sym("x", 100)
    result = ca.reshape(x, 10, 10)
    turn = ca.reshape(x, 10, 10)
    for _ in range(40):
        result = result @ turn
    steps = steps_of_matrices(ca.Function("chain", [x], [ca.vec(result)]), {})
    assert steps is not None
    assert len(steps.code) == 40 * (1000 + 900)
    assert steps.place.max() < 400
