"""Studies: designs, cells known by their content, files that survive anything, workers that die, seeds, optima, fronts, the command."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import study_cells
from ocp.problems.two_link_time import problem as fastest
from study_cells import blocking, deadly, problem, smoothed, speeds, stopped, weighed

from ocp.cli.study import run, values
from ocp.solution.solving import solve
from ocp.studies import (
    StudyFileError,
    grid,
    latin_hypercube,
    multistart,
    open_study,
    pareto,
    ranked,
    restarts,
    sweep,
    variants,
    zipped,
)
from ocp.studies import database as ledger
from ocp.studies.addresses import address
from ocp.studies.designs import design, neighbours

ROOT = Path(__file__).parents[2]
CLUSTERED = {"torque": [float(k) for k in range(8, 20)], "points": 6}
FOUR = {"torque": [8.0, 10.0, 12.0, 14.0]}


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """An empty working folder, short patience, nothing held."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ledger, "PATIENCE", 0.1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    yield tmp_path
    while study_cells.HELD:
        study_cells.HELD.pop().close()


def objectives(study):
    return [cell.objective for cell in study.cells]


def test_grids_run_through_the_last_name_first_and_zips_side_by_side():
    assert grid({"a": [1, 2], "b": ("x", "y"), "c": 5}) == [
        {"a": a, "b": b, "c": 5} for a in (1, 2) for b in "xy"
    ]
    assert zipped({"a": [1, 2], "b": [3, 4], "c": 5}) == [
        {"a": 1, "b": 3, "c": 5},
        {"a": 2, "b": 4, "c": 5},
    ]
    assert design([{"a": 1}, {"a": 3}]) == [{"a": 1}, {"a": 3}]
    for wrong, message in (
        ({"a": []}, "a: expected at least one"),
        ([], "no cells"),
        ([{"a": 1}, {"b": 1}], "expected the parameters a"),
    ):
        with pytest.raises(ValueError, match=message):
            design(wrong)
    with pytest.raises(ValueError, match="equally many values of each parameter, got a 2, b 1"):
        zipped({"a": [1, 2], "b": [3]})


def test_a_latin_hypercube_has_one_value_in_every_band():
    cells = latin_hypercube({"a": (1.0, 3.0), "n": (5, 14), "c": "x"}, 10, seed=3)
    assert sorted(np.floor((np.array([cell["a"] for cell in cells]) - 1) * 5)) == list(range(10))
    assert sorted(cell["n"] for cell in cells) == list(range(5, 15)) and {
        cell["c"] for cell in cells
    } == {"x"}
    assert cells == latin_hypercube({"a": (1.0, 3.0), "n": (5, 14), "c": "x"}, 10, seed=3)
    assert cells != latin_hypercube({"a": (1.0, 3.0), "n": (5, 14), "c": "x"}, 10, seed=4)
    with pytest.raises(ValueError, match="a: expected a lower and an upper bound"):
        latin_hypercube({"a": (3, 1)}, 4)


def test_neighbours_make_a_grid_a_row_of_columns():
    assert neighbours(grid({"a": [1, 2, 3], "b": [10, 20]})) == [None, 0, 0, 1, 2, 3]
    assert neighbours([{"a": 1.2}, {"a": 0.8}, {"a": 1.6}, {"a": 0.9}]) == [None, 0, 0, 1]
    assert neighbours(grid({"a": ["x", "y"], "b": [1, 2, 3]})) == [None, 0, 1, 0, 3, 4]


def test_cells_are_solved_kept_and_not_solved_again():
    seen = []
    first = sweep(
        problem, FOUR, file="a.sqlite", workers=0, watch=seen.append, measure=speeds, certify=True
    )
    assert [cell.status for cell in first.cells] == ["solved"] * 4 and sorted(
        objectives(first), reverse=True
    ) == objectives(first)
    assert [(p.done, p.total, p.failed) for p in seen] == [
        (k, 4, 0) for k in (1, 2, 3, 4)
    ] and seen[-1].remaining == 0 < seen[0].remaining
    cell = first.cells[1]
    assert (
        cell.parameters == {"torque": 10.0}
        and cell.terms == {"duration": cell.objective}
        and cell.measured["fastest"] > 1
    )
    assert (
        cell.statistics["certificate"]["drift"] < 1e-6
        and cell.statistics["iterations"] > 3
        and cell.seconds > 0
    )
    alone = solve(problem(torque=10.0))
    assert cell.objective == alone.objective and (first.solution(cell).points == alone.points).all()
    assert (
        first.solution(cell).problem.tree == alone.problem.tree
        and first.solution(cell).problem.constraints
    )
    again = sweep(
        problem,
        {"torque": [14, 10, 9]},
        file="a.sqlite",
        workers=0,
        watch=seen.append,
        measure=speeds,
        certify=True,
    )
    assert (
        len(seen) == 5
        and again.cells[0].id == first.cells[3].id
        and again.cells[1].objective == cell.objective
    )
    assert len(open_study("a.sqlite").cells) == 5 and not Path("a.sqlite-wal").exists()
    assert sweep(problem, {"torque": [10]}, workers=0).cells[0].objective == cell.objective


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
    assert [cell.content["transcription"]["nodes"] for cell in done.cells] == [1, 2] and objectives(
        done
    )[0] < objectives(done)[1]
    assert all(
        cell.content["solver"] == {"plugin": "ipopt", "hessian": "lbfgs", "options": {"tol": 1e-5}}
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


def test_failed_cells_keep_their_reason_and_are_tried_again_only_if_asked():
    seen, file = [], {"file": "a.sqlite", "workers": 0}
    done = sweep(problem, {"points": [6, 3]}, watch=seen.append, **file)
    assert [cell.status for cell in done.cells] == [
        "solved",
        "failed",
    ] and done.failed == done.cells[1:]
    assert (
        "ValueError: control points: a spline of degree 3 needs at least 4, got 3"
        in done.cells[1].reason
    )
    with pytest.raises(ValueError, match="has no solution: ValueError"):
        done.solution(done.cells[1])
    assert (
        sweep(problem, {"points": [6, 3]}, watch=seen.append, **file).cells == done.cells
        and len(seen) == 2
    )
    sweep(problem, {"points": [6, 3]}, watch=seen.append, retry=True, **file)
    assert len(seen) == 3
    short = sweep(problem, {"option.max_iter": [2]}, **file)
    assert (
        short.cells[0].reason.startswith("Maximum_Iterations_Exceeded\n")
        and short.solution(short.cells[0]).success is False
    )


def test_a_chain_starts_from_neighbours_and_over_failed_ones():
    over = {"torque": [8.0, 9.0, 10.0], "points": [6, 3]}
    alone, chained = (sweep(problem, over, workers=0, chain=chain) for chain in (False, True))
    assert [cell.statistics.get("seeded") for cell in chained.cells] == [
        False,
        None,
        True,
        None,
        True,
        None,
    ]
    for one, other in list(zip(alone.cells, chained.cells))[2::2]:
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
        ({"robot.mass": [1]}, "robot.mass: expected a parameter of the problem"),
        ({"method.care": [1]}, "care: solving.solve has no such parameter"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(over, message, inside):
    with pytest.raises(ValueError, match=re.escape(message)):
        sweep(problem, over, file="a.sqlite", workers=0)
    assert os.listdir(inside) == ["temporary"]


def test_functions_must_be_importable_and_engines_executors():
    def local(torque: float = 10.0):
        return problem(torque)

    assert address(problem) == "study_cells:problem"
    for function in (local, lambda: problem(), 5):
        with pytest.raises(ValueError, match="expected a function of a module"):
            sweep(function, {}, workers=0)
    with pytest.raises(ValueError, match="workers: expected a whole number"):
        sweep(problem, FOUR, workers=-1)
    with pytest.raises(
        ValueError, match="executor: expected an Executor of concurrent.futures, got str"
    ):
        sweep(problem, FOUR, executor="dask")
    with pytest.raises(TypeError, match="no option 'wrkers'"):
        sweep(problem, FOUR, wrkers=2)


def test_any_executor_will_do_and_one_that_breaks_says_so():
    two = {"torque": [8.0, 10.0]}
    with ThreadPoolExecutor(2) as threads:
        done = sweep(problem, two, executor=threads)
    assert objectives(done) == objectives(sweep(problem, two, workers=0))
    with pytest.raises(RuntimeError, match="shutdown"):
        sweep(problem, two, executor=threads)


def test_ctrl_c_loses_nothing_that_was_finished():
    with pytest.raises(KeyboardInterrupt):
        sweep(problem, FOUR, file="a.sqlite", workers=0, method=stopped)
    assert [cell.status for cell in open_study("a.sqlite").cells] == [
        "solved",
        "solved",
        "pending",
        "pending",
    ]
    study_cells.HELD.append(sqlite3.connect(":memory:"))
    assert len(sweep(problem, FOUR, file="a.sqlite", workers=0, method=stopped).solved) == 4


def test_a_file_locked_meanwhile_loses_no_finished_cell(inside):
    how = {
        "file": "a.sqlite",
        "workers": 0,
        "method": blocking,
        "how": {"file": str(inside / "a.sqlite")},
    }
    with pytest.raises(
        StudyFileError,
        match="a.sqlite: is locked by another program .*; 1 finished cell that it did not take are in",
    ) as stop:
        sweep(problem, FOUR, **how)
    kept = Path(re.search(r"are in (\S+),", str(stop.value))[1])
    assert (
        open_study(kept).cells[0].status == "solved"
        and [cell.status for cell in open_study("a.sqlite").cells] == ["pending"] * 4
    )
    with pytest.raises(StudyFileError, match="a.sqlite: is locked"):
        sweep(problem, FOUR, **how)
    study_cells.HELD[0].close()
    seen = []
    assert (
        len(sweep(problem, FOUR, watch=seen.append, **how).solved) == 4
        and len(seen) == 3
        and not kept.exists()
    )


def test_a_full_disk_loses_no_finished_cell(monkeypatch):
    connect, pages = ledger._connect, {"a.sqlite": 18}

    def small(path, readonly):
        connection = connect(path, readonly)
        connection.execute(f"PRAGMA max_page_count = {pages.get(path.name, 1000)}")
        return connection

    monkeypatch.setattr(ledger, "_connect", small)
    with pytest.raises(
        StudyFileError,
        match="a.sqlite: cannot be written: no room on the disk .*; 1 finished cell that it did not",
    ):
        sweep(problem, FOUR, file="a.sqlite", workers=0)
    finished, seen = len(open_study("a.sqlite").solved), []
    pages["a.sqlite"], (kept,) = 1000, os.listdir("temporary")
    assert finished in (1, 2)
    assert (
        len(sweep(problem, FOUR, file="a.sqlite", workers=0, watch=seen.append).solved) == 4
        and len(seen) == 3 - finished
    )
    pages |= {"a.sqlite": 1, kept: 1}
    with pytest.raises(
        StudyFileError,
        match="a.sqlite: .*; 1 finished cell could not be kept elsewhere either: .*no room",
    ):
        sweep(problem, {"torque": [9.0]}, file="a.sqlite", workers=0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "text.sqlite",
            b"no data base at all, but long enough " * 30,
            "text.sqlite: is not a study file, or is damaged",
        ),
        ("nowhere/a.sqlite", None, "nowhere/a.sqlite: folder nowhere does not exist"),
        ("temporary", None, "temporary: cannot be opened"),
    ],
)
def test_a_file_that_cannot_be_one_is_named(name, content, message):
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(StudyFileError, match=message):
        sweep(problem, FOUR, file=name, workers=0)
    assert content is None or Path(name).read_bytes() == content


def test_another_program_s_data_base_is_left_alone():
    connection = sqlite3.connect("a.sqlite")
    connection.execute("CREATE TABLE cells (mine TEXT)")
    connection.close()
    before = Path("a.sqlite").read_bytes()
    with pytest.raises(StudyFileError, match="a.sqlite: is not a study file of this program"):
        sweep(problem, FOUR, file="a.sqlite", workers=0)
    assert Path("a.sqlite").read_bytes() == before
    with pytest.raises(StudyFileError, match="b.sqlite: there is no such file"):
        open_study("b.sqlite")


def test_a_worker_that_dies_costs_its_own_cell_at_most():
    done = sweep(problem, {"torque": [13.0, 8.0, 10.0]}, workers=2, method=deadly, file="a.sqlite")
    assert [cell.status for cell in done.cells] == ["failed", "solved", "solved"]
    assert done.failed[0].reason.startswith("its worker process died twice: BrokenProcessPool")
    assert done.cells[1].objective == solve(problem(torque=8.0)).objective


def test_a_killed_study_is_resumed_and_its_file_opens_while_it_runs(inside):
    command = [
        sys.executable,
        "-m",
        "ocp",
        "study",
        "two_link_time",
        "--set",
        "torque=5:15:6",
        "--set",
        "points=6",
        "--file",
        "a.sqlite",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as study:
        for _ in range(2):
            study.stdout.readline()
        running = open_study("a.sqlite")
        study.kill()
    cut = open_study("a.sqlite")
    assert (
        len(running.cells) == len(cut.cells) == 6
        and 2 <= len(running.solved) <= len(cut.solved) < 6
    )
    assert running.solution(running.solved[0]).success
    assert run(command[4:] + ["--workers", "0", "--quiet"]) == 0
    whole = sweep(fastest, grid({"torque": values("5:15:6"), "points": 6}), workers=0)
    resumed = open_study("a.sqlite")
    assert [(cell.id, cell.parameters, cell.objective) for cell in resumed.cells] == [
        (cell.id, cell.parameters, cell.objective) for cell in whole.cells
    ]


def test_random_starts_are_ranked_by_what_they_find():
    optima = multistart(problem, {"torque": 10.0}, starts=3, workers=0, file="m.sqlite")
    assert [optimum.starts for optimum in optima] == [(0, 1, 2)]
    assert (
        optima[0].objective == pytest.approx(solve(problem()).objective, rel=1e-6)
        and optima[0].solution.success
    )
    seen = []
    more = restarts(
        problem, {"torque": 10.0}, starts=4, workers=0, file="m.sqlite", watch=seen.append
    )
    assert len(seen) == 1 and [cell.parameters["guess.number"] for cell in more.cells] == [
        0,
        1,
        2,
        3,
    ]
    assert len({cell.statistics["iterations"] for cell in more.cells}) > 1 and ranked(more)[
        0
    ].starts == (0, 1, 2, 3)
    with pytest.raises(ValueError, match="starts: expected a whole number"):
        restarts(problem, starts=0)


def test_a_front_leaves_out_what_is_worse_in_both():
    front = pareto(weighed, {"u": [0.2, 0.5, 0.8]}, ("duration", "effort"), workers=0)
    assert (
        front.names == ("duration", "effort")
        and len(front.study.cells) == 3
        and front.study.cells[1].statistics["seeded"]
    )
    first, second = zip(*((a, b) for _, a, b in front.points))
    assert (
        len(first) >= 2
        and list(first) == sorted(first)
        and list(second) == sorted(second, reverse=True)
    )
    with pytest.raises(ValueError, match="pareto: comfort: some cell has no such term"):
        pareto(weighed, {"u": [0.5]}, ("duration", "comfort"), workers=0)


def test_a_study_becomes_a_table_and_a_figure_per_parameter():
    done = sweep(problem, {"torque": [9.0, 10.0], "points": [6, 7]}, workers=0, measure=speeds)
    done.write_csv("t.csv")
    lines = Path("t.csv").read_text().splitlines()
    assert (
        lines[0]
        == "torque,points,status,objective,duration,fastest,iterations,build_seconds,solve_seconds,seconds,reason"
    )
    assert (
        len(lines) == 5
        and lines[1].startswith("9.0,6,solved,0.")
        and float(lines[1].split(",")[3]) == done.cells[0].objective
    )
    assert [path.name for path in done.plot("t.png", y="fastest")] == [
        "t-torque.png",
        "t-points.png",
    ]
    assert Path("t-points.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no column 'beauty'; expected one of torque, points"):
        done.plot("t.png", y="beauty")


def test_the_command_sweeps_draws_and_tells(capsys):
    assert (
        run(
            "two_link_time --set torque=8:10:2 --set points=6,3 --workers 0 --csv t.csv --chain".split()
        )
        == 1
    )
    out = capsys.readouterr().out
    assert (
        "4/4 cells, 2 failed, 0:00 left; torque 10, points 3: failed" in out
        and "4 cells, 2 failed, in two_link_time-study.sqlite" in out
    )
    assert "at least 4, got 3" in out and Path("t.csv").exists()
    assert run("two_link_time --set points=6 --starts 2 --workers 0 --quiet".split()) == 0
    assert re.search(r"1 +0\.4\d+ +0\.4\d+ +2 of 2 +0, 1\n", capsys.readouterr().out)
    assert (
        run(
            "two_link_lift --set u=0.3,0.7 --set points=6 --pareto duration,effort --workers 0 --plot f.png --quiet".split()
        )
        == 0
    )
    assert "front of 2 points" in capsys.readouterr().out and Path("f.png").exists()
    assert (
        run(
            "study_cells --set torque=9:10 --latin 3 --workers 0 --quiet --measure speeds --plot l.png --y fastest".split()
        )
        == 0
    )


def test_values_are_read_as_meant():
    assert (
        values("0.8:1.6:5") == pytest.approx([0.8, 1.0, 1.2, 1.4, 1.6])
        and values("5:9:3") == [5, 7, 9]
        and values("2:7:1") == [2]
    )
    assert (
        values("1,2.5,all") == [1, 2.5, "all"]
        and values("true") is True
        and values("1:2") == (1, 2)
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("nonesuch", "nonesuch: there is no such problem"),
        ("two_link_time --set torque", "--set: expected PARAMETER=VALUES, got 'torque'"),
        ("two_link_time --set speed=1", "speed: two_link_time.problem has no such parameter"),
        ("random_trees", "random_trees: has no TASK and no function 'problem'"),
        ("two_link_time --set torque=1:2", "torque: bounds LOW:HIGH are for --latin"),
        ("two_link_time --set torque=a:b:c", "LOW:HIGH:COUNT"),
        ("two_link_time --set torque=1 --set torque=2", "torque: is set twice"),
        ("two_link_time --pareto effort", "--pareto: expected two goals"),
        ("two_link_time --starts 3 --set torque=5,6", "--starts: of one problem only"),
        ("two_link_time --plot a.doc", "suffix '.doc'"),
        ("two_link_time --csv nowhere/a.csv", "folder nowhere does not exist"),
        ("two_link_time --measure beauty", "has no function 'beauty'"),
        (
            "two_link_time --file nowhere/a.sqlite",
            "nowhere/a.sqlite: folder nowhere does not exist",
        ),
    ],
)
def test_bad_arguments_are_named_and_leave_nothing(flags, message, inside, capsys):
    assert run(flags.split()) == 2
    captured = capsys.readouterr()
    assert (
        captured.err.startswith("study: error: ") and message in captured.err and captured.out == ""
    )
    assert os.listdir(inside) == ["temporary"]


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker_loses_no_cell():
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    killed = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)

        def watch(progress):
            if progress.done == 3:
                killed.append(next(iter(workers.values())))
                os.kill(killed[0], signal.SIGKILL)

        done = sweep(
            fastest, CLUSTERED, executor=client.get_executor(), file="a.sqlite", watch=watch
        )
    assert killed and len(done.solved) == 12
    assert objectives(done) == objectives(sweep(fastest, CLUSTERED, workers=0))
