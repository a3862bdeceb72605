"""Predict a lift from the command line."""

from ocp.problems.lifting import TASK

from ocp.cli import main

main(TASK)
