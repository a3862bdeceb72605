"""Solving, and the answer: attempts, solutions, files, certificates, and why a solve failed."""
