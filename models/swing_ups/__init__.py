"""Pendulums, acrobots and carts."""
