"""Predict a lift from the command line."""

from ocp.cli.run import Views, main
from ocp.problems.lifting.report import lifting_report, report_lines
from ocp.problems.lifting.statement import draw, lift, problem

main(
    problem,
    method=lift,
    views=Views(plot=draw, report=lifting_report, lines=report_lines),
)
