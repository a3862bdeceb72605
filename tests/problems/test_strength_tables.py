"""The command that prints and draws strength."""

from ocp.problems.human.strength_tables import run


def test_the_table_tells_peaks_best_angles_and_volumes(capsys):
    assert run(["--percentile", "50"]) == 0
    lines = {
        line.split("|")[1].strip(): line.split("|")[2:]
        for line in capsys.readouterr().out.splitlines()
        if line.count("|") > 3
    }
    extension = [entry.strip() for entry in lines["knee_flex -"]]
    assert extension[0] == f"{0.163 * 9.81 * 75 * 1.75:.0f}" and extension[4:6] == ["65", "1892"]
    assert [entry.strip() for entry in lines["hip_rot +"]][4] == "any"
    assert len(lines) == 2 + 2 * 20
