"""Closed loops and a hoist."""
