"""`ocp papers`: printed values beside ours with an honest status, figures by the same command."""

import ocp.problems.published.table as table
from ocp.cli.commands.papers import PAPERS, command
from ocp.problems.published import ROWS
from ocp.problems.published.row import Row


def row(printed, within, **other):
    """A row whose own value is 1."""
    place = {"source": "Newton 1687, book 1", "quantity": "x (m)", "by": "`apple`"}
    return Row(**place | {"printed": printed, "ours": lambda: 1.0, "within": within} | other)


def only(monkeypatch, *rows):
    """Let a paper have these rows alone."""
    monkeypatch.setitem(table.ROWS, "book", rows)


def test_the_papers_are_those_that_have_rows():
    assert tuple(ROWS) == PAPERS


def test_a_paper_is_printed_row_by_row_with_what_agrees(capsys):
    assert command(["hollerbach"]) == 0
    told = capsys.readouterr().out
    assert told.count("    by ") == len(ROWS["hollerbach"]) and "Hollerbach 1980, table II" in told
    assert "10 of 10 agree within what is stated, 26 differ for reasons" in told


def test_a_value_that_is_off_is_shown_and_fails(monkeypatch, capsys):
    only(monkeypatch, row(1.1, 0.01), row(1.001, 0.01), row(2.0, None, remark="misprint"))
    assert command(["book"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2:4] for line in lines if line.endswith("x (m)")] == [
        ["OFF", "-9.1"],
        ["agrees", "-0.1"],
        ["differs", "-50"],
    ]
    assert "    by apple; within 1 %" in lines and "    by apple; misprint" in lines
    assert "1 of 2 agree within what is stated" in lines[-1]


def test_what_takes_long_is_left_out_and_said_so_unless_all_is_asked(monkeypatch, capsys):
    only(monkeypatch, row(1.0, 0.0), row(3.0, 0.0, slow=True))
    assert command(["book"]) == 0
    assert "1 that take more than half a minute are left out" in capsys.readouterr().out
    assert command(["book", "--all"]) == 1
    assert "left out" not in capsys.readouterr().out


def test_figures_and_values_come_of_one_command(monkeypatch, tmp_path, capsys):
    only(monkeypatch, row(1.0, 0.0))
    folder, written = tmp_path / "figures", tmp_path / "values.md"
    flags = ["--figures", str(folder), "--pages", "xiang-05", "--markdown", str(written)]
    assert command(["book", *flags]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["index.md", "xiang-05.png"]
    assert f"1 figures and index.md in {folder}" in capsys.readouterr().out
    assert "| Newton 1687, book 1 | x (m) | 1 | 1 | 0 % |  | `apple` |" in written.read_text()


def test_what_cannot_be_done_is_told_in_a_line_before_anything_is_computed(tmp_path, capsys):
    taken = tmp_path / "taken"
    taken.write_text("")
    for flags, words in (
        (["newton"], "PAPER: expected one of xiang, hollerbach, book, barman, sohl, got 'newton'"),
        (["--pages", "xiang-05"], "--pages: is a flag of --figures"),
        (["--figures", str(taken), "--pages", "xiang-05"], f"{taken}: expected a directory"),
        (["--figures", str(tmp_path), "--pages", "x"], "no page is called 'x'; there are xiang-04"),
        (["--markdown", str(tmp_path / "no" / "x.md")], f"{tmp_path / 'no'}"),
    ):
        assert command(flags) == 2
        said = capsys.readouterr()
        assert said.err.startswith(f"ocp papers: error: {words}") and not said.out.strip()
