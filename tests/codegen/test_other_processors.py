"""Machine code of other processors and systems: the bits of the virtual machine, too."""

import platform
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from compilers import compiler_needed
from random_graphs import drawn, exact, inputs_of, same

from ocp import solve
from ocp.codegen.assembler import (
    NoMachineCode,
    assemble_map,
    assembled_functions,
    executable_memory,
    self_test,
    self_test_reason,
    this_machine,
    unsupported_reason,
)
from ocp.codegen.assembler.assembled_functions import steps_of_function
from ocp.codegen.assembler.batch_loop import write_map
from ocp.codegen.assembler.ir import FUNCTIONS
from ocp.codegen.assembler.processors.aarch64 import Arm
from ocp.codegen.assembler.processors.x86_64 import Avx, Sse
from ocp.codegen.compiler.shared_library import find_compiler
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.transcription import Transcription

HERE = Path(__file__).parent
GRAPHS = 60
CROSS = "aarch64-linux-gnu-gcc"
ARM, X86 = (
    name if shutil.which(name) else f"{name}-static"  # Debian's without libraries
    for name in ("qemu-aarch64", "qemu-x86_64")
)
is_x86 = platform.machine() == "x86_64"
x86_needed = pytest.mark.skipif(not is_x86, reason="not a processor of x86-64")
needed = pytest.mark.skipif(bool(unsupported_reason()), reason=unsupported_reason())


def program_needed(*names):
    missing = [name for name in names if not shutil.which(name)]
    return pytest.mark.skipif(bool(missing), reason=f"this machine has no {', '.join(missing)}")


def harness(folder: Path, compiler: str, convention: str, *flags: str) -> Path:
    """The program that calls foreign code, compiled."""
    wrapped = [(name, "TWO" if name in self_test.NAMES_OF_TWO else "ONE") for name in FUNCTIONS]
    definitions = " ".join(f"{kind}({name})" for name, kind in wrapped)
    text = (HERE / "foreign_calls.c").read_text()
    text = text.replace("\nDEFINITIONS\n", f"\n{definitions}\n")
    text = text.replace("{TABLE}", f"{{{', '.join(f'my_{name}' for name in FUNCTIONS)}}}")
    source, program = folder / "foreign_calls.c", folder / "foreign_calls"
    source.write_text(text)
    made = [compiler, "-O1", f"-DCONVENTION={convention}", *flags, "-o", program, source, "-lm"]
    subprocess.run(made, check=True, capture_output=True)
    return program


def record(code, function: ca.Function, inputs, count: int) -> bytes:
    """What the harness reads: the code of a function at many instants, and its inputs."""
    steps = steps_of_function(function, code.special)
    sizes = (
        [function.nnz_in(k) for k in range(function.n_in())],
        [function.nnz_out(k) for k in range(function.n_out())],
    )
    room = write_map(code, "mapped", steps, sizes, count, (0,) * len(FUNCTIONS))
    data = code.to_bytes()
    places = code.labels["mapped"], code.labels["library"]
    head = [len(data), *places, *map(len, sizes), room, 0, 0]
    head += [count * size for side in sizes for size in side]
    numbers = b"".join(np.asarray(each, dtype=float).tobytes(order="F") for each in inputs)
    return np.array(head, dtype=np.int64).tobytes() + data + numbers


def that_differ(records, expected, run, file: Path) -> list[int]:
    """The numbers of records whose values, as the harness computes them, have other bits."""
    file.write_bytes(b"".join(records))
    done = subprocess.run([*run, file], check=True, capture_output=True)
    parts = np.split(np.frombuffer(done.stdout), np.cumsum([len(each) for each in expected])[:-1])
    return [k for k, part in enumerate(parts) if not same([part], [expected[k]])]


def graphs_that_differ(new_code, graph, run, file: Path) -> list[int]:
    """The random graphs of all whose values, as the harness computes them, have other bits."""
    records, expected = [], []
    for seed in range(GRAPHS):
        function, count = graph(seed), 1 + seed % 9
        inputs = inputs_of(seed, count)
        records.append(record(new_code(), function, inputs, count))
        results = function.map(count).call([ca.DM(each) for each in inputs])
        expected.append(np.concatenate([np.array(each).ravel(order="F") for each in results]))
    return that_differ(records, expected, run, file)


@program_needed(CROSS, ARM)
def test_code_of_aarch64_has_the_bits_of_the_virtual_machine(tmp_path):
    """Of operations whose results are the same in every C library; it runs by an emulator."""
    program = harness(tmp_path, CROSS, "", "-static")
    assert graphs_that_differ(Arm, exact, [ARM, program], tmp_path / "records") == []


def fused_product(first, second, added) -> np.ndarray:
    """The product of matrices (m, n, k) that adds each term with one rounding, added to another."""
    total = np.array(added)
    for row, column in np.ndindex(total.shape):
        for one, other in zip(first[row], second[:, column]):
            exact_sum = Fraction(one) * Fraction(other) + Fraction(total[row, column])
            total[row, column] = float(exact_sum)
    return total.ravel(order="F")


@program_needed(CROSS, ARM)
def test_products_of_matrices_are_fused_on_aarch64(tmp_path):
    """As CasADi's are there; factors have been made at any distance before."""
    records, expected = [], []
    for seed in range(80):
        numbers = np.random.default_rng(seed)
        m, n, k = numbers.integers(2, 6, size=3).tolist()
        x, y, z = ca.MX.sym("x", m * n), ca.MX.sym("y", n * k), ca.MX.sym("z", m * k)
        first, second = 2 * ca.reshape(x, m, n), -ca.reshape(y, n, k)
        product = ca.vec(ca.mac(first, second, ca.reshape(z, m, k)))
        function = ca.Function("product", [x, y, z], [product])
        one, other, more = (numbers.normal(size=size) for size in ((m, n), (n, k), (m, k)))
        inputs = [each.ravel(order="F") for each in (one, other, more)]
        records.append(record(Arm(), function, inputs, 1))
        expected.append(fused_product(2 * one, -other, more))
    program = harness(tmp_path, CROSS, "", "-static")
    assert that_differ(records, expected, [ARM, program], tmp_path / "records") == []


@compiler_needed
@x86_needed
@pytest.mark.parametrize("kind", [Avx, Sse])
def test_code_for_windows_keeps_its_calling_convention(kind, tmp_path):
    """Arguments and registers to be restored are those of Windows, also of the C library."""
    if kind is Avx and this_machine.new_code().name != Avx.name:
        pytest.skip("this processor has no AVX")
    program = harness(tmp_path, find_compiler(), "__attribute__((ms_abi))")

    def new_code():
        return kind(windows=True)

    assert graphs_that_differ(new_code, drawn, [program], tmp_path / "records") == []


@needed
@x86_needed
def test_code_without_avx_has_the_bits_of_the_virtual_machine(monkeypatch):
    monkeypatch.setattr(assembled_functions, "new_code", Sse)
    assert self_test_reason() == ""
    for seed in range(GRAPHS):
        function, count = drawn(seed), 1 + seed % 9
        inputs = inputs_of(seed, count)
        assert same(assemble_map(function, count).call(inputs), function.map(count).call(inputs))


@pytest.mark.commands
@program_needed(X86)
@x86_needed
def test_a_processor_without_avx_is_known_and_served():
    """As emulated, with all of the system's instructions that it has."""
    command = [X86, "-cpu", "Westmere", sys.executable, HERE / "random_graphs.py", "12"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == f"{Sse.name} 12\n"


@needed
def test_functions_in_anonymous_memory_are_those_of_libraries(monkeypatch):
    """As where CasADi loads no library from memory: it calls them through Python."""
    expected = solve(lift(points=8), Transcription(kernels="assembled")).require()
    monkeypatch.setattr(this_machine, "LIBRARIES", False)
    assert self_test_reason() == ""
    for seed in range(12):
        function, count = drawn(seed), 1 + seed % 9
        made, inputs = assemble_map(function, count), inputs_of(seed, count)
        assert made.class_name() == "CallbackInternal"
        assert same(made.call(inputs), function.map(count).call(inputs))
        made = assembled_functions.assemble_function(function)
        assert made.name_in() == function.name_in() and made.name() == function.name()
    again = solve(lift(points=8), Transcription(kernels="assembled")).require()
    assert again.objective == expected.objective


@needed
def test_a_system_without_executable_memory_is_told_with_the_cause(monkeypatch):
    def refuse(code):
        raise OSError("mprotect is refused")

    for name in ("_write_unix", "_write_mac", "_write_windows"):
        monkeypatch.setattr(executable_memory, name, refuse)
    monkeypatch.setattr(this_machine, "LIBRARIES", False)
    reason = "the system gives no memory for machine code: mprotect is refused"
    with pytest.raises(NoMachineCode, match=reason):
        assemble_map(drawn(0), 3)
    this_machine._features.cache_clear()
    assert self_test_reason() == reason


def test_memory_of_code_is_freed_with_it():
    code = this_machine.new_code()
    code.label("seven")
    code.mov_constant(0, 7)
    code.give()
    maps = Path("/proc/self/maps")
    memory = executable_memory.CodeMemory(code.to_bytes())
    functions = memory.functions({"seven": 0})
    assert functions.seven() == 7
    place = f"{memory.address:x}-"
    if maps.exists():
        assert place in maps.read_text()
    del memory
    assert functions.seven() == 7
    del functions
    if maps.exists():
        assert place not in maps.read_text()
