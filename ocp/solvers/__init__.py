"""Nonlinear programs and what minimises them; nothing here knows of mechanics."""
