"""Mechanism models: joints, links, inertias, loads, loops, unilateral joints."""
