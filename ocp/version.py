"""The version of the package and the name under which it is installed, their only home."""

VERSION = "0.2.0.dev0"
DISTRIBUTION = "ocp-motion"


def needs(extra: str) -> str:
    """Return how to install an extra of the distribution, as errors say it."""
    return f"install the extra `{extra}` (pip install '{DISTRIBUTION}[{extra}]')"
