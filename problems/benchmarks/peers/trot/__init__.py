"""Crocoddyl's own trot of ANYmal, by Crocoddyl and by us."""
