"""Models and motions from the files of other programs, and back into them."""

from ocp.later import later

__all__: list[str] = []

# Readers and writers load when they are first asked for.
__getattr__, __dir__ = later(__name__, {})
