"""People: bodies of women and men, segments of their own, strength, percentiles, other legs."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_human import frames_of, other_side, places, together

from ocp import Solver, Spline, Spring, Transcription
from ocp.cli.commands.run import run_task
from ocp.mechanics import position
from ocp.models.human import (
    NAMES,
    PEOPLE,
    Person,
    Segment,
    capacity,
    child,
    human,
    parsed,
    person,
    somebody,
)
from ocp.models.human.anthropometry import DE_LEVA, LENGTHS, LINKS, PAIRED
from ocp.models.human.people import SURVEY
from ocp.problems import gait
from ocp.problems import lifting as lifting_package
from ocp.problems.gait import effort_step as problem
from ocp.problems.gait import loads, walk
from ocp.problems.gait.statement.step import likewise
from ocp.problems.lifting import problem as lifting
from ocp.studies.study_tables import draw_study

# Women (de Leva 1996): share of the mass; length (m) that the radii, about X, Y, Z, are of; where
# the centre of mass stands, over the length of the model's segment, from its proximal joint; the
# shares add up to 0.9999
WOMEN = {
    "thigh": (
        ("hip_rot_r",),
        0.1478,
        0.3685 * 1.75 / 1.735,
        (0.364, 0.162, 0.369),
        "knee_r",
        0.6388 * 0.3685 * 1.75 / 1.735,
    ),
    "shank": (("knee_flex_r",), 0.0481, 0.4305, (0.263, 0.092, 0.267), "knee_r", -0.4352 * 0.4305),
    "upper_arm": (
        ("shou_rot_r",),
        0.0255,
        0.2831562,
        (0.260, 0.148, 0.278),
        "shoulder_r",
        -0.5754 * 0.2831562,
    ),
    "forearm": (
        ("elb_pron_r",),
        0.0138,
        0.2702901,
        (0.257, 0.094, 0.261),
        "elbow_r",
        -0.4559 * 0.2702901,
    ),
    "hand": (
        ("wri_rad_r",),
        0.0056,
        0.0862 * 1.75 / 1.741,
        (0.531, 0.335, 0.454),
        "wrist_r",
        -0.7474 * 0.0862 * 1.75 / 1.741,
    ),
    "foot": (
        ("ankle_inv_r", "toe_ext_r"),
        0.0129,
        0.2283 * 1.75 / 1.735,
        (0.279, 0.299, 0.139),
        None,
        None,
    ),
    "head_and_neck": (
        ("neck_rot", "head_rot"),
        0.0668,
        0.2437 * 1.75 / 1.735,
        (0.295, 0.261, 0.271),
        "C7T1",
        0.5159 * 0.244125,
    ),
    "pelvis": (
        ("glob_rx",),
        0.1247,
        0.1815 * 1.75 / 1.735,
        (0.402, 0.444, 0.433),
        "C7T1",
        -(0.228 + 0.2053 + 0.492 * 0.1815) * 1.75 / 1.735,
    ),
    "middle_trunk": (
        ("spine1_rot", "spine2_rot"),
        0.1465,
        None,
        None,
        "C7T1",
        -(0.228 + 0.4512 * 0.2053) * 1.75 / 1.735,
    ),
    "upper_trunk": (
        ("spine3_rot", "spine4_rot"),
        0.1545,
        0.228 * 1.75 / 1.735,
        (0.314, 0.449, 0.466),
        "C7T1",
        -0.505 * 0.228 * 1.75 / 1.735,
    ),
}


@pytest.fixture(scope="module")
def woman():
    tree = human(sex="female", frozen=())
    return tree, frames_of(tree)


def masses(tree):
    """Mass (kg) of each segment, of one side."""
    return {
        name: sum(
            tree.links[tree.link_index(part if name not in PAIRED else f"{part}_r")].mass
            for part in parts
        )
        for name, parts in LINKS.items()
    }


@pytest.mark.parametrize(
    "sex, whole, share, length, centre, near",
    [
        ("male", 1.0, 0.4346, 0.6033, 0.5138, 5.1e-3),
        ("female", 0.9999, 0.4257, 0.6148, 0.4964, 1e-4),
    ],
)
def test_the_parts_of_the_trunk_make_the_published_whole(sex, whole, share, length, centre, near):
    """From C7/T1 to mid-hip (de Leva 1996); the published centre of the men's is 3 mm above that of
    the parts, published too. All shares add up to one, the women's but for a rounding."""
    table, above, moment = DE_LEVA[sex], 0.0, 0.0
    assert sum(
        row[0] * (2 if name in PAIRED else 1) for name, row in table.items()
    ) == pytest.approx(whole, abs=1e-12)
    for part in ("upper_trunk", "middle_trunk", "pelvis"):
        moment += table[part][0] * (above + table[part][2] * table[part][1])
        above += table[part][1]
    assert sum(
        table[part][0] for part in ("upper_trunk", "middle_trunk", "pelvis")
    ) == pytest.approx(share, abs=1e-12)
    assert above == pytest.approx(length, abs=1e-12)
    assert moment / share / length == pytest.approx(centre, abs=near)


@pytest.mark.parametrize("segment", WOMEN)
def test_women_have_the_published_masses_centres_and_radii(segment, woman):
    tree, frames = woman
    names, share, length, radii, joint, up = WOMEN[segment]
    for side in (lambda name: name, other_side):
        rows = [tree.link_index(side(name)) for name in names]
        mass, center, inertia = together([tree.links[k] for k in rows], frames[rows])
        assert mass == pytest.approx(75.0 * share / 0.9999, abs=1e-9)
        if radii:
            assert np.sqrt(inertia.diagonal() / mass) / length == pytest.approx(radii, abs=2e-4)
        if joint:
            assert center - places(tree, frames)[side(joint)] == pytest.approx((0, up, 0), abs=2e-5)


def test_women_of_the_same_stature_have_lower_centres_of_mass(woman):
    man = human(frozen=())
    (mass, center, _), (_, higher, _) = (
        together(woman[0].links, woman[1]),
        together(man.links, frames_of(man)),
    )
    assert mass == pytest.approx(75.0, abs=1e-7)
    assert places(*woman)["head_top"] == pytest.approx((0, 1.75, 0), abs=1e-12)
    assert 0.54 < center[1] / 1.75 < 0.56 < higher[1] / 1.75
    assert all(
        hers.position == theirs.position for hers, theirs in zip(woman[0].joints, man.joints)
    )


@pytest.mark.parametrize("name", PEOPLE)
def test_everybody_has_physical_inertias_and_their_own_mass_and_stature(name):
    tree = human(**somebody(Person(name)), frozen=())
    moments = [np.linalg.eigvalsh(link.inertia) for link in tree.links if link.mass]
    assert all(one[0] > 0 and one[0] + one[1] > one[2] for one in moments)
    assert sum(link.mass for link in tree.links) == pytest.approx(
        person(*PEOPLE[name])["mass"], abs=1e-7
    )
    assert places(tree, frames_of(tree))["head_top"][1] == pytest.approx(
        person(*PEOPLE[name])["stature"], abs=1e-12
    )


def test_the_median_woman_has_the_published_shares_of_the_median_mans_strength():
    """Legs 71.9, trunk 63.8, arms 55.8 % (Laubach 1976)."""
    ours, theirs = (human(**person(sex, 50), frozen=()) for sex in ("female", "male"))
    shares = {
        joint.name: joint.torque[1] / other.torque[1]
        for joint, other in zip(ours.joints[6:], theirs.joints[6:])
    }
    for name, share in {
        "knee_flex_l": 0.719,
        "toe_ext_r": 0.719,
        "spine1_flex": 0.638,
        "head_rot": 0.638,
        "elb_flex_r": 0.558,
        "clav_elev_l": 0.558,
    }.items():
        assert shares[name] == pytest.approx(share, rel=1e-12)
    assert {round(share, 3) for share in shares.values()} == {0.719, 0.638, 0.558}


@pytest.mark.parametrize("segment", LENGTHS)
def test_a_segment_is_as_long_as_it_is_said_to_be_and_the_body_stands_on_the_ground(segment):
    ends = {
        "thigh": ("hip_r", "knee_r"),
        "shank": ("knee_l", "ankle_l"),
        "upper_arm": ("shoulder_r", "elbow_r"),
        "forearm": ("elbow_l", "wrist_l"),
        "pelvis": ("pelvis_origin", "L5S1"),
        "head_and_neck": ("C7T1", "head_top"),
    }
    usual, own = (
        human(1.7, 65.0, frozen=(), segments=segments)
        for segments in (None, {segment: {"length": 1.1 * LENGTHS[segment]}})
    )
    before, after = (places(tree, frames_of(tree)) for tree in (usual, own))
    if segment in ends:
        assert np.linalg.norm(
            np.subtract(*(after[name] for name in ends[segment]))
        ) == pytest.approx(1.1 * LENGTHS[segment])
    assert [after[name][1] for name in ("heel_r", "toe_l", "ball_lat_r")] == pytest.approx(
        [0, 0, 0], abs=1e-12
    )
    grown = sum(link.mass for link in own.links), after["head_top"][1] - before["head_top"][1]
    more = (1.1 - 1.7 / 1.75) * {"foot": 0.06825}.get(segment, LENGTHS[segment])
    assert grown == pytest.approx(
        (65.0, 0.0 if segment in ("upper_arm", "forearm", "hand") else more), abs=1e-9
    )
    for name, spot in after.items():
        assert after[other_side(name)] == pytest.approx(spot * (-1, 1, 1), abs=1e-12)


def test_a_mass_that_is_given_stands_and_the_others_share_the_rest():
    usual = masses(human())
    own = masses(human(segments={"shank": Segment(mass=4.0), "pelvis": {"mass": 10.0}}))
    rest = (75.0 - 18.0) / (75.0 - 2 * usual["shank"] - usual["pelvis"])
    assert own == pytest.approx(
        {
            name: {"shank": 4.0, "pelvis": 10.0}.get(name, rest * mass)
            for name, mass in usual.items()
        }
    )


def test_centres_and_radii_of_limbs_are_over_their_own_lengths():
    tree = human(
        segments={"forearm": {"length": 0.3, "mass": 1.5, "com": 0.4, "radii": (0.29, 0.28, 0.1)}},
        frozen=(),
    )
    frames = frames_of(tree)
    for side in "rl":
        k = tree.link_index(f"elb_pron_{side}")
        mass, center, inertia = together([tree.links[k]], frames[[k]])
        assert center - places(tree, frames)[f"elbow_{side}"] == pytest.approx((0, -0.4 * 0.3, 0))
        assert np.sqrt(inertia.diagonal() / mass) / 0.3 == pytest.approx((0.28, 0.1, 0.29))


@pytest.mark.parametrize(
    "segments, message",
    [
        ({"leg": {"length": 0.9}}, "unknown segment 'leg'; the segments are pelvis, "),
        ({"thigh": 0.4}, "thigh: expected a Segment or a mapping"),
        ({"thigh": {"size": 1}}, "thigh: unknown field 'size'; .* length, "),
        ({"thigh": {"length": -0.4}}, "thigh.length: expected more than 0 m and less than 1.75 m"),
        ({"thigh": {"length": 2.0}}, "thigh.length: .* got 2 m"),
        ({"shank": {"mass": 0.0}}, "shank.mass: expected more than 0 kg, got 0 kg"),
        ({"shank": {"com": 1.2}}, "shank.com: expected more than 0 and less than 1, got 1.2"),
        ({"foot": {"com": 0.5}}, "foot: com and radii are of thigh, "),
        ({"hand": {"radii": (0.1, 0.1)}}, r"hand.radii: expected shape \(3,\)"),
        ({"hand": {"radii": (0.9, 0.1, 0.1)}}, "hand.radii: .* no square above"),
        ({"thigh": {"length": "long"}}, "thigh.length: expected numbers"),
        ({"thigh": {"mass": 40.0}}, "thigh weigh 80 kg, both sides counted, of 75 kg"),
    ],
)
def test_a_segment_that_no_body_has_is_refused_by_name(segments, message):
    with pytest.raises(ValueError, match=f"segments: {message}"):
        human(segments=segments)


def test_segments_are_read_from_a_text():
    assert parsed("thigh.length=0.45, shank.mass=3.4 shank.radii=0.25/0.25/0.1") == {
        "thigh": {"length": 0.45},
        "shank": {"mass": 3.4, "radii": (0.25, 0.25, 0.1)},
    }
    for text, message in (
        ("thigh=0.4", "expected SEGMENT.FIELD=VALUE, .* got 'thigh=0.4'"),
        ("thigh.mass=big", "got 'thigh.mass=big'"),
        ("thigh.mass=9,thigh.mass=8", "thigh.mass is given twice"),
    ):
        with pytest.raises(ValueError, match=message):
            parsed(text)


def test_people_are_those_of_the_survey_unless_something_else_is_said():
    assert list(PEOPLE) == ["f5", "f50", "f95", "m5", "m50", "m95"]
    man = {"stature": 1.75, "mass": 75.0, "sex": "male", "segments": {}, "muscles": 75.0}
    assert somebody() == man and somebody(Person(mass=130.0)) == man | {"mass": 130.0}
    body_mass_index = 75.0 / 1.75**2 * (66.8 / 1.626**2) / (84.6 / 1.755**2)
    assert somebody(Person("f5", mass=60.0)) == {
        "stature": 1.525,
        "mass": 60.0,
        "sex": "female",
        "segments": {},
        "muscles": pytest.approx(body_mass_index * 1.525**2),
    }
    for ranks in (
        SURVEY.values()
    ):  # mean and deviation of the survey's stature: 1756.2 and 68.5, 1628.5 and 64.2 mm
        assert sorted(ranks.values()) == list(ranks.values())
    for sex, mean, deviation in (("male", 1.7562, 0.0685), ("female", 1.6285, 0.0642)):
        assert [SURVEY[sex][rank][0] for rank in (5, 50, 95)] == pytest.approx(
            mean + deviation * np.array((-1.645, 0, 1.645)), abs=0.007
        )
    for call, message in (
        (lambda: somebody(Person("x5")), "person: expected one of f5, f50, .* got 'x5'"),
        (lambda: person("male", 10), "a percentile of 5, 50, 95"),
        (lambda: human(sex="child"), "sex: expected 'male' or 'female', got 'child'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_everybody_walks_alike_unless_told_otherwise():
    assert likewise(human()) == (1.2, 0.6) and likewise(human(1.6, 50.0), 1.0, 0.5) == (1.0, 0.5)
    for tree in (human(1.6, 50.0), human(segments={"shank": {"length": 0.5}})):
        leg = float(position(tree, np.zeros(tree.dof), "hip_r")[1])
        speed, step = likewise(tree)
        assert step / leg == pytest.approx(0.6 / 0.9275)
        assert speed**2 / leg == pytest.approx(1.44 / 0.9275)


def test_the_smallest_woman_walks_from_standing():
    step = walk(problem(person="f5"), Transcription(method=Spline(nodes=3)), Solver()).require()
    assert step.statistics["attempts"] == ["Solve_Succeeded"]
    told = loads(step)
    assert told["speed_m_s"] == pytest.approx(1.120, abs=1e-3)
    assert told["step_m"] == pytest.approx(0.523, abs=1e-3)
    assert 55 < told["knee_most_deg"] < 75
    assert -30 < told["hip_least_deg"] < 0 < told["hip_most_deg"] < 40
    assert 1.0 < told["vertical_force_BW"] < 1.4
    assert told["braking_BW"] < -0.1 < 0.1 < told["propulsion_BW"]
    assert told["torque_of_limit"] < 1


def test_problems_take_people_from_the_command_line(capsys):
    assert lifting(person=Person(name="m95"), passive=False).tree.joints[
        NAMES.index("knee_flex_r")
    ].torque[1] == pytest.approx(131 * (1.870 / 1.75) ** 3)
    assert run_task(gait.TASK, ["--segments", "thigh.length=9"]) == 2
    assert (
        "gait: error: human: segments: thigh.length: expected more than 0 m"
        in capsys.readouterr().err
    )
    assert run_task(lifting_package.TASK, ["--person", "z1"]) == 2
    assert "person: expected one of f5" in capsys.readouterr().err


def test_a_study_over_people_is_drawn_over_their_names(tmp_path):
    cells = [
        SimpleNamespace(
            parameters={"person": name},
            terms={},
            measured={"moment": 100.0 + number},
            statistics={},
            status="solved",
            objective=1.0,
            duration=1.2,
            seconds=3.0,
            reason="",
            content={},
            solved=True,
        )
        for number, name in enumerate(PEOPLE)
    ]
    assert draw_study(cells, tmp_path / "people.svg", "moment") == (tmp_path / "people.svg",)
    with pytest.raises(ValueError, match="plot: no parameter varies"):
        draw_study(cells[:1], tmp_path / "one.svg", "moment")


@pytest.mark.parametrize("age", [6, 12, 18])
def test_children_weigh_as_their_age_does_and_grow_into_young_adults(age):
    young, grown = child("male", age), child("male", 18)
    masses = {name: each["mass"] / young["mass"] for name, each in young["segments"].items()}
    before = {name: each["mass"] / grown["mass"] for name, each in grown["segments"].items()}
    ratio = {6: (18.2 / 7.0, 8.5 / 11.4), 12: (10.1 / 7.0, 11.0 / 11.4), 18: (1.0, 1.0)}[age]
    found = [masses[name] / before[name] for name in ("head_and_neck", "thigh")]
    assert found == pytest.approx(ratio)
    tree = human(**young)
    assert sum(link.mass for link in tree.links) == pytest.approx(young["mass"])
    size = young["mass"] * young["stature"] / (75.0 * 1.75)
    assert capacity(tree, "knee_flex_r", 1) == pytest.approx(size * 131.0, rel=0.01)


def test_a_child_is_a_person_by_name_with_what_is_its_own():
    girl = somebody(Person("girl10"))
    assert (girl["stature"], girl["mass"], girl["sex"]) == (1.380, 32.9, "female")
    heavy = somebody(Person("girl10", mass=40.0, segments="thigh.length=0.36"))
    assert heavy["segments"]["thigh"]["length"] == 0.36
    ratio = heavy["segments"]["thigh"]["mass"] / girl["segments"]["thigh"]["mass"]
    assert ratio == pytest.approx(40.0 / 32.9)
    with pytest.raises(ValueError, match="child of 5 to 18 years as girl10 or boy7, got 'boy3'"):
        somebody(Person("boy3"))
    with pytest.raises(ValueError, match="an age of 5 to 18 years, got 'male' and 30"):
        child("male", 30)


def test_toes_are_as_stiff_as_asked_and_only_where_there_is_tissue():
    toes = [each for each in human(passive=True, toes=25.0).elements if "toe_ext" in each.name]
    assert [each.stiffness for each in toes if isinstance(each, Spring)] == [25.0, 25.0]
    with pytest.raises(ValueError, match="human: toes: their stiffness is of tissue"):
        human(toes=25.0)
    with pytest.raises(ValueError, match="toes: have tissue with the objectives human and elastic"):
        problem(toes=25.0)
    with pytest.raises(ValueError, match="thighs: have tissue with the objectives human and elas"):
        problem(thighs=26.1)
