"""Identification of an objective's weights from motions: inverse optimal control."""
