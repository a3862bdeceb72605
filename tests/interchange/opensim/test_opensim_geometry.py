"""Looks of OpenSim's bodies are visuals of links where their files are, and named where not."""

import warnings

import numpy as np
import pytest
from osim_texts import MESH, OLD, SHAPES, frame, looking, written

from ocp import load_model
from ocp.interchange import ModelWarning

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def test_shapes_have_their_sizes_and_cylinders_stand_along_y(tmp_path):
    (link,) = load_model(written(looking(SHAPES), tmp_path)).links
    kinds = {each.kind: tuple(np.round(each.size, 12)) for each in link.visuals[1:]}
    assert kinds == {"box": (0.2, 0.4, 0.6), "ellipsoid": (0.1, 0.2, 0.3), "cylinder": (0.1, 0.8)}
    assert link.visuals[0].size == pytest.approx((0.1, 0.1, 0.1)) and len(link.visuals) == 4
    axis = np.array(link.visuals[-1].pose)[:3, 2]
    assert np.abs(axis) == pytest.approx((0, 1, 0), abs=1e-15)


@pytest.mark.parametrize("folder", ["", "Geometry", "elsewhere"])
def test_a_mesh_is_found_beside_the_file_in_its_folder_or_where_one_says(tmp_path, folder):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "bone.obj").write_text(OBJ)
    tree = load_model(written(looking(MESH), tmp_path), folders=[tmp_path / "elsewhere"])
    (visual,) = tree.links[0].visuals
    assert visual.path == str(tmp_path / folder / "bone.obj")
    assert tuple(visual.size) == (1.0, 2.0, -1.0) and visual.colour == (1.0, 0.5, 0.0, 0.5)


def test_looks_on_a_frame_stand_where_the_frame_does(tmp_path):
    off = frame("off", "..", ((0.1, 0.2, 0.3), (0, 0, 0.5))).replace(
        "<translation>", f"<attached_geometry>{SHAPES}</attached_geometry><translation>"
    )
    text = looking("", f"<components>{off}</components>").replace(
        "<socket_parent>..<", "<socket_parent>/bodyset/stone<"
    )
    visuals = load_model(written(text, tmp_path)).links[0].visuals
    assert len(visuals) == 4
    for each in visuals:
        assert np.array(each.pose)[:3, 3] == pytest.approx((0.1, 0.2, 0.3))


def test_looks_of_the_ground_are_left_out(tmp_path):
    off = frame("off", "..", ((0.1, 0.2, 0.3), (0, 0, 0.5))).replace(
        "<translation>", f"<attached_geometry>{SHAPES}</attached_geometry><translation>"
    )
    ground = f'<Ground name="ground"><components>{off}</components></Ground>'
    text = looking("").replace('<Ground name="ground"/>', ground)
    assert ground in text
    assert not any(link.visuals for link in load_model(written(text, tmp_path)).links)


@pytest.mark.parametrize("words", ["bone.obj", "torus (Torus)"])
def test_what_is_not_shown_is_named(tmp_path, words):
    shape = MESH if words == "bone.obj" else '<Torus name="torus"/>'
    with pytest.warns(ModelWarning, match="looks are left out") as said:
        tree = load_model(written(looking(shape), tmp_path))
    assert words in str(said[0].message) and not tree.links[0].visuals


def test_looks_before_version_4_have_the_scales_and_places_of_their_body(tmp_path):
    (tmp_path / "bone.obj").write_text(OBJ)
    shown = (
        "<VisibleObject><GeometrySet><objects><DisplayGeometry><geometry_file>bone.obj"
        "</geometry_file><color>1 1 1</color><transform>0 0 0.5 0.1 0 0</transform><scale_factors>"
        "1 2 1</scale_factors><display_preference>{}</display_preference><opacity>1</opacity>"
        "</DisplayGeometry></objects></GeometrySet><scale_factors>3 3 3</scale_factors>"
        "</VisibleObject>"
    )
    for preference, count in (("4", 1), ("0", 0)):
        text = OLD.replace(" <mass>8</mass>", shown.format(preference) + "<mass>8</mass>")
        tree = load_model(written(text, tmp_path))
        visuals = tree.links[tree.link_index("thigh")].visuals
        assert len(visuals) == count
        if count:
            assert tuple(visuals[0].size) == (3.0, 6.0, 3.0)
            assert np.array(visuals[0].pose)[:3, 3] == pytest.approx((0.1, 0, 0))


def test_looks_of_version_1_are_files_alone(tmp_path):
    (tmp_path / "bone.obj").write_text(OBJ)
    shown = "<VisibleObject><geometry_files> bone.obj bone.obj </geometry_files></VisibleObject>"
    text = OLD.replace(" <mass>8</mass>", f"{shown}<mass>8</mass>").replace("30000", "10901")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = load_model(written(text, tmp_path))
    assert len(tree.links[tree.link_index("thigh")].visuals) == 2
