"""Statements and mechanisms as notebooks show them: tables in HTML, words as they are."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from ocp import Link, Parameter, Point, Tree, fixed, prismatic
from ocp.models.arms.two_link import two_link
from ocp.problems.arms.two_link_time import problem
from ocp.problems.hopping.monoped_hop import problem as hop
from ocp.text_tables import html_table


class Rows(HTMLParser):
    """The words of a table, row by row; what is not closed fails."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("tr", "caption"):
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "caption":
            self.rows[-1].append("")
        self.rows[-1][-1] += data


def test_words_of_a_table_are_no_markup():
    assert Rows(html_table([("<b>", "a & b")], ("x", "y"), "t")).rows == [
        ["t"],
        ["x", "y"],
        ["<b>", "a & b"],
    ]


def test_a_tree_shows_joints_limits_and_masses():
    title, header, shoulder, elbow = Rows(two_link(torque=10.0)._repr_html_()).rows
    assert "2 coordinates" in title[0] and "points tip" in title[0] and header[0] == "joint"
    assert shoulder[:3] == ["shoulder", "revolute", "ground"]
    assert shoulder[5:] == ["-10 to 10 N m", "0.5 kg"] and elbow[2] == "shoulder"
    slide = prismatic("rail", position=(-1.0, 2.0), actuated=False)
    links = (Link(mass=Parameter("load", 3.0, "kg")), Link(mass=1.0))
    tree = Tree(
        links=links, joints=(slide, fixed("tool", "rail")), points=(Point(name="<p>", link="rail"),)
    )
    title, _, rail, tool = Rows(tree._repr_html_()).rows
    assert "<p>" in title[0] and rail[3] == "-1 to 2 m" and rail[5] == "none"
    assert tool[3:6] == ["", "", ""]


@pytest.mark.parametrize("gravity", [(0.0, -9.81, 0.0), (0.0, -0.0, 0.0)])
def test_a_tree_shows_its_gravity(gravity):
    title, *_ = Rows(replace(two_link(), gravity=gravity)._repr_html_()).rows
    assert f"gravity (0, {np.round(gravity[1], 2) + 0.0:g}, 0) m/s2" in title[0]


def test_a_problem_shows_what_is_asked():
    rows = dict(entry for entry in Rows(problem()._repr_html_()).rows if len(entry) == 2)
    assert rows["motion"] == "BSpline of 22 points" and rows["duration"] == "0.1 to 5 s"
    assert rows["minimise"] == "1 duration" and "2 coordinates" in rows["tree"]
    assert rows["constraint torque_limits"] == "all along: shoulder, elbow"
    assert rows["constraint at_start.q"].startswith("at the start")


def test_a_problem_of_phases_shows_each_of_them():
    rows = dict(entry for entry in Rows(hop()._repr_html_()).rows if len(entry) == 2)
    assert rows["phase stance: ground"] == "under foot" and "phase flight: duration" in rows
    assert "phase flight: ground" not in rows and "link" in rows
