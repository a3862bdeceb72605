"""Muscles along paths, springs, limits and contacts of OpenSim's models."""
