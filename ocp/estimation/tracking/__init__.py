"""Motions that forces of the ground explain, near to markers and plates."""
