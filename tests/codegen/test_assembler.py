"""Scalar graphs as machine code: the virtual machine's bits, at any number of instants."""

import gc
import platform
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from random_graphs import BINARY, SPECIAL, UNARY, drawn, same
from repeated_cases import for_each

from ocp.codegen import assembler as house
from ocp.codegen.assembler import (
    assemble_function,
    assemble_map,
    assembled_functions,
    casadi_reader,
    elf,
    matrix_graphs,
    self_test,
    self_test_reason,
    this_machine,
    unsupported_reason,
)
from ocp.codegen.assembler.ir import ADD, LIBRARY_CALLS, MUL, STEPS, X, Y
from ocp.codegen.assembler.matrix_graphs import ENTRYWISE, MOVES, STACKING

needed = pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason())


def test_the_usual_machines_have_it():
    """So that what gives wrong numbers is no reason to leave the tests out."""
    able = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    if able:
        assert unsupported_reason() == ""


@needed
@for_each("name", [*UNARY, *BINARY])
def test_every_operation_has_the_bits_of_the_virtual_machine(name):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    result = UNARY[name](x) if name in UNARY else BINARY[name](x, y)
    function = ca.Function(name, [ca.vertcat(x, y)], [result])
    pairs = np.array([(one, other) for one in SPECIAL for other in SPECIAL]).T
    drawn = np.random.default_rng(3).normal(size=(2, 101))
    inputs = np.hstack([pairs, drawn])
    made = assemble_map(function, inputs.shape[1])
    assert made is not None
    assert same([made(inputs)], [function.map(inputs.shape[1])(inputs)])


def test_every_operation_is_tried():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    tried = [function(x) for function in UNARY.values()] + [
        function(x, y) for function in BINARY.values()
    ]
    tried.append(x**2.5)
    ops = set()
    for each in tried:
        function = ca.Function("one", [x, y], [each])
        ops |= {function.instruction_id(k) for k in range(function.n_instructions())}
    assert set(STEPS) <= ops
    assert set(LIBRARY_CALLS.values()) <= set(STEPS)


def test_the_trial_has_every_operation():
    told, of_matrices = (
        {each.instruction_id(k) for k in range(each.n_instructions())}
        for each in (self_test.operations(), self_test.matrices())
    )
    assert set(STEPS) <= told
    assert {*ENTRYWISE, *STACKING, *MOVES, ca.OP_MTIMES, ca.OP_CALL, ca.OP_CONST} <= of_matrices


@needed
@pytest.mark.parametrize(
    ("op", "steps", "name"),
    [
        (ca.OP_LE, STEPS[ca.OP_LT], "le"),
        (ca.OP_COPYSIGN, ((ADD, X, Y, 0),), "copysign"),
        (ca.OP_SIN, STEPS[ca.OP_COS], "sin"),
        (ca.OP_CONSTPOW, ((MUL, X, X, 0),), "constpow"),
    ],
)
def test_an_operation_with_other_bits_is_found_before_use(monkeypatch, op, steps, name):
    monkeypatch.setitem(STEPS, op, steps)
    reason = f"assembled kernels give other numbers than CasADi {ca.__version__}: {name}"
    assert self_test_reason() == reason


@needed
def test_matrices_with_other_bits_are_found_before_use(monkeypatch):
    monkeypatch.setattr(matrix_graphs, "SUB", matrix_graphs.ADD)
    monkeypatch.setitem(MOVES, ca.OP_TRANSPOSE, lambda matrix: np.arange(matrix.nnz()))
    assert self_test_reason().endswith(": matrices")


@needed
def test_a_reader_that_reads_otherwise_is_found_before_use(monkeypatch):
    found = casadi_reader.serialized_table
    monkeypatch.setattr(casadi_reader, "serialized_table", lambda *what: found(*what)[::-1])
    assert "serializes graphs in another way" in self_test_reason()


@needed
@for_each("seed", range(12))
def test_random_graphs_have_the_bits_of_the_virtual_machine(seed):
    function, numbers = drawn(seed), np.random.default_rng(seed)
    for count in (1, 2, 3, 4, 5, 25):
        inputs = [numbers.normal(size=(size, count)) for size in (7, 3)]
        made = assemble_map(function, count)
        assert made is not None
        assert same(made.call(inputs), function.map(count).call(inputs))


@for_each("seed", range(4))
def test_instructions_are_read_as_they_are_told(seed):
    function = drawn(seed)
    table = casadi_reader.serialized_table(function)
    assert table is not None
    asked = casadi_reader.asked_table(function, range(function.n_instructions()))
    assert np.array_equal(table, asked)


def test_instructions_that_stand_elsewhere_are_asked_for(monkeypatch):
    function = drawn(5)
    expected = casadi_reader.read_instructions(function)
    monkeypatch.setattr(casadi_reader, "serialized_table", lambda *what: None)
    for one, other in zip(expected, casadi_reader.read_instructions(function)):
        assert np.array_equal(one, other)


@needed
def test_what_there_is_no_code_for_is_not_assembled():
    x, many = ca.SX.sym("x"), ca.SX.sym("many", 2, 2)
    assert assemble_map(ca.Function("shown", [x], [x.printme(1)]), 4) is None
    assert assemble_map(ca.Function("matrix", [many], [many[0]]), 4) is None


@needed
def test_inputs_that_are_not_there_are_zeros_and_outputs_need_not_be():
    function = drawn(2)
    made, plain = assemble_map(function, 6), function.map(6)
    assert made is not None
    inputs = np.asfortranarray(np.random.default_rng(1).normal(size=(7, 6)))
    for wanted in (0, 1):
        results = []
        for each in (made, plain):
            buffer, trigger = each.buffer()
            buffer.set_arg(0, memoryview(inputs.ravel(order="F").copy()))
            result = np.zeros(each.nnz_out(wanted))
            buffer.set_res(wanted, memoryview(result))
            trigger()
            results.append(result)
        assert same(results[:1], results[1:])


@needed
def test_functions_without_inputs_or_outputs_are_assembled():
    x, nothing = ca.SX.sym("x", 3), ca.SX.sym("nothing", 0)
    empty = assemble_map(ca.Function("empty", [x, nothing], [ca.SX(0, 1), ca.SX(2.5)]), 5)
    assert empty is not None
    results = empty(np.ones((3, 5)), np.zeros((0, 5)))
    assert results[0].shape == (0, 5)
    assert np.array_equal(np.array(results[1]), np.full((1, 5), 2.5))


def mappings() -> int:
    return Path("/proc/self/maps").read_text().count(f"memfd:{elf.NAME}")


@needed
def test_libraries_are_apart_and_gone_when_nobody_has_them():
    gc.collect()
    before = mappings()
    made = [assemble_map(drawn(seed), 4) for seed in range(5)]
    assert mappings() >= before + 5
    inputs = [np.random.default_rng(4).normal(size=(size, 4)) for size in (7, 3)]
    for seed, each in enumerate(made):
        assert each is not None
        assert same(each.call(inputs), drawn(seed).map(4).call(inputs))
    del made, each
    gc.collect()
    assert mappings() == before


def test_other_machines_say_why_they_have_none(monkeypatch):
    monkeypatch.setattr(this_machine.platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(this_machine.platform, "platform", lambda: "an old board")
    reason = "kernels are assembled for x86-64 and AArch64 alone, not on an old board"
    assert self_test_reason() == reason
    monkeypatch.undo()
    monkeypatch.setitem(this_machine.SYSTEMS, sys.platform, "libnowhere.so")
    with pytest.raises(house.NoMachineCode, match="no C library that is known: libnowhere.so"):
        this_machine.library_addresses.__wrapped__()


@needed
def test_a_system_that_refuses_is_told_in_one_line(monkeypatch):
    def refuse(name):
        raise OSError("no such thing here")

    monkeypatch.setattr(elf.os, "memfd_create", refuse)
    with pytest.raises(house.NoMachineCode, match="no memory for machine code: no such thing here"):
        assemble_map(drawn(0), 4)
    assert self_test_reason() == "no memory for machine code: no such thing here"
    monkeypatch.undo()
    monkeypatch.setattr(elf, "elf_image", lambda *what: (b"no library", 0))
    with pytest.raises(house.NoMachineCode, match="the system does not load machine code: "):
        assemble_map(drawn(0), 4)


@needed
def test_a_function_by_itself_keeps_names_and_patterns():
    x, turn = ca.SX.sym("x", 3), ca.SX.sym("turn", ca.Sparsity.upper(3))
    results = [ca.sparsify(turn) * ca.sin(x[0]), ca.SX(2, 2), turn @ x]
    plain = ca.Function("turned", [x, turn], results, ["x", "turn"], ["by", "none", "to"])
    made = assemble_function(plain)
    assert made.class_name() == "External"
    assert str(made).split(" ")[0] == str(plain).split(" ")[0]  # name, inputs, outputs, sizes
    numbers = np.random.default_rng(8)
    given = {"x": numbers.normal(size=3), "turn": np.triu(numbers.normal(size=(3, 3)))}
    for one, other in zip(made(**given).items(), plain(**given).items()):
        assert one[0] == other[0] and one[1].sparsity() == other[1].sparsity()
        assert np.array_equal(np.array(one[1]), np.array(other[1]))


@needed
def test_a_function_that_cannot_be_assembled_is_named():
    x = ca.SX.sym("x")
    with pytest.raises(house.NoMachineCode, match="function 'shown': has an operation"):
        assemble_function(ca.Function("shown", [x], [x.printme(1)]))


def test_where_nothing_can_be_assembled_a_function_says_so(monkeypatch):
    monkeypatch.setattr(assembled_functions, "unsupported_reason", lambda: "not on this machine")
    with pytest.raises(house.NoMachineCode, match="not on this machine"):
        assemble_function(drawn(0))
