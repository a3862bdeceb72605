"""Inertias and shapes of URDF files that no body has, or that nothing can show."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from urdf_texts import ARM, written

from ocp import mass_matrix
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.formulation_record import align_frames
from ocp.interchange import ModelWarning, load_model, save_model
from ocp.storage.tree_data import tree_data, tree_of


def with_inertia(numbers, mass="2"):
    """The arm with other moments of inertia of its upper link."""
    begin = ARM.index('<inertia ixx="0.03"')
    end = ARM.index("/>", begin) + 2
    moments = " ".join(f'{key}="{value}"' for key, value in numbers.items())
    text = ARM[:begin] + f"<inertia {moments}/>" + ARM[end:]
    return text.replace('<mass value="2"/>', f'<mass value="{mass}"/>')


PLATE = {"ixx": 0.001, "iyy": 0.001, "izz": 0.01}


def test_an_inertia_of_no_body_is_refused_and_balanced(tmp_path):
    path = written(tmp_path, with_inertia(PLATE))
    message = (
        r"^arm.urdf:6: <inertial>: no body of 2 kg has principal moments 0.001, 0.001, 0.01 kg m2: "
        "each is at most the sum of the others; take repair='balance' for the nearest inertia"
    )
    with pytest.raises(ValueError, match=message):
        load_model(path)
    with pytest.warns(
        ModelWarning, match="upper in line 6: principal moments 0.001, 0.001, 0.01 b"
    ):
        tree = load_model(path, repair="balance")
    moments = np.linalg.eigvalsh(np.array(tree.links[1].inertia))
    assert np.allclose(moments, [0.005, 0.005, 0.01], rtol=1e-12)  # the integral of z z becomes 0


@pytest.mark.parametrize("noise", [1e-20, 1e-12])
def test_rounding_of_a_point_mass_is_accepted(tmp_path, noise):
    numbers = {"ixx": 0, "ixz": noise, "iyy": 0, "izz": 0}
    tree = load_model(written(tmp_path, with_inertia(numbers)))
    assert np.abs(tree.links[1].inertia).max() <= 2 * noise


def test_an_inertia_of_no_body_is_kept_where_asked(tmp_path):
    path = written(tmp_path, with_inertia(PLATE))
    with pytest.raises(ValueError, match="or repair='keep' to compute with these numbers$"):
        load_model(path)
    with pytest.warns(ModelWarning, match="inertias of no body are kept: upper in line 6: princi"):
        tree = load_model(path, repair=("balance", "keep"))
    link = tree.links[1]
    assert np.allclose(np.linalg.eigvalsh(link.inertia), sorted(PLATE.values()), rtol=1e-12)
    assert link.unphysical and not any(each.unphysical for each in tree.links if each is not link)


def test_a_kept_inertia_goes_through_files_and_formulations(tmp_path):
    with pytest.warns(ModelWarning):
        tree = load_model(written(tmp_path, with_inertia(PLATE)), repair="keep")
    assert tree_of(tree_data(tree, None), None) == tree
    again = tmp_path / "again.urdf"
    save_model(tree, again)
    with pytest.warns(ModelWarning, match="are kept"):
        read = load_model(again, repair="keep")
    assert np.allclose(read.links[1].inertia, tree.links[1].inertia, rtol=1e-15)
    q, qd, qdd = ca.DM([0.3, 0.1]), ca.DM([1, 2]), ca.DM([-2, 1])
    torques = [
        np.array(each.inverse(align_frames(tree)[0], q, qd, qdd)) for each in FORMULATIONS.values()
    ]
    assert np.ptp(torques, axis=0).max() < 1e-12
    with pytest.raises(ValueError, match="A link with unphysical=True keeps them"):
        replace(tree.links[1], unphysical=False)


def test_negative_moments_are_not_kept(tmp_path):
    path = written(tmp_path, with_inertia({"ixx": -0.001, "iyy": 0.002, "izz": 0.002}))
    with pytest.raises(
        ValueError, match="take repair='balance' for the nearest inertia of a body$"
    ):
        load_model(path, repair="keep")


@pytest.mark.parametrize(("mass", "left"), [("0", 0.0), ("1e-6", 3e-6)])
def test_frames_need_no_inertia_of_a_body(tmp_path, mass, left):
    """Exporters give frames none or hardly any mass, and an inertia of ones."""
    ones = " ".join(f'{key}="1e-6"' for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    inertial = f'<inertial><mass value="{mass}"/><inertia {ones}/></inertial>'
    text = ARM.replace('<link name="tool"/>', f'<link name="tool">{inertial}</link>')
    with pytest.warns(ModelWarning, match="frames with hardly any mass .*: tool in line 22: "):
        tree = load_model(written(tmp_path, text))
    assert np.isclose(np.linalg.eigvalsh(tree.links[3].inertia)[-1], left)
    plain = load_model(written(tmp_path, ARM))
    q = ca.DM([0.3, 0.2])
    change = np.array(mass_matrix(tree, q) - mass_matrix(plain, q))
    assert np.abs(change).max() <= 3 * float(mass)


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (
            '<sphere radius="0.1"/>',
            '<sphere radius="0"/>',
            "line 20: <sphere>",
            "visual sphere: radius: expected a number above 0, got 0",
        ),
        (
            '<sphere radius="0.1"/>',
            '<cone radius="0.1"/>',
            "line 20: <visual>",
            "<geometry>: expected one of box, sphere, cylinder, capsule, mesh, got <cone>",
        ),
        (
            '<color rgba="0.5 0.5 0.5 1"/>',
            '<color rgba="128 128 128 1"/>',
            "line 3: <color>",
            "rgba: expected numbers of 0 to 1, got '128 128 128 1'",
        ),
    ],
)
def test_what_only_shows_is_left_out_where_it_is_wrong(tmp_path, old, new, place, message):
    with pytest.warns(ModelWarning, match="that cannot be shown are left out: ") as said:
        tree = load_model(written(tmp_path, ARM.replace(old, new)))
    assert [str(each.message).partition("left out: ")[2] for each in said] == [
        f"{place}: {message}"
    ]
    plain = load_model(written(tmp_path, ARM))
    assert [replace(link, visuals=()) for link in tree.links] == [
        replace(link, visuals=()) for link in plain.links
    ]
