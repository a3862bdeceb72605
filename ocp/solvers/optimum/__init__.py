"""Optimality of a point: active set, multipliers, second order, sensitivity."""
