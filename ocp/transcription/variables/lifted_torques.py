"""Choice of the torques, wrenches and forces of cut joints that are variables on a spline."""

import numpy as np

from ocp.mechanics.model.structure import structure
from ocp.problem.contact.complementarity import touch_labels
from ocp.problem.statement import Problem
from ocp.transcription.laws.unilateral_laws import nodes_beside_jumps
from ocp.transcription.shooting import passive_of
from ocp.transcription.variables import interpolation
from ocp.transcription.variables.layout import Layout, free_knots, lifted_layout

TORQUES = ("auto", "explicit", "variables")


def torque_layout(problem: Problem, torques: str, nodes: np.ndarray) -> Layout:
    """Return the Layout, with torques, forces of cut joints and ground wrenches as variables at the
    `nodes` (N,) if `torques` of TORQUES asks for it; raise ValueError naming loops that do not let
    them."""
    shape = structure(problem.tree)
    lifts = torques == "variables"
    stays, found = bool(problem.tree.stays), touch_labels(problem.loads) if problem.loads else ()
    sought = problem.ground is not None or stays or bool(found) or not shape.determined
    lifts |= torques == "auto" and sought
    if not lifts and found:
        raise ValueError(
            f"torques 'explicit': forces of contacts {', '.join(found)} are unknowns; "
            "take 'variables'"
        )
    if not lifts and stays:
        raise ValueError(
            f"torques 'explicit': forces of stays {', '.join(shape.stay_labels)} are unknowns; "
            "take 'variables'"
        )
    if not lifts and not shape.determined:
        raise ValueError(
            f"torques 'explicit': around loops {shape.loop_names} the drives can work against each "
            "other; take 'variables'"
        )
    passive = [row for row in passive_of(problem) if row not in problem.tree.states]
    free = len(passive) - len(shape.cuts) if shape.closed else 0
    if lifts and free > 0:
        raise ValueError(
            f"torques 'variables': loops {shape.loop_names} leave {free} passive joints free; "
            "take 'explicit'"
        )
    if not lifts:
        return Layout(problem=problem, moving=free_knots(problem))
    if interpolation.follows_accelerations(problem):
        nodes = problem.motion.abscissae(2)  # where passive joints are asked for lack of torque
    elif stays:
        nodes = nodes_beside_jumps(problem, nodes)
    return lifted_layout(problem, nodes)
