"""Files of motions of phases: all comes back, certified again; what is damaged or other is told."""

from dataclasses import replace

import numpy as np
import pytest
from phased_motions import ARM, ENDS, fallen, moved

import ocp
from ocp.mechanics.kinematics import kinematics
from ocp.motion import Part
from ocp.storage.result_bytes import solution_bytes
from ocp.storage.result_files import read_solution


def carried(ratio=2.0, mass=1.0, points=6):
    """Return an arm that takes something heavy along from where its second phase begins, on."""
    links = (ARM.links[0], replace(ARM.links[1], mass=ARM.links[1].mass + mass))
    loaded = replace(ARM, links=links)
    lasting = ocp.Constraint(
        name="lasting",
        function=lambda T: T["carry"] - ratio * T["reach"],
        lower=0.0,
        upper=0.0,
        when="durations",
    )
    way = ocp.Constraint(
        name="way", function=lambda start, end: end.q[0] - start.q[0], lower=1.0, upper=1.0,
        when="joined",
    )  # fmt: skip
    return ocp.Problem(
        tree=ARM,
        phases=(
            ocp.Phase("reach", motion=ocp.BSpline(points=points), duration=(0.1, 1.0)),
            ocp.Phase("carry", motion=ocp.BSpline(points=points), duration=(0.1, 1.0), tree=loaded),
        ),
        links=(ocp.link_constraint("kink", lambda end, start: start.qdd[0] - end.qdd[0]),),
        constraints=(
            ocp.at_start(ARM, q=(0.0, -2.0), qd=0.0),
            ocp.at_end(ARM, q=(1.0, -1.0), qd=0.0),
            lasting,
            way,
        ),
        objective=ocp.effort() + 5.0 * ocp.integral("time", lambda at: 1 + 0 * at.q[0]),
        outputs={"energy": lambda at: kinematics.kinetic_energy(at.tree, at.q, at.qd)},
    )


@pytest.fixture(scope="module")
def solution():
    return ocp.solve(carried())


@pytest.mark.parametrize("whole", [False, True], ids=["alone", "of its problem"])
def test_a_file_holds_all_of_a_motion_of_phases(solution, whole, tmp_path):
    ocp.save(solution, tmp_path / "carried.npz")
    again = ocp.load(tmp_path / "carried.npz", carried() if whole else None)
    assert not again.missing and list(again.phases) == ["reach", "carry"]
    assert again.durations == solution.durations
    assert list(again.multipliers) == list(solution.multipliers)
    t = solution.times(31)
    for curve in ("q", "qd", "tau"):
        np.testing.assert_array_equal(getattr(again, curve)(t), getattr(solution, curve)(t))
    np.testing.assert_allclose(again.output("energy", t), solution.output("energy", t), rtol=1e-12)
    assert ocp.verify(again).require(1e-4).kkt == pytest.approx(ocp.verify(solution).kkt, abs=1e-9)


def test_what_was_loaded_is_solved_again_at_once(solution):
    again = read_solution(solution_bytes(solution), "carried")
    assert ocp.solve(again.problem, guess=again).statistics["iterations"] <= 2


def test_impulses_come_back():
    fall = fallen(friction=10.0)
    again = read_solution(solution_bytes(fall), "fall")
    push = fall.impulses["fall to rise"]["end"]
    np.testing.assert_array_equal(again.impulses["fall to rise"]["end"], push)
    assert solution_bytes(again) == solution_bytes(fall)
    assert ocp.verify(again).impacts[0].balance < 1e-9


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (lambda: carried(ratio=2.5), "constraint 'lasting': function: another function"),
        (lambda: carried(mass=2.0), "phase 'carry': link 'elbow': mass: "),
        (
            lambda: replace(carried(), links=(ocp.continuous(),)),
            "link 'reach to carry': constraints",
        ),
        (lambda: carried().parts["reach"], "it has the phases reach, carry, expected no phases"),
        (
            lambda: replace(carried(), phases=tuple(
                replace(each, name=f"{each.name}ing") for each in carried().phases
            ), constraints=ENDS),
            "phase 'reach': there, expected none",
        ),
    ],
)  # fmt: skip
def test_another_problem_is_told_by_what_is_other(solution, changed, words):
    with pytest.raises(ValueError, match="^file: belongs to another problem") as error:
        read_solution(solution_bytes(solution), "file", changed())
    assert words in str(error.value)


def test_other_bases_do_not_matter(solution):
    again = read_solution(solution_bytes(solution), "file", carried(points=8))
    assert again.problem.parts["reach"].motion.points == again.phases["reach"].points.shape[1] == 6


def test_parameters_of_links_and_phases_come_back():
    ratio = ocp.Parameter("ratio", 2.0, "", 0.5, 4.0)
    stated = carried(ratio=ratio)
    solution = ocp.prepare(stated).solve(ratio=3.0)
    content = solution_bytes(solution)
    for problem in (None, stated):
        again = read_solution(content, "file", problem)
        assert again.parameters == {"ratio": 3.0} and not again.missing
        assert again.durations["carry"] == pytest.approx(3 * again.durations["reach"])


def test_damage_is_told_by_one_error(solution):
    content = bytearray(solution_bytes(solution))
    random = np.random.default_rng(3)
    for place in random.integers(0, len(content), 20):
        flipped = bytes(content[:place]) + bytes([content[place] ^ 8]) + bytes(content[place + 1 :])
        try:
            assert solution_bytes(read_solution(flipped, "file")) == content
        except ValueError as error:
            assert str(error).startswith("file: not a result file of this program")


def test_parts_of_one_spline_come_back_and_share_its_multipliers():
    motion = ocp.BSpline(points=8)
    low = ocp.Constraint(
        name="low", function=lambda at: at.q[0], lower=-9.0, upper=0.2, when="hull"
    )
    first, second = (
        ocp.Phase(name, motion=Part(whole=motion, start=a, end=b), duration=0.8 * (b - a))
        for name, a, b in (("out", 0.0, 0.4), ("back", 0.4, 1.0))
    )
    whole = ocp.Problem(
        tree=ARM,
        phases=(replace(first, constraints=(low,)), second),
        links=(ocp.continuous("q", "qd", "qdd"),),
        constraints=ENDS,
        objective=ocp.effort(),
    )
    solution = ocp.solve(whole)
    assert np.abs(solution.multipliers["out: low"].values).max() > 1e-3
    again = read_solution(solution_bytes(solution), "file")
    assert ocp.verify(again).require(1e-4).kkt < 1e-6
    assert ocp.solve(again.problem, guess=again).statistics["iterations"] <= 2


@pytest.mark.parametrize("settings", [ocp.Radau(intervals=4), ocp.HermiteSimpson(intervals=5)])
def test_phases_on_meshes_come_back(settings):
    solution = ocp.solve(moved(), ocp.Transcription(method=settings))
    again = read_solution(solution_bytes(solution), "file", moved())
    assert solution_bytes(again) == solution_bytes(solution)
    assert not ocp.verify(again).refusals
