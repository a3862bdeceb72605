"""Checks of a certificate: simulation, energy, optimality, consistency of what is reported."""
