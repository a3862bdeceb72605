"""Flexible links: beams, mode shapes and their kinematics."""
