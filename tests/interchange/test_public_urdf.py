"""URDF files of robots in common use are taken at the first call."""

import warnings

import pytest

from ocp.interchange import ModelWarning, load_model
from ocp.models.public import public_files

COMMON = {
    "a1_description/urdf/a1.urdf": 12,
    "anymal_b_simple_description/robots/anymal.urdf": 12,
    "b1_description/urdf/b1.urdf": 12,
    "bolt_description/robots/bolt.urdf": 6,
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": 29,
    "go1_description/urdf/go1.urdf": 12,
    "hyq_description/robots/hyq_no_sensors.urdf": 12,
    "icub_description/robots/icub_reduced.urdf": 29,
    "kinova_description/robots/kinova.urdf": 6,
    "laikago_description/urdf/laikago.urdf": 12,
    "panda_description/urdf/panda.urdf": 8,
    "solo_description/robots/solo12.urdf": 12,
    "talos_data/robots/talos_reduced.urdf": 32,
    "tiago_description/robots/tiago.urdf": 48,
    "z1_description/urdf/z1.urdf": 7,
    "ur_description/urdf/ur5_robot.urdf": 6,
}


@pytest.mark.parametrize("file", COMMON)
def test_a_robot_in_common_use_is_taken_at_the_first_call(file):
    try:
        folder = public_files()
    except ModuleNotFoundError as error:
        pytest.skip(str(error))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        assert load_model(folder / file).dof == COMMON[file]
