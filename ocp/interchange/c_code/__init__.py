"""Dynamics of a tree as C99 source and as functional mock-up units (FMI)."""
