"""Files of a user's own, outside the clone, beside folders `models` and `problems` of his own."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.commands

ROOT = Path(__file__).parents[2]
ARM = '''"""An arm of one's own."""

from ocp.models.arms.two_link import two_link


def arm(torque):
    return two_link(torque=torque)
'''
REACH = '''"""An arm of one's own reaches for a goal in the least time."""

from models.arm import arm

from ocp import BSpline, Problem, at_end, at_start, duration, torque_limits


def problem(goal: tuple[float, float] = (1.0, -1.0), torque: float = 10.0, points: int = 8):
    """`goal`: angles at the end (rad); `torque`: limit (N m); `points`: control points."""
    tree = arm(torque)
    return Problem(
        tree=tree,
        motion=BSpline(points=points),
        duration=(0.1, 5.0),
        objective=duration(),
        constraints=(
            at_start(tree, q=(0.0, -2.0), qd=0.0),
            at_end(tree, q=goal, qd=0.0),
            torque_limits(tree),
        ),
    )
'''
FRICTION = '''"""Inverse dynamics with viscous friction in every joint."""

from ocp import Formulation
from ocp.dynamics import NEWTON_EULER


def inverse(tree, q, qd, qdd, *rest, **named):
    return NEWTON_EULER.inverse(tree, q, qd, qdd, *rest, **named) + 0.5 * qd


VISCOUS = Formulation(name="viscous", inverse=inverse)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A user's folder, and one from which `ocp` is imported as from site-packages."""
    home = tmp_path_factory.mktemp("home")
    site, user = home / "site" / "ocp", home / "user"
    site.mkdir(parents=True)
    for path in (ROOT / "ocp").iterdir():
        if path.name != "__pycache__":
            (site / path.name).symlink_to(path)
    (user / "models").mkdir(parents=True)
    (user / "problems").mkdir()
    (user / "models" / "arm.py").write_text(ARM)
    (user / "problems" / "far.py").write_text(REACH)
    (user / "reach.py").write_text(REACH)
    (user / "friction.py").write_text(FRICTION)
    return user


def said(folder, *command):
    """Return the finished process of a command in a folder."""
    home = next(path for path in folder.parents if (path / "site").is_dir())
    paths = [home / "site", *{sysconfig.get_path(name) for name in ("purelib", "platlib")}]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, env=environment
    )


def python(folder, *arguments, status=0):
    """Return what Python prints in a folder, its output and its errors."""
    flags = ("-S", "-W", "error")  # without the clone, where it is installed as editable
    done = said(folder, sys.executable, *flags, *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def script(folder, text):
    """Return what a script of at most ten lines prints."""
    assert len(text.strip().splitlines()) <= 10
    (folder / "script.py").write_text(text)
    return python(folder, "script.py")


def test_the_gallery_and_own_problems_run_beside_folders_of_the_same_names(folder):
    assert "gait" in python(folder, "-m", "ocp", "list")
    assert "two_link_time: Solve_" in python(
        folder, "-m", "ocp", "run", "two_link_time", "--points", "8", "--quiet"
    )
    assert "far: Solve_" in python(folder, "-m", "ocp", "run", "problems.far", "--quiet")


def test_a_file_of_one_s_own_runs_with_a_tuple_from_any_folder(folder):
    goals = {}
    for goal in ("1,-1", "-1,-0.5"):
        text = python(folder, "-m", "ocp", "run", "./reach.py", "--goal", goal, "--quiet")
        goals[goal] = text.split("duration ")[1].split()[0]
        assert text.startswith("reach: Solve_Succeeded")
    assert len(set(goals.values())) == 2
    elsewhere = folder / "problems"
    assert goals["1,-1"] in python(elsewhere, "-m", "ocp", "run", "../reach.py", "--quiet")
    page = python(folder, "-m", "ocp", "run", "./reach.py", "--help")
    assert page.startswith("usage: ocp run ./reach.py [flags]") and "--goal FLOAT,FLOAT" in page
    wrong = python(folder, "-m", "ocp", "run", "./reach.py", "--goal", "1", status=2)
    assert "ocp run ./reach.py: error: argument --goal: expected 2 values" in wrong


def test_a_file_of_one_s_own_runs_from_python(folder):
    text = script(
        folder,
        """from reach import problem
from ocp import solve
print(solve(problem(goal=(1.0, -0.5))).require(coarse=True).status)
""",
    )
    assert text == "Solve_Succeeded\n"


def test_a_study_with_two_workers_is_a_command_and_a_script(folder):
    command = ["-m", "ocp", "study", "./reach.py", "--set", "goal=1,-1;1,-0.5", "--workers", "2"]
    text = python(folder, *command, "--file", "reach.sqlite", "--quiet")
    assert text.count("solved") == 2 and "2 cells, 0 failed, in reach.sqlite" in text
    elsewhere = ["--file", "../reach.sqlite", *command[4:], "--quiet"]
    again = python(folder / "problems", *command[:3], "../reach.py", *elsewhere)
    assert again.splitlines()[:3] == text.splitlines()[:3]  # the same cells: none is solved again
    text = script(
        folder,
        """from reach import problem
from ocp import Task, sweep

TASK = Task(problem)
if __name__ == "__main__":
    study = sweep(TASK, {"goal": [(1.0, -1.0), (1.0, -0.5)]}, workers=2)
    print(*(f"{cell.status} {study.solution(cell).duration:.3f}" for cell in study.cells))
""",
    )
    assert text.count("solved 0.4") == 2


def test_two_solvers_are_compared_by_a_command_and_by_a_script(folder):
    names = "ipopt,sqpmethod-piqp"
    text = python(folder, "-m", "ocp", "compare", "./reach.py", "--solvers", names, "--quiet")
    assert text.count("solved") == 2 and "reach: auto, auto, spline" in text
    text = script(
        folder,
        """from reach import problem
from ocp import Solver, compare

REACH = problem(points=7)
LOOSE = Solver(options={"tol": 1e-6})
if __name__ == "__main__":
    result = compare(REACH, {"loose": LOOSE}, seconds=60, memory=4)
    print([run.key[:2] for run in result.runs], [run.verdict for run in result.runs])
    print(compare(problem, ("ipopt",), arguments={"goal": (1.0, -0.5)}).runs[0].objective < 0.5)
""",
    )
    assert text == "[('REACH', 'loose')] ['solved']\nTrue\n"


def test_what_no_process_can_be_told_is_refused_with_the_cure(folder):
    text = script(
        folder,
        """from ocp import compare, sweep
from reach import problem

for verb in (lambda: compare(problem(), ("ipopt",)), lambda: sweep(problem(), {})):
    try:
        verb()
    except ValueError as error:
        print(error)
""",
    )
    assert text.count("hand over the function that makes it") == 2


def test_own_physics_runs_in_a_sweep_and_by_name(folder):
    text = script(
        folder,
        """from friction import VISCOUS
from reach import problem
from ocp import Transcription, sweep

if __name__ == "__main__":
    study = sweep(problem, {}, Transcription(dynamics=VISCOUS), workers=2, certify=True)
    (cell,) = study.cells
    print(f"{cell.objective:.6g}", cell.statistics["certificate"]["drift"] < 1e-3)
    print(study.solution(cell).transcription.dynamics.name)
""",
    )
    time, certified, name = text.split()
    assert (certified, name) == ("True", "viscous")
    way = ["--dynamics", "friction:VISCOUS", "--quiet"]
    assert f"duration {time} s" in python(folder, "-m", "ocp", "run", "./reach.py", *way)
    values = ["--set", "transcription.dynamics=friction:VISCOUS,newton_euler", "--workers", "1"]
    table = python(folder, "-m", "ocp", "study", "./reach.py", "--file", "f.sqlite", *values)
    assert table.count(time[:6]) == 2 and "2 cells, 0 failed" in table


def test_an_output_that_nobody_reads_on_ends_quietly(folder):
    line = f"{sys.executable} -m ocp run two_link_time --points 8 --details | head -n 1"
    done = said(folder, "bash", "-c", line)
    errors = [line for line in done.stderr.splitlines() if not line.endswith(" ...")]  # progress
    assert done.stdout.split()[:2] == ["iteration", "objective"] and errors == []
