"""Problem statements as data: stored, restored, and compared with an expected one."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from bipeds import crouch, crouched

import ocp
from ocp import load
from ocp.mechanics import kinetic_energy
from ocp.models.arms.two_link import two_link
from ocp.problem import PointMass, Span, final
from ocp.problem.instant import Instant
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.storage.problem_data import problem_data, problem_from_data
from ocp.storage.problem_diff import differences
from ocp.storage.result_bytes import solution_bytes
from ocp.transcription.kernels.function_tapes import CODES, Tape, record
from ocp.transcription.kernels.recording_instant import NotRecordable, RecordingInstant

ROOT = Path(__file__).parents[2]


def gust(t):
    """A force (N) that grows and turns."""
    return ca.vertcat(4 * ca.sin(9 * t), -10 * t, 0)


def all_questions(at):
    """Everything that an instant answers in a problem without ground and loops."""
    return ca.vertcat(
        *(at.s * at.T, at.t, at.q, at.qd, at.qdd, at.tau),
        *(
            at.torques_without_ground,
            at.torques_beside_ground,
            at.required_torques,
            at.loop_torques,
        ),
        *(at.position("tip"), at.velocity("tip"), at.acceleration("tip")),
        *(at.offset("elbow point", "tip"), ca.vec(at.frames[1]), *map(ca.vec, at.reactions)),
        *(ca.vec(at.pose("tip")), ca.vec(at.pose("elbow")), at.orientation("tip")),
        *(at.center_of_mass, at.angular_momentum, at.ground_torques, at.elements_named()),
        *(load.force for load in at.current_loads),
        kinetic_energy(at.tree, at.q, at.qd),
    )


def all_operations(at):
    x, y = at.q[0], at.qd[1]
    small = 0.9 * ca.tanh(x)
    return ca.vertcat(
        *(each(x) for each in (ca.sin, ca.cos, ca.tan, ca.sinh, ca.cosh, ca.exp, ca.asinh)),
        *(each(small) for each in (ca.asin, ca.acos, ca.atan, ca.atanh, ca.erf, ca.erfinv)),
        *(each(1.5 + small) for each in (ca.log, ca.sqrt, ca.log1p, ca.expm1)),
        *(ca.acosh(2 + small), ca.floor(x), ca.ceil(x), ca.fabs(x), ca.sign(x), -x, 1 / x, x + x),
        *(x + y, x - y, x * y, x / y, (2 + small) ** y, x**2, x**3, ca.atan2(x, y)),
        *(ca.fmin(x, y), ca.fmax(x, y), ca.fmod(x, y), ca.remainder(x, y), ca.copysign(x, y)),
        *(ca.hypot(x, y), ca.if_else(x < y, x, 2 * y), x <= y, x == y, x != y),
        ca.logic_and(x > 0, ca.logic_or(y > 0, ca.logic_not(x > y))),
    )


@pytest.fixture(scope="module")
def every_kind():
    """A statement that holds one of everything, unsolved."""
    plain = lift(points=12)
    middle = replace(plain.tree.points[0], name="elbow point", position=(0.0, 0.0, 0.0))
    return replace(
        plain,
        tree=replace(plain.tree, points=(*plain.tree.points, middle)),
        objective=0.3 * ocp.duration()
        + 2 * ocp.squares("speed", lambda at: at.qd)
        + final("q", last),
        constraints=(
            *plain.constraints,
            ocp.path("all", all_questions, lower=-1e3, upper=np.inf, units="mixed"),
            ocp.path(
                "operations",
                all_operations,
                lower=-9.0,
                when=Span(start=0.2, end=0.7, open_end=True),
            ),
            ocp.path("both ends", lambda a, b: b.q - a.qd * a.T, upper=3.0, when="joined"),
        ),
        loads=(*plain.loads, ocp.Load(point="tip", force=gust, moment=(0.0, 0.0, 0.1))),
        symmetry=ocp.periodic(plain.tree, shift={"shoulder": 1.48}, qdd=False),
        outputs={"tip": lambda at: at.position("tip"), "constant": lambda at: 3.0},
    )


def last(at):
    return at.q[1]


def test_a_statement_of_every_kind_comes_back_whole(every_kind, lifted):
    statement = problem_data(every_kind)
    again = problem_from_data(statement)
    assert statement.missing == () and problem_data(again).fingerprint == statement.fingerprint
    assert [each.name for each in again.requirements] == [
        each.name for each in every_kind.requirements
    ]
    moved = [replace(lifted, problem=each) for each in (every_kind, again)]
    t = lifted.times(7)
    for one, other in zip(every_kind.constraints, again.constraints):
        assert (one.lower, one.upper, one.labels, one.units, one.when) == (
            *(other.lower, other.upper, other.labels, other.units, other.when),
        )
        if one.when == "joined":
            pair = [each.trace_ends(f.function) for each, f in zip(moved, (one, other))]
        else:
            pair = [each.trace(f.function, t) for each, f in zip(moved, (one, other))]
        assert np.allclose(*pair, rtol=1e-14, atol=1e-13, equal_nan=True), one.name
    for (weight, one), (other_weight, other) in zip(
        every_kind.objective.terms, again.objective.terms
    ):
        assert (weight, one.name, one.kind) == (other_weight, other.name, other.kind)
        values = [each.trace(f.function, t) for each, f in zip(moved, (one, other))]
        assert np.array_equal(*values)
    assert np.array_equal(moved[1].output("tip", t), moved[0].output("tip", t))
    assert moved[1].output("constant", 0.1) == 3.0


def test_a_load_that_is_a_function_of_time_is_kept(tmp_path):
    """It was dropped: torques then differed by half of their limits."""
    pushed = replace(lift(points=12), loads=(ocp.Load(point="tip", force=gust),))
    solution = ocp.solve(pushed).require()
    ocp.save(solution, tmp_path / "gust.npz")
    again, t = load(tmp_path / "gust.npz"), solution.times(9)
    assert np.array_equal(again.tau(t), solution.tau(t))
    assert ocp.verify(again) == ocp.verify(solution)
    assert not np.allclose(
        replace(solution, problem=replace(pushed, loads=())).tau(t), solution.tau(t), atol=1.0
    )


def test_a_point_mass_is_kept_and_pulls_alike(tmp_path):
    burdened = replace(lift(points=7), loads=(PointMass(point="tip", mass=2.0),))
    solution, path_ = ocp.solve(burdened), tmp_path / "burdened.npz"
    ocp.save(solution, path_)
    again = load(path_)
    t = solution.times(9)
    assert np.array_equal(again.tau(t), solution.tau(t)) and np.abs(again.tau(t)).max() > 1
    lighter = replace(burdened, loads=(PointMass(point="tip", mass=1.9),))
    with pytest.raises(ValueError, match="load 1: mass"):
        load(path_, lighter)


def test_a_loaded_solution_is_solved_again_and_saved_again(lifted, tmp_path):
    ocp.save(lifted, tmp_path / "lift.npz")
    again = load(tmp_path / "lift.npz")
    once_more = ocp.solve(again.problem, again.transcription).require()
    assert once_more.objective == pytest.approx(lifted.objective, rel=1e-9)
    assert ocp.solve(again.problem, guess=again).statistics["iterations"] <= 3
    assert solution_bytes(again) == solution_bytes(lifted) == (tmp_path / "lift.npz").read_bytes()


def test_a_body_on_its_feet_is_certified_from_its_file(tmp_path):
    solution = crouched()
    ocp.save(solution, tmp_path / "crouch.npz")
    again = load(tmp_path / "crouch.npz")
    assert again.problem.ground == solution.problem.ground
    assert ocp.verify(again) == ocp.verify(solution)


def heavier(problem):
    """The same joints, with links ten times as heavy."""
    links = []
    for link in problem.tree.links:
        inertia = 10 * np.array(link.inertia)
        links.append(replace(link, mass=10 * link.mass, inertia=inertia))
    return replace(problem, tree=replace(problem.tree, links=links))


def limited(problem):
    return replace(
        problem,
        constraints=tuple(
            replace(each, upper=11.0) if each.name == "torque_limits" else each
            for each in problem.constraints
        ),
    )


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (heavier, r"link 'shoulder': mass: 0.5, expected 5; .*and 3 more"),
        (limited, r"constraint 'torque_limits': upper: \[10.0, 10.0\], expected 11"),
        (lambda one: replace(one, loads=()), "load 1: there, expected none"),
        (lambda one: replace(one, duration=(0.1, 4.0)), r"duration\[1\]: 5, expected 4"),
        (lambda one: replace(one, constraints=one.constraints[:-1]), "torque_limits': there"),
        (lambda one: replace(one, objective=ocp.duration()), "'effort': there, expected none"),
        (
            lambda one: replace(
                one, objective=0.99 * ocp.duration() + ocp.integral("effort", last)
            ),
            "'effort': kind: squares, expected integral; .*'effort': weight: 0.01, expected 1",
        ),
    ],
)
def test_another_problem_is_refused_by_what_is_different(lifted, tmp_path, other, words):
    ocp.save(lifted, tmp_path / "lift.npz")
    with pytest.raises(ValueError, match=f"lift.npz: belongs to another problem: .*{words}"):
        load(tmp_path / "lift.npz", other(lift(points=12)))


def test_another_basis_other_outputs_and_rounding_are_no_other_problem(lifted, tmp_path):
    ocp.save(lifted, tmp_path / "lift.npz")
    wide = replace(lift(points=20), outputs={"tip": lambda at: at.position("tip")})
    gravity = tuple((1 + 1e-15) * pull for pull in wide.tree.gravity)
    nearly = replace(wide, tree=replace(wide.tree, gravity=gravity))
    assert problem_data(nearly).fingerprint != problem_data(wide).fingerprint
    again = load(tmp_path / "lift.npz", nearly)
    assert again.problem.motion == ocp.BSpline(points=12) and list(again.problem.outputs) == ["tip"]


def test_a_function_of_other_operations_is_compared_by_its_values():
    arm = two_link()
    plain = lift(points=12)

    def with_rows(function):
        return problem_data(replace(plain, constraints=(ocp.path("rows", function, upper=1.0),)))

    assert arm.dof == 2
    doubled = with_rows(lambda at: 2 * at.q)
    assert differences(doubled, with_rows(lambda at: at.q * 4 / 2)) == []
    assert differences(doubled, with_rows(lambda at: 2.001 * at.q)) == [
        "constraint 'rows': function: another function"
    ]
    assert differences(doubled, with_rows(lambda at: 2 * at.qd)) != []


@pytest.mark.commands
def test_the_hash_is_the_same_in_every_process():
    script = (
        "from ocp.problems.arms.two_link_lift import problem\n"
        "from ocp.storage.problem_data import problem_data\n"
        "print(problem_data(problem(points=12)).fingerprint)"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert hashes == {problem_data(lift(points=30)).fingerprint}


def test_what_cannot_be_data_is_named_and_asked_for(tmp_path):
    """A function that looks behind the instant is no data; nor is one of symbols of its own."""
    plain, symbol = lift(points=8), ca.SX.sym("own")
    odd = replace(
        plain,
        constraints=(
            *plain.constraints,
            ocp.path("odd", lambda at: at.forces.inverse(*[0] * 5), upper=1.0),
        ),
    )
    with pytest.raises(NotRecordable, match="it asks an instant for 'forces'"):
        record(odd, odd.constraints[-1].function)
    with pytest.raises(NotRecordable, match="it depends on symbols of its own"):
        record(plain, lambda at: at.q * symbol)
    solution = replace(ocp.solve(plain), problem=odd)
    ocp.save(solution, tmp_path / "odd.npz")
    bare = load(tmp_path / "odd.npz")
    assert bare.missing == ("constraint 'odd' (it asks an instant for 'forces')",)
    assert [each.name for each in bare.problem.constraints] == [
        each.name for each in plain.constraints
    ]
    ocp.save(bare, tmp_path / "again.npz")
    assert load(tmp_path / "again.npz").missing == bare.missing
    assert load(tmp_path / "odd.npz", odd).missing == ()
    with pytest.raises(ValueError, match="belongs to another problem: missing"):
        load(tmp_path / "odd.npz", plain)
    own = ocp.Load(point="tip", force=lambda t: ca.vertcat(symbol, t, 0))
    with pytest.raises(ValueError, match="load at 'tip': cannot be .* symbols of its own"):
        problem_data(replace(plain, loads=(own,)))


SOUND = {
    "questions": ((0, "q"),),
    "sizes": (2,),
    "codes": [CODES["LEAF"], CODES["CONSTANT"], CODES["ADD"], CODES["SIN"]],
    "operands": [[0, 0, 0, 2], [1, 0, 1, 2]],
    "constants": [3.0],
    "results": [3, 2],
}


def tape(**changes):
    parts = {
        name: value if name in ("questions", "sizes") else np.array(value)
        for name, value in (SOUND | changes).items()
    }
    return Tape(**parts)


def test_a_tape_computes():
    values = np.array(tape()(ca.DM([5.0, 0.25])))
    assert np.allclose(values.ravel(), [np.sin(3.25), 3.25], rtol=1e-15)


@pytest.mark.parametrize(
    "changes",
    [
        {"operands": [[0, 0, 2, 2], [1, 0, 1, 2]]},
        {"operands": [[0, 0, 0, 2], [1, 0, 3, 2]]},
        {"operands": [[0, 0, 0, 3], [1, 0, 1, 2]]},
        {"operands": [[0, 0, -1, 2], [1, 0, 1, 2]]},
        {"operands": [[0, 1, 0, 2], [1, 0, 1, 2]]},
        {"operands": [[1, 0, 0, 2], [1, 0, 1, 2]]},
        {"operands": [[0, 0, 0, 2], [2, 0, 1, 2]]},
        {"results": [4]},
        {"results": [-1]},
        {"codes": [CODES["LEAF"], CODES["CONSTANT"], 1000, CODES["SIN"]]},
        {"sizes": (2, 2)},
    ],
)
def test_a_tape_takes_only_what_there_is(changes):
    with pytest.raises(ValueError, match="tape: a step takes what there is not"):
        tape(**changes)


def test_a_guess_may_be_of_another_problem(lifted, tmp_path):
    ocp.save(lifted, tmp_path / "lift.npz")
    other = limited(lift(points=14))
    guess = load(tmp_path / "lift.npz")
    assert ocp.solve(other, ocp.Transcription(), ocp.Solver(), guess=guess).success


def test_whatever_an_instant_has_can_be_written_down():
    listener = RecordingInstant(problem=crouch())
    for name in sorted(set(dir(Instant)) - {"flow"}):
        assert name.startswith("_") or getattr(listener, name) is not None


def test_functions_that_are_written_down_share_what_they_sweep():
    """Else each of the 430 outputs of legs by muscles swept the body anew, 32 s in place of 8."""
    problem = crouch()
    one, other = (RecordingInstant(problem=problem) for _ in range(2))
    assert one.moves[-1] is other.moves[-1]
    assert one.asked == {(0, "q"): other.q, (0, "qd"): other.qd}
    assert RecordingInstant(problem=problem, which=1).q is not one.q


def test_a_momentum_is_stated_so_that_its_file_is_whole(tmp_path):
    spun = ocp.squares("momentum", lambda at: at.angular_momentum)
    statement = replace(lift(points=12), objective=spun)
    solution = ocp.solve(statement)
    ocp.save(solution, tmp_path / "spun.npz")
    again = load(tmp_path / "spun.npz")
    assert not again.missing
    assert ocp.verify(again).kkt == pytest.approx(ocp.verify(solution).kkt, abs=1e-9)
    ocp.verify(again).require(1e-2)
