"""Bases of motions over the normalised time: splines and meshes, by one protocol."""
