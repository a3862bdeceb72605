"""Comparisons of transcriptions, plans, contacts and walks."""
