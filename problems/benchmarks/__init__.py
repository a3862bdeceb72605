"""Costs: operations of formulations, derivatives, builds, solves."""
