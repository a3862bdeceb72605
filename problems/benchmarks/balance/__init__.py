"""Walks that are pushed: a regulator along the step, and a ground that gives way."""
