"""Geodesics of an ellipsoid, integrated by extrapolation."""

import casadi as ca

from ocp.mechanics.values.types import Matrix

SUBSTEPS = (2, 4, 6, 8, 10, 12, 14)  # of extrapolated midpoint rules: order 14
PARTS = 2  # in which a geodesic is integrated


def ellipsoid_geodesic(
    place: Matrix, heading: Matrix, length: Matrix, radii: Matrix
) -> tuple[Matrix, Matrix]:
    """End of a geodesic on an ellipsoid about the origin.

    x'' = -(x' D x') / |D x|^2 D x,   D = diag(1 / radii^2)

    has no places where it is singular, as angles on the surface would (Gragg 1965; Hairer, Norsett
    & Wanner 1993, II.9).

    Args:
        place: where it starts (3, m).
        heading: unit tangent (3) there.
        length: m; negative goes back.
        radii: (3,) m.

    Returns:
        Where it ends (3, m), and the unit tangent there.
    """
    curvature = 1 / radii**2

    def rate(state: Matrix) -> Matrix:
        x, v = state[:3], state[3:]
        normal = curvature * x
        bend = -ca.dot(v, curvature * v) / ca.sumsqr(normal)
        return ca.vertcat(v, bend * normal)

    state: Matrix = ca.vertcat(place, heading)
    for _ in range(PARTS):
        rows: list[list[Matrix]] = []
        for k, count in enumerate(SUBSTEPS):
            step = length / PARTS / count
            before, here = state, state + step * rate(state)
            for _ in range(count - 1):
                before, here = here, before + 2 * step * rate(here)
            row = [(before + here + step * rate(here)) / 2]
            for j in range(1, k + 1):  # Aitken and Neville's scheme in squares of the steps
                ratio = (count / SUBSTEPS[k - j]) ** 2 - 1
                row.append(row[-1] + (row[-1] - rows[-1][j - 1]) / ratio)
            rows.append(row)
        state = rows[-1][-1]
    return state[:3], state[3:]
