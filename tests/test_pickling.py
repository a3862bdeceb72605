"""Records travel: pickled to other processes and read there, and copied deeply."""

import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from copy import copy, deepcopy
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import FunctionType
from weakref import WeakValueDictionary

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp import BSpline, Parameter, Problem, at_end, at_start, effort, path, prepare, solve
from ocp.dynamics import FORMULATIONS
from ocp.mechanics.values import expression_data, parameters
from ocp.mechanics.values.parameters import nominal
from ocp.models.arms.two_link import two_link
from ocp.problem.instant import Forces
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.problems.hopping.pogo_hop import problem as pogo_hop
from ocp.storage.problem_data import problem_data
from ocp.storage.problem_diff import differences

ROOT = Path(__file__).parents[1]
LEFT_BEHIND = ("transcribed", "recipe", "program")  # fields made anew when needed
ARM = two_link(torque=10.0)
GOAL = Parameter("goal", 1.0, "rad", lower=-2.0, upper=2.0)
SLOW = Parameter("slow", 1.2, "", lower=0.5, upper=2.0)
T = np.linspace(0.0, 1.0, 21)


def reach(margin=20.0, **stated):
    """An arm that reaches a goal left open, in a time that is an expression of a parameter, and
    functions that are lambdas of what they have captured."""
    goal, slow = GOAL, SLOW
    ways = {"total": lambda at: at.q[0] + at.q[1]}
    return Problem(
        tree=ARM,
        motion=BSpline(points=9),
        duration=0.9 * slow,
        objective=effort() + 1e-3 * ocp.squares("calm", lambda at: at.qdd * goal.expression),
        constraints=(
            at_start(ARM, q=(0.0, -2.0), qd=0.0),
            at_end(ARM, q=(goal, -1.0), qd=0.0),
            path("sum", lambda at: ways["total"](at), lower=-margin, upper=margin * slow),
        ),
        outputs=ways,
        **stated,
    )


@cache
def plan():
    return prepare(reach())


@cache
def solution():
    return plan().solve()


def recording():
    outputs = {"torque": np.zeros((2, 21))}
    return ocp.Recording(t=T, q=np.array([np.sin(T), T]), outputs=outputs)


def fitted():
    """A friction found from torques."""
    rate = Parameter("rate", 0.3, lower=0.0, upper=5.0)
    tree = replace(ARM, elements=(ocp.Damper(joint="elbow", damping=rate),))
    outputs = {"torque": lambda at: at.tau}
    stated = replace(reach(), tree=tree, outputs=outputs)
    return ocp.fit(stated, [replace(recording(), deviations={"torque": 0.1})], free=("rate",))


def weighed():
    """A weight found from a motion."""
    stated = replace(reach(), objective=effort() + 1e-3 * ocp.jerk(), duration=1.0)
    at = {"goal": 1.0, "slow": 1.2}
    motion = prepare(stated).solve(**at)
    return ocp.identify_objective(stated, [motion], ("jerk",), values=[at], secants=False)


def followed():
    """Coordinates found from a marker."""
    name = ARM.points[-1].name
    places = np.array([ARM.points[-1].position + np.zeros(3)] * 21).T
    series = ocp.Series(t=T, values={name: places * 0.9})
    return ocp.inverse_kinematics(ARM, series, motion=BSpline(points=8))


def instant():
    rest = ca.DM([0.1, 0.2])
    return ocp.Instant(
        tree=ARM, s=0.5, T=1.0, q=rest, qd=rest, qdd=rest, forces=Forces(inverse=lambda q: q)
    )


FOOT = ocp.Foot(
    name="foot",
    supports=(ocp.Support(link="sole", when=(0.0, 0.5), pins=(ocp.Pin(point="tip"),)),),
    center=(0.1, 0.0, SLOW),
)
STRONG = ocp.Voluntary(
    peak=3.0, narrowing=1.0, best=0.5, three_quarters=1.5, half=4.0, eccentric=0.05, rounding=0.05
)
EVERY = {
    "Activation": lambda: ocp.Activation(joint="elbow", time=0.1),
    "Armature": lambda: ocp.Armature(joint="elbow", inertia=SLOW),
    "Attempt": lambda: ocp.Attempt(options={"mu_init": 1e-3}, wandering=2),
    "BSpline": lambda: BSpline(points=9),
    "Bumper": lambda: ocp.Bumper(joint="elbow", lower=-1.0, stiffness=2.0),
    "Complementarity": lambda: ocp.Complementarity(leak=SLOW * 1e-3),
    "Compliant": lambda: ocp.Compliant(),
    "Constraint": lambda: path("x", lambda at: at.q[0] * SLOW, upper=2 * SLOW),
    "CurvedSpring": lambda: ocp.CurvedSpring(joint="elbow", places=(0, 1, 2), forces=(0, 1, 3)),
    "Damper": lambda: ocp.Damper(joint="elbow", damping=2 * SLOW),
    "Fit": fitted,
    "Follows": lambda: ocp.spline_through("elbow", (0.0, 1.0, 2.0), (0.0, 1.0, 4.0)),
    "Foot": lambda: FOOT,
    "ForceLaw": lambda: ocp.ForceLaw(point="tip", law=lambda at: -at.position("tip")),
    "Formulation": lambda: FORMULATIONS["newton_euler"],
    "Friction": lambda: ocp.Friction(joint="elbow", dynamic=0.3),
    "Ground": lambda: ocp.Ground(feet=(FOOT,)),
    "Guess": lambda: ocp.Guess(q=np.ones((2, 3)), duration=1.0),
    "HermiteSimpson": lambda: ocp.HermiteSimpson(intervals=4),
    "Instant": instant,
    "Integrated": lambda: ocp.Integrated(),
    "Joint": lambda: replace(
        ocp.revolute("a"), follows=ocp.Follows(coordinate="b", function=lambda x: 2 * x)
    ),
    "Link": lambda: ocp.Link(mass=SLOW, com=(0, SLOW, 0)),
    "Load": lambda: ocp.Load(point="tip", force=lambda t: ca.vertcat(t, 0, SLOW)),
    "Loop": lambda: ocp.Loop(name="cut", start="a", end="b"),
    "MarkerFit": followed,
    "NotSolved": lambda: ocp.NotSolved("not solved: so"),
    "NotVerified": lambda: ocp.NotVerified("not verified: so"),
    "ObjectiveFit": weighed,
    "Objective": lambda: SLOW * effort() + 0.1 * ocp.final("x", lambda at: at.q[0]),
    "OwnFile": lambda: ocp.OwnFile(
        name="note", words="a note", endings=(".txt",), write=lambda solution, place: None
    ),
    "Parameter": lambda: GOAL,
    "PassiveMoment": lambda: ocp.PassiveMoment(
        name="soft", joints=("elbow",), energy=lambda x: SLOW * x**2
    ),
    "Phase": lambda: pogo_hop().phases[0],
    "Pin": lambda: FOOT.supports[0].pins[0],
    "Plan": plan,
    "Plane": lambda: ocp.Plane(),
    "Point": lambda: ARM.points[0],
    "Problem": reach,
    "Published": lambda: ocp.Published(
        quantity="T (s)", value=1.0, source="a paper", ours=lambda solution: solution.duration
    ),
    "Radau": lambda: ocp.Radau(intervals=3),
    "Recording": recording,
    "Scaling": lambda: ocp.Scaling(segments={"arm": ("a", "b")}),
    "Series": lambda: ocp.Series(t=T, values={"knee": np.sin(T)[None]}),
    "Solution": solution,
    "Solver": lambda: ocp.Solver(options={"tol": 1e-6}),
    "Spline": lambda: ocp.Spline(),
    "Spring": lambda: ocp.Spring(joint="elbow", stiffness=SLOW, rest=SLOW / 2),
    "Stay": lambda: ocp.cable("rope", "a", "b", 1.0),
    "Strength": lambda: ocp.Strength(
        joint="elbow", direction=1, capacity=lambda x, speed: SLOW * (3.0 - x**2)
    ),
    "Strut": lambda: ocp.Strut(name="strut", start="a", end=(0, 0, 0), stiffness=SLOW),
    "Support": lambda: FOOT.supports[0],
    "Symmetry": lambda: ocp.periodic(ARM),
    "Task": lambda: ocp.Task(lambda points=9: reach()),
    "Tendon": lambda: ocp.Tendon(name="cord", path=((0, 1, 0), "tip"), stiffness=9.0, slack=1.0),
    "TorqueSpeed": lambda: ocp.TorqueSpeed(joint="elbow", stall=10.0, no_load=5.0),
    "Transcription": lambda: ocp.Transcription(method=ocp.Radau(intervals=3)),
    "Transition": lambda: pogo_hop().links[0],
    "Tree": lambda: replace(ARM, elements=(EVERY["Strength"](), EVERY["Damper"]())),
    "Verification": lambda: ocp.verify(solution()),
    "Views": lambda: ocp.Views(lines=lambda report: ["one"]),
    "Voluntary": lambda: STRONG,
}


@pytest.fixture
def elsewhere(monkeypatch):
    """Functions, parameters and expressions are as unknown as in another process."""

    def leave():
        monkeypatch.setattr("ocp.pickling._FUNCTIONS", WeakValueDictionary())
        monkeypatch.setattr(parameters, "_BY_KEY", {})
        monkeypatch.setattr(expression_data, "_GRAPHS", {})
        monkeypatch.setattr(expression_data, "_KEYS", {})

    return leave


def same(one, other):
    """Tell whether two values are equal, or equal in all that they are made of."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Parameter):
        return [getattr(one, name) for name in parameters.STATED] == [
            getattr(other, name) for name in parameters.STATED
        ]
    if isinstance(one, parameters.Open | ca.SX):
        return str(one) == str(other)
    if isinstance(one, FunctionType):
        return one.__code__ == other.__code__ and same(*map(_captured, (one, other)))
    if isinstance(one, partial):
        return same((one.func, one.args, one.keywords), (other.func, other.args, other.keywords))
    if is_dataclass(one):
        names = [each.name for each in fields(one) if each.name not in LEFT_BEHIND]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, Mapping):
        return same([*one], [*other]) and same([*one.values()], [*other.values()])
    if isinstance(one, ca.DM):
        return np.array_equal(one.full(), other.full())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, BaseException):
        return one.args == other.args
    return bool(np.array_equal(one, other, equal_nan=isinstance(one, float)))


def _captured(function):
    return [cell.cell_contents for cell in function.__closure__ or ()], function.__defaults__


def test_every_public_record_is_among_these():
    kinds = {name for name in ocp.__all__ if isinstance(getattr(ocp, name), type)}
    assert kinds == {*EVERY}


@pytest.mark.parametrize("name", EVERY)
def test_a_public_record_is_the_same_where_it_is_read(name, elsewhere):
    record = EVERY[name]()
    assert same(pickle.loads(pickle.dumps(record)), record)
    assert same(deepcopy(record), record) and same(copy(record), record)
    written = pickle.dumps(record)
    elsewhere()
    assert same(pickle.loads(written), record)


def test_what_is_read_where_it_was_written_is_equal():
    problem = reach()
    assert pickle.loads(pickle.dumps(problem)) == problem == deepcopy(problem)
    assert pickle.loads(pickle.dumps(GOAL)) is GOAL is deepcopy(GOAL)


GALLERY = (  # one of each kind: loops, links that bend, balls, phases, contacts, tables, parameters
    "barman_gait",
    "cart_pole_mpc",
    "cart_push",
    "five_bar_pick",
    "flexible_slew",
    "gait",
    "panda_carry",
    "pogo_hop",
    "quadruped_trot",
    "sit_to_stand",
    "sohl_swing",
    "somersault",
    "two_link_arcs",
    "unscheduled_hop",
    "ur5_replan",
)


@pytest.mark.parametrize("name", GALLERY)
def test_a_problem_of_the_gallery_states_the_same_elsewhere(name, elsewhere):
    try:
        problem = import_module(f"ocp.problems.{name}").TASK.problem()
    except ocp.version.MissingExtra as missing:  # the robots' files
        pytest.skip(f"needs the extra: {missing}")
    assert same(pickle.loads(pickle.dumps(problem)), problem) and same(deepcopy(problem), problem)
    written = pickle.dumps(problem)
    elsewhere()
    assert same(pickle.loads(written), problem)


@pytest.mark.parametrize("build", [reach, two_link_lift, pogo_hop])
def test_the_graphs_of_what_was_read_are_those_of_what_was_written(build, elsewhere):
    problem = build()
    written = pickle.dumps(problem)
    elsewhere()
    one, other = (nominal(each) for each in (problem, pickle.loads(written)))
    assert not differences(problem_data(one), problem_data(other))


@pytest.fixture(scope="module")
def workers():
    """Another process, begun from nothing."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def solved_twice(problem, former, solver):
    """The optimum of a problem with a goal, and that of a plan that came with a solution."""
    return solve(problem, solver=solver, values={"goal": 0.8}), former.plan.solve(goal=0.8)


@pytest.mark.commands
def test_another_process_solves_what_it_gets_and_its_solutions_come_home(workers):
    asked = reach(), solution(), ocp.Solver(options={"tol": 1e-9})
    there, planned = workers.submit(solved_twice, *asked).result()
    here = plan().solve(goal=0.8)
    for each in (there, planned):
        assert each.objective == pytest.approx(here.objective, rel=1e-7)
        assert each.plan.parameters == plan().parameters  # the parameters are those of home
        np.testing.assert_allclose(each.tau(T / 2), here.tau(T / 2), rtol=0, atol=1e-5)
        assert str(each).splitlines()[0] == str(here).splitlines()[0]
    assert there.plan.recipe is not None  # nothing was built for that
    slope = ocp.derivative(here, "objective", "goal")
    assert ocp.derivative(there, "objective", "goal") == pytest.approx(slope, rel=1e-6)
    assert there.plan.recipe is None


def test_a_plan_less_some_constraints_is_so_again_when_it_is_read():
    asked = plan().without("sum")
    for again in (pickle.loads(pickle.dumps(asked)), deepcopy(asked)):
        assert again.parameters == asked.parameters and again.free == asked.free
        assert "sum" in solution().multipliers and "sum" not in again.solve().multipliers


@pytest.mark.commands
def test_a_script_that_nobody_can_import_sends_its_functions(tmp_path):
    (tmp_path / "read.py").write_text(
        "import pickle, sys\nfrom ocp import solve\n"
        "problem = pickle.load(sys.stdin.buffer)\n"
        "print(solve(problem).objective, problem.outputs['twice'].__module__)\n"
    )
    written = (
        "import pickle, sys\nfrom dataclasses import replace\nimport numpy as np\n"
        "from ocp.problems.arms.two_link_lift import problem\n"
        "factor = np.float64(2.0)\n"
        "def times(x, depth=1):\n    return factor * x if depth == 0 else times(x, depth - 1)\n"
        "def twice(at):\n    return times(at.q)\n"
        "stated = replace(problem(points=8), outputs={'twice': twice})\n"
        "sys.stdout.buffer.write(pickle.dumps(stated))\n"
    )
    call = {"capture_output": True, "check": True, "cwd": tmp_path}
    call["env"] = {"PYTHONPATH": str(ROOT)}
    sent = subprocess.run([sys.executable, "-c", written], **call).stdout
    told = subprocess.run([sys.executable, "read.py"], input=sent, **call).stdout.split()
    assert float(told[0]) == pytest.approx(solve(two_link_lift(points=8)).objective, rel=1e-9)
    assert told[1] == b"__main__"


def test_a_function_that_calls_itself_travels(elsewhere):
    def fold(n):
        return 1 if n == 0 else n * fold(n - 1)

    written = pickle.dumps(ocp.ForceLaw(point="tip", law=fold))
    elsewhere()
    assert pickle.loads(written).law(5) == 120


with open(__file__) as STREAM:
    pass


def holding(value):
    """A function that has captured a value."""
    return lambda at: (at, value)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (lambda f: path("held", f, upper=1.0), r"Constraint 'held': function: .*its 'value'"),
        (lambda f: ocp.squares("held", f), r"Term 'held': function: .*its 'function'.*its 'value'"),
        (
            lambda f: replace(reach(), outputs={"held": f}),
            r"Problem: outputs: 'held': .*its 'value'",
        ),
    ],
)
@pytest.mark.parametrize(
    ("value", "kind"),
    [(STREAM, "TextIOWrapper"), (ca.MX.sym("x"), "MX"), ((k for k in ()), "generator")],
)
def test_who_holds_what_cannot_travel_is_told(record, words, value, kind):
    stated = record(holding(value))
    with pytest.raises(pickle.PicklingError, match=f"{words}.*{kind}.* cannot be pickled"):
        pickle.dumps(stated)


def test_an_expression_of_other_symbols_is_refused_by_their_names():
    with pytest.raises(pickle.PicklingError, match="an expression of other, slow, not all param"):
        pickle.dumps(path("held", holding(ca.SX.sym("other") * SLOW.expression), upper=1.0))


def test_read_only_arrays_and_mappings_stay_so():
    series = pickle.loads(pickle.dumps(EVERY["Series"]()))
    for each in (series, deepcopy(series)):
        assert not each.t.flags.writeable and not each.values["knee"].flags.writeable
        with pytest.raises(TypeError):
            each.values["hip"] = each.t


@pytest.mark.commands
def test_joblib_solves_in_its_workers():
    joblib = pytest.importorskip("joblib", reason="needs the extra `cluster`")
    goals = (0.8, 1.1)
    with joblib.parallel_config("loky", n_jobs=1):
        calls = (joblib.delayed(solve)(reach(), values={"goal": goal}) for goal in goals)
        done = joblib.Parallel(n_jobs=2)(calls)
    expected = [plan().solve(goal=goal).objective for goal in goals]
    assert [each.objective for each in done] == pytest.approx(expected, rel=1e-7)


@pytest.mark.commands
@pytest.mark.filterwarnings("ignore")
def test_dask_solves_in_its_workers(tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(local_directory=str(tmp_path), **options) as client:
        done = client.submit(solve, reach(), values={"goal": 0.8}).result()
    assert done.objective == pytest.approx(plan().solve(goal=0.8).objective, rel=1e-7)
