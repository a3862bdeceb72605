"""Records as arguments: their fields are flags, of command lines and of studies alike."""

from dataclasses import dataclass, field

import pytest

from ocp import Task, sweep
from ocp.cli.flags import of_function
from ocp.problems import gait, lifting, running
from ocp.problems.arms import two_link_lift
from ocp.studies import call_by_flags, flags_of
from ocp.studies.store.argument_data import complete_arguments


@dataclass(frozen=True, kw_only=True)
class Load:
    """A load.

    `weight`: that it pulls with (N); `name`: what it is called.
    """

    weight: float = field(default=10.0, metadata={"flag": "load"})
    name: str = "box"

    def __post_init__(self):
        if self.weight < 0:
            raise ValueError(f"weight: expected at least 0 N, got {self.weight:g}")


@dataclass(frozen=True)
class End:
    high: float = field(metadata={"flag": "{argument}_height"})
    hidden: float = field(default=0.0, metadata={"flag": ""})


def lifted(load: Load = Load(weight=8.0), start: End = End(0.5), end: End = End(1.5), points=12):
    """A lift.

    Args:
        load: what is lifted.
        start_height: of the start (m).
        points: control points.
    """
    return load, start, end, points


def test_fields_of_records_are_flags_with_defaults_of_the_argument():
    flags = flags_of(lifted)
    assert {name: flag.default for name, flag in flags.items()} == {
        "load": 8.0,
        "name": "box",
        "start_height": 0.5,
        "end_height": 1.5,
        "points": 12,
    }
    assert flags["start_height"].place == "start.high" and flags["points"].place == "points"
    settings = {each.name: (each.kind, each.words) for each in of_function(lifted)}
    assert settings["load"] == (float, "that it pulls with (N)")
    assert settings["start_height"] == (float, "of the start (m)")


def test_values_by_flags_become_records():
    load, start, end, points = call_by_flags(lifted, {"load": 3.0, "end_height": 2.0})
    assert (load, start, end, points) == (Load(weight=3.0), End(0.5), End(2.0), 12)
    assert complete_arguments(lifted, {"name": "cart"})["load"] == 8.0


def test_what_a_record_refuses_names_its_flag_and_its_field():
    with pytest.raises(ValueError, match=r"^load: expected .* got -1 \(load\.weight\)$"):
        call_by_flags(lifted, {"load": -1.0})


def test_flags_of_one_name_and_records_that_change_are_refused():
    @dataclass
    class Loose:
        weight: float = 1.0

    def twice(first: End, load: Load = Load(), name: str = ""):
        return first, load, name

    def loose(load: Loose = Loose()):
        return load

    with pytest.raises(
        ValueError, match=r"--name: is the flag of load\.name and of name; give one"
    ):
        flags_of(twice)
    with pytest.raises(ValueError, match="load: expected a frozen record, Loose is not frozen"):
        flags_of(loose)


def problem(load: Load = Load(), points: int = 12):
    return two_link_lift.problem(load=load.weight, points=points)


def test_studies_set_fields_of_records():
    task = Task(problem)
    assert task.defaults == {"load": 10.0, "name": "box", "points": 12}
    done = sweep(problem, {"load": [0.0, 5.0]}, workers=0)
    alone = [task.method(task.state({"load": load}), task.transcription) for load in (0.0, 5.0)]
    assert [cell.objective for cell in done.solved] == [one.objective for one in alone]
    assert all(cell.content["arguments"]["name"] == "box" for cell in done.solved)


@pytest.mark.parametrize("build", [gait.problem, lifting.problem, running.problem])
def test_what_is_no_record_of_an_argument_is_told_by_its_name(build):
    with pytest.raises(ValueError, match="^accuracy: expected Accuracy, got str 'fine'$"):
        build(accuracy="fine")
    with pytest.raises(TypeError, match=r"Gait: no field 'sped' \(did you mean 'speed'"):
        gait.Gait(sped=1.2)
