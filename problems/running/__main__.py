"""`python -m problems.running`."""

from ocp.cli import main
from ocp.problems.running import TASK

if __name__ == "__main__":
    main(TASK)
