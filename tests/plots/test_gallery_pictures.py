"""Pictures and pages of the gallery: no words cover others, every page is small and whole."""

from importlib import metadata

import pytest
from browsing import play, played
from pictured import misplaced

from ocp import Solver, page, plot
from ocp.cli.commands.list_problems import tasks
from ocp.plots.curves.contact_forces import contacts_of

PUBLIC = ("ur5_reach",)  # whose robots are of public files
NAMES = (
    *("two_link_time", "cart_pole_swing", "four_bar_effort", "five_bar_pick", "slider_crank"),
    *("flexible_slew", "spring_arm", "monoped_hop", "quadruped_trot", "sit_to_stand", "gait"),
    *PUBLIC,
)
FEW = {"gait": 12, "sit_to_stand": 8}  # control points: words stand alike on few
pytestmark = pytest.mark.pages


@pytest.fixture(scope="module", params=NAMES)
def solved(request):
    """A problem of the gallery, by its name and solved."""
    if request.param in PUBLIC:
        try:
            metadata.distribution("example-robot-data")
        except metadata.PackageNotFoundError:
            pytest.skip("needs the extra `robots`")
    task, points = tasks()[request.param], FEW.get(request.param)
    stated = task.state({"points": points} if points else {})
    return request.param, task.method(stated, task.transcription, Solver())


def test_words_of_stills_cover_nothing(solved):
    _, solution = solved
    assert misplaced(plot(solution)) == []


def test_pages_are_small_and_hold_bodies_ground_and_forces(solved):
    name, solution = solved
    made = page(solution, title=name)
    assert len(made.text) < 1.5e6  # so is then their median
    data = made.text.partition('application/json">')[2]
    for word in ('"solids":[{', '"floors":[{', '"traces":[{', f'"title":"{name}"'):
        assert word in data, word
    assert ("contact force" in data) == bool(contacts_of(solution))


@pytest.mark.commands
@played
def test_words_of_pages_cover_nothing(solved, tmp_path):
    name, solution = solved
    page(solution, tmp_path / f"{name}.html")
    seen, crossed = play(tmp_path)
    assert crossed == {name: 0} and len({clock for clock, *_ in seen[name]}) > 2
