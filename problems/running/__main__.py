"""`python -m problems.running`."""

from ocp.problems.running import TASK

from ocp.cli import main

if __name__ == "__main__":
    main(TASK)
