"""OpenSim files that are wrong are refused with file, line and element, and what to do."""

import pytest
from osim_texts import (
    CHAIN,
    OLD,
    SPLINE,
    body,
    coupler,
    document,
    joint,
    line,
    listed,
    transform,
    written,
)

from ocp import load_model
from ocp.interchange import ModelWarning

PIN = joint("PinJoint", "pin", ("/ground", "a"), ["q"])
ONE = document([body("a")], [PIN])
CIRCLE = listed(
    "ConstraintSet",
    coupler("one", "hip_1", "hip_2", line(1.0)),
    coupler("two", "hip_2", "hip_1", line(1.0)),
)
SPREAD = transform(("q", (0, 0, 0), line(1.0)), *[None] * 5)

WRONG = {  # text, what it is changed to, words of the refusal
    "cut off": (ONE, ("</Model>\n", ""), "no XML: mismatched tag"),
    "no model": (ONE, (ONE, "<OpenSimDocument><Scale/></OpenSimDocument>"), "it has no <Model>"),
    "no body": (ONE, (body("a"), ""), "it has no <Body>"),
    "class": (
        ONE,
        (PIN, PIN.replace("PinJoint", "ScapulothoracicJoint")),
        '<ScapulothoracicJoint name="pin">: joints of this class are not read, but WeldJoint',
    ),
    "mass": (ONE, ("<mass>1.0", "<mass>-1.0"), '<Body name="a">: link mass: expected at least 0'),
    "word": (ONE, ("<mass>1.0", "<mass>heavy"), "<mass>: expected a finite number, got 'heavy'"),
    "inertia": (ONE, ("0.02 0.03", "-0.02 0.03"), '<Body name="a">: no body of 1 kg has'),
    "short": (ONE, ("0.02 0.03", "0.03"), "<inertia>: expected 6 finite numbers"),
    "lonely": (
        ONE,
        (body("a"), body("a") + body("b")),
        '<Body name="b">: no joint leads from it to the ground; give it a FreeJoint',
    ),
    "two joints": (
        ONE,
        (PIN, PIN + PIN.replace("pin", "other").replace('"q"', '"p"')),
        "<PinJoint name=\"other\">: body 'a' is carried by joint 'pin' already: close the loop by",
    ),
    "frame": (
        ONE,
        ("<socket_parent>/bodyset/a", "<socket_parent>/bodyset/b"),
        "expected the name of another object of the file, got '/bodyset/b', which none has",
    ),
    "own frame": (
        ONE,
        ("<socket_parent>/bodyset/a", "<socket_parent>pin_child"),
        "it is an offset from itself",
    ),
    "too many": (ONE, ('name="q"', 'name="p"/><Coordinate name="q"'), "expected 1 coordinates"),
    "range": (ONE, ("<range>-1.0 1.0", "<range>2 1"), "range: expected lower < upper"),
    "flag": (
        CHAIN,
        ("<locked>true", "<locked>maybe"),
        "<locked>: expected true or false, got 'maybe'",
    ),
    "function": (
        CHAIN,
        (SPLINE, "<GCVSpline/>"),
        "<GCVSpline>: functions of this class are not read, but Constant, LinearFunction",
    ),
    "one knot": (
        CHAIN,
        (SPLINE, "<SimmSpline><x>1</x><y>2</y></SimmSpline>"),
        "<SimmSpline>: SimmSpline: places: expected two or more that increase, got [1.0]",
    ),
    "knots": (
        CHAIN,
        (SPLINE, "<SimmSpline><x>1 2</x><y>2</y></SimmSpline>"),
        "<y>: expected 2 finite numbers, got '2'",
    ),
    "circle": (
        CHAIN,
        ("</Model>", CIRCLE + "</Model>"),
        "coordinates hip_1, hip_2, hip_1 follow each other",
    ),
    "twice": (
        CHAIN,
        ('name="ankle_1"', 'name="knee"'),
        '<Coordinate name="knee">: the name is used twice, first in line',
    ),
    "loose": (
        CHAIN,
        ("</Model>", '<components><NoSlipConstraint name="grip"/></components></Model>'),
        '<NoSlipConstraint name="grip">: constraints of this class are not read',
    ),
    "several": (
        CHAIN,
        ("<coordinates>hip_1</coordinates>", "<coordinates>hip_1 hip_2</coordinates>"),
        "<coefficients>: expected 3 finite numbers, got '1.0 0.0'",
    ),
    "foreign": (
        CHAIN,
        ("<coordinates>hip_1</coordinates>", "<coordinates>knee</coordinates>"),
        "coordinate 'knee' is none of the joint's, hip_1, hip_2, hip_3, slip",
    ),
    "idle": (
        CHAIN,
        ("<coordinates>slip</coordinates>", "<coordinates/>"),
        "coordinate 'slip' moves nothing; leave it out",
    ),
    "constraint": (
        CHAIN,
        ("</Model>", listed("ConstraintSet", "<RollingOnSurfaceConstraint/>") + "</Model>"),
        "expected one <ConstraintSet>, got 2",
    ),
    "other constraint": (
        ONE,
        ("</Model>", listed("ConstraintSet", "<ConstantDistanceConstraint/>") + "</Model>"),
        "<ConstantDistanceConstraint>: constraints of this class are not read, but "
        "CoordinateCouplerConstraint, PointConstraint, WeldConstraint, PointOnLineConstraint; "
        "switch it off",
    ),
    "parent": (
        OLD,
        ("<parent_body>thigh", "<parent_body>leg"),
        "<parent_body>: there is no body 'leg'",
    ),
    "zero axis": (
        document([body("a")], [joint("CustomJoint", "knee", ("/ground", "a"), ["q"], more=SPREAD)]),
        ("", ""),
        '<TransformAxis name="rotation1">: axis: expected a direction, got zeros',
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_line_with_its_place(tmp_path, case):
    text, (old, new), words = WRONG[case]
    assert old in text
    path = written(text.replace(old, new, 1) if old else text, tmp_path)
    with pytest.raises(ValueError) as error:
        load_model(path)
    said = str(error.value)
    assert said.startswith("small.osim:")
    assert words in said
    assert "\n" not in said


def test_a_base_is_stated_by_the_file(tmp_path):
    with pytest.raises(ValueError, match="states its joints to the ground and its contacts itself"):
        load_model(written(ONE, tmp_path), base="free")


def test_inertias_of_no_body_are_kept_as_opensim_keeps_them_or_balanced(tmp_path):
    path = written(ONE.replace("0.02 0.03 0.04", "0.02 0.03 0.09"), tmp_path)
    with pytest.warns(ModelWarning, match="inertias of no body are kept"):
        assert load_model(path).links[0].inertia[2][2] == 0.09
    with pytest.warns(ModelWarning, match="repaired inertias"):
        assert not load_model(path, repair="balance").links[0].unphysical


def test_tags_with_colons_are_read(tmp_path):
    force = '<HuntCrossleyForce name="h"><HuntCrossleyForce::ContactParametersSet/>'
    text = ONE.replace("</Model>", listed("ForceSet", f"{force}</HuntCrossleyForce>") + "</Model>")
    with pytest.warns(ModelWarning, match="take opensim_contacts: h"):
        assert load_model(written(text, tmp_path)).dof == 1


def test_a_long_entity_is_no_way_to_fill_the_memory(tmp_path):
    entity = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "x" * 10}">' for k in range(9))
    text = ONE.replace("<OpenSimDocument", f"<!DOCTYPE x [{entity}]><OpenSimDocument", 1)
    text = text.replace("<mass>1.0", "<mass>&e8;1.0")
    with pytest.raises(ValueError, match=r"small\.osim:\d+: "):
        load_model(written(text, tmp_path))
