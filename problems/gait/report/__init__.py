"""Reports of a step and of its gait cycle."""
