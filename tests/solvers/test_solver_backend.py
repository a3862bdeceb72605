"""A solver of one's own, a record with a function, does all that a plugin does.

Here augmented Lagrangians by Newton steps in numpy.
"""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp import Solver, Transcription, solve
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.solvers import Answer, Backend, Iterate, kkt_residual, violation
from ocp.transcription import transcribe


def prepare(nlp, solver, start, see):
    """Return what minimises f + weight / 2 |distance of c + multipliers / weight from its
    bounds|^2, c = (g, x).
    """
    m, n = len(nlp.g_lower), len(nlp.lower)
    lower, upper = np.append(nlp.g_lower, nlp.lower), np.append(nlp.g_upper, nlp.upper)
    curvature = nlp.hessian("exact")
    tolerance, limit = solver.options.get("tol", 1e-6), solver.options.get("max_iter", 500)

    def outside(x, multipliers, weight):
        shifted = np.append(np.array(nlp.constraints(x)), x) + multipliers / weight
        return shifted - np.clip(shifted, lower, upper)

    def merit(x, multipliers, weight):
        return float(nlp.objective(x)) + weight / 2 * np.sum(outside(x, multipliers, weight) ** 2)

    def newton(x, pull, weight, slope, J):
        H = np.triu(np.array(curvature(x, [], 1.0, pull[:m])))
        H = H + np.triu(H, 1).T + weight * J[pull != 0].T @ J[pull != 0]
        values, vectors = np.linalg.eigh(H)
        return -vectors @ ((vectors.T @ slope) / np.maximum(np.abs(values), 1e-6))

    def run():
        x, multipliers, weight = np.clip(start.x, nlp.lower, nlp.upper), np.zeros(m + n), 100.0
        for count in range(limit):
            (f, grad), (g, jacobian) = nlp.gradient(x, []), nlp.jacobian(x, [])
            g, J = np.array(g).ravel(), np.vstack([np.array(jacobian), np.eye(n)])
            pull = weight * outside(x, multipliers, weight)
            slope = np.array(grad).ravel() + J.T @ pull
            here = Iterate(x=x.copy(), g=g, x_multipliers=pull[m:], g_multipliers=pull[:m])
            if see(float(f), here):
                return Answer(iterate=here, status="stopped", success=False, iterations=count)
            if np.abs(slope).max() < tolerance:
                if violation(np.append(g, x), lower, upper).max() < tolerance:
                    return Answer(iterate=here, status="optimal", success=True, iterations=count)
                multipliers, weight = pull, min(10 * weight, 1e6)
                continue
            step, length = newton(x, pull, weight, slope, J), 1.0
            level = merit(x, multipliers, weight)
            while length > 1e-10 and not merit(x + length * step, multipliers, weight) < level:
                length /= 2
            x = x + length * step
        return Answer(iterate=here, status="out of iterations", success=False, iterations=limit)

    return run


def check(options):
    unknown = [name for name in options if name not in ("tol", "max_iter")]
    if unknown:
        raise ValueError(f"it takes tol and max_iter, not {unknown[0]}")


OWN = Backend(name="augmented", prepare=prepare, check=check, hessians=("exact",))


def test_a_solver_of_ones_own_finds_the_optimum_of_ipopt():
    ours, theirs = solve(lift(points=8), solver=Solver(plugin=OWN)), solve(lift(points=8))
    assert ours.success and ours.status == "optimal"
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    assert ours.statistics["plugin"] == "augmented" and "augmented" in ocp.summary(ours)
    assert len(ours.history) == ours.statistics["iterations"] + 1
    nlp = transcribe(lift(points=8)).nlp
    assert nlp.hessian is not None and kkt_residual is not None
    again = solve(lift(points=8), guess=ours)
    assert again.statistics["iterations"] <= 6


def test_its_options_its_hessian_and_a_stop_are_treated_like_those_of_a_plugin():
    with pytest.raises(
        ValueError, match="option 'tolerance' = 1: refused by plugin 'augmented': it takes tol"
    ):
        Solver(plugin=OWN, options={"tolerance": 1})
    with pytest.raises(
        ValueError, match="hessian 'lbfgs': plugin 'augmented' has no limited-memory mode"
    ):
        Solver(plugin=OWN, hessian="lbfgs")
    short = solve(lift(points=8), solver=Solver(plugin=OWN, options={"max_iter": 3}))
    assert short.status == "out of iterations" and short.statistics["iterations"] == 3


def test_an_nlp_without_derivatives_is_differentiated_for_it():
    def gradient_only(nlp, solver, start, see):
        assert nlp.gradient is not None and nlp.jacobian is not None
        return lambda: Answer(iterate=None, status="gave up", success=False, iterations=0)

    solver = Solver(plugin=replace(OWN, prepare=gradient_only))
    outcome = solve(lift(points=8), Transcription(derivatives="solver"), solver)
    assert outcome.status == "gave up" and not outcome.success
