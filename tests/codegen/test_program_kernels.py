"""Programs whose kernels and places are machine code that is made here: the bits of the virtual
machine."""

import platform
from importlib import import_module

import casadi as ca
import numpy as np
import pytest

from ocp import Radau, Spline, Transcription, solve
from ocp.codegen import assembler as house
from ocp.codegen import function_map
from ocp.codegen.assembler import assembled_functions, assembled_linear_maps, unsupported_reason
from ocp.codegen.assembler.processors.x86_64 import Sse
from ocp.problems import gait
from ocp.problems.arms.two_link_effort import problem as arm
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.gait import Accuracy, Goal
from ocp.problems.mechanisms.hoist import problem as hoist
from ocp.problems.swing_ups.cart_pole_swing import problem as cart_pole
from ocp.transcription import transcribe_phase
from ocp.transcription.kernels import kernel_backends
from ocp.transcription.transcribe import transcribe

needed = pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason())
ASSEMBLED, LEFT = Transcription(kernels="assembled"), "virtual machine"
PROBLEMS = {
    "loops": (lambda: gait.problem(goal=Goal(objective="effort"), accuracy=Accuracy(points=9)), {}),
    "scalar": (lambda: lift(points=12), {}),
    "one row a node": (lambda: cart_pole(points=20), {"derivatives": "ad"}),
    "collocated": (lambda: lift(points=12), {"method": Radau(intervals=9, order=3)}),
    "many nodes": (lambda: arm(points=8), {"method": Spline(nodes=3, torques="variables")}),
    "phases": (hoist, {}),
}


def everything(monkeypatch):
    """Assemble what would not pay, too."""
    for module, name, number in (
        (function_map, "ASSEMBLED", 0),
        (function_map, "FEW", 1),
        (assembled_linear_maps, "SUMMED", 0),
        (assembled_linear_maps, "RUN", 0),
        (assembled_linear_maps, "STEP", 0),
    ):
        monkeypatch.setattr(module, name, number)


def numbers(made):
    """Objective, rows and all derivatives of a program somewhere."""
    nlp = made.nlp
    x = made.guess + np.random.default_rng(2).uniform(0.0, 0.2, len(nlp.lower))
    hessian = nlp.hessian("exact")(x, [], 0.7, np.linspace(-1, 1, len(nlp.g_lower)))
    return [np.array(each) for each in (*nlp.gradient(x, []), *nlp.jacobian(x, []), hessian)]


def made(name, kernels):
    problem, settings = PROBLEMS[name]
    return transcribe_phase(problem(), Transcription(kernels=kernels, **settings))


@needed
@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "phases"])
def test_a_program_has_the_bits_of_the_virtual_machine(name, monkeypatch):
    everything(monkeypatch)
    one, other = (made(name, kernels) for kernels in ("assembled", "virtual"))
    for each, plain in zip(numbers(one), numbers(other)):
        assert np.array_equal(each, plain)
    assert (one.kernels(), other.kernels()) == ("assembled", LEFT)


@needed
@pytest.mark.skipif(platform.machine() != "x86_64", reason="not a processor of x86-64")
@pytest.mark.parametrize("name", ["scalar", "many nodes"])
def test_a_program_has_the_same_bits_without_avx(name, monkeypatch):
    """Products of matrices, too, whose sums are in registers: there are fewer of these."""
    everything(monkeypatch)
    for module in (assembled_functions, assembled_linear_maps):
        monkeypatch.setattr(module, "new_code", Sse)
    one, other = (made(name, kernels) for kernels in ("assembled", "virtual"))
    for each, plain in zip(numbers(one), numbers(other)):
        assert np.array_equal(each, plain)


@needed
def test_quick_values_have_the_bits_of_those_that_can_be_differentiated(monkeypatch):
    from ocp.solvers.nlp import fast_version, graph_of

    everything(monkeypatch)
    nlp, virtual = (made("scalar", kernels).nlp for kernels in ("assembled", "virtual"))
    x = np.random.default_rng(7).normal(size=len(nlp.lower))
    for plain, slow in zip(
        (nlp.objective, nlp.constraints), (virtual.objective, virtual.constraints)
    ):
        assert fast_version(plain) is not graph_of(plain)
        assert np.array_equal(np.array(plain(x)), np.array(graph_of(plain)(x)))
        assert np.array_equal(np.array(plain(x)), np.array(slow(x)))
        assert fast_version(slow) is slow is graph_of(slow)


@needed
def test_a_solve_is_the_same(monkeypatch):
    everything(monkeypatch)
    for name in ("scalar", "phases"):
        problem, settings = PROBLEMS[name]
        one, other = (
            solve(problem(), Transcription(kernels=kernels, **settings)).require()
            for kernels in ("assembled", "virtual")
        )
        assert one.statistics["iterations"] == other.statistics["iterations"]
        assert one.objective == other.objective
        assert one.statistics["kernels"] == "assembled"


def test_where_it_cannot_be_had_the_virtual_machine_runs_and_a_line_says_so(monkeypatch):
    monkeypatch.setattr(kernel_backends, "unsupported_reason", lambda: "not here")
    solution = solve(lift(points=8), ASSEMBLED).require()
    assert solution.statistics["kernels"] == "virtual machine: not here"


@needed
def test_what_is_refused_later_is_left_to_the_virtual_machine(monkeypatch):
    def refuse(*what):
        raise house.NoMachineCode("no more room")

    monkeypatch.setattr(function_map, "assemble_map", refuse)
    monkeypatch.setattr("ocp.codegen.assembler.assembled_linear_maps.load_function", refuse)
    everything(monkeypatch)
    made = transcribe_phase(lift(points=12), ASSEMBLED)
    expected = numbers(transcribe_phase(lift(points=12), Transcription(kernels="virtual")))
    for one, other in zip(numbers(made), expected):
        assert np.array_equal(one, other)
    assert made.kernels() == "virtual machine: no more room"


def test_few_instructions_or_instants_are_not_worth_it(monkeypatch):
    asked = []
    monkeypatch.setattr(function_map, "assemble_map", lambda *what: asked.append(what))
    monkeypatch.setattr(assembled_linear_maps, "load_function", lambda *what: asked.append(what))
    monkeypatch.setattr(import_module("ocp.transcription.transcribe_phase"), "SMALL", 0)
    small = transcribe(lift(points=6)).nlp
    small.hessian("exact")
    assert not asked
    assert transcribe_phase(lift(points=6)).kernels() == f"{LEFT}: few instructions"


@needed
def test_assembled_kernels_are_assembled_however_few_instructions_they_have():
    small = transcribe_phase(lift(points=12), ASSEMBLED)
    assert small.kernels() == "assembled"
    expected = numbers(transcribe_phase(lift(points=12), Transcription(kernels="virtual")))
    for one, other in zip(numbers(small), expected):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)


@needed
def test_trees_of_few_coordinates_are_left_to_the_virtual_machine():
    assert transcribe_phase(lift(points=6)).kernels() == LEFT
    assert made("loops", "auto").kernels() == "assembled"


@needed
def test_a_program_that_its_solver_differentiates_stays_a_graph(monkeypatch):
    everything(monkeypatch)
    nlp = transcribe(lift(points=6), Transcription(kernels="assembled", derivatives="auto")).nlp
    given = transcribe_phase(lift(points=6), Transcription(derivatives="solver"))
    x = ca.MX.sym("x", len(given.nlp.lower))
    slopes = ca.Function("slopes", [x], [ca.jacobian(given.nlp.constraints(x), x)])
    assert given.kernels() == "virtual machine"
    integrated = transcribe_phase(cart_pole(points=6), Transcription(method="integrated"))
    assert integrated.kernels() == "virtual machine"
    begin = given.guess
    one, other = (np.array(each) for each in (slopes(begin), nlp.jacobian(begin, [])[1]))
    assert np.abs(one - other).max() <= 1e-10 * np.abs(other).max()
