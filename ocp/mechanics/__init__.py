"""Mechanisms as values: joints, trees, inertia, loads, loops, bending links, and where all of it
is."""
