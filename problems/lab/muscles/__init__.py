"""Muscles along a measured motion: static optimisation, electromyograms, excitations."""
