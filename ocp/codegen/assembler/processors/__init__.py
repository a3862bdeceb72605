"""Encoders of processors: the bytes of their instructions."""
