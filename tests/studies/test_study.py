"""Studies: cells known by their content, seeds, optima, fronts, tables."""

import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from study_cells import FOUR, broken_off, goals, objectives, problem, smoothed, speeds, weighed

from ocp import Parameter, Solver, Task, solve
from ocp.storage import problem_data
from ocp.studies import multistart, open_study, pareto, rank_optima, restarts, sweep, variants
from ocp.studies.solve_cell import run_cell
from ocp.studies.store.cell_specification import content_of, recipe
from ocp.studies.study_tables import column_titles


def test_cells_are_solved_kept_and_not_solved_again():
    seen = []
    first = sweep(
        problem, FOUR, file="a.sqlite", workers=0, watch=seen.append, measure=speeds, certify=True
    )
    assert [cell.status for cell in first.cells] == ["solved"] * 4
    assert sorted(objectives(first), reverse=True) == objectives(first)
    assert [(p.done, p.total, p.failed) for p in seen] == [(k, 4, 0) for k in (1, 2, 3, 4)]
    assert seen[-1].remaining == 0 < seen[0].remaining
    cell = first.cells[1]
    assert cell.parameters == {"torque": 10.0}
    assert cell.terms == {"duration": cell.objective}
    assert cell.measured["fastest"] > 1
    assert cell.statistics["certificate"]["drift"] < 1e-6
    assert cell.statistics["certificate"]["refusals"] == []
    assert cell.statistics["certificate"]["objective_error"] < 1e-2
    assert cell.statistics["iterations"] > 3
    assert cell.seconds > 0
    alone = solve(problem(torque=10.0))
    assert cell.objective == alone.objective and (first.solution(cell).points == alone.points).all()
    assert first.solution(cell).problem.tree == alone.problem.tree
    assert first.solution(cell).problem.constraints
    again = sweep(
        problem,
        {"torque": [14, 10, 9]},
        file="a.sqlite",
        workers=0,
        watch=seen.append,
        measure=speeds,
        certify=True,
    )
    assert len(seen) == 5
    assert again.cells[0].id == first.cells[3].id
    assert again.cells[1].objective == cell.objective
    assert len(open_study("a.sqlite").cells) == 5 and not Path("a.sqlite-wal").exists()
    assert sweep(problem, {"torque": [10]}, workers=0).cells[0].objective == cell.objective


def test_a_cell_writes_its_problem_once_and_its_neighbour_s_never(monkeypatch):
    written, write_problem = [], problem_data.write_problem

    def counted(stated, tapes):
        written.append(stated)
        return write_problem(stated, tapes)

    way = recipe(problem, None, Solver())
    contents = [content_of(way, {"torque": torque}) for torque in (9.0, 10.0)]
    monkeypatch.setattr(problem_data, "write_problem", counted)
    first = run_cell(contents[0], None, True)
    assert (first["status"], len(written)) == ("solved", 1)
    near = run_cell(contents[1], (contents[0]["arguments"], first["archive"]), True)
    assert (near["status"], len(written)) == ("solved", 2) and near["statistics"]["seeded"]


def test_settings_are_parameters_too_and_ways_are_compared():
    done = sweep(
        problem,
        {
            "transcription.nodes": [1, 2],
            "solver.hessian": "lbfgs",
            "option.tol": 1e-5,
            "method.feasible_first": True,
        },
        workers=0,
        method=smoothed,
    )
    assert [cell.content["transcription"]["nodes"] for cell in done.cells] == [1, 2]
    assert objectives(done)[0] < objectives(done)[1]
    assert all(
        cell.content["solver"] == {"plugin": "auto", "hessian": "lbfgs", "options": {"tol": 1e-5}}
        for cell in done.cells
    )
    assert len(done.solution(done.cells[0]).statistics["stages"]) == 2
    ways = variants(
        problem,
        {"exact": {}, "quasi": {"solver.hessian": "lbfgs"}},
        {"torque": [9.0, 10.0]},
        workers=0,
    )
    assert [cell.parameters for cell in ways.cells] == [
        {"torque": t, "variant": v} for t in (9.0, 10.0) for v in ("exact", "quasi")
    ]
    assert objectives(ways)[::2] == pytest.approx(objectives(ways)[1::2], rel=1e-5)


def test_knots_are_freed_by_a_setting():
    cells = {"points": 8, "motion.knots": ["given", "free"]}
    done = sweep(problem, cells, workers=0)
    given, free = done.cells
    assert "motion" in given.content and free.objective < given.objective - 1e-4
    assert done.solution(free).problem.motion.inner


def test_failed_cells_keep_their_reason_and_are_tried_again_only_if_asked():
    seen, file = [], {"file": "a.sqlite", "workers": 0}
    done = sweep(problem, {"points": [6, 3]}, watch=seen.append, **file)
    assert [cell.status for cell in done.cells] == ["solved", "failed"]
    assert done.failed == done.cells[1:]
    assert (
        "ValueError: control points: a spline of degree 3 needs at least 4, got 3"
        in done.cells[1].reason
    )
    with pytest.raises(ValueError, match="has no solution: ValueError"):
        done.solution(done.cells[1])
    assert sweep(problem, {"points": [6, 3]}, watch=seen.append, **file).cells == done.cells
    assert len(seen) == 2
    sweep(problem, {"points": [6, 3]}, watch=seen.append, retry=True, **file)
    assert len(seen) == 3
    short = sweep(problem, {"option.max_iter": [2]}, **file)
    assert short.cells[0].reason.startswith("Maximum_Iterations_Exceeded\n")
    assert short.solution(short.cells[0]).success is False


def test_an_interrupted_cell_has_not_failed_but_waits():
    with pytest.raises(KeyboardInterrupt):
        sweep(problem, FOUR, file="a.sqlite", workers=0, method=broken_off)
    cells = open_study("a.sqlite").cells
    assert [cell.status for cell in cells] == ["solved", "solved", "pending", "pending"]
    assert cells[2].reason == "" and cells[2].seconds is None


def test_a_chain_starts_from_neighbours_and_over_failed_ones():
    over = {"torque": [8.0, 9.0, 10.0], "points": [6, 3]}
    alone, chained = (sweep(problem, over, workers=0, chain=chain) for chain in (False, True))
    assert [cell.statistics.get("seeded") for cell in chained.cells] == [
        True,
        None,
        False,
        None,
        True,
        None,
    ]
    for one, other in list(zip(alone.cells, chained.cells))[::4]:
        assert other.statistics["iterations"] < one.statistics["iterations"] and other.id != one.id
        assert other.objective == pytest.approx(one.objective, rel=1e-6)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"speed": [1]}, "speed: study_cells.problem has no such parameter; it has torque, points"),
        ({"points": [6.5]}, "points: expected a value of type int, got 6.5"),
        ({"torque": ["much"]}, "torque: expected a value of type float"),
        ({"torque": [np.nan]}, "torque: expected plain values"),
        ({"transcription.knots": [1]}, "transcription.knots: method 'spline' has no such setting"),
        ({"solver.speed": [1]}, "solver.speed: there is no such"),
        ({"motion.speed": [1]}, "motion.speed: a spline has no such setting; it has degree, knots"),
        ({"robot.mass": [1]}, "robot.mass: expected a parameter of the problem"),
        ({"method.care": [1]}, "care: solve_problem.solve has no such parameter"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(over, message, inside):
    with pytest.raises(ValueError, match=re.escape(message)):
        sweep(problem, over, file="a.sqlite", workers=0)
    assert os.listdir(inside) == ["temporary"]


def test_random_starts_are_ranked_by_what_they_find():
    optima = multistart(problem, {"torque": 10.0}, starts=3, workers=0, file="m.sqlite")
    assert [optimum.starts for optimum in optima] == [(0, 1, 2)]
    assert optima[0].objective == pytest.approx(solve(problem()).objective, rel=1e-6)
    assert optima[0].solution.success
    seen = []
    more = restarts(
        problem, {"torque": 10.0}, starts=4, workers=0, file="m.sqlite", watch=seen.append
    )
    assert len(seen) == 1
    assert [cell.parameters["guess.number"] for cell in more.cells] == [0, 1, 2, 3]
    assert len({cell.statistics["iterations"] for cell in more.cells}) > 1
    assert rank_optima(more)[0].starts == (0, 1, 2, 3)
    with pytest.raises(ValueError, match="starts: expected a whole number"):
        restarts(problem, starts=0)


def test_a_front_leaves_out_what_is_worse_in_both():
    front = pareto(weighed, {"u": [0.2, 0.5, 0.8]}, ("duration", "effort"), workers=0)
    assert front.names == ("duration", "effort")
    assert len(front.study.cells) == 3
    assert front.study.cells[0].statistics["seeded"]
    first, second = zip(*((a, b) for _, a, b in front.points))
    assert len(first) >= 2
    assert list(first) == sorted(first)
    assert list(second) == sorted(second, reverse=True)
    with pytest.raises(ValueError, match="pareto: comfort: some cell has no such term"):
        pareto(weighed, {"u": [0.5]}, ("duration", "comfort"), workers=0)


def test_no_point_of_a_front_is_worse_than_another_in_both_goals():
    over = {"torque": [float(torque) for torque in range(8, 15)]}
    front = pareto(problem, over, ("first", "second"), chain=False, workers=0, measure=goals)
    assert [point[1:] for point in front.points] == [(1, 9), (2, 8), (3, 5), (5, 4)]
    assert [point[0].parameters["torque"] for point in front.points] == [8, 10, 11, 13]


def test_optima_are_the_same_whose_objectives_and_motions_are():
    solution = solve(problem())
    shift = 0.1 * np.sin(np.linspace(0, np.pi, solution.points.shape[1]))
    ways = [
        solution,
        replace(solution, points=solution.points + shift),  # another motion, as good
        replace(solution, points=solution.points + 1e-3 * shift, objective=solution.objective * 2),
        replace(solution, points=solution.points + 1e-3 * shift),
    ]
    cells = [
        SimpleNamespace(objective=way.objective, content={"start": {"number": number}})
        for number, way in enumerate(ways)
    ]
    done = SimpleNamespace(
        solved=cells, solution=lambda cell: ways[cell.content["start"]["number"]]
    )
    assert [optimum.starts for optimum in rank_optima(done)] == [(0, 3), (1,), (2,)]


def test_a_study_becomes_a_table_and_a_figure_per_parameter():
    done = sweep(problem, {"torque": [9.0, 10.0], "points": [6, 7]}, workers=0, measure=speeds)
    done.write_csv("t.csv")
    lines = Path("t.csv").read_text().splitlines()
    assert lines[0] == (
        "torque,points,status,objective,duration,term.duration,fastest,iterations,build_seconds,"
        "solve_seconds,seconds,reason"
    )
    assert len(lines) == 5
    assert lines[1].startswith("9.0,6,solved,0.")
    assert float(lines[1].split(",")[3]) == done.cells[0].objective
    assert [path.name for path in done.plot("t.png", y="fastest")] == [
        "t-torque.png",
        "t-points.png",
    ]
    assert Path("t-points.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no column 'beauty'; expected one of torque, points"):
        done.plot("t.png", y="beauty")


def test_titles_of_columns_have_the_units_of_parameters():
    task = Task(problem, parameters=(Parameter("torque", 10.0, "N m"),))
    done = sweep(task, {"torque": [9.0, 10.0]}, workers=0)
    assert column_titles(done.cells) == {"torque": "torque (N m)"}
