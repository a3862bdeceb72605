"""Kinematics of trees: frames, points, momentum, loops, zero-moment point."""
