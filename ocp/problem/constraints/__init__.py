"""Constraints of a motion by kind: limits, boundaries, poses, tracking, strength."""
