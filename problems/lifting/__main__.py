"""Predict a lift from the command line."""

from ocp.cli import main
from ocp.problems.lifting import TASK

main(TASK)
