"""Pictures: one canvas, and drawings of motions, bodies and curves."""
