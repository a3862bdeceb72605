"""Motions of closed loops and of a hoist."""
