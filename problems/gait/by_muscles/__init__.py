"""Walks by muscles: when these are on beside people's electromyograms, and what they cost."""
