"""Paths over two surfaces of OpenSim's files have the exact lengths, which OpenSim's own miss."""

import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_texts import (
    ROUND,
    body,
    document,
    joint,
    listed,
    muscle,
    point,
    surface,
    wrapped_body,
    written,
)
from taut_chains import X, length_and_slopes, scale_of, taut

from ocp import load_model
from ocp.mechanics.muscles import WrapCylinder, muscles_of

SIDE = ROUND.replace("0.05", "0.06").replace("all", "+x")
KNEE = np.array([0.0, -0.3, 0.0])
START, END = np.array([0.0, 0.25, 0.02]), np.array([0.0, -0.05, -0.02])
CALF = document(
    [
        wrapped_body(
            "thigh",
            surface("WrapCylinder", "upper", (-0.02, 0.1, 0), (0.1, 0.2, 0), SIDE),
            surface("WrapCylinder", "lower", (-0.02, -0.1, 0), (-0.1, -0.2, 0), SIDE),
        ),
        body("shank", 3.0),
    ],
    [
        joint("WeldJoint", "hip", ("/ground", "thigh")),
        joint("PinJoint", "knee_joint", ("thigh", "shank"), ["knee"], ((KNEE, (0, 0, 0)),) * 2),
    ],
    listed(
        "ForceSet",
        muscle(
            "DeGrooteFregly2016Muscle",
            "calf",
            [point("a", "thigh", START), point("b", "shank", KNEE + END)],
            ("upper", "lower"),
        ),
    ),
)


@needs_opensim
def test_over_two_cylinders_opensim_is_millimetres_short_and_we_are_not(tmp_path):
    path = written(CALF, tmp_path)
    tree = load_model(path)
    states = [{"knee": [angle, 0.0, 0.0]} for angle in (-0.6, 0.0, 0.3)]
    answers = opensim_answers(MODELS, paths={"model": str(path), "states": states})["paths"]
    (calf,) = muscles_of(tree)
    cylinders = [scale_of(each) for each in calf.path.points if isinstance(each, WrapCylinder)]
    for state, answer in zip(states, answers):
        angle = state["knee"][0]
        cosine, sine = np.cos(angle), np.sin(angle)
        lever = np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]]) @ END
        exact, direction = taut(START, KNEE + lever, cylinders, X)
        arm = -direction @ np.cross((0, 0, 1), lever)
        length, slopes = length_and_slopes(tree, calf.path, [angle, *np.zeros(tree.dof - 1)])
        assert length == pytest.approx(exact, abs=1e-5)
        assert -slopes[0] == pytest.approx(arm, abs=1e-4)
        theirs, arms = answer["calf"]
        assert 2e-3 < exact - theirs < 1e-2
        assert arms["knee"] == pytest.approx(arm, abs=2e-4)
