"""Phases of a motion, transitions between them, and shared splines."""
