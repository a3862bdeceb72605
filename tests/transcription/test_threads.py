"""Kernels on several threads of the virtual machine: the same bits."""

import casadi as ca
import numpy as np
import pytest

from ocp import Transcription
from ocp.codegen import function_map as instants
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.studies.store import cell_specification
from ocp.transcription import map_function, settings_of, transcribe_phase, transcription_of
from ocp.transcription.transcribe import transcribe


def drawn(kind, count):
    """A function of many operations, scalar ones or on matrices, and what it takes at so many
    instants."""
    x, y = kind.sym("x", 40), kind.sym("y", 2)
    result = x
    for _ in range(30):
        turned = ca.vertcat(result[1:], result[0])
        result = ca.sin(result) * y[0] - ca.cos(turned) / (2 + y[1] ** 2)
    numbers = np.random.default_rng(count)
    inputs = [numbers.normal(size=(each, count)) for each in (40, 2)]
    return ca.Function("long", [x, y], [result, y]), inputs


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
@pytest.mark.parametrize(("count", "threads"), [(24, 2), (25, 2), (26, 3), (3, 8)])
def test_threads_give_the_same_bits(kind, count, threads, monkeypatch):
    monkeypatch.setattr(instants, "THREADED", 1)
    function, inputs = drawn(kind, count)
    several, one = map_function(function, count, threads), function.map(count)
    assert several.class_name() != one.class_name() == "Map"
    for each, other in zip(several.call(inputs), one.call(inputs)):
        assert np.array_equal(np.array(each), np.array(other))


def test_few_instructions_stay_on_one_thread():
    function, _ = drawn(ca.SX, 25)
    assert (
        map_function(function, 2, 2).class_name()
        == "Map"
        != map_function(function, 25, 2).class_name()
    )
    assert (
        map_function(function, 25).class_name()
        == map_function(function, 25, 1).class_name()
        == "Map"
    )


def numbers(problem, **settings):
    """Objective, gradient, rows, Jacobian and Hessian of a problem's program somewhere."""
    nlp = transcribe(problem, Transcription(**settings)).nlp
    x = np.random.default_rng(2).uniform(0.5, 1.0, len(nlp.lower))
    hessian = nlp.hessian("exact")(x, [], 1.0, np.linspace(-1, 1, len(nlp.g_lower)))
    return [np.array(each) for each in (*nlp.gradient(x, []), *nlp.jacobian(x, []), hessian)]


def test_a_program_on_threads_has_the_same_numbers(monkeypatch):
    one = numbers(lift(points=6), kernels="virtual")
    monkeypatch.setattr(instants, "THREADED", 1)
    asked = []
    monkeypatch.setattr(
        "ocp.transcription.assembly.assemble_program.map_function",
        lambda *what, **more: asked.append(more["threads"]) or map_function(*what, **more),
    )
    threaded = {"kernels": "virtual", "threads": 2}
    assert all(np.array_equal(*each) for each in zip(one, numbers(lift(points=6), **threaded)))
    assert set(asked) == {2}
    words = transcribe_phase(lift(points=6), Transcription(**threaded)).kernels()
    assert words == "virtual machine on 2 threads"


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "two"])
def test_threads_are_a_whole_number(threads):
    with pytest.raises(ValueError, match="threads: expected a whole number of at least 1, got"):
        Transcription(threads=threads)


def test_threads_are_a_setting_that_cells_on_one_thread_do_not_mention():
    """So that what studies keep stays theirs."""
    assert transcription_of(settings_of(Transcription(threads=3))) == Transcription(threads=3)
    one, three = (
        cell_specification.transcription_content(Transcription(), {"threads": threads}, numbers)
        for threads in (1, 3)
    )
    assert "threads" not in one and three["threads"] == 3
