"""Costs of derivatives by every formulation: exact counts, refused graphs, conclusions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ocp import dynamics
from ocp.models.arms.general_chain import general_chain
from ocp.models.arms.ur5_like import ur5_like
from ocp.models.walkers.human_like import human_like
from ocp.problems.benchmarks import sensitivity_costs
from ocp.problems.benchmarks.dynamics.compare_sensitivities import (
    WORDS,
    claims,
    counts,
    growth,
    run,
    smaller,
    table,
)
from ocp.problems.benchmarks.dynamics.compare_sensitivities import instructions as written
from ocp.problems.benchmarks.sensitivity_costs import (
    AUTOMATIC,
    COMPOSITE,
    FIRST,
    NAMES,
    PUBLISHED,
    RECURSIVE,
    SECOND,
    builders,
    continued,
    measured,
    size,
    trees,
)
from ocp.problems.benchmarks.shared_constants import round_constants

ANALYTICAL = {
    "uicker_kahn": {2: 852, 3: 3211},
    "waters": {2: 1162, 3: 3188},
    "hollerbach_3x3": {2: 1263, 3: 3475},
    "hollerbach_4x4": {2: 1331, 3: 3741},
    "barman": {2: 501, 3: 1869},
    "lie_group": {2: 390, 3: 1282},
}  # instructions of the Jacobian of chains of 2 and 3 joints

LAGRANGIAN = ("uicker_kahn", "waters", "hollerbach_3x3", "hollerbach_4x4")


@pytest.fixture(scope="module")
def small():
    """The sizes of the graphs of chains of up to three joints.

    Hessians of Lagrange's equations are built for two joints alone.
    """

    def few(tree, name):
        large = tree.dof == 3 and name in LAGRANGIAN
        ways = builders(tree, name).items()
        return {key: build for key, build in ways if not (large and key[0] == SECOND)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitivity_costs, "builders", few)
        return list(measured(trees(3), ("newton_euler", COMPOSITE, *ANALYTICAL), timed=False))


def test_instructions_are_counted_exactly(small):
    for name, expected in ANALYTICAL.items():
        assert counts(small, name, FIRST, PUBLISHED) == expected, name
    assert counts(small, "newton_euler", FIRST, AUTOMATIC) == {2: 348, 3: 1158}
    assert counts(small, COMPOSITE, FIRST, RECURSIVE) == {2: 1306, 3: 2252}
    assert counts(small, "lie_group", SECOND, PUBLISHED) == {2: 855, 3: 4502}
    assert counts(small, COMPOSITE, SECOND, RECURSIVE) == {2: 1519, 3: 2927}


@pytest.mark.parametrize("seed", range(2))
def test_counts_do_not_hang_on_last_bits(small, seed):
    """Those of a tree's numbers, which differ by processor."""
    exact = general_chain(3)
    rng = np.random.default_rng(seed)
    joints = [replace(each, home=nudged(each.home, rng)) for each in exact.joints]
    links = [replace(each, com=nudged(each.com, rng)) for each in exact.links]
    tree = replace(exact, joints=joints, links=links)
    for name, key in (("newton_euler", (FIRST, AUTOMATIC)), ("lie_group", (SECOND, PUBLISHED))):
        assert builders(tree, name)[key]().n_instructions() == counts(small, name, *key)[3], name


def nudged(values, rng):
    """Numbers with last bits at random, save for zeros and ones."""
    values = np.array(values, dtype=float)
    ulps = np.finfo(float).eps * rng.integers(-1, 2, values.shape)
    return np.where(np.abs(values) == 1, values, values * (1 + ulps))


def test_constants_are_shared_that_rounding_alone_tells_apart():
    constants = [3e-16, 0.3, 0.1 + 0.2, -0.3, 1 - 2e-16, 7.0, 0.3 + 1e-10]
    shared = [0.0, 0.3, 0.3, -0.3, 1.0, 7.0, 0.3 + 1e-10]
    assert round_constants(np.array(constants)).tolist() == shared
    assert round_constants(np.zeros(0)).tolist() == []


def test_the_page_prints_what_is_counted(small):
    page = (Path(dynamics.__file__).parent / "sensitivities_compared.md").read_text("utf-8")
    lines = [[cell.strip() for cell in line.split("|")[1:5]] for line in page.splitlines()]
    printed = {tuple(line[:3]): line[3] for line in lines if len(line) == 4}
    shown = 0
    for cost in small:
        words = WORDS[cost.quantity, cost.way]
        if cost.joints == 2:
            shown += 1
            assert printed[words[0], cost.formulation, words[1]] == f"{cost.instructions:,}"
    assert shown == 2 + 3 + 5 * len(ANALYTICAL)


def test_what_is_counted_are_the_same_derivatives():
    """Sorted, without the zeros: columns list nonzeros in different orders."""
    arguments = np.random.default_rng(0).uniform(-1, 1, (4, 2))
    values = {FIRST: [], SECOND: []}
    for name in NAMES:
        for (quantity, _), build in builders(general_chain(2), name).items():
            if quantity in values:
                function = build()
                column = np.sort(np.array(function(*arguments[: function.n_in()])).ravel())
                values[quantity].append(column[np.abs(column) > 1e-9])
    for columns in values.values():
        assert len(columns) == 2 * len(ANALYTICAL) + 4
        for column in columns:
            np.testing.assert_allclose(column, columns[0], rtol=0, atol=1e-10)


def test_the_claims_are_those_of_the_counts(small):
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in claims(small).split("\n")]
    cells = {tuple(line[:2]): line[2:] for line in lines if len(line) == 8}
    assert cells["Jacobian", "lie_group"][:4] == ["all", "none", "all", "all"]
    assert cells["Jacobian", "barman"][:4] == ["up to 2", "none", "all", "all"]
    assert cells["Jacobian", "hollerbach_4x4"][:4] == ["all", "none", "none", "all"]
    assert cells["Hessian", "barman"][:4] == ["none", "none", "up to 2", ""]
    assert cells["Hessian", "composite"] == ["", "none", "", "", "n^1.6", ""]


def test_a_graph_that_would_be_too_large_is_not_built_and_said_to_be_so():
    """Its size is that which a power through the two before gives, within a fifth here."""
    costs = list(measured(trees(4), ("waters",), limit=8000, timed=False))
    absent = [cost for cost in costs if cost.instructions is None]
    assert {cost.joints for cost in absent} == {4}
    (jacobian,) = (cost for cost in absent if cost.quantity == FIRST)
    assert jacobian.way == AUTOMATIC and jacobian.expected == pytest.approx(8161, rel=0.2)
    assert f"~{jacobian.expected:.1e}" in table("", costs, written)


def test_a_tree_whose_torques_are_lean_is_expected_to_have_lean_derivatives():
    several = [*trees(3), ("ur5_like", ur5_like())]
    sizes = {
        (cost.quantity, limit): cost.instructions
        for limit in (2500, 3000)
        for cost in measured(several, ("newton_euler",), limit, timed=False)
        if cost.model == "ur5_like"
    }
    assert sizes[FIRST, 2500] is None and sizes[FIRST, 3000] == 2014


def test_sizes_continue_as_powers():
    assert continued([(1, 100), (2, 8), (4, 32)], 8) == pytest.approx(128)
    assert continued([(2, 8)], 8) is None
    assert size(general_chain(5)) == pytest.approx(5) and 40 < size(human_like()) < 41
    assert growth({2: 8, 4: 32}) == "n^2.0" and growth({2: 8}) == ""


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ((1, 1, 1), "all"),
        ((3, 2, 3), "none"),
        ((3, 1, 1), "from 3 on"),
        ((1, 1, 3), "up to 3"),
        ((1, 3, 1), "2, 4"),
    ],
)
def test_where_a_count_is_smaller_is_said_in_words(own, words):
    assert smaller(dict(zip((2, 3, 4, 5), (*own, 0))), dict.fromkeys((2, 3, 4), 2)) == words
    assert smaller({2: 1}, {3: 1}) == ""


@pytest.mark.commands
def test_the_command_writes_what_it_is_told_to(tmp_path, capsys):
    files = ["--csv", str(tmp_path / "costs.csv"), "--plot", str(tmp_path / "costs.png")]
    assert run(["--joints", "2", "--only", "lie_group, composite", *files]) == 0
    text = capsys.readouterr().out
    assert "| Jacobian |   lie_group |     analytical |    390 |" in text
    header, *lines = (tmp_path / "costs.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("model,joints,formulation,quantity,way,") and len(lines) == 7
    assert all(float(line.split(",")[-1]) > 0 for line in lines)
    with Image.open(tmp_path / "costs.png") as picture:
        assert min(picture.size) > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--joints", "1"], "--joints: expected at least 2, got 1"),
        (["--limit", "0"], "--limit: expected at least 1, got 0"),
        (["--only", "waters,odd"], "--only: expected some of newton_euler, barman,"),
        (["--csv", "/nowhere/costs.csv"], "folder /nowhere does not exist"),
        (["--plot", "costs.txt"], "suffix '.txt'"),
    ],
)
def test_bad_arguments_end_with_status_2(arguments, message, capsys):
    assert run(arguments) == 2 and message in capsys.readouterr().err
