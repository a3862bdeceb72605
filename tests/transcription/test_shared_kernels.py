"""Phases that ask for the same share the graphs of their kernels, and only these."""

from dataclasses import replace

import numpy as np

from ocp.models.arms.two_link import two_link
from ocp.problems.arms.two_link_arcs import problem as arcs
from ocp.transcription.transcribe import transcribe


def slopes_of(part):
    """Return the functions of the Jacobians of a phase's kernels."""
    return [group.kernel.jacobian for group in part.groups]


def numbers(nlp, x, multipliers):
    """Return values and nonzeros of derivatives of a program at x."""
    matrices = (
        nlp.objective(x),
        nlp.constraints(x),
        nlp.jacobian(x, [])[1],
        nlp.hessian("exact")(x, [], 1, multipliers),
    )
    return [np.array(each.nonzeros()) for each in matrices]


def test_phases_that_differ_in_bounds_alone_share_their_kernels():
    middle = [slopes_of(part) for part in transcribe(arcs()).parts[1:3]]
    assert middle[0] and all(one is other for one, other in zip(*middle))


def test_what_phases_share_is_what_each_has_alone():
    statement = arcs()
    other = two_link(gravity=9.81)
    phases = (replace(statement.phases[0], tree=other), *statement.phases[1:])
    whole = transcribe(replace(statement, phases=phases))
    for part, shared in zip(whole.statement.parts.values(), whole.parts):
        alone = transcribe(part).nlp
        x = np.random.default_rng(3).normal(size=len(alone.lower)) / 2 + 1
        multipliers = np.linspace(-1, 1, len(alone.g_lower))
        for one, two in zip(numbers(shared.nlp, x, multipliers), numbers(alone, x, multipliers)):
            assert np.array_equal(one, two)
