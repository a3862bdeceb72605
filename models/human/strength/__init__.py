"""Strength of people's joints and their passive tissue."""
