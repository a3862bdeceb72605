"""Results that are kept on disk: found by content, never stale, and of the same bits."""

import os
import time
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

from ocp import Transcription, solve
from ocp.codegen import function_map, kept_results
from ocp.codegen.assembler import LIBRARIES, unsupported_reason
from ocp.codegen.kept_results import digest, recall
from ocp.codegen.record_content import record_content
from ocp.dynamics import mirror_image, mirror_symmetry
from ocp.models.walkers.five_link import five_link
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.transcription.kernels import custom_derivatives, kernel_backends, kernels
from ocp.transcription.transcribe import transcribe

needed = pytest.mark.skipif(
    bool(unsupported_reason()) or not LIBRARIES, reason="machine code is not kept here"
)
ASSEMBLED = Transcription(kernels="assembled")
NUMBERS = {"first": np.arange(6.0).reshape(2, 3), "second": np.array([7]), "none": np.zeros((0, 2))}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of its own, of sources that have not changed."""
    monkeypatch.setenv("OCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OCP_KEPT", "1")
    for each in (kept_results.is_kept, kept_results._folder, kept_results._surroundings):
        each.cache_clear()
    monkeypatch.setattr(kept_results, "sources", lambda: "these")
    monkeypatch.setattr(kept_results, "_written", 0)
    yield tmp_path / "cache"
    monkeypatch.undo()
    for each in (kept_results.is_kept, kept_results._folder, kept_results._surroundings):
        each.cache_clear()


def counted(calls, parts=NUMBERS):
    """What makes a result and counts how often it does."""
    return lambda: calls.append(1) or parts


def recalled(calls, *known_by):
    parts = recall("sum", known_by, counted(calls))
    assert {*parts} == {*NUMBERS}
    for name, array in NUMBERS.items():
        assert np.array_equal(parts[name], array) and parts[name].dtype == array.dtype
    return len(calls)


def test_a_result_is_computed_once_for_every_input(folder):
    calls = []
    assert [recalled(calls, "a", 1), recalled(calls, "a", 1)] == [1, 1]
    assert [recalled(calls, "a", "1"), recalled(calls, "a1")] == [2, 3]
    assert [recalled(calls, b"a", 1), recalled(calls, np.array([1])), recalled(calls)] == [4, 5, 6]
    assert [recalled(calls, np.array([1.0])), recalled(calls, np.array([[1]]))] == [7, 8]
    assert recalled(calls, "a", 1) == 8


def test_matrices_are_told_apart_by_pattern_and_numbers():
    import casadi as ca

    pattern = ca.Sparsity.triplet(3, 2, [0, 2], [0, 1])
    matrices = [
        ca.DM(pattern, [1, 2]),
        ca.DM(pattern, [1, 3]),
        ca.DM(ca.Sparsity.triplet(3, 2, [0, 1], [0, 1]), [1, 2]),
        ca.DM(ca.Sparsity.triplet(2, 3, [0, 1], [0, 2]), [1, 2]),
        ca.DM(2, 3),
        ca.DM(3, 2),
    ]
    assert len({digest(each) for each in matrices}) == len(matrices)
    assert digest(matrices[0]) == digest(ca.DM(pattern, [1, 2]))


@pytest.mark.parametrize("keep", [0, 10, 33, 60, -1])
def test_a_damaged_file_is_made_anew(folder, keep):
    calls = []
    recalled(calls, "a")
    (file,) = folder.glob("*.kept")
    whole = file.read_bytes()
    data = whole[:keep] if keep >= 0 else whole[:-1] + bytes([whole[-1] ^ 1])
    file.write_bytes(data)
    assert recalled(calls, "a") == 2
    assert file.read_bytes() == whole and recalled(calls, "a") == 2


def test_what_was_not_read_for_the_longest_time_goes_first(folder, monkeypatch):
    calls = []
    for name in ("old", "older", "new"):
        recalled(calls, name)
    size = sum(each.stat().st_size for each in folder.glob("*.kept"))
    for k, name in enumerate(("older", "old", "new")):
        (file,) = folder.glob(f"sum_{kept_results._name('sum', [name])}.kept")
        os.utime(file, (time.time() - 1000 + k, time.time() - 1000 + k))
    recalled(calls, "older")  # is read now
    monkeypatch.setattr(kept_results, "ROOM", size)
    recalled(calls, "newest")
    assert len([*folder.glob("*.kept")]) == 3
    assert recalled(calls, "older") == 4
    assert recalled(calls, "old") == 5


def test_it_is_switched_off_by_the_environment(folder, monkeypatch):
    calls = []
    monkeypatch.setenv("OCP_KEPT", "0")
    assert [recalled(calls, "a"), recalled(calls, "a")] == [1, 2]
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no modes here")
def test_nothing_is_read_where_others_may_write(folder):
    calls = []
    folder.mkdir()
    folder.chmod(0o777)
    assert [recalled(calls, "a"), recalled(calls, "a")] == [1, 2]


def test_sources_that_changed_since_they_were_imported_are_not_known(monkeypatch):
    for begun, known in ((time.time() + 10, True), (0.0, False)):
        monkeypatch.setattr(kept_results, "BEGUN", begun)
        kept_results.sources.cache_clear()
        assert bool(kept_results.sources()) is known
    kept_results.sources.cache_clear()


def somewhere(made):
    """Objective, rows, all derivatives and bounds of a program somewhere."""
    nlp = made.nlp
    x = made.guess + np.random.default_rng(2).uniform(0.0, 0.2, len(nlp.lower))
    hessians = (
        nlp.hessian(kind)(x, [], 0.7, np.linspace(-1, 1, len(nlp.g_lower)))
        for kind in ("exact", "gauss-newton")
    )
    values = (nlp.objective(x), nlp.constraints(x), *nlp.gradient(x, []), *nlp.jacobian(x, []))
    bounds = nlp.lower, nlp.upper, nlp.g_lower, nlp.g_upper
    return [np.array(each) for each in (*values, *hessians, *bounds)]


def same(one, other):
    pairs = zip(somewhere(one), somewhere(other))
    return all(np.array_equal(each, plain, equal_nan=True) for each, plain in pairs)


@needed
def test_a_kept_program_has_the_same_bits_and_is_not_differentiated(folder, monkeypatch):
    monkeypatch.setattr(function_map, "FEW", 1)
    plain = transcribe(lift(points=8), Transcription(kernels="virtual"))
    first = transcribe(lift(points=8), ASSEMBLED)
    assert same(first, plain) and [*folder.glob("map_*.kept")]
    for name in ("_slope", "_curvature", "_gauss_newton"):
        monkeypatch.setattr(kernels, name, None)
    monkeypatch.setattr(kernel_backends, "map_image", None)
    assert same(transcribe(lift(points=8), ASSEMBLED), plain)


@needed
def test_a_solution_from_kept_code_is_the_same(folder):
    problem = lift(points=12)
    solutions = [solve(problem, ASSEMBLED, certify=True) for _ in range(2)]
    one, other = solutions
    assert one.statistics["iterations"] == other.statistics["iterations"]
    assert np.array_equal(one.points, other.points)
    assert one.verification == other.verification


def changed(numbers, problem):
    """A problem with one of its numbers changed, as a user would."""
    link = int(numbers.integers(2))
    links = list(problem.tree.links)
    factor = 1.0 + 10.0 ** -numbers.uniform(1.0, 14.0)
    body = {
        "mass": replace(links[link], mass=links[link].mass * factor),
        "com": replace(links[link], com=np.array(links[link].com) * factor),
        "inertia": replace(links[link], inertia=np.array(links[link].inertia) * factor),
    }
    what = str(numbers.choice([*body, "gravity", "weight", "duration"]))
    if what == "gravity":
        tree = replace(problem.tree, gravity=np.array(problem.tree.gravity) * factor)
        return replace(problem, tree=tree)
    if what == "weight":
        (weight, term), *rest = problem.objective.terms
        objective = replace(problem.objective, terms=((weight * factor, term), *rest))
        return replace(problem, objective=objective)
    if what == "duration":
        lower, upper = problem.duration
        return replace(problem, duration=(lower, upper * factor))
    links[link] = body[what]
    return replace(problem, tree=replace(problem.tree, links=tuple(links)))


@needed
def test_a_kept_program_needs_no_inverse_dynamics(folder, monkeypatch):
    """The records of a tree say all that its torques follow from."""
    monkeypatch.setattr(function_map, "FEW", 1)
    recursive = replace(ASSEMBLED, derivatives="recursive")
    plain = transcribe(lift(points=8), replace(recursive, kernels="virtual"))
    assert same(transcribe(lift(points=8), recursive), plain)
    monkeypatch.setattr(custom_derivatives.Torque, "value", None)
    assert same(transcribe(lift(points=8), recursive), plain)


@dataclass(frozen=True)
class Stated:
    """A record of somebody's own."""

    number: float


@pytest.mark.parametrize(
    ("one", "whole"),
    [
        (lift().tree, True),
        ((1, "a", None, np.ones(2), {"b": (2.5,)}), True),
        ((1, len), False),
        (np.array([1.0, ca.SX.sym("x")], dtype=object), False),
        (Stated(1.0), False),  # its methods are in no source that results are known by
    ],
)
def test_records_are_known_by_their_content_where_nothing_else_is_in_them(one, whole):
    assert record_content(one)[1] is whole


def test_the_image_of_a_tree_is_certified_once_and_that_of_another_anew(folder, monkeypatch):
    calls = []
    asked = mirror_symmetry.inverse_dynamics
    monkeypatch.setattr(
        mirror_symmetry, "inverse_dynamics", lambda *given: calls.append(1) or asked(*given)
    )
    tree, across = five_link(), (0.0, 0.0, 1.0)
    image = mirror_image(tree, across)
    assert mirror_image(tree, across) == image and len(calls) == 1
    heavier = [replace(link, mass=1.5 * link.mass) for link in tree.links]
    assert mirror_image(replace(tree, links=heavier), across) == image and len(calls) == 2


@needed
@pytest.mark.parametrize("derivatives", ["ad", "recursive"])
def test_no_change_of_a_number_finds_a_stale_program(derivatives, folder, monkeypatch):
    """The program of each is that of the virtual machine, whatever others have left."""
    settings = replace(ASSEMBLED, derivatives=derivatives)
    monkeypatch.setattr(function_map, "FEW", 1)
    numbers = np.random.default_rng(5)
    problem = lift(points=6)
    for _ in range(5):
        problem = changed(numbers, problem if numbers.random() < 0.5 else lift(points=6))
        for points in {6, int(numbers.integers(6, 8))}:
            each = replace(problem, motion=replace(problem.motion, points=points))
            plain = transcribe(each, replace(settings, kernels="virtual"))
            assert same(transcribe(each, settings), plain)
