"""The walk by muscles of the legs: its statement, and the walk by torques that comes first."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

import casadi as ca
import numpy as np
import pytest

from ocp.mechanics.muscles import muscles_of
from ocp.models.human import somebody
from ocp.models.human.muscles.leg_muscles import ACHILLES, leg_muscles, muscle_volumes
from ocp.motion.collocation_mesh import Mesh
from ocp.problem import fibre_of, muscle_outputs
from ocp.problem.instant import Forces, Instant
from ocp.problems.gait import muscle_gait
from ocp.problems.gait.by_muscles.falisse_objective import limit_torques
from ocp.problems.gait.by_muscles.leg_effort import leg_effort, mean_volume
from ocp.problems.gait.card.stride import fibre_powers
from ocp.problems.gait.statement.objective_terms import WALKING
from ocp.problems.gait.statement.walking_task import Accuracy, Gait, Terrain


@lru_cache(maxsize=2)
def stated(**accuracy):
    """With two muscles a side."""

    def few(*args, compliant):
        assert compliant == ACHILLES
        return leg_muscles(*args, only=("soleus", "vas_lat"), compliant=compliant)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(muscle_gait, "leg_muscles", few)
        return muscle_gait.problem(accuracy=Accuracy(**accuracy))


def test_states_of_both_sides_are_images():
    problem = stated()
    names = [joint.name for joint in problem.tree.moving]
    images = {name: names[row] for name, row in zip(names, problem.symmetry.index)}
    assert images["soleus_r.activation"] == "soleus_l.activation"
    assert images["vas_lat_l.activation"] == "vas_lat_r.activation"
    assert images["knee_flex_r"] == "knee_flex_l"


def test_legs_have_reserves_and_no_strength_of_their_own():
    problem = stated()
    elements = [type(each).__name__ for each in problem.tree.elements]
    strong = [each.joint for each in problem.tree.elements if type(each).__name__ == "Strength"]
    assert elements.count("Muscle") == 4
    assert strong and not [name for name in strong if name.startswith(muscle_gait.LEGS)]
    (reserves,) = [each for each in problem.constraints if each.name == "reserves"]
    assert reserves.upper == muscle_gait.MOST and reserves.lower == -muscle_gait.MOST


def test_walk_by_torques_is_the_same_without_muscles():
    problem, bare = stated(), muscle_gait.by_torques(stated())
    count = bare.tree.dof
    assert not bare.tree.states and count == problem.tree.dof - 6  # two tendons stretch
    assert np.array_equal(bare.symmetry.index, problem.symmetry.index[:count])
    lost = {term.name for _, term in problem.objective.terms}
    lost -= {term.name for _, term in bare.objective.terms}
    assert lost == {"excitations of muscles", "work of muscles", "reserves"} <= muscle_gait.OWN


def test_tendons_that_stretch_have_curves_of_their_own():
    """On those of the joints what their laws lacked between the nodes threw light toes about."""
    problem = stated()
    bare = muscle_gait.by_torques(problem).motion
    names = [joint.name for joint in problem.tree.moving]
    own = {name for name, curve in zip(names, problem.motion.curves) if curve != bare}
    assert own == {"soleus_r.force", "soleus_l.force"}
    finer = stated(pieces=128).motion.curves  # as the certificate may ask for
    for row in map(names.index, own):
        assert 64 <= problem.motion.curves[row].segments <= 80 < 128 <= finer[row].segments


def test_the_ground_gives_no_energy():
    for problem in (stated(), muscle_gait.by_torques(stated())):
        names = {each.name for each in problem.constraints}
        assert {"dissipation.right.2", "dissipation.left.2"} < names


def test_walks_in_phases_are_refused():
    with pytest.raises(ValueError, match="muscle_gait: expected stride half"):
        muscle_gait.problem(Gait(stride="full"))


def test_stairs_by_muscles_are_refused():
    with pytest.raises(ValueError, match="muscle_gait: rise: no stairs"):
        muscle_gait.problem(terrain=Terrain(rise=0.1))


@dataclass
class Still:
    """A body that stands with a torque of -60 N m at its right ankle."""

    problem: object
    points: np.ndarray
    lifted: np.ndarray
    nodes: np.ndarray = field(default_factory=lambda: np.linspace(0.0, 1.0, 5))
    duration: float = 0.5
    multipliers: dict = field(default_factory=dict)

    def q(self, t):
        return np.zeros((self.problem.tree.dof, len(t)))

    qd = q

    def tau(self, t):
        pull = [-60.0 * (joint.name == "ankle_df_r") for joint in self.problem.tree.moving]
        return np.outer(pull, np.ones(len(t)))


def test_muscles_share_torques_where_their_walk_begins():
    problem = stated()
    bare = muscle_gait.by_torques(problem)
    drives = [joint.name for joint in bare.tree.moving if joint.actuated]
    points = np.full((bare.tree.dof, bare.motion.points), 0.25)
    first = Still(problem=bare, points=points, lifted=np.ones((len(drives) + 18, 5)))
    start = muscle_gait._shared(problem, first)
    states = start.points[bare.tree.dof :] @ start.problem.motion.values(0.5).reshape(-1)
    known = dict(zip([joint.name for joint in problem.tree.moving[bare.tree.dof :]], states))
    assert np.array_equal(start.points[: bare.tree.dof], points)
    arm = 0.04
    assert known["soleus_r.force"] == pytest.approx(60.0 / arm / 3012.0, rel=0.3)
    assert known["soleus_r.activation"] > 0.1 > known["soleus_l.activation"]
    assert start.lifted.shape == (len(drives) + 4 + 18, 5)
    assert start.lifted[drives.index("ankle_df_r")] == pytest.approx(0.0)
    assert start.lifted[drives.index("spine1_flex")] == pytest.approx(1.0)


def at_some_instant(problem, pull=0.5):
    """An instant at rest in standing, its muscles active."""
    tree = problem.tree
    q = np.zeros(tree.dof)
    q[list(tree.states)] = pull
    rest, none = ca.DM(tree.dof, 1), Forces(inverse=lambda *given: ca.DM(tree.dof, 1))
    return Instant(tree=tree, s=0.5, T=1.0, q=ca.DM(q), qd=rest, qdd=rest, forces=none)


def test_what_tissue_gives_is_costed_without_the_muscles_torques():
    problem, bare = stated(), muscle_gait.by_torques(stated())
    passive = next(term for _, term in problem.objective.terms if term.name == "passive")
    with_muscles = np.array(passive.function(at_some_instant(problem)))
    assert np.allclose(with_muscles, np.array(passive.function(at_some_instant(bare))))
    active = at_some_instant(problem)
    row = problem.tree.coordinate("knee_flex_r")
    assert abs(float(active.elements[row] - at_some_instant(bare).elements[row])) > 5.0


class ByTorque:
    """An instant at which a joint turns at 2 rad/s under 50 N m."""

    def __init__(self, at, row=0, torque=0.0):
        self.tree, self.q = at.tree, at.q
        self.qd, self.tau, self.tau_rate = (ca.DM(at.tree.dof, 1) for _ in range(3))
        self.qd[row], self.tau[row] = 2.0, torque


def test_joints_that_muscles_cross_count_by_these_alone():
    problem = stated()
    known = {term.name: term for _, term in problem.objective.terms}
    at = at_some_instant(problem)
    still = {name: float(known[name].function(ByTorque(at))) for name in ("excitation", "work")}
    for name, moves in (("knee_flex_r", False), ("spine1_flex", True)):
        row = problem.tree.coordinate(name)
        for term, value in still.items():
            other = float(known[term].function(ByTorque(at, row, 50.0)))
            assert (abs(other - value) > 1e-3) == moves


def test_excitations_weigh_by_volume_as_joints_do():
    problem = stated()
    weights = {term.name: weight for weight, term in problem.objective.terms}
    volumes = muscle_volumes(1.75, 75.0)
    total = 2.0 * sum(volumes[name] for name in ("soleus", "vas_lat"))
    mean = mean_volume(muscle_gait.by_torques(problem).tree, somebody())
    share = 10.0 / problem.duration[0]
    assert weights["excitations of muscles"] == pytest.approx(
        share * WALKING.excitation * total / mean
    )
    assert weights["work of muscles"] == pytest.approx(share * WALKING.work)


@pytest.mark.parametrize("spare", ["excitation", "bhargava_2004"])
def test_energy_stands_in_the_place_of_work_at_its_efficiency(spare):
    problem = stated()
    body, who = muscle_gait.by_torques(problem).tree, somebody()
    terms = {each.name: weight for weight, each in leg_effort(problem.tree, body, who, spare).terms}
    if spare == "excitation":
        assert set(terms) == {"excitations of muscles"}
    else:
        assert terms["energy of muscles"] == pytest.approx(0.25 * WALKING.work)
        term = leg_effort(problem.tree, body, who, spare).terms[-1][1]
        assert float(term.function(at_some_instant(problem))) > 0.01


def test_fibres_do_the_work_of_muscles_behind_rigid_tendons():
    """Of active fibres and passive ones together that is what the muscle gives to the bodies."""
    at = at_some_instant(stated())
    at.qd[at.tree.coordinate("knee_flex_r")] = 3.0
    names = [each.name for each in muscles_of(at.tree)]
    (row,) = (k for k, name in enumerate(names) if name == "vas_lat_r")
    each, fibre = muscles_of(at.tree)[row], fibre_of(at, "vas_lat_r")
    taken = -fibre.passive * each.force * fibre.velocity * each.fastest * each.fibre
    given = muscle_outputs(at.tree)["vas_lat_r power"](at)
    assert float(fibre_powers(at)[row] + taken) == pytest.approx(float(given))
    assert float(given) < -10.0


def test_triceps_surae_alone_have_tendons_that_stretch():
    names = {each.name for each in stated().tree.elements if getattr(each, "compliant", False)}
    assert names == {"soleus_r", "soleus_l"}


def test_rates_of_activations_meet_where_one_spline_goes_on_as_its_image():
    problem = stated()
    rates = next(each for each in problem.requirements if each.name == "mirrored.qd")
    assert len(rates.labels) == problem.tree.dof and "soleus_r.activation" in rates.labels
    on_mesh = replace(problem, motion=Mesh(method="radau", intervals=4, order=3))
    rates = next(each for each in on_mesh.requirements if each.name == "mirrored.qd")
    assert len(rates.labels) == problem.tree.dof - len(problem.tree.states)


@lru_cache(maxsize=1)
def as_falisse():
    """With two muscles a side, by the objective of Falisse et al. (2022)."""

    def few(*args, compliant):
        return leg_muscles(*args, only=("soleus", "vas_lat"), compliant=compliant)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(muscle_gait, "leg_muscles", few)
        return muscle_gait.problem(effort=muscle_gait.Effort(spare="falisse_2022"))


def test_falisse_s_terms_stand_in_the_place_of_all_that_people_spare():
    weights = {term.name: weight for weight, term in as_falisse().objective.terms}
    assert set(weights) == {
        "excitation",
        "energy of muscles, squared",
        "activations of muscles",
        "rates of muscles",
        "accelerations",
        "arms",
        "reserves",
        "limits",
    }
    share = 0.01 / 0.6  # hundreds over a step
    assert weights["energy of muscles, squared"] == pytest.approx(share * 500.0 / 4 / 75.0)
    assert weights["activations of muscles"] == pytest.approx(share * 2000.0 / 4)
    assert weights["accelerations"] == pytest.approx(share * 5e4 / 28)


def test_what_limits_joints_is_as_printed():
    tree = as_falisse().tree
    q = np.zeros(tree.dof)
    q[tree.coordinate("knee_flex_r")] = 1.2
    q[tree.coordinate("spine1_flex")] = q[tree.coordinate("spine2_flex")] = 0.3
    torques = [float(each) for each in limit_torques(tree, q)]
    bent = 11.03 * np.exp(-11.33 * (-1.2 + 2.4)) - 6.09 * np.exp(33.94 * (-1.2 - 0.13))
    leant = 0.25 * np.exp(-20.36 * (-0.6 + 0.5236)) - 0.35 * np.exp(30.72 * (-0.6 - 0.17))
    assert len(torques) == 17
    assert min(abs(each - bent) for each in torques) < 1e-12
    assert min(abs(each - leant) for each in torques) < 1e-12


def test_the_walk_by_torques_spares_what_falisse_s_has_beside_muscles():
    bare = muscle_gait.by_torques(as_falisse())
    known = {term.name: term.function for _, term in bare.objective.terms}
    assert set(known) == {"excitation", "accelerations", "arms", "limits"}
    at = at_some_instant(bare, pull=0.0)
    assert not np.any(np.array(known["accelerations"](at)))
    assert 0.0 < float(ca.norm_2(ca.vertcat(*known["limits"](at).nz))) < 1.0
