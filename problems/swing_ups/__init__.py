"""Swing-ups of acrobots, carts and pendulums."""
