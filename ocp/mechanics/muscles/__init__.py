"""Muscles: their curves, activation, paths, cost in metabolic power, and fatigue."""
