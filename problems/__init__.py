"""Problems of the gallery and comparisons, in folders by topic."""

from pathlib import Path

FOLDERS = (
    "arms",
    "swing_ups",
    "mechanisms",
    "robots",
    "hopping",
    "human",
    "gait",
    "lifting",
    "published",
    "benchmarks/dynamics",
    "benchmarks/balance",
    "benchmarks/motions",
)
# So that `python -m problems.NAME` runs a problem in whatever folder it is
__path__ += [str(Path(__path__[0], folder)) for folder in FOLDERS]
