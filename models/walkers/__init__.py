"""Legged mechanisms and figures of people."""
