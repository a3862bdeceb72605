"""Banded and saddle-point linear systems."""
