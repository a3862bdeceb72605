"""Predict a step from the command line."""

from ocp.cli.run import Views, main
from ocp.problems.gait.pictures import animate_walk
from ocp.problems.gait.report import gait_report, report_lines
from ocp.problems.gait.statement import draw, problem, walk

main(
    problem,
    method=walk,
    views=Views(plot=draw, animate=animate_walk, report=gait_report, lines=report_lines),
)
