"""Block-tridiagonal systems against dense ones."""

import numpy as np
import pytest

from ocp.solvers.linear_algebra.banded import factorise

B, COUNT = 3, 5


def system():
    """A symmetric positive definite block-tridiagonal matrix, and its blocks."""
    rng = np.random.default_rng(0)
    root = np.zeros((B * COUNT, B * COUNT))
    for k in range(COUNT):
        here = slice(k * B, (k + 1) * B)
        root[here, here] = np.tril(rng.standard_normal((B, B))) + 3 * np.eye(B)
        if k:
            root[here, (k - 1) * B : k * B] = rng.standard_normal((B, B))
    return root @ root.T


def block(matrix, i, j):
    return matrix[i * B : (i + 1) * B, j * B : (j + 1) * B]


def factors(matrix):
    diagonal = [block(matrix, k, k) for k in range(COUNT)]
    return factorise(diagonal, [block(matrix, k + 1, k) for k in range(COUNT - 1)])


def test_a_solution_is_that_of_the_dense_system():
    matrix, right = system(), np.random.default_rng(1).standard_normal((COUNT, B))
    expected = np.linalg.solve(matrix, right.ravel()).reshape(COUNT, B)
    np.testing.assert_allclose(factors(matrix).solve(right), expected, atol=1e-13)


def test_blocks_of_the_inverse_are_those_of_the_dense_one():
    matrix = system()
    inverse = np.linalg.inv(matrix)
    diagonal, right = factors(matrix).inverse()
    for k in range(COUNT):
        np.testing.assert_allclose(diagonal[k], block(inverse, k, k), atol=1e-13)
    for k in range(COUNT - 1):
        np.testing.assert_allclose(right[k], block(inverse, k, k + 1), atol=1e-13)


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        factors(system() - 100 * np.eye(B * COUNT))
