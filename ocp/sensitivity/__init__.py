"""Sensitivity of a solution to its parameters."""
