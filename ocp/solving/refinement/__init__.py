"""Refinement of meshes and splines, complementarity continuation, bang-bang arcs."""
