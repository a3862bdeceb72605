"""Search and steps in real time of a plan as a folder of C99: the iterates of Python's, on any
compiler."""

import ctypes
import shutil
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from compilers import compiler_needed
from refusals import refused

from ocp import HermiteSimpson, Parameter, Transcription, at_end, at_start, effort, path, prepare
from ocp.codegen.compiler.shared_library import find_compiler
from ocp.interchange import export_c
from ocp.interior_point import interior_point_backend, restoration, system_and_initial_point
from ocp.interior_point.sparse_systems import Augmented
from ocp.models.arms.two_link import two_link
from ocp.motion import BSpline
from ocp.problems.arms.two_link_time import problem as least_time
from ocp.problems.swing_ups.sohl_swing import problem as swing
from ocp.solvers.solver_backend import Start

STATE = [Parameter(name, value) for name, value in zip("abcd", (0.0, -2.0, 0.0, 0.0))]
GOAL = Parameter("goal", 1.0, "rad", -2.0, 2.0)
STRENGTH = Parameter("strength", 8.0, "N m", 1.0, 50.0)
STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off"]
GENERATED = ["-std=c99", "-O1", "-ffp-contract=off", "-c", "functions.c"]
ROOM = 1 << 24  # bytes, more than a state of these plans has
MOVES = 15
CROSS = "aarch64-linux-gnu-gcc"
EMULATOR = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")


def statement(**changes):
    """A two-link arm between a state and a goal, of least effort, within its strength."""
    tree = two_link(torque=10.0)
    stated = {
        "tree": tree,
        "duration": 0.8,
        "objective": effort(tree),
        "constraints": (
            at_start(tree, q=STATE[:2], qd=STATE[2:]),
            at_end(tree, q=(GOAL, -1.0), qd=0.0),
            path("strength", lambda at: at.tau, lower=-STRENGTH, upper=STRENGTH, labels=("s", "e")),
        ),
    }
    return replace(least_time(), **stated | changes)


CASES = {"given duration": {}, "free duration": {"duration": (0.5, 1.2)}}
STATUSES = ("solved", "nearly solved", "too long", "infeasible", "stuck", "diverging", "no number")


@cache
def planned(case):
    plan = prepare(statement(**CASES[case]), Transcription(kernels="virtual"))
    return plan, plan.solve().require(coarse=True)


def values(plan, **given):
    return np.array([given.get(each.name, each.value) for each in plan.parameters])


def compiled(folder):
    """The folder's functions as a library, compiled without a warning but in CasADi's part."""
    compiler = find_compiler()
    subprocess.run([compiler, *GENERATED, "-fPIC", "-o", "functions.o"], cwd=folder, check=True)
    command = [compiler, *STRICT, "-fPIC", "-shared", "arm.c", "functions.o", "-o", "arm.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "arm.so"))
    library.arm_duration.restype = library.arm_violation.restype = ctypes.c_double
    return library


def numbers(*given):
    return (ctypes.c_double * len(given))(*given)


@pytest.fixture(scope="module", params=CASES)
def arm(request, tmp_path_factory):
    """A plan, its solution, and the library of its steps with a state at their beginning."""
    if find_compiler() is None:
        pytest.skip("this machine has no C compiler")
    folder = tmp_path_factory.mktemp("steps") / "arm"
    plan, first = planned(request.param)
    export_c(plan, folder, former=first)
    return plan, first, compiled(folder), ctypes.create_string_buffer(ROOM)


def test_iterates_are_those_of_python(arm):
    """To 1e-12 over moves of the goal and of the strength, with and without time that passes."""
    plan, former, library, state = arm
    library.arm_begin(state)
    random = np.random.default_rng(8)
    for number in range(MOVES):
        given = values(plan, goal=random.uniform(0.8, 1.2), strength=random.uniform(7.0, 20.0))
        passed, newton = 0.02 * (number % 3 == 1), 1 + 4 * (number % 2)
        former = plan.step(former, given, passed=passed, newton=newton)
        taken = library.arm_step(state, numbers(*given), ctypes.c_double(passed), newton)
        x = np.frombuffer(state, count=len(former.x))
        assert taken == former.newton
        assert np.abs(x - former.x).max() <= 1e-12 * max(1.0, np.abs(former.x).max())
    assert library.arm_duration(state) == pytest.approx(former.duration, rel=1e-12)
    assert library.arm_violation(state) == pytest.approx(former.violation, rel=1e-9, abs=1e-9)


class SparseElastic(restoration.ElasticStage):
    """Restoration by sparse systems, whatever the size of a program."""

    def _choose_system(self, derivatives):
        return Augmented(self.program, derivatives.entries)


def search_by_python(plan, monkeypatch):
    """The answer of the search by sparse systems from the first guess, its iterates, and numbers of
    iterations after which it restored feasibility."""
    iterates, restored = [], []

    def restoring(*given):
        restore = restoration.make_restoration(*given)
        return lambda search: restored.append(search.count) or restore(search)

    def choose(program, condensed, entries):
        return Augmented(program, entries)

    monkeypatch.setattr(system_and_initial_point, "choose_system", choose)
    monkeypatch.setattr(restoration, "ElasticStage", SparseElastic)
    monkeypatch.setattr(interior_point_backend, "make_restoration", restoring)
    run = interior_point_backend.prepare(
        plan.transcribed.nlp,
        plan.solver,
        Start(x=plan.transcribed.guess),
        lambda f, iterate: iterates.append(iterate.x.copy()),
    )
    return run(), iterates, restored


def searched(library, state, given, iterations):
    """Iterations, status and variables of a search in C from the first guess."""
    status = ctypes.c_int(-1)
    library.arm_begin(state)
    library.arm_guess(state)
    taken = library.arm_solve(state, given, iterations, ctypes.byref(status))
    return taken, STATUSES[status.value], np.frombuffer(bytes(state))


def test_each_iterate_of_a_search_is_that_of_python(arm, monkeypatch):
    """To 1e-12, and its optimum that of the plan; the last step may be rounding alone."""
    plan, former, library, state = arm
    answer, iterates, _ = search_by_python(plan, monkeypatch)
    own = numbers(*values(plan))
    for count, x in enumerate(iterates[:-1]):
        taken, _, found = searched(library, state, own, count)
        assert taken == count
        assert np.abs(found[: len(x)] - x).max() <= 1e-12 * max(1.0, np.abs(x).max())
    taken, status, found = searched(library, state, own, 100)
    assert answer.success and status == "solved"
    assert answer.iterations - 1 <= taken <= answer.iterations
    assert np.abs(found[: len(x)] - answer.iterate.x).max() < 1e-9
    assert plan.transcribed.nlp.objective(answer.iterate.x) == pytest.approx(
        former.objective, rel=1e-7
    )


def test_steps_go_on_from_a_search(arm):
    """At values far from the first motion, as Python's do from its optimum there."""
    first, _, library, state = arm
    plan = prepare(first.problem, Transcription(kernels="virtual"))
    given, near = values(plan, goal=0.2), values(plan, goal=0.21)
    there = plan.solve(goal=0.2).require(coarse=True)
    assert searched(library, state, numbers(*given), 100)[1] == "solved"
    found = library.arm_duration(state)
    assert found == pytest.approx(there.duration, rel=1e-6)
    step = plan.step(there, near)
    assert library.arm_step(state, numbers(*near), ctypes.c_double(0.0), 1) == 1
    assert np.abs(np.frombuffer(state, count=len(step.x)) - step.x).max() < 1e-6


def test_a_search_says_how_it_ends(arm):
    plan, _, library, state = arm
    own = values(plan)
    assert searched(library, state, numbers(*own), 2)[:2] == (2, "too long")
    weak = numbers(*values(plan, strength=1.0, goal=2.0))
    assert searched(library, state, weak, 500)[1] == "infeasible"
    assert searched(library, state, numbers(*own), 100)[1] == "solved"  # nothing is left of it
    library.arm_guess(state)
    before, status = bytes(state), ctypes.c_int(-1)
    wrong = numbers(*values(plan, goal=2.5))
    place = [each.name for each in plan.parameters].index("goal")
    assert library.arm_solve(state, wrong, 9, ctypes.byref(status)) == -1 - place
    assert bytes(state) == before and status.value == -1


@compiler_needed
def test_feasibility_is_restored_as_in_python(tmp_path, monkeypatch):
    """In a swing-up of short steps: rounding grows, but points stay Python's beyond restoration; of
    its several optima each finds one."""
    plan = prepare(swing(), Transcription(kernels="virtual"))
    answer, iterates, restored = search_by_python(plan, monkeypatch)
    assert answer.success and restored
    monkeypatch.undo()
    export_c(plan, tmp_path / "arm", former=plan.solve())
    library, state = compiled(tmp_path / "arm"), ctypes.create_string_buffer(ROOM)
    own, before = numbers(*values(plan)), restored[0]
    assert searched(library, state, own, 500)[1] == "solved"
    for count in range(before, before + 10):
        x = searched(library, state, own, count)[2]
        off = min(np.abs(x[: len(each)] - each).max() for each in iterates[before - 1 :])
        assert off < 1e-3 * np.abs(iterates[before]).max()


def test_the_motion_is_that_of_the_solution(arm):
    plan, first, library, state = arm
    library.arm_begin(state)
    step = plan.step(first, values(plan))
    library.arm_step(state, numbers(*values(plan)), ctypes.c_double(0.0), 1)
    solution = step.solution
    for t in (0.0, 0.31, solution.duration):
        parts = [numbers(0.0, 0.0) for _ in range(3)]
        library.arm_motion(state, ctypes.c_double(t), *parts)
        for found, expected in zip(parts, (solution.q(t), solution.qd(t), solution.qdd(t))):
            assert np.allclose(found, expected, rtol=0, atol=1e-10 * max(1, np.abs(expected).max()))


def test_a_value_outside_its_bounds_changes_nothing(arm):
    plan, _, library, state = arm
    library.arm_begin(state)
    before = bytes(state)
    place = [each.name for each in plan.parameters].index("goal")
    for wrong in (2.5, np.nan):
        given = numbers(*values(plan, goal=wrong))
        assert library.arm_step(state, given, ctypes.c_double(0.0), 1) == -1 - place
        assert bytes(state) == before


@compiler_needed
def test_a_plan_checks_itself_and_asks_for_no_memory(tmp_path):
    plan, first = planned("free duration")
    export_c(plan, tmp_path / "arm", former=first)
    words = " ".join(each.read_text() for each in (tmp_path / "arm").glob("*.[ch]"))
    assert not {"malloc", "calloc", "realloc", "alloca"} & {*words.replace("(", " ").split()}
    command = [
        find_compiler(),
        *STRICT[:2],
        "arm.c",
        "functions.c",
        "check.c",
        "-o",
        "check",
        "-lm",
    ]
    subprocess.run(command, cwd=tmp_path / "arm", check=True)
    assert subprocess.run([tmp_path / "arm" / "check"], check=False, stdout=-3).returncode == 0
    tables = tmp_path / "arm" / "tables.h"
    text = tables.read_text()
    begin = text.index("first_y[] = {") + len("first_y[] = {")
    tables.write_text(text[:begin] + "1.001 * " + text[begin:])
    subprocess.run(command, cwd=tmp_path / "arm", check=True)
    assert subprocess.run([tmp_path / "arm" / "check"], check=False, stdout=-3).returncode == 1


@pytest.mark.commands
@compiler_needed
@pytest.mark.skipif(
    not (shutil.which(CROSS) and EMULATOR),
    reason=f"this machine has no {CROSS} or no qemu-aarch64",
)
def test_another_processor_makes_the_same_moves(tmp_path):
    plan, first = planned("free duration")
    export_c(plan, tmp_path / "arm", former=first)
    sources = "arm.c", "functions.c", "check.c"
    command = [CROSS, *STRICT[:2], "-static", *sources, "-o", "check", "-lm"]
    subprocess.run(command, cwd=tmp_path / "arm", check=True)
    checked = [EMULATOR, tmp_path / "arm" / "check"]
    assert subprocess.run(checked, check=False, stdout=-3).returncode == 0


@pytest.mark.commands
@compiler_needed
@pytest.mark.skipif(shutil.which("cmake") is None, reason="this machine has no cmake")
def test_cmake_builds_a_plan_whose_program_reads_moves(tmp_path):
    plan, first = planned("given duration")
    export_c(plan, tmp_path / "arm", former=first)
    for command in (
        ["cmake", "-S", "arm", "-B", "build"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    moves = "".join(f"0.0 1 {' '.join(map(repr, values(plan).tolist()))}\n" for _ in range(3))
    done = subprocess.run(
        [tmp_path / "build" / "main", "x"], input=moves, capture_output=True, text=True, check=True
    )
    step = first
    for line in done.stdout.splitlines():
        step = plan.step(step, values(plan))
        taken, duration, *x = map(float, line.split())
        assert taken == 1 and duration == pytest.approx(0.8)
        assert np.abs(np.array(x) - step.x).max() < 1e-12


def test_what_steps_have_no_word_for_is_refused(tmp_path, monkeypatch):
    plan, first = planned("given duration")
    with refused("export_c: name: expected a word of C such as 'arm', got '2 arms'"):
        export_c(plan, tmp_path / "arm", name="2 arms", former=first)
    mesh = prepare(statement(motion=BSpline(points=8)), Transcription(method=HermiteSimpson()))
    with refused("export_c: expected a plan on a BSpline whose knots are given"):
        export_c(mesh, tmp_path / "arm", former=mesh.solve())
    free = prepare(statement(motion=BSpline(points=8, knots="free")))
    with refused("export_c: expected a plan on a BSpline whose knots are given"):
        export_c(free, tmp_path / "arm", former=first)
    lasting = prepare(statement(duration=Parameter("lasts", 0.8, "s", 0.5, 1.0)))
    with refused("export_c: expected a duration, or bounds of it, that are numbers"):
        export_c(lasting, tmp_path / "arm", former=first)
    monkeypatch.setattr(system_and_initial_point.fronts, "available", lambda: False)
    with refused("export_c: factors of a plan are planned by compiled code, and no C compiler is"):
        export_c(plan, tmp_path / "arm", former=first)
    assert not any(tmp_path.iterdir())
