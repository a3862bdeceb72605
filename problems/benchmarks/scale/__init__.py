"""Growth of time and memory with joints, steps, control points, bodies and workers."""
