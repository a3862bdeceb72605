"""Machine code between kernels and solver: constant sums, and scattering of products."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed, whole_program

from ocp import Transcription
from ocp.codegen.assembler import assembled_linear_maps, unsupported_reason
from ocp.codegen.compiler import scatter, shared_library
from ocp.codegen.compiler.sparse_matvec import compile_sums
from ocp.codegen.linear_maps import Sums
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.solvers import NoCompiler
from ocp.transcription import transcribe_phase
from ocp.transcription.assembly.chain_rule_products import Product
from ocp.transcription.assembly.scatter_gather import scatter_products


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OCP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def drawn(numbers, rows, columns):
    """A sparse matrix; some of its rows are empty."""
    return ca.sparsify(
        ca.DM(numbers.normal(size=(rows, columns)) * (numbers.random((rows, columns)) < 0.3))
    )


MAKERS = [
    pytest.param(
        scatter.compile_scatter, lambda functions: compile_sums(functions)(), marks=compiler_needed
    ),
    pytest.param(
        lambda *what: lambda: assembled_linear_maps.assemble_scatter(*what),
        assembled_linear_maps.assemble_sums,
        marks=pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason()),
    ),
]
by_both = pytest.mark.parametrize(("places", "sums"), MAKERS, ids=["compiled", "assembled"])


@by_both
def test_sums_have_the_bits_of_casadis_products(places, sums, monkeypatch):
    monkeypatch.setattr(assembled_linear_maps, "SUMMED", 0)
    numbers = np.random.default_rng(6)
    first, second, third = (drawn(numbers, *shape) for shape in ((12, 15), (12, 8), (20, 15)))
    both = Sums(
        shapes=[(5, 3), (8, 1)],
        results=[((12, 1), [(0, first), (1, second)]), ((4, 5), [(0, third)])],
    )
    alone = Sums(shapes=[(15, 1)], results=[((20, 1), [(0, third)])])
    made = sums({"both": both, "alone": alone})
    x, y = ca.MX.sym("x", 5, 3), ca.MX.sym("y", 8)
    total = ca.densify(first @ ca.vec(x)) + ca.densify(second @ y)
    reshaped = ca.reshape(ca.densify(third @ ca.vec(x)), 4, 5)
    expected = ca.Function("expected", [x, y], [total, reshaped])
    inputs = numbers.normal(size=(5, 3)), numbers.normal(size=8)
    for one, other in zip(made["both"].call(inputs), expected.call(inputs)):
        assert one.shape == other.shape and np.array_equal(np.array(one), np.array(other))
    same = np.array(made["alone"](inputs[0].ravel(order="F"))).ravel()
    assert np.array_equal(same, np.array(expected(*inputs)[1]).ravel(order="F"))


def product(numbers, pairs, where):
    """A Product of so many pairs in two slots, at five instants in two runs; two of its nonzeros go
    to one place."""
    rows = np.array(where)
    return Product(
        nonzero=np.arange(2 * pairs + 1),
        place=np.append(numbers.permutation(2 * pairs), 0),
        shape=(pairs, 2),
        weight=numbers.normal(size=(5, 2, 1)),
        runs=[(0, 2), (2, 5)],
        row=rows.reshape(2, 1, pairs),
        column=np.zeros((2, 1, pairs), dtype=int),
        factor=np.ones((2, 1, pairs)),
    )


PLACES = {
    "each its own": [[3, 4, 5, -1, 0, 1], [8, 7, -1, -1, 2, 6]],
    "two to one": [[3, 4, 5, -1, 0, 1], [3, 4, 2, -1, 1, 6]],
}


@by_both
@pytest.mark.parametrize("where", PLACES.values(), ids=PLACES)
def test_products_go_to_their_places_as_the_virtual_machine_puts_them(
    places, sums, where, monkeypatch
):
    monkeypatch.setattr(assembled_linear_maps, "RUN", 0)
    monkeypatch.setattr(assembled_linear_maps, "STEP", 0)
    numbers = np.random.default_rng(3)
    given = [([product(numbers, 6, where)], [(13, 5)])]
    values = ca.MX.sym("values", 13, 5)
    inputs = numbers.normal(size=(13, 5))
    compiled, plain = (
        ca.Function("put", [values], [scatter_products(lambda: given, (9, 1), library)([[values]])])
        for library in (lambda placed, _: (placed().keys, places(*placed().makes)), None)
    )
    one, other = (each(inputs) for each in (compiled, plain))
    assert one.sparsity() == other.sparsity()
    assert np.allclose(np.array(one), np.array(other), rtol=1e-13, atol=1e-13)
    assert np.array_equal(np.array(one), np.array(compiled(inputs)))  # nothing is left from before


@pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason())
def test_code_of_products_is_as_long_for_ten_times_the_instants():
    """Runs of one length are a loop over a table; once each had instructions of its own."""
    numbers, sizes = np.random.default_rng(4), []
    for count in (6, 60):
        runs, where = [(k, k + 2) for k in range(0, count, 2)], np.arange(3 * count)
        every = replace(
            product(numbers, 6, [[0] * 6] * 2),
            weight=numbers.normal(size=(count, 2, 1)),
            runs=runs,
        )
        given = [([every], [(13, count)])]
        targets = [where.reshape(len(runs), 1, 6)]
        made = assembled_linear_maps.scatter_code(given, targets, 3 * count, always=True)
        sizes.append(min(made.code.labels[name] for name in ("copied0_0", "weight0_2")))
    assert sizes[0] == sizes[1]


@whole_program
def test_places_are_compiled_while_kernels_are(monkeypatch):
    """The sums and the places of the Jacobian begin before the first of them is waited for, and
    before the kernels of the objective are."""
    events = []
    begun, result = shared_library.Code.start, shared_library.Build.result
    monkeypatch.setattr(
        shared_library.Code,
        "start",
        lambda self, sources: (
            events.append(f"begins {self.name.split('_')[0]}") or begun(self, sources)
        ),
    )
    monkeypatch.setattr(
        shared_library.Build,
        "result",
        lambda self: events.append(f"waits {self.code.name.split('_')[0]}") or result(self),
    )
    transcribe_phase(lift(points=6), Transcription(kernels="compiled"))
    begun = max(map(events.index, ("begins sums", "begins scatter")))
    assert begun < events.index("waits sums") < events.index("waits scatter")
    assert "waits values" in events[begun:] and "waits jacobian" in events[begun:]


@whole_program
def test_what_is_refused_after_kernels_were_compiled_is_left_to_the_virtual_machine(monkeypatch):
    numbers = []
    for refused in (False, True):
        if refused:
            monkeypatch.setattr(shared_library.Build, "result", _refuse)
            monkeypatch.setenv("OCP_CACHE", str(shared_library.cache_folder()) + "_other")
        made = transcribe_phase(lift(points=6), Transcription(kernels="compiled"))
        x = np.linspace(0.5, 1, len(made.nlp.lower))
        weights = 1.0, np.linspace(-1, 1, len(made.nlp.g_lower))
        hessian = made.nlp.hessian("exact")(x, [], *weights)
        numbers.append([np.array(each) for each in (*made.nlp.jacobian(x, []), hessian)])
        assert made.kernels().startswith("virtual machine: ") is refused
    for one, other in zip(*numbers):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max())


def _refuse(build):
    raise NoCompiler("no room")
