"""Every motion of the human that comes with the package, in one table."""

from ocp.problems.human.human_motions.motions import MOTIONS

__all__ = ["MOTIONS"]
