"""The edges of standing: forces without feet, ends of cycles, crowded schedules."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import SUMS, biped, crouch, crouched, rows, steps, wrench_of, wrenches_on

import ocp
from ocp.models.arms.two_link import two_link
from ocp.problem import Reaction, friction, pressure_inside, share_reaction
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription.row_requests import schedule_grid
from ocp.transcription.transcribe import transcribe


def test_who_stands_on_the_ground_hangs_on_nothing():
    """The first, massless joint of the floating root passes on no force and no moment."""
    moment, force = crouched().reactions(crouched().times(9))
    assert np.abs(force[:, 0]).max() < 1e-9 and np.abs(moment[:, 0]).max() < 1e-9


def test_the_ground_works_too():
    assert ocp.verify(crouched()).energy_error < 1e-12


@pytest.mark.parametrize(
    "constraint",
    [
        ocp.path("meet", lambda at: at.tau[6], upper=1.0, when="end"),
        ocp.Constraint(
            name="meet",
            function=lambda start, end: end.tau - start.tau,
            lower=0,
            upper=0,
            when="joined",
        ),
    ],
    ids=["end", "joined"],
)
def test_the_end_of_a_cycle_has_no_torques_of_its_own(constraint):
    with pytest.raises(ValueError, match="constraint 'meet'"):
        transcribe_phase(
            crouch(symmetry=ocp.periodic(biped()), constraints=(constraint,)),
            transcription_of(SUMS),
        )


@pytest.mark.parametrize("quantity", ["qd", "tau"])
def test_a_hull_is_of_coordinates_only(quantity):
    with pytest.raises(ValueError, match="constraint 'fast': when 'hull'"):
        transcribe_phase(
            crouch(
                constraints=(
                    ocp.path("fast", lambda at: getattr(at, quantity), upper=1.0, when="hull"),
                )
            ),
            transcription_of(SUMS),
        )


@pytest.mark.parametrize("per_segment", [1, 2])
def test_few_nodes_keep_both_ends_and_all_switches(per_segment):
    s = schedule_grid(crouch(motion=ocp.BSpline(points=4)), per_segment)
    assert s[0] == 0 and s[-1] == 1 and {0.25, 0.625} <= set(s)


def test_the_law_of_motion_holds_at_the_nodes_whoever_differentiates():
    arm = two_link(gravity=9.81)
    arm = replace(arm, joints=(arm.joints[0], replace(arm.joints[1], actuated=False)))
    problem = ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=6),
        duration=1.0,
        objective=ocp.effort(),
        constraints=(ocp.at_start(arm, q=0.0),),
    )
    sizes = {
        name: len(
            transcribe(
                problem,
                ocp.Transcription(
                    method=ocp.Spline(torques="variables", nodes=3), derivatives=name
                ),
            ).nlp.g_lower
        )
        for name in ("recursive", "ad")
    }
    assert (
        sizes["recursive"] == sizes["ad"] == 10 + 4
    )  # the driven joint at ten nodes, the passive one where q'' has freedom


def test_the_name_of_the_law_of_motion_is_taken():
    with pytest.raises(ValueError, match="constraint 'dynamics'"):
        transcribe_phase(
            crouch(constraints=(ocp.path("dynamics", lambda at: at.q[0], upper=1.0),)),
            transcription_of(SUMS),
        )


def test_an_unknown_foot_has_no_reaction():
    with pytest.raises(ValueError, match=r"unknown foot 'rigth' \(did you mean 'right'\?\); the"):
        Reaction(ground=steps(), wrenches={}).push("rigth")


@pytest.mark.parametrize(("s", "pushes"), [(0.8, (10, 10)), (0.4, (-1, -1)), (0.4, (0, 0))])
def test_given_wrenches_balance_whatever_they_are(s, pushes):
    given = {
        name: wrench_of((0, 0, 0), (0, 0, push)) for name, push in zip(("right", "left"), pushes)
    }
    found = share_reaction(steps(), s, given, wrench_of((0, 0, 0), (0, 0, 300)))
    assert sum(float(wrench.force[2]) for wrench in found.values()) == pytest.approx(300)


def test_a_foot_stands_on_something():
    with pytest.raises(ValueError, match="foot 'idle'"):
        ocp.Foot(name="idle", center=(0, 0, 0), supports=())


@pytest.mark.parametrize("when", [(0, 1, 2), 0.5])
def test_a_support_holds_over_a_pair_of_instants(when):
    with pytest.raises(ValueError, match="support on 'foot': when: expected 0 <= a < b <= 1"):
        ocp.Support(link="foot", when=when)


def test_a_loaded_ground_is_the_same(tmp_path):
    ocp.save(crouched(), tmp_path / "crouch.npz")
    again = ocp.load(tmp_path / "crouch.npz").problem.ground
    assert again == crouched().problem.ground and hash(again) == hash(crouched().problem.ground)


def test_friction_knows_both_directions_of_a_slope():
    ground = replace(steps(), normal=(0.6, 0.0, 0.8))
    (constraint,) = friction(biped(), ground)
    assert len(rows(constraint, wrenches_on(biped(), ground, {}))) == len(constraint.labels) == 8


def test_pressure_needs_a_polygon():
    ground = steps()
    ground = replace(
        ground,
        feet=[
            replace(foot, supports=[replace(support, polygon=()) for support in foot.supports])
            for foot in ground.feet
        ],
    )
    with pytest.raises(ValueError, match="polygon"):
        pressure_inside(biped(), ground)


def test_no_row_leans_on_an_infinite_bound():
    failed = ocp.solve(lift(points=6), solver=ocp.Solver(options={"max_iter": 0}))
    problem = replace(
        failed.problem,
        constraints=(*failed.problem.constraints, ocp.path("half", lambda at: at.q[0], lower=-9.0)),
    )
    assert not [
        line
        for line in ocp.solve(problem, solver=ocp.Solver(options={"max_iter": 0})).explanation
        if "inf" in line
    ]


def test_an_explicit_solution_has_no_wrenches_at_nodes():
    solution = ocp.solve(
        crouch(False),
        transcription_of({"torques": "explicit"} | SUMS),
        ocp.Solver(options={"max_iter": 0}),
    )
    with pytest.raises(ValueError, match=r"wrenches: .*variables"):
        solution.wrenches()
