"""Comparisons of formulations, derivatives and models with other engines."""
