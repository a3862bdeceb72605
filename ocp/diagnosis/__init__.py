"""Diagnosis of failed solves: explanations and minimal relaxations."""
