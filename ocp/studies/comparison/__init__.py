"""Comparison of solvers: jobs, runs, verdicts, profiles, tables."""
