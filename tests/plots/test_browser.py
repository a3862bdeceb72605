"""Every page plays in a real browser, from a file and without a network."""

from dataclasses import replace

import numpy as np
import pytest
from browsing import play, played
from pictured import moved

from ocp import Link, Point, Tree, page, revolute
from ocp.mechanics import Visual


@pytest.fixture(scope="module")
def pages(tmp_path_factory, solution, oddly_named, hopped):
    """A folder of pages: in space with scenery and points close together, of phases, and of odd
    names."""
    folder = tmp_path_factory.mktemp("pages")
    link = Link(mass=1.0, com=(0.1, 0, 0), inertia=np.diag([0.01, 0.01, 0.01]))
    tree = Tree(
        links=(link, link),
        joints=(revolute("yaw"), revolute("pitch", "yaw", axis=(0, 1, 0), home=(0.2, 0, 0.3))),
    )
    corners = [
        Point(name=f"corner {k}", link="pitch", position=(0.2 + 0.02 * (k // 4), 0.01 * (k % 4), 0))
        for k in range(8)
    ]
    spatial = moved(solution, replace(tree, points=corners))
    wall = (Visual(kind="box", size=(0.1, 0.4, 0.4), colour=(1, 0, 0, 1)),)
    among = replace(spatial, problem=replace(spatial.problem, scenery=wall))
    for name, motion in (
        ("spatial", among),
        ("phases", hopped),
        ("odd", oddly_named),
    ):
        page(motion, folder / f"{name}.html")
    return folder


@pytest.mark.commands
@played
def test_every_page_plays_in_a_browser_and_no_words_cover_others(pages):
    seen, crossed = play(pages)
    assert not any(crossed.values())
    for name, looks in seen.items():
        times = {clock for clock, *_ in looks}
        assert len(times) > 2 and all(clock.startswith("t = ") for clock in times), name
        assert max(shades for _, shades, _ in looks) > 100, name
        assert len({cursor for *_, cursor in looks}) > 2, name
