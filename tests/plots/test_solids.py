"""Solids and meshes as triangles, bodies of links without any, and scenery that asks nothing."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from pictured import moved

import ocp
from ocp import Link, Point, Tree, load, prismatic, revolute
from ocp.mechanics import Visual
from ocp.models.arms.two_link import two_link
from ocp.plots.bodies.mesh_files import mesh_parts
from ocp.plots.bodies.scenery import placed_solids
from ocp.plots.bodies.solid_triangles import (
    DENSITY,
    MeshWarning,
    default_body,
    equal_inertia,
    scenery,
    solids,
)
from ocp.storage.problem_data import problem_data, problem_from_data

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def volume(faces):
    """The volume that triangles (F, 3, 3) enclose, positive where they face outward."""
    return float((np.cross(faces[:, 0], faces[:, 1]) * faces[:, 2]).sum() / 6)


@pytest.mark.parametrize(
    ("kind", "size", "expected"),
    [
        ("box", (1.0, 2.0, 3.0), 6.0),
        ("sphere", (0.5,), np.pi / 6),
        ("cylinder", (0.5, 2.0), np.pi / 2),
        ("capsule", (0.5, 2.0), np.pi / 2 + np.pi / 6),
        ("ellipsoid", (0.5, 1.0, 2.0), 4 * np.pi / 3),
    ],
)
def test_solids_enclose_their_volume_facing_outward(kind, size, expected):
    pose = np.eye(4)
    pose[:3, 3] = (1, 2, 3)
    (solid,) = scenery((Visual(kind=kind, size=size, pose=pose, colour=(1, 0, 0, 0.5)),))
    faces = solid.corners - (1, 2, 3)
    exact = kind == "box"
    assert volume(faces) == pytest.approx(expected, rel=1e-12 if exact else 0.08)
    assert solid.link == -1 and solid.colour == (1, 0, 0, 0.5)
    sides = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    assert ((sides * faces.mean(axis=1)).sum(axis=1) > 0).all()


def stl(faces):
    """A mesh in bytes of STL."""
    rows = (struct.pack("<12fH", 0, 0, 0, *np.ravel(face), 0) for face in faces)
    return b" " * 80 + struct.pack("<I", len(faces)) + b"".join(rows)


def worded(faces):
    """A mesh in words of STL."""
    rings = (
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in face)
        + "endloop\nendfacet\n"
        for face in faces
    )
    return f"solid pyramid\n{''.join(rings)}endsolid pyramid\n".encode()


OBJ = """# a pyramid
v 0 0 0
v 1 0 0
v 0 2 0
v 0 0 3
f 1/1/1 3/1/1 2/1/1
f 1 2 4
f -4 -1 -2
f 2//1 3//2 4//3
"""
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.5"/></asset>
<library_effects><effect id="e"><profile_COMMON><technique><phong>
<diffuse><color>0.5 0.25 2 0</color></diffuse></phong></technique></profile_COMMON></effect>
<effect id="f"><profile_COMMON><technique><phong><diffuse><texture/></diffuse></phong></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material>
<material id="n"><instance_effect url="#f"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="a" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles count="2" material="dark"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#n" offset="1"/><p>0 9 2 9 1 9 0 9 1 9 3 9</p></triangles>
<polylist count="2" material="n"><input semantic="VERTEX" source="#v" offset="0"/>
<vcount>3 3</vcount><p>0 3 2 1 2 3</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="w"><node>
<translate>0 0 4</translate><rotate>0 0 1 90</rotate>
<node><scale>2 2 2</scale><instance_geometry url="#g">
<bind_material><technique_common><instance_material symbol="dark" target="#m"/></technique_common>
</bind_material></instance_geometry></node>
</node></visual_scene></library_visual_scenes>
</COLLADA>
"""


VTP = """<?xml version="1.0"?>
<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="4" NumberOfPolys="4">
<PointData><DataArray Name="Normals" NumberOfComponents="3" format="ascii">0 0 1</DataArray>
</PointData><Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">
0 0 0 1 0 0 0 2 0 0 0 3</DataArray></Points><{0}>
<DataArray Name="connectivity" format="ascii">{1}</DataArray>
<DataArray Name="offsets" format="ascii">{2}</DataArray></{0}></Piece></PolyData></VTKFile>
"""
STRIPS = "2 0 1 3", "4"


def test_meshes_are_read_alike_from_all_kinds_of_files(tmp_path):
    faces = CORNERS[np.array(FACES)]
    (tmp_path / "bytes.STL").write_bytes(stl(faces))
    (tmp_path / "words.stl").write_bytes(worded(faces))
    (tmp_path / "p.obj").write_text(OBJ)
    for name in ("bytes.STL", "words.stl", "p.obj"):
        ((read, colour),) = mesh_parts(tmp_path / name)
        np.testing.assert_allclose(read, faces, atol=1e-7)
        assert colour is None
    for kind, rows in {"Polys": ("0 2 1 0 1 3 0 3 2 1 2 3", "3 6 9 12"), "Strips": STRIPS}.items():
        (tmp_path / "p.vtp").write_text(VTP.format(kind, *rows))
        ((read, _),) = mesh_parts(tmp_path / "p.vtp")
        expected = faces if kind == "Polys" else faces[[0, 1]]
        np.testing.assert_allclose(np.sort(read, axis=1), np.sort(expected, axis=1), atol=1e-12)
    (tmp_path / "p.dae").write_text(DAE)
    turned = faces @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]])
    read = np.concatenate([part for part, _ in mesh_parts(tmp_path / "p.dae")])
    np.testing.assert_allclose(read, turned + (0, 0, 2), atol=1e-12)


def test_a_mesh_has_the_colours_of_its_file_where_its_model_gives_none(tmp_path):
    (tmp_path / "p.dae").write_text(DAE)
    first, second = scenery((Visual(kind="mesh", path=str(tmp_path / "p.dae")),))
    assert first.colour == (0.5, 0.25, 1.0, 1.0) and second.colour is None
    red = Visual(kind="mesh", path=str(tmp_path / "p.dae"), colour=(1, 0, 0, 1))
    assert {each.colour for each in scenery((red,))} == {(1.0, 0.0, 0.0, 1.0)}


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_all_solids_face_outward(tmp_path, mirror):
    (tmp_path / "p.dae").write_text(DAE)
    mesh = Visual(kind="mesh", path=str(tmp_path / "p.dae"), size=(1.0, 1.0, mirror))
    loft = Visual(kind="loft", size=((0.0, 0, 0, 0.2, 0.1, 2), (1.0, 0, 0, 0.1, 0.1, 2)))
    sizes = {"box": (1, 2, 3), "cylinder": (1, 2), "capsule": (1, 2), "ellipsoid": (1, 2, 3)}
    plain = [Visual(kind=kind, size=size) for kind, size in sizes.items()]
    for visual in (mesh, loft, *plain):
        assert volume(np.concatenate([each.corners for each in scenery((visual,))])) > 0


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.ply", b"", "expected a mesh as one of .stl, .obj, .dae"),
        ("a.stl", b"solid nothing", "not a mesh: 0 triangles"),
        ("a.obj", b"v 0 0 0\nf 1 2 3", "not a mesh: index"),
        ("a.dae", b"<open>", "not a mesh: no element|not a mesh: "),
        (
            "a.vtp",
            VTP.replace("ascii", "binary").format("Polys", "0 1 2", "3").encode(),
            "not a mesh: its numbers are not in words",
        ),
    ],
)
def test_a_file_that_is_no_mesh_is_named(name, data, message, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=f"{name}: ({message})"):
        mesh_parts(tmp_path / name)


def test_a_mesh_is_scaled_and_placed_and_its_outline_is_short(tmp_path):
    ball = scenery((Visual(kind="sphere", size=(1.0,)),))[0].corners
    fine = np.concatenate([ball, 0.99 * ball, 0.98 * ball])
    (tmp_path / "ball.stl").write_bytes(stl(fine))
    mesh = Visual(kind="mesh", path=str(tmp_path / "ball.stl"), size=(0.1, 0.1, -0.1))
    (solid,) = scenery((mesh,))
    assert np.abs(solid.corners).max() == pytest.approx(0.1, rel=1e-6)
    assert len(solid.outline) < 100 and np.linalg.norm(solid.outline, axis=1).min() > 0.0999


def test_a_mesh_that_is_missing_is_left_out_with_a_warning():
    with pytest.warns(MeshWarning, match=r"a mesh is not shown: .*none\.stl"):
        assert scenery((Visual(kind="mesh", path="none.stl"),)) == ()


def test_a_body_has_the_inertia_of_its_link():
    a, b, c, mass = 0.3, 0.2, 0.1, 5.0
    moments = mass / 5 * np.diag([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    link = Link(mass=mass, com=(1, 2, 3), inertia=turn @ moments @ turn.T)
    body = equal_inertia(link)
    np.testing.assert_allclose(sorted(body.size), (c, b, a), rtol=1e-9)
    way = np.array(body.pose)[:3, np.argmax(body.size)]
    assert abs(way @ turn[:, 0]) == pytest.approx(1)
    assert tuple(np.array(body.pose)[:3, 3]) == (1, 2, 3)
    assert equal_inertia(Link(mass=1.0)) is None


def bodies(link, **joint):
    """The visuals of one link on a joint, of a tree whose longest rod is a metre."""
    tree = Tree(links=(link,), joints=(joint.pop("joint", revolute)("a", **joint),))
    return list(default_body(tree, 0, 1.0))


def test_a_link_is_a_rod_of_its_mass_from_its_joint_with_a_pin():
    rod = Link(mass=0.5, com=(0, 0.5, 0), inertia=np.diag([0, 0.1, 0.1]))
    body, pin = bodies(rod, axis=(1, 0, 0))
    radius = np.sqrt(0.5 / (DENSITY * np.pi * 1.0))
    np.testing.assert_allclose(body.size, (max(radius, 0.03), 1.0))
    (solid,) = scenery((body,))
    low, high = solid.corners.min(axis=(0, 1)), solid.corners.max(axis=(0, 1))
    thick = body.size[0]
    np.testing.assert_allclose(high - low, (2 * thick, 1 + 2 * thick, 2 * thick), rtol=1e-2)
    assert low[1] == pytest.approx(-thick) and high[1] == pytest.approx(1 + thick)
    assert pin.kind == "cylinder" and abs(np.array(pin.pose)[:3, 2] @ (1, 0, 0)) == pytest.approx(1)
    heavy = replace(rod, mass=500.0)
    assert bodies(heavy)[0].size[0] == pytest.approx(0.14)  # no stouter


def test_links_that_reach_nowhere_are_blocks_balls_and_ellipsoids():
    (block,) = bodies(Link(mass=1.0), joint=prismatic, axis=(0, 1, 0))
    assert block.kind == "box"
    assert abs(np.array(block.pose)[:3, 0] @ (0, 1, 0)) == pytest.approx(1)  # along its way
    assert [each.kind for each in bodies(Link(mass=3.0, inertia=np.diag([0, 0.1, 0.1])))] == [
        "ellipsoid",
        "cylinder",
    ]
    assert bodies(Link(mass=1.0))[0].kind == "sphere" and bodies(Link()) == []


def test_a_loft_joins_its_sections_and_is_round_as_they_say():
    rows = ((0.0, 0.1, 0, 0.2, 0.1, 2), (1.0, 0.1, 0, 0.2, 0.1, 2))
    (solid,) = scenery((Visual(kind="loft", size=rows),))
    assert volume(solid.corners) == pytest.approx(np.pi * 0.2 * 0.1, rel=0.03)
    square = np.array(rows) + (0, 0, 0, 0, 0, 60)
    (solid,) = scenery((Visual(kind="loft", size=square),))
    assert volume(solid.corners) == pytest.approx(4 * 0.2 * 0.1, rel=0.08)
    np.testing.assert_allclose(solid.corners.max(axis=(0, 1)), (0.3, 0.1, 1.0), atol=1e-9)
    for wrong in (rows[:1], rows[::-1], [(0, 0, 0, 0, 1, 2), rows[1]]):
        with pytest.raises(ValueError, match="visual loft: expected two or more sections"):
            Visual(kind="loft", size=wrong)


def test_a_tree_is_shown_by_visuals_where_it_has_any():
    plain = Link(mass=1.0, com=(0.1, 0, 0), inertia=np.diag([0.01, 0.01, 0.01]))
    shown = replace(plain, visuals=(Visual(kind="box"), Visual(kind="sphere", size=(1.0,))))
    tree = Tree(
        links=(plain, shown, Link()),
        joints=(revolute("a"), revolute("b", "a", home=(1, 0, 0)), revolute("c", "b")),
    )
    found = solids(tree)
    assert [solid.link for solid in found] == [1, 1]
    assert np.abs(found[0].corners).max() == 0.5


def test_what_is_borne_between_two_points_goes_with_them(solution):
    tree = solution.problem.tree
    base = Point(name="base", link="shoulder", position=(-0.4, 0.0, 0.0))
    arm = moved(solution, replace(tree, points=(*tree.points, base)), solution.points)
    lid = Visual(kind="box", size=(0.3, 0.1, 0.1), between=("base", "tip"))
    seen = replace(arm, problem=replace(arm.problem, scenery=(lid,)))
    t = seen.times(5)
    first, second = (
        seen.trace(lambda at, name=name: at.position(name), t).T for name in lid.between
    )
    poses = placed_solids(seen, t)[0].poses
    np.testing.assert_allclose(poses[:, :3, 3], (first + second) / 2)
    lengths = np.linalg.norm(second - first, axis=1)[:, None]
    np.testing.assert_allclose(poses[:, :3, 0] * lengths, second - first, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(poses[:, :3, :3]), 1.0)
    assert problem_from_data(problem_data(seen.problem)).scenery[0].between == ("base", "tip")
    with pytest.raises(ValueError, match="between: expected two points"):
        Visual(kind="box", between=("tip",))
    with pytest.raises(ValueError, match="'nowhere'"):
        replace(seen.problem, scenery=(replace(lid, between=("tip", "nowhere")),))


def test_scenery_is_kept_and_asks_nothing(solution, tmp_path):
    wall = Visual(kind="box", size=(0.1, 1, 1), colour=(0, 0, 1, 1))
    problem = replace(solution.problem, scenery=[wall])
    assert problem_from_data(problem_data(problem)).scenery[0].size == (0.1, 1, 1)
    assert "scenery" not in problem_data(solution.problem).data
    ocp.save(solution, tmp_path / "arm.npz")
    assert load(tmp_path / "arm.npz", problem).duration == solution.duration
    with pytest.raises(ValueError, match="scenery: expected a tuple of Visual"):
        replace(solution.problem, scenery="wall")
    assert len(solids(two_link(torque=10.0))) == 2 * 2  # rods and pins
