"""Savings of prepared plans, on an arm in place of the human, which takes longer."""

from dataclasses import replace

import casadi as ca
import pytest

from ocp import BSpline, Problem, at_end, at_start, dynamic_effort, solve
from ocp.models.arms.two_link import two_link
from ocp.problems.benchmarks.motions import compare_plans
from ocp.problems.benchmarks.motions.compare_plans import counted, run, sound
from ocp.solvers import casadi_plugins

ARM = two_link(torque=50.0)


def reach(speed):
    """The arm that reaches out at a speed (1/s)."""
    return Problem(
        tree=ARM,
        motion=BSpline(points=6),
        duration=1.0 / speed,
        objective=dynamic_effort(ARM),
        constraints=(at_start(ARM, q=(0.0, -2.0), qd=0.0), at_end(ARM, q=(1.0, -1.0), qd=0.0)),
    )


def walker(stature, mass, sex):
    """The arm of somebody."""
    links = tuple(replace(link, mass=mass / 150.0) for link in ARM.links)
    return replace(reach(stature / 1.75), tree=replace(ARM, links=links))


def test_a_warm_solve_of_a_plan_makes_no_graphs_and_ends_where_one_built_anew_does(
    monkeypatch, capsys
):
    monkeypatch.setattr(compare_plans, "problem", reach)
    monkeypatch.setattr(compare_plans, "walk", solve)
    assert run(["gait", "1.25"]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = [[entry.strip() for entry in line.strip("|").split("|")] for line in lines]
    names, graphs = [line[0] for line in cells[2:]], [line[3] for line in cells[2:]]
    assert names == [
        "1.2 m/s, prepared and solved from standing",
        "1.25 m/s, from the solution",
        "1.25 m/s, stated anew, from that motion",
        "1.25 m/s, stated anew, from standing",
    ]
    assert graphs[1] == "0" and min(int(graphs[k]) for k in (0, 2, 3)) > 5
    assert cells[-1][5] == "1.00" and cells[-1][1] == "0"
    assert float(cells[3][7]) < 1e-6 and {line[-1] for line in cells[2:]} == {"holds"}
    monkeypatch.setattr(compare_plans, "CERTIFIED", 1e-12)
    assert not sound(solve(reach(1.2)))


def test_people_go_on_from_the_median_of_their_sex(monkeypatch, capsys):
    monkeypatch.setattr(compare_plans, "problem", walker)
    monkeypatch.setattr(compare_plans, "walk", solve)
    assert run(["people", "f95"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    names = [line.split("|")[1].strip().split(",")[0] for line in lines]
    assert names == ["f50", "f95", "f95", "f95"]
    median, heavier = (float(line.split("|")[7]) for line in (lines[0], lines[-1]))
    assert median < heavier
    warm = [entry.strip() for entry in lines[1].split("|")]
    assert warm[4] == "0" and float(warm[8]) < 1e-6
    with pytest.raises(SystemExit):
        run(["people", "m51"])
    assert "expected some of f5, f50, f95, m5, m50, m95, got 'm51'" in capsys.readouterr().err


def test_all_that_is_made_is_counted_and_casadi_is_left_as_it_was():
    makers = ca.Function.__init__, ca.SX.sym
    with counted() as made, pytest.raises(RuntimeError):
        x = ca.SX.sym("x")
        ca.Function("f", [x], [x])
        ca.Function("g", [x], [ca.SX.sym("y")])
    assert made == ["sym", "__init__", "sym", "__init__"]
    assert (ca.Function.__init__, ca.SX.sym) == makers


def test_options_of_a_plugin_are_tried_once(monkeypatch):
    monkeypatch.setattr(casadi_plugins, "_ACCEPTED", set())
    for options, graphs in (({"tol": 1e-5}, 2), ({"tol": 1e-5}, 0)):
        with counted() as made:
            casadi_plugins.check("ipopt", options)
        assert len(made) == graphs
    for _ in range(2):
        with pytest.raises(ValueError, match="no_such"):
            casadi_plugins.check("ipopt", {"no_such": 1})
