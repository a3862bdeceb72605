"""Curves over time and charts."""
