"""How time and memory grow with joints, steps, control points, bodies and workers."""
