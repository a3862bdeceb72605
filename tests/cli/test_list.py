"""`ocp list`: the gallery by what one wants to do, and by kind."""

from ocp.cli.commands.list_problems import GOALS, command, tasks, topic_of


def test_goals_name_problems_that_are_there_and_each_once():
    named = [name for _, names in GOALS for name in names]
    assert set(named) <= set(tasks()) and len(named) == len(set(named)) >= 30
    assert {topic_of(name) for name in named} == {topic_of(name) for name in tasks()}


def test_the_gallery_is_listed_under_its_kinds_with_what_is_published(capsys):
    assert command([]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if line.isupper() and not line.startswith(" ")]
    kinds = [name.upper().replace("_", " ") for name in sorted({*map(topic_of, tasks())})]
    assert heads[1:] == kinds and heads[0].split("  ")[0] == "TO"
    body = lines[lines.index("ARMS") :]
    listed = [line.split()[0] for line in body if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == sorted(tasks())
    row = next(k for k, line in enumerate(body) if line.startswith("  two_link_lift "))
    assert body[row + 1].strip() == "published: Xiang et al. 2009, example 2"
    assert all(len(line) <= 130 for line in lines)
