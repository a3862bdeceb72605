"""Nonlinear programs and what minimises them; nothing here knows of mechanics."""

from ocp.solvers.assembled import Unable
from ocp.solvers.backend import HESSIANS, Answer, Backend, See, Start, Unsuited
from ocp.solvers.curvature import Curvature, curvature
from ocp.solvers.independence import independent_rows
from ocp.solvers.machine_code import NoCompiler
from ocp.solvers.minimizing import AUTO, INTERRUPTED, Outcome, Solver, minimize
from ocp.solvers.nlp import NLP, Iterate, feasibility, kkt_residual, violation, with_rows
from ocp.solvers.record import Iteration, attentive

__all__ = [
    "AUTO",
    "HESSIANS",
    "INTERRUPTED",
    "NLP",
    "Answer",
    "Backend",
    "Curvature",
    "Iterate",
    "Iteration",
    "NoCompiler",
    "Outcome",
    "See",
    "Solver",
    "Start",
    "Unable",
    "Unsuited",
    "attentive",
    "curvature",
    "feasibility",
    "independent_rows",
    "kkt_residual",
    "minimize",
    "violation",
    "with_rows",
]
