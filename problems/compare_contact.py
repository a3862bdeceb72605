"""Exact contact (Barman 2020, eq. 5.4): which equalities fit into how many control points.

A foot that stands still asks for y = 0 and v = 0 along a whole phase. A spline can give that at
some instants only: it has so many control points per joint, and few of them are left when the step
mirrors itself and its feet stand in their places.
"""

DONE, BAD_ARGUMENTS = 0, 2
POINTS = (6, 8, 12, 16, 24)
RANK = 1e-9  # relative to the largest singular value
