"""Weighted differences between curves of a program and measured ones, as functions of x."""

from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np

from ocp.dynamics import formulation_of
from ocp.mechanics.values.types import Matrix
from ocp.problem.instant import Instant
from ocp.transcription.kernels.instant_symbols import symbols
from ocp.transcription.kernels.user_functions import call_user_function
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import motion_map


def curve_residuals(
    transcribed: TranscribedPhase,
    functions: Mapping[str, Callable[[Instant], Matrix]],
    s: np.ndarray,
    *,
    measured: np.ndarray,
    weights: np.ndarray,
    duration: tuple[float, float],
) -> ca.Function:
    """Return the Function x -> (r (M,), dr/dx (M, variables)) of weighted differences.

    Args:
        transcribed: the program.
        functions: {curve: function(Instant)}, of m rows together.
        s: instants (N,), shares of the motion.
        measured, weights: values and weights (m, N) of the rows; those of weight 0 are left out.
        duration: measured (s), the first variable, and its weight, 0 where it is none.

    Raises:
        ValueError: curves fail or have rates of torques, naming them.
    """
    layout = transcribed.layout
    look = symbols(
        transcribed.statement,
        formulation_of(transcribed.transcription.dynamics, layout.problem.tree),
        wrenches="variables" if layout.lifts else None,
        moving=layout.moving,
    ).with_parameters(transcribed.parameters, layout.free)
    columns = [call_user_function(name, each, look) for name, each in functions.items()]
    values = ca.densify(ca.vertcat(*columns))
    if ca.depends_on(values, look.rates):
        raise ValueError(f"{', '.join(functions)}: rates of torques are no curves here")
    kernel = ca.Function("curves", [look.y, look.s], [values, ca.jacobian(values, look.y)])
    x, width = ca.MX.sym("x", layout.size), look.y.shape[0]
    matrix = ca.MX(motion_map(layout, s).matrix)
    curves, slopes = kernel.map(len(s))(ca.reshape(matrix @ x, width, len(s)), ca.DM(s).T)
    # Instant by instant, as the map has them
    kept = np.flatnonzero(weights.T.ravel()).tolist()
    chosen = ca.DM(weights.T.ravel()[kept])
    off = chosen * (ca.vec(curves)[kept] - ca.DM(measured.T.ravel()[kept]))
    by_x = ca.diag(chosen) @ (ca.diagcat(*ca.horzsplit(slopes, width))[kept, :] @ matrix)
    time, weight = duration
    if weight:
        off = ca.vertcat(off, weight * (x[0] - time))
        by_x = ca.vertcat(by_x, weight * ca.DM.eye(layout.size)[0, :])
    return ca.Function("residuals", [x], [off, by_x], ["x"], ["r", "slopes"])
