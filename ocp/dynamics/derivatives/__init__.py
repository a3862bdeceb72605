"""Recursive derivatives of dynamics, composite bodies and charts."""
