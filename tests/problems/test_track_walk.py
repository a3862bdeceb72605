"""A motion is followed from files: markers and ground forces of another body."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp.interchange import Table, marker_table, markers, wrenches
from ocp.mechanics import positions
from ocp.models.human import human
from ocp.models.human.markers import cluster_names, clustered
from ocp.problems.hopping.pogo_hop import problem as hop
from ocp.problems.human import track_walk

T = np.linspace(0.0, 0.5, 51)


@pytest.fixture
def files(tmp_path):
    """Markers and ground forces of somebody who stands."""
    body = clustered(human())
    names = cluster_names(body)
    places = np.hstack([np.array(p) for p in positions(body, np.zeros(body.dof), names)]).T.ravel()
    labels = [f"{name}.{axis}" for name in names for axis in "xyz"]
    values = places[:, None] * np.ones(len(T))
    ocp.save_table(Table(t=T, labels=labels, values=values), tmp_path / "walk.trc")
    forces = [
        f"{foot}_{kind}{axis}"
        for foot in ("right", "left")
        for kind in ("force_v", "force_p", "torque_")
        for axis in "xyz"
    ]
    pushes = np.zeros((18, len(T)))
    pushes[[1, 10]] = 370.0
    ocp.save_table(Table(t=T, labels=forces, values=pushes), tmp_path / "forces.mot")
    return str(tmp_path / "walk.trc"), str(tmp_path / "forces.mot")


def test_files_of_ones_own_are_followed(files):
    statement = track_walk.problem(*files, stature=1.7, mass=70.0)
    names = [term.name for _, term in statement.objective.terms]
    assert names == ["marker_tracking", "force_tracking", "dynamic_effort"]
    assert set(statement.outputs) == {"off_markers", "off_forces"}


def test_one_file_alone_is_refused(files):
    with pytest.raises(ValueError, match="markers_file, forces_file: expected both, or none"):
        track_walk.problem(files[0])


def test_markers_that_the_body_does_not_have_are_named(files, tmp_path):
    table = ocp.read_table(files[0])
    labels = [label.replace("head_rot_a", "NOSE") for label in table.labels]
    ocp.save_table(replace(table, labels=labels), tmp_path / "other.trc")
    with pytest.raises(ValueError, match=r"other\.trc: markers NOSE match no point of the tree"):
        track_walk.problem(str(tmp_path / "other.trc"), files[1])


def test_noise_goes_by_the_unit():
    table = Table(t=T, labels=("a", "b"), values=np.zeros((2, 51)), units=("m", "N"))
    noisy = track_walk._noisy(table, {"m": 0.1, "N": 10.0}, np.random.default_rng(0))
    assert noisy.values[0].std() == pytest.approx(0.1, rel=0.3)
    assert noisy.values[1].std() == pytest.approx(10.0, rel=0.3)


def test_a_hop_in_phases_is_followed_from_the_files_of_a_lighter_one(tmp_path):
    """Each phase follows from an offset of its own: that at which it began in the files."""
    seen = ocp.solve(hop(mass=28.0)).require()
    stance = seen.phases["stance"].duration
    rng = np.random.default_rng(0)
    table = marker_table(seen, points=("foot",), rate=200)
    noise = 1e-3 * rng.standard_normal(table.values.shape)
    ocp.save_table(replace(table, values=table.values + noise), tmp_path / "hop.trc")
    ocp.save_forces(seen, tmp_path / "hop.mot", rate=1000)
    foot = markers(ocp.read_table(tmp_path / "hop.trc"))
    push = wrenches(ocp.read_table(tmp_path / "hop.mot"))
    heavy = hop(mass=30.0)
    ground = heavy.phases[0].ground
    phases = tuple(
        replace(
            phase,
            objective=ocp.marker_tracking(heavy.tree, foot, offset=offset)
            + ocp.force_tracking(ground, push, force=100.0, offset=offset),
        )
        for phase, offset in zip(heavy.phases, (0.0, stance))
    )
    followed = ocp.solve(replace(heavy, phases=phases, objective=None)).require(coarse=True)
    assert followed.duration == pytest.approx(seen.duration, rel=0.05)
    first = followed.phases["stance"]
    t = first.times(21)
    off = first.trace(lambda at: at.reaction.force("foot"), t)[1]
    expected = push.at(t)["foot"][4]
    assert np.sqrt(np.mean((off[2:-2] - expected[2:-2]) ** 2)) < 0.1 * expected.max()
