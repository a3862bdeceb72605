"""The comparison of formulations: counts that are exact, their growth, the size of derivative graphs, and the files it writes."""

import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from ocp.models.human_like import human_like
from ocp.problems.compare_formulations import (
    DENSE,
    FIELDS,
    METHODS,
    MODELS,
    TABLE_I,
    TABLE_II,
    chain,
    counted,
    dense,
    derivatives,
    exponent,
    folded,
    leading,
    printed,
    run,
    table,
    ur5_like,
)
from PIL import Image

from ocp.dynamics import composite
from ocp.plots.charts import Curve, lines

ROOT = Path(__file__).parents[2]
FALLING = ("uicker_kahn", "waters", "hollerbach_4x4", "hollerbach_3x3", "newton_euler")
DEGREES = {
    "uicker_kahn": 4,
    "waters": 2,
    "hollerbach_4x4": 1,
    "hollerbach_3x3": 1,
    "newton_euler": 1,
    "configuration_space": 3,
}
COLUMNS = "model,joints,quantity,method,rule,multiplications,additions,instructions,microseconds,compiled_microseconds"
MISPRINTED = {
    "uicker_kahn": (67143, 51548)
}  # table I at n = 6 where table II does not follow from it

every_count = pytest.mark.parametrize("method", DENSE)


@every_count
def test_table_i_makes_table_ii_but_for_one_misprint(method):
    assert printed(method, 6) == MISPRINTED.get(method, TABLE_II[method])
    assert method not in MISPRINTED or MISPRINTED[method][0] == pytest.approx(
        TABLE_II[method][0], rel=0.015
    )


@every_count
def test_dense_counts_stay_within_table_ii(method):
    assert (np.array(dense(method, 6)) <= TABLE_II[method]).all()


@every_count
@pytest.mark.parametrize("n", range(2, 9))
def test_dense_counts_stay_within_table_i(method, n):
    """The additions of our configuration space are n more than printed at most, for doubling what the symmetry halves."""
    slack = n if method == "configuration_space" else 0
    assert (np.array(dense(method, n)) <= np.array(printed(method, n)) + slack).all()


@pytest.mark.parametrize("n", range(4, 13))
def test_dense_counts_fall_from_uicker_to_newton(n):
    counts = np.array([dense(method, n) for method in FALLING])
    assert (np.diff(counts, axis=0) < 0).all()


def test_looked_up_tables_lose_against_newton_and_euler_in_the_end():
    """In multiplications from 9 joints on by the printed tables, as the paper says, and from 13 on as counted here."""
    for count, first in ((printed, 9), (dense, 13)):
        lost = [
            n
            for n in range(2, 15)
            if count("configuration_space", n)[0] > count("newton_euler", n)[0]
        ]
        assert lost == list(range(first, 15))


@every_count
def test_dense_counts_are_polynomials_of_the_known_degree(method):
    degree, coefficients = leading(lambda n: dense(method, n), 10)
    assert degree == DEGREES[method]
    assert all(0 < ours <= his[0] for ours, his in zip(coefficients, TABLE_I[method]))


@every_count
def test_fitted_exponents_of_dense_counts_lie_at_or_below_the_degree(method):
    """A linear term lifts the exponent of a slow start above 1, lower powers pull the others below theirs, as in the printed table."""
    found, his = (exponent(lambda n: count(method, n), 12) for count in (dense, printed))
    assert found == pytest.approx(DEGREES[method], abs=0.2 if DEGREES[method] == 1 else 0.75)
    assert found <= max(his, 1.2)


@pytest.mark.parametrize("method", ["newton_euler", "hollerbach_4x4", "hollerbach_3x3"])
def test_folded_counts_of_recursions_grow_linearly(method):
    steps = np.diff([folded(method, chain(n)) for n in range(3, 13)], axis=0)
    assert np.ptp(steps, axis=0).max() <= 0.02 * steps.max()
    assert exponent(lambda n: folded(method, chain(n)), 12) == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize(
    "tree", [chain(6), chain(6, seed=1), ur5_like()], ids=["chain", "other chain", "ur5_like"]
)
def test_newton_and_euler_need_the_least_work_in_folded_graphs(tree):
    counts = {method: sum(folded(method, tree)) for method in METHODS}
    assert (
        min(counts, key=counts.get) == "newton_euler"
        and max(counts, key=counts.get) == "uicker_kahn"
    )


def test_the_ur5_like_arm_meets_the_known_bound():
    assert (np.array(folded("newton_euler", ur5_like())) <= (255, 180)).all()


@pytest.mark.parametrize(
    "tree", [chain(2), chain(5), ur5_like()], ids=["chain2", "chain5", "ur5_like"]
)
def test_every_way_to_a_derivative_gives_the_same_numbers(tree):
    """Columns list nonzeros in different orders, and AD knows of fewer zeros: compare sorted, without the zeros."""
    assert_equal_numbers(tree, derivatives(tree))


def assert_equal_numbers(tree, functions):
    """The functions of each quantity give the same numbers."""
    arguments, found = np.random.default_rng(0).uniform(-1, 1, (4, tree.dof)), {}
    for (quantity, _), (function, _) in functions.items():
        values = np.sort(np.array(function(*arguments[: function.n_in()])).ravel())
        found.setdefault(quantity, []).append(values[np.abs(values) > 1e-9])
    assert {quantity: len(columns) for quantity, columns in found.items()} == {
        "tau": 1,
        "jacobian": 3,
        "hessian": 3,
    }
    for first, *others in found.values():
        for other in others:
            np.testing.assert_allclose(other, first, rtol=0, atol=1e-10 * np.abs(first).max())


@pytest.fixture(scope="module")
def large():
    """The 55-joint tree and its derivatives."""
    tree = human_like()
    return tree, derivatives(tree)


def test_every_way_to_a_derivative_of_55_joints_gives_the_same_numbers(large):
    assert_equal_numbers(*large)


def test_the_benchmark_tree_has_the_build_of_the_human_model(large):
    tree = large[0]
    assert tree.dof == 55 and tree == human_like()
    assert [tree.parents.count(k) for k in (5, 17)] == [3, 3] and sum(
        link.mass == 0 for link in tree.links
    ) > 30


def test_the_recursive_jacobian_of_55_joints_keeps_its_size(large):
    tree, composed, automatic = (
        large[0],
        *(large[1]["jacobian", method][0] for method in ("composite", "AD")),
    )
    assert (
        composed.n_instructions() <= 70_000
        and composed.n_instructions() <= 0.65 * automatic.n_instructions()
    )
    symbols = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    assert composed.nnz_out() == sum(
        part.nnz() for part in composite.sensitivity(tree, *symbols)[:3]
    )


@pytest.mark.parametrize(("quantity", "most"), [("jacobian", 20_000), ("hessian", 27_000)])
def test_the_loops_of_55_joints_keep_their_size(large, quantity, most):
    assert large[1][quantity, "composite loops"][1] <= most


def test_the_tables_read_as_markdown_and_state_the_misprints():
    text = table(3)
    blocks = [
        [line for line in block.splitlines() if line.startswith("|")]
        for block in text.split("\n\n")
        if block.startswith("|")
    ]
    assert len(blocks) == 5 and all(
        len({line.count("|") for line in block}) == 1 for block in blocks
    )
    assert all(set(block[1]) <= set("|-:") for block in blocks)
    assert "67143" in text and "66271" in text and "106 2/3" in text and "scan" in text
    for method in METHODS:
        assert method in text


def test_the_counts_of_the_file_are_those_of_the_tables():
    records = counted(2)
    assert {record.model for record in records} == {"chain1", "chain2", *MODELS}
    six = [
        record
        for record in counted(6)
        if (record.joints, record.method, record.rule) == (6, "waters", "table I")
    ]
    assert [(record.multiplications, record.additions) for record in six] == [(7051, 5652)]


def test_the_command_writes_what_it_is_told_to(tmp_path, capsys):
    assert (
        run(
            [
                "--joints",
                "2",
                "--csv",
                str(tmp_path / "work.csv"),
                "--plot",
                str(tmp_path / "work.png"),
            ]
        )
        == 0
    )
    assert "| chain2" in capsys.readouterr().out
    header, *lines_ = (tmp_path / "work.csv").read_text(encoding="utf-8").splitlines()
    assert header == COLUMNS == ",".join(FIELDS)
    cells = [line.split(",") for line in lines_]
    assert {len(line) for line in cells} == {len(FIELDS)}
    timed = [line for line in cells if line[8]]
    assert [tuple(line[2:4]) for line in timed] == list(derivatives(chain(2))) and all(
        float(line[8]) > 0 and not line[9] for line in timed
    )
    assert (
        f"chain2,2,tau,newton_euler,dense,{','.join(map(str, dense('newton_euler', 2)))},,,"
        in lines_
    )
    with Image.open(tmp_path / "work.png") as picture:
        assert min(picture.size) > 500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work.csv", "work.png"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--joints", "0"], "--joints: expected at least 1, got 0"),
        (["--joints", "many"], "invalid int value"),
        (["--odd"], "unrecognized"),
        (["--csv", "/nowhere/work.csv"], "folder /nowhere does not exist"),
        (["--plot", "work.txt"], "suffix '.txt'"),
    ],
)
def test_bad_arguments_end_with_status_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        status = run(["--joints", "1", *arguments])
    except SystemExit as stop:  # argparse's own way
        status = stop.code
    assert status == 2 and message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_a_compiler_the_command_says_so(capsys, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert (
        run(["--joints", "1", "--compile"]) == 2
        and "no C compiler found" in capsys.readouterr().err
    )


def test_it_runs_as_a_module():
    command = [sys.executable, "-m", "problems.compare_formulations", "--joints", "1", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_chart_is_written_whole_or_not_at_all(tmp_path):
    curve = Curve(label="square", x=(1, 2, 3), y=(1, 4, 9), dash="dashed")
    for name in ("chart.png", "chart.svg"):
        lines(tmp_path / name, [curve], x="n", y="n^2", log=name.endswith("png"))
    with pytest.raises(ValueError, match=r"suffix '.gif': expected one of .png, .svg, .pdf"):
        lines(tmp_path / "chart.gif", [curve], x="n", y="n^2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chart.png", "chart.svg"]
