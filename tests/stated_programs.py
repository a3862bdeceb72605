"""A nonlinear program as a stage of our interior point, at a first point."""

import numpy as np

from ocp.interior_point import interior_point_backend
from ocp.interior_point.condensed_systems import Condensed
from ocp.interior_point.kernels.native_kernels import fastest_engine
from ocp.interior_point.scaled_program import Patterns, Program
from ocp.interior_point.system_and_initial_point import ProgramStage, initial_variables
from ocp.solvers.nlp import with_derivatives
from ocp.solvers.solver_backend import Start


def stated(nlp, start):
    """Return a program as a stage, by derivatives that CasADi finds, and its first variables."""
    nlp = with_derivatives(nlp)
    condensed = Condensed(Patterns(nlp, "exact", fastest_engine()))
    program = Program(nlp, np.array(start), condensed.patterns)
    v = initial_variables(program, Start(x=np.array(start)), interior_point_backend.COLD)
    return ProgramStage(program, condensed, program.derivatives(v).entries), v
