"""Solutions: certified, explained when they fail, saved whole, and good starts for others."""

import json
import os
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from ocp.models.pr import pr
from ocp.models.two_link import two_link
from ocp.problems.two_link_lift import problem as lift
from ocp.problems.two_link_time import problem as fastest

from ocp import (
    BSpline,
    Guess,
    Link,
    Load,
    NotSolved,
    NotVerified,
    Problem,
    Solver,
    Transcription,
    Tree,
    at_end,
    at_start,
    duration,
    effort,
    fixed,
    integral,
    joint_limits,
    load,
    mixed,
    path,
    torque_limits,
)
from ocp.mechanics.joints import revolute
from ocp.problem.statement import Term
from ocp.solution.certificate import verify
from ocp.solution.solving import solve
from ocp.transcription.methods import Spline


@pytest.fixture(scope="module")
def lifted():
    return solve(lift(points=12))


@pytest.fixture(scope="module")
def quick():
    return solve(fastest(points=12))


def test_the_curves_are_derivatives_of_each_other(lifted):
    t = np.linspace(0.05, lifted.duration - 0.05, 7)
    step = 1e-5
    assert np.allclose(
        (lifted.q(t + step) - lifted.q(t - step)) / (2 * step), lifted.qd(t), atol=1e-7
    )
    assert np.allclose(
        (lifted.qd(t + step) - lifted.qd(t - step)) / (2 * step), lifted.qdd(t), atol=1e-6
    )


def test_a_number_gives_a_vector_and_an_array_a_table(lifted):
    assert lifted.q(0.1).shape == (2,) and lifted.tau([0.1, 0.2, 0.3]).shape == (2, 3)
    moment, force = lifted.reactions([0.1, 0.2, 0.3])
    assert force.shape == moment.shape == (3, 2, 3) and lifted.reactions(0.1)[0].shape == (3, 2)
    assert np.allclose(
        moment[2], lifted.tau([0.1, 0.2, 0.3]), atol=1e-12
    )  # both hinges turn about their link's z


def test_time_outside_the_motion_is_refused(lifted):
    with pytest.raises(ValueError, match="time: expected within 0 and"):
        lifted.q(lifted.duration + 0.1)


def test_the_objective_is_the_sum_of_its_terms(lifted):
    assert sum(weight * value for _, weight, value in lifted.terms) == pytest.approx(
        lifted.objective, rel=1e-12
    )
    effort_value = {name: value for name, _, value in lifted.terms}["effort"]
    t = lifted.times(20001)
    squares = np.sum(lifted.tau(t) ** 2, axis=0)
    assert np.sum((squares[1:] + squares[:-1]) / 2 * np.diff(t)) == pytest.approx(
        effort_value, rel=1e-6
    )


def test_a_certified_motion_passes_and_a_spoilt_one_does_not(lifted):
    certificate = verify(lifted).require(1e-2)
    assert certificate.drift < 1e-6 and certificate.energy_error < 1e-12 and certificate.kkt < 1e-6
    spoilt = verify(replace(lifted, points=lifted.points + 0.01 * np.eye(2, 12)))
    assert spoilt.kkt > 1e-3
    with pytest.raises(
        NotVerified, match=r"at_start.q \(shoulder\): violated by 0.01 rad at t = 0 s"
    ):
        spoilt.require(1e-3)


def test_solve_reports_the_certificate_when_asked(lifted):
    assert lifted.verification is None
    assert solve(lift(points=12), certify=True).verification == verify(lifted)


def test_a_plan_by_the_simulating_formulation_is_simulated_by_another(lifted):
    certificate = verify(solve(lift(points=12), Transcription(dynamics="lie_group")))
    assert (
        certificate.drift == pytest.approx(verify(lifted).drift, abs=1e-7)
        and certificate.energy_error < 1e-12
    )


def test_the_dense_grid_finds_what_the_nodes_hide():
    solution = solve(fastest(points=22), Transcription(method=Spline(nodes=1)))
    worst = verify(solution).violations["torque_limits"]
    assert (
        worst.nodes < 1e-6 and 0.05 < worst.dense < 0.07 and worst.unit == "N m"
    )  # 0.06 N m: measured by two other programs
    t = worst.time
    joint = ("shoulder", "elbow").index(worst.label)
    assert abs(solution.tau(t)[joint]) - 10 == pytest.approx(worst.dense, rel=1e-9)


def test_forward_simulation_sees_a_wrong_formulation(quick):
    """Plan with dynamics of the house that forget the Coriolis terms.

    The simulation, by another formulation, must drift away.
    """
    formulation = quick.transcription.dynamics
    wrong = replace(
        formulation,
        inverse=lambda tree, q, qd, qdd, loads=(): formulation.inverse(tree, q, 0 * qd, qdd, loads),
    )
    solution = solve(fastest(points=12), Transcription(dynamics=wrong, derivatives="ad"))
    certificate = verify(solution)
    assert solution.success and certificate.drift > 0.01 and certificate.energy_error > 1e-3


def test_failure_names_the_worst_rows_and_what_is_stuck():
    solution = solve(fastest(torque=1e-4, points=8), solver=Solver(options={"max_iter": 60}))
    assert not solution.success
    with pytest.raises(NotSolved) as failure:
        solution.require()
    message = str(failure.value)
    assert message.startswith(f"not solved: {solution.status}")
    assert "rad/s at t = " in message or "N m at t = " in message
    assert "duration stuck at its upper bound 5 s" in message


def test_infeasible_requirements_say_so():
    arm = two_link(torque=10, gravity=9.81)
    problem = Problem(
        tree=arm,
        motion=BSpline(points=6),
        duration=1.0,
        objective=effort(),
        constraints=(
            at_start(arm, q=0.0),
            path(
                "reach",
                lambda at: at.position("tip")[0],
                lower=0.9,
                when="end",
                labels=("x",),
                units="m",
            ),
        ),
    )
    solution = solve(problem)
    assert solution.status in ("Infeasible_Problem_Detected", "Restoration_Failed")
    assert any(
        line.startswith("reach (x): violated by 0.1 m at t = 1 s") for line in solution.explanation
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            lambda arm: {
                "constraints": (
                    path(
                        "root", lambda at: ca.sqrt(at.q - 5), lower=0, labels=("shoulder", "elbow")
                    ),
                )
            },
            r"at the initial guess root \(shoulder\) is nan at t = 0 s",
        ),
        (
            lambda arm: {
                "constraints": (
                    at_start(arm, q=0.0),
                    path("kink", lambda at: ca.sqrt(at.q[1]), lower=0, labels=("elbow",)),
                )
            },
            r"at the initial guess the derivative of kink \(elbow\) is inf at t = 0 s",
        ),
        (
            lambda arm: {"objective": integral("cost", lambda at: 1 / (at.q[0] - at.q[0]))},
            "at the initial guess .*objective 'cost' is",
        ),
    ],
)
def test_not_a_number_at_the_guess_is_named_before_solving(changes, message):
    arm = two_link()
    problem = Problem(
        **dict(tree=arm, motion=BSpline(points=6), duration=1.0, objective=effort(), constraints=())
        | changes(arm)
    )
    with pytest.raises(ValueError, match=message):
        solve(problem)


def test_saving_and_loading_keeps_everything(lifted, tmp_path):
    lifted.save(tmp_path / "lift.npz")
    again, t = load(tmp_path / "lift.npz", lift(points=12)), lifted.times(9)
    assert (
        np.array_equal(again.tau(t), lifted.tau(t))
        and again.history == lifted.history
        and again.terms == lifted.terms
    )
    assert verify(again) == verify(lifted)
    bare = load(tmp_path / "lift.npz")
    assert (
        np.array_equal(bare.tau(t), lifted.tau(t))
        and bare.status == "Solve_Succeeded"
        and verify(bare).kkt is None
    )
    assert bare.problem.tree == lifted.problem.tree and bare.problem.loads == lifted.problem.loads
    with np.load(tmp_path / "lift.npz") as file:
        header = json.loads(str(file["header"]))
        assert header["joints"] == ["shoulder", "elbow"] and np.array_equal(
            file["tau"], lifted.tau(file["t"])
        )
    assert os.listdir(tmp_path) == ["lift.npz"]


def test_a_saved_failure_stays_a_failure(tmp_path):
    failed = solve(fastest(points=12), solver=Solver(options={"max_iter": 3}))
    failed.save(tmp_path / "failed.npz")
    with pytest.raises(NotSolved, match="Maximum_Iterations_Exceeded"):
        load(tmp_path / "failed.npz").require()


def test_an_interrupted_write_leaves_the_old_file(lifted, tmp_path, monkeypatch):
    target = tmp_path / "lift.npz"
    lifted.save(target)
    before = target.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        lifted.save(target)
    assert target.read_bytes() == before and os.listdir(tmp_path) == ["lift.npz"]


def test_files_that_are_no_results_are_named(lifted, tmp_path):
    lifted.save(tmp_path / "good.npz")
    content = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.npz").write_text("no result")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.savez(tmp_path / "objects.npz", header=np.array([{}], dtype=object))
    for name in ("cut.npz", "text.npz", "other.npz", "objects.npz"):
        with pytest.raises(
            ValueError, match=f"{name}: not a result file of this program, or damaged"
        ):
            load(tmp_path / name)
    with pytest.raises(
        ValueError,
        match="good.npz: belongs to another model: its joints are shoulder, elbow; expected slide, hinge",
    ):
        arm = pr()
        load(
            tmp_path / "good.npz",
            Problem(tree=arm, motion=BSpline(points=12), duration=1.0, objective=effort()),
        )
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.npz")


def test_a_solution_is_a_good_start_with_its_multipliers(quick, tmp_path):
    again = solve(fastest(points=12), guess=quick)
    assert again.statistics["warm_start"] and again.duration == pytest.approx(
        quick.duration, abs=1e-6
    )
    assert again.statistics["iterations"] <= 3
    quick.save(tmp_path / "quick.npz")
    assert (
        solve(fastest(points=12), guess=load(tmp_path / "quick.npz")).statistics["iterations"] <= 3
    )


def test_a_solution_starts_a_finer_one(lifted):
    cold, warm = solve(lift(points=33)), solve(lift(points=33), guess=lifted)
    assert warm.success and warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.history[0].objective == pytest.approx(lifted.objective, rel=1e-2)


def test_a_guess_of_ones_own_is_used():
    start = Guess(q=[[0.0, 0.5, 1.0], [-2.0, -2.5, -1.0]], duration=0.8)
    solution = solve(fastest(points=12), solver=Solver(options={"max_iter": 0}), guess=start)
    assert solution.duration == pytest.approx(0.8) and solution.q(0.4)[1] == pytest.approx(
        -2.45, abs=0.1
    )


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (
            Guess(q=[[0.0, 1.0]]),
            r"guess: q: expected finite waypoints of shape \(2, 2 or more\), got \(1, 2\)",
        ),
        (Guess(duration=np.nan), "guess: duration: expected finite"),
        ("file.npz", "guess: expected a Solution, a Guess or None, got str"),
    ],
)
def test_a_wrong_guess_is_refused(guess, message):
    with pytest.raises(ValueError, match=message):
        solve(fastest(points=8), guess=guess)


def test_a_solution_of_another_model_is_no_guess(quick):
    arm = pr()
    with pytest.raises(ValueError, match="guess: belongs to another model"):
        solve(
            Problem(tree=arm, motion=BSpline(points=8), duration=1.0, objective=effort()),
            guess=quick,
        )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda arm: at_start(arm, q=(0.0, 1.0, 2.0)),
            r"at_start: q: expected 2 values \(shoulder, elbow\), got 3",
        ),
        (
            lambda arm: at_end(arm, q={"knee": 0.0}),
            "unknown joint 'knee'; the joints are shoulder, elbow",
        ),
        (
            lambda arm: at_start(arm, q=(0.0, np.nan)),
            "at_start: q: joint 'elbow': expected a finite number",
        ),
        (
            lambda arm: at_start(limited(arm), q=(0.0, 3.0)),
            r"at_start: joint 'elbow': 3 rad is outside its limits \(-1, 1\)",
        ),
        (lambda arm: joint_limits(arm), "joint_limits: no joint of the tree has position limits"),
        (
            lambda arm: path("p", lambda at: at.q, lower=(0, 2), upper=(1, 1), labels=("a", "b")),
            "constraint 'p': b: lower bound 2 is above",
        ),
        (
            lambda arm: path("p", lambda at: at.q, lower=np.nan),
            "constraint 'p': lower bound: expected numbers",
        ),
        (
            lambda arm: path("p", lambda at: at.q, when="middle"),
            "constraint 'p': when: expected one of path, start, end, ends",
        ),
        (
            lambda arm: path("p", lambda at: at.q, when=(0.5, 0.2)),
            "constraint 'p': when: expected 0 <= a <= b <= 1",
        ),
        (lambda arm: mixed(1.5), r"mixed: expected u in \[0, 1\], got 1.5"),
        (lambda arm: np.nan * effort(), "objective 'effort': expected a finite"),
        (
            lambda arm: Term(name="t", function=abs, kind="middle"),
            "objective 't': kind: expected end, integral or squares",
        ),
        (
            lambda arm: statement(arm, duration=(1.0, 0.5)),
            r"duration: expected 0 < lower <= upper \(s\), got \(1, 0.5\)",
        ),
        (
            lambda arm: statement(Tree(links=(Link(mass=1.0),), joints=(fixed("weld"),))),
            "tree: none of its joints moves",
        ),
        (lambda arm: statement(arm, duration=0.0), "duration: expected 0 < lower"),
        (lambda arm: statement(arm, duration=np.nan), "duration:"),
        (
            lambda arm: statement(arm, loads=(Load(point="hand"),)),
            "unknown point 'hand'; the points are tip",
        ),
        (lambda arm: statement(arm, loads=("tip",)), "loads: expected Load, got str 'tip'"),
        (
            lambda arm: statement(arm, constraints=(torque_limits(arm), torque_limits(arm))),
            "constraint 'torque_limits': the name is used twice",
        ),
        (
            lambda arm: statement(arm, constraints=("torque",)),
            "constraints: expected Constraint, got str 'torque'",
        ),
    ],
)
def test_a_wrong_statement_is_refused_where_it_is_written(build, message):
    with pytest.raises(ValueError, match=message) as refused:
        build(two_link())
    assert any(entry.path == __import__("pathlib").Path(__file__) for entry in refused.traceback)


def limited(arm):
    return replace(arm, joints=tuple(replace(joint, position=1.0) for joint in arm.joints))


def statement(arm, **changes):
    return Problem(
        **dict(tree=arm, motion=BSpline(points=8), duration=1.0, objective=duration()) | changes
    )


def test_an_unstable_motion_drifts_far_but_not_within_a_segment():
    """A pendulum that balances upright.

    Each segment errs a little, which the whole motion multiplies.
    """
    pole = Tree(
        links=(Link(mass=1.0, com=(0.5, 0, 0)),), joints=(revolute("pivot"),), gravity=(0, -9.81, 0)
    )
    problem = Problem(
        tree=pole,
        motion=BSpline(points=30, degree=5),
        duration=3.0,
        objective=effort(),
        constraints=(at_start(pole, q=np.pi / 2 - 0.01, qd=0.0), at_end(pole, q=np.pi / 2, qd=0.0)),
    )
    found = verify(solve(problem).require())
    assert found.drift > 100 * found.defect and 0 < found.defect < 1e-8
