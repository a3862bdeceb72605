"""Solvers beside each other on the problems of the gallery."""
