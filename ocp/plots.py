"""Pictures of a motion; matplotlib loads only when one is made."""


def plot(solution, path=None):
    """Placeholder, being written."""


def animate(solution, path):
    """Placeholder, being written."""


def spy(solution, path=None):
    """Placeholder, being written."""
