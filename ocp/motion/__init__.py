"""Bases of motions over the normalised time: splines and meshes, by one protocol."""

from ocp.motion.basis import Basis, transfer
from ocp.motion.collocation_mesh import Mesh
from ocp.motion.quadrature import QUADRATURES, quadrature, sample
from ocp.motion.smoothing_spline import cross_validate, fit_samples
from ocp.motion.spline import BSpline, coarsest_curve, curve_matrix, insert_knots, split_segments
from ocp.motion.spline_part import Part, parts_between

__all__ = [
    "QUADRATURES",
    "BSpline",
    "Basis",
    "Mesh",
    "Part",
    "coarsest_curve",
    "cross_validate",
    "curve_matrix",
    "fit_samples",
    "insert_knots",
    "parts_between",
    "quadrature",
    "sample",
    "split_segments",
    "transfer",
]
