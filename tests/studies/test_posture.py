"""Models on the explorer's page: joints move within their limits, files are data and no more."""

import json
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

from ocp.studies.explorer.posture import BROUGHT, Posed, brought_model, is_model
from ocp.studies.explorer.server import Explorer, Server
from ocp.studies.explorer.worker import TRIANGLES

LINK = """<link name="NAME"><inertial><origin xyz="0 0 LOW"/><mass value="MASS"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>SHAPE</link>"""
BOX = '<geometry><box size="0.24 0.1 0.04"/></geometry>'
JOINT = """<joint name="NAME" type="TYPE"><origin xyz="0 0 LOW"/>
<parent link="FROM"/><child link="TO"/><axis xyz="0 1 0"/>LIMIT</joint>"""


def filled(text, **parts):
    for name, part in parts.items():
        text = text.replace(name.upper(), f"{part}")
    return text


LEG = "".join(
    (
        '<robot name="leg">',
        filled(LINK, name="pelvis", low=0, mass=10, shape=""),
        filled(LINK, name="shank", low=-0.25, mass=3, shape=""),
        filled(LINK, name="foot", low=0, mass=1, shape=f"<collision>{BOX}</collision>"),
        filled(
            JOINT,
            name="hip",
            type="revolute",
            low=0,
            to="shank",
            limit='<limit lower="0.1" upper="0.8" effort="80" velocity="5"/>',
        ).replace("FROM", "pelvis"),
        filled(JOINT, name="ankle", type="continuous", low=-0.5, to="foot", limit="").replace(
            "FROM", "shank"
        ),
        "</robot>",
    )
)


def test_sliders_are_joints_within_their_limits_and_soles_those_of_last_links():
    message = brought_model("a leg.urdf", LEG.encode()).message()
    hip, ankle = message["sliders"]
    assert (hip["lower"], hip["value"], hip["upper"]) == (0.1, 0.1, 0.8)
    assert (hip["least"], hip["most"], hip["unit"]) == (0.1, 0.8, "rad")
    assert ankle["least"] is None and ankle["upper"] == pytest.approx(np.pi)
    assert [each["name"] for each in message["switches"]] == ["sole: foot"]
    assert message["model"] == "a_leg.urdf"


def test_a_posture_says_masses_and_where_the_centre_of_mass_is_over_the_soles():
    """Where shank and foot hang straight it is over the middle of the foot, which is .24 by .1 m:
    50 mm from its nearest edge; with the hip turned by .1 rad and the foot back by as much, the
    shank's 3 kg are .025 m off, the foot's 1 kg .05 m."""
    posed = brought_model("leg.urdf", LEG.encode())
    answer = posed.answer({"hip": 0.1, "ankle": -0.1}, {"sole: foot": True})
    facts = [text for _, text in answer["facts"]]
    assert facts[:3] == ["3", "2", "14 kg"] and "4, 4" in facts
    assert ["shank", "3 kg"] in answer["card"]
    centre = -(3 * 0.25 + 0.5) * np.sin(0.1) / 14
    foot = -0.5 * np.sin(0.1)
    room = min(0.05, 0.12 - abs(centre - foot))
    assert facts[-1] == f"within the soles by {1000 * room:.0f} mm"
    assert facts[3].split(",")[0] == f"{centre:.3f}"


def test_the_scene_of_a_posture_is_where_its_joints_are():
    posed = brought_model("leg.urdf", LEG.encode())
    values = {"hip": 0.4, "ankle": 0.0}
    posed.answer(values, {"sole: foot": True})
    scene = posed.scene(values, TRIANGLES)
    lowest = np.array(scene["marks"])[:, 2].min()
    low = -0.5 * np.cos(0.4) - 0.02 * np.cos(0.4) - 0.12 * np.sin(0.4)
    assert lowest == pytest.approx(low, abs=1e-9) and not scene["sections"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("leg.py", LEG, "leg.py: expected a file named .urdf"),
        ("leg.xacro", LEG, "expected a file named .urdf"),
        ("leg.urdf", "import os", "no XML"),
        ("leg.urdf", f"<!DOCTYPE x [<!ENTITY a 'b'>]>{LEG}", "no document type, nor entities"),
        ("leg.urdf", LEG.replace("foot", "pelvis"), "leg.urdf:"),
        ("leg.urdf", " " * (BROUGHT + 1), "more than 10 MB"),
    ],
)
def test_what_is_no_model_is_refused(name, content, words):
    with pytest.raises(ValueError, match=words):
        brought_model(name, content.encode())


def test_a_file_that_is_brought_reads_no_other(tmp_path):
    """Its meshes are left out, wherever they are, and its bodies are rods."""
    mesh = tmp_path / "secret.stl"
    mesh.write_text("solid\nendsolid")
    shape = f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>'
    posed = brought_model("leg.urdf", LEG.replace("</inertial>", f"</inertial>{shape}").encode())
    assert not any(link.visuals for link in posed.tree.links)
    assert not any("secret" in remark for remark in posed.remarks)
    path = tmp_path / "own.urdf"
    path.write_text(LEG)
    assert Posed(path=path).message()["model"] == "own.urdf"
    assert is_model("own.urdf") and is_model("a.osim") and not is_model("gait")


def test_a_page_brings_a_model_in_place_of_what_it_shows(tmp_path):
    path = tmp_path / "own.urdf"
    path.write_text(LEG)
    server = Server(Explorer(str(path)), "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    known = {"X-Token": server.token, "X-Name": "other%20leg.urdf"}

    def bring(text, **headers):
        request = urllib.request.Request(f"{server.url}model", text.encode(), known | headers)
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.status, ""
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    try:
        assert bring(LEG, **{"X-Token": "guessed"})[0] == 403
        status, said = bring("<robot>")
        assert status == 400 and "no XML" in said and server.explorer.name == str(path)
        assert bring(LEG.replace("hip", "thigh")) == (200, "")
        assert server.explorer.name == "other_leg.urdf"
        assert server.explorer.sliders[0]["name"] == "thigh"
        number = server.explorer.solve({"thigh": 0.5})
        _, texts = server.explorer.after(0, 20.0)
        while json.loads(texts[-1])["number"] < number:
            _, texts = server.explorer.after(server.explorer.told, 20.0)
        assert json.loads(texts[-1])["values"]["thigh"] == 0.5
        with pytest.raises(ValueError, match="thigh: expected 0.1 to 0.8, got 1"):
            server.explorer.solve({"thigh": 1.0})
    finally:
        server.shutdown()
        server.server_close()
        server.explorer.close()
