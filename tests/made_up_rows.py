"""Rows that processes of their own tell, which begin quickly: here is nothing else to load."""

import os


def doubled(name):
    """A row of its name's length; one that is called `dies` ends its process."""
    if name == "dies":
        os._exit(1)
    if name == "refuses":
        raise ValueError("it is refused")
    return {"size": len(name), "process": os.getpid()}


def nested(name):
    """A row of what a process of this row's process tells."""
    from ocp.problems.benchmarks.scale.store import alone

    return {"within": alone(doubled, name, 60.0)["size"]}
