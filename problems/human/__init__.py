"""Motions of people: rising, jumping, running, carrying, pushing."""
