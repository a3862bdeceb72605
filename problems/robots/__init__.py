"""Motions of robots from public files, and planning while they move."""
