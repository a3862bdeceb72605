"""Flags made from signatures and records: what their texts are read as, and what is refused."""

import argparse
from dataclasses import dataclass, field
from typing import Literal

import pytest

from ocp.cli.flags import (
    Setting,
    add,
    join_negatives,
    of_function,
    of_record,
    parameter_help,
    parse,
    read_value,
    split_names,
    value_form,
)
from ocp.mechanics import Open


def reach(
    goal: tuple[float, float] = (1.0, -1.0),
    way: Literal["up", "down"] = "up",
    mass: float | Open | None = None,
    load: float | Open = 2.0,
    steps: "int" = 3,
    names: list[str] = ("a", "b"),
    fast: bool = False,
    early: bool | None = None,
    free=(1, 2),
):
    """`goal`: angles at the end
    (rad); `way`: round the obstacle."""


@dataclass(frozen=True)
class Record:
    """A record."""

    order: int = field(default=3, metadata={"help": "of it", "choices": (1, 3)})
    steps: int = 7


def parsed(*arguments):
    parser = argparse.ArgumentParser(prog="reach")
    for setting in of_function(reach):
        add(parser, "problem", setting)
    for setting in of_record(Record):
        add(parser, "record", setting)
    return parse(parser, arguments), parser


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("of the ground, upward (deg)", "deg"),
        ("of walking (m/s), 1.2 for a man", "m/s"),
        ("weight of effort (m/(N2 m2 s)); least", "m/(N2 m2 s)"),
        ("joints that move (38), all", ""),
        ("the ends (section 5.2)", ""),
        ("no number", ""),
    ],
)
def test_a_setting_has_the_unit_that_its_words_say(words, unit):
    assert Setting(name="goal", words=words).unit == unit


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--goal", "1,-1"], "goal", (1.0, -1.0)),
        (["--goal", "-1,2"], "goal", (-1.0, 2.0)),
        (["--goal=-1,2"], "goal", (-1.0, 2.0)),
        (["--goal", "(-.5, 2)"], "goal", (-0.5, 2.0)),
        (["--way", "down"], "way", "down"),
        (["--mass", "-3e2"], "mass", -300.0),
        (["--mass", "none"], "mass", None),
        (["--load", "3"], "load", 3.0),
        (["--steps", "5"], "steps", 5),
        (["--names", "x,y,z"], "names", ["x", "y", "z"]),
        (["--fast"], "fast", True),
        (["--early"], "early", True),
        (["--no-early"], "early", False),
        (["--free", "3,0.5"], "free", (3, 0.5)),
        ([], "goal", (1.0, -1.0)),
    ],
)
def test_a_flag_is_read_as_its_annotation_says(arguments, name, value):
    result = parsed(*arguments)[0]["problem"][name]
    assert result == value and type(result) is type(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--goal", "1"], "--goal: expected 2 values as FLOAT,FLOAT, got '1'"),
        (["--goal", "1,up"], "--goal: expected a number, got 'up'"),
        (["--way", "left"], "--way: expected one of up, down, got 'left'"),
        (["--mass", "heavy"], "--mass: expected a number, got 'heavy'"),
        (["--steps", "2.5"], "--steps: expected a whole number, got '2.5'"),
        (["--free", "1,2,3"], "--free: expected 2 values as INT,INT, got '1,2,3'"),
    ],
)
def test_a_wrong_value_is_named(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        parsed(*arguments)
    assert stop.value.code == 2 and message in capsys.readouterr().err


def test_a_record_s_flag_gives_way_to_one_of_the_problem():
    values, parser = parsed("--record.steps", "9", "--order", "1")
    assert values["record"] == {"order": 1, "steps": 9} and values["problem"]["steps"] == 3
    page = " ".join(parser.format_help().split())
    assert "of it: 1, 3 (default: 3)" in page and "--way up|down round the obstacle" in page
    assert "--goal FLOAT,FLOAT angles at the end (rad) (default: 1.0,-1.0)" in page


def test_kinds_are_described_and_truth_values_read():
    assert value_form(float | None) == "FLOAT" and value_form(tuple[int, ...]) == "INT,..."
    assert read_value("yes", bool) is True and read_value("1,true", tuple[int, bool]) == (1, True)
    assert read_value("2,3,4", tuple[int, ...]) == (2, 3, 4) and read_value("7", int | str) == 7
    negatives = ["--a", "-1,2", "--b", "--c=1", "-3"]
    assert join_negatives(negatives) == ["--a=-1,2", "--b", "--c=1", "-3"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("barman, waters,", ["barman", "waters"]),
        ("table(points=9,degree=5),auto", ["table(points=9,degree=5)", "auto"]),
        ("table(points=9,ranges=((-1,2),None))", ["table(points=9,ranges=((-1,2),None))"]),
    ],
)
def test_commas_within_brackets_part_no_list(text, names):
    assert split_names(text) == names


def test_help_is_what_a_docstring_says_of_a_name_or_in_its_list_of_arguments():
    def function(a, b, c):
        """Do it with `a`: of one kind; quickly.

        Args:
            b: another kind,
                in two lines.
            c: a third.

        Returns:
            d: nothing.
        """

    words = {"a": "of one kind; quickly", "b": "another kind, in two lines", "c": "a third"}
    assert parameter_help(function) == words
