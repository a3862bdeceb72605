"""Formulations of dynamics, one module per method of the literature."""
