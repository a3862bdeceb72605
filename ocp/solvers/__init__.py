"""Nonlinear programs and what minimises them; nothing here knows of mechanics."""

from ocp.codegen.assembler import NoMachineCode
from ocp.codegen.compiler.shared_library import NoCompiler
from ocp.solvers.minimize import AUTO, INTERRUPTED, Outcome, Solver, minimize
from ocp.solvers.nlp import NLP, Iterate, feasibility, kkt_residual, violation, with_rows
from ocp.solvers.optimum.second_order import Curvature, curvature
from ocp.solvers.progress import Iteration, keep_interrupts, listen, say
from ocp.solvers.redundant_rows import independent_rows
from ocp.solvers.solver_backend import HESSIANS, Answer, Backend, See, Start, Unsuited

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
    "NoMachineCode",
    "Outcome",
    "See",
    "Solver",
    "Start",
    "Unsuited",
    "curvature",
    "feasibility",
    "independent_rows",
    "keep_interrupts",
    "kkt_residual",
    "listen",
    "minimize",
    "say",
    "violation",
    "with_rows",
]
