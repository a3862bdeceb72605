"""Predict a step from the command line."""

from ocp.problems.gait import TASK

from ocp.cli import main

main(TASK)
