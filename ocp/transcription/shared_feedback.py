"""Feedback that scenarios share: torques of each are those of the first and gains times what its
state differs by.

    tau_i = tau_1 + K (x_i - x_1)   at every node, x = (q, qd)

The gains K are unknowns, one matrix at each node. Each of the motions may be the first one: with
gains that are free at each node, tau_1 - K x_1 is any law of torques over time.
"""

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree_structure import structure
from ocp.solvers.nlp import NLP
from ocp.transcription.assembly.assemble_program import nonlinear_program
from ocp.transcription.assembly.stacked_blocks import motion_part, stacked_block, variable_part
from ocp.transcription.kernels.instant_symbols import symbols
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase


def feedback_part(base: Transcribed) -> TranscribedPhase:
    """Return the program of a motion whose feedback can be shared.

    Raises ValueError for phases, free knots, and torques that are no variables.
    """
    part = base.only_part
    if part is None or part.layout.moving or part.reduction is not None or not part.layout.lifts:
        raise ValueError(
            "scenarios: share: feedback is known of one phase on given knots whose torques are "
            "variables, as they are with Radau"
        )
    return part


def feedback_shape(part: TranscribedPhase) -> tuple[int, int, int]:
    """Return the shape of the gains: nodes, drives, rows of the state that differ."""
    tree = part.problem.tree
    alive = 2 * tree.dof - len(tree.states)
    return len(part.layout.nodes), len(structure(tree).drives), alive


def feedback_rows(part: TranscribedPhase, columns: Sequence[np.ndarray], first: int) -> NLP:
    """Return the program of the rows that tie torques of scenarios to the shared gains.

    Args:
        part: program of one.
        columns: places in x of the variables of each.
        first: place of the first gain, after all other variables.
    """
    layout, tree = part.layout, part.problem.tree
    nodes, drives, alive = feedback_shape(part)
    rows = [*range(tree.dof), *(tree.dof + k for k in range(tree.dof) if k not in tree.states)]
    size = first + nodes * drives * alive
    two = []
    for _ in range(2):
        made = symbols(part.statement, part.formulation, wrenches="variables")
        two.append(made.with_parameters(tuple(layout.values), layout.free))
    gain = ca.SX.sym("gain", drives * alive)
    wide = ca.reshape(gain, alive, drives).T
    own = list(structure(tree).drives)
    states = [ca.vertcat(each.at.q, each.at.qd)[rows] for each in two]
    torques = [each.at.tau[own] for each in two]
    names = [each.expression for each in layout.values]
    other = ca.vertcat(*(ca.SX.sym(f"{each.name}_there") for each in layout.values))
    there = two[1].y
    stack = torques[1] - torques[0] - wide @ (states[1] - states[0])
    if names:  # both motions have symbols of parameters in common, but each its own values
        there = ca.substitute(there, ca.vertcat(*names), other)
    places = first + np.arange(nodes * drives * alive).reshape(nodes, -1)
    gains = variable_part(gain, places)
    reference = motion_part(two[0].y, layout, layout.nodes, columns[0])
    blocks, count = [], 0
    for its in columns[1:]:
        parts = [reference, motion_part(there, layout, layout.nodes, its), gains]
        blocks.append(stacked_block(two[0], stack, parts, layout.nodes, size, count))
        count += nodes * drives
    free = np.full(size, np.inf)
    bounds = {
        "lower": -free,
        "upper": free,
        "g_lower": np.zeros(count),
        "g_upper": np.zeros(count),
    }
    return nonlinear_program([], lambda x: ca.DM(0, 1), blocks, bounds)[0]
