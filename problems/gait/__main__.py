"""Predict a step from the command line."""

from ocp.cli import main
from ocp.problems.gait import TASK

main(TASK)
