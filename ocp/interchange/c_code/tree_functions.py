"""Dynamics and kinematics of a tree as functions of plain vectors, ready to be written as C."""

import casadi as ca

from ocp.dynamics import forward_dynamics, inverse_dynamics, mass_matrix
from ocp.dynamics.catalogue import AUTO
from ocp.dynamics.formulation_record import Formulation
from ocp.mechanics.kinematics.kinematics import positions
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Parameter, parameters_of
from ocp.mechanics.values.types import Matrix

PARAMETERS = "p"  # last argument of the functions of a tree with open numbers


def tree_functions(tree: Tree, formulation: Formulation | str = AUTO) -> dict[str, ca.Function]:
    """Return the functions of a tree by their names, with dense arguments and results.

    `inverse_dynamics` (q, qd, qdd; tau) and `forward_dynamics` (q, qd, tau; qdd), each with its
    `_slopes`, one matrix for each argument; `mass_matrix` (q; m); and, where the tree has points,
    `positions` (q; places, 3 x k, m) and `jacobians` (q; slopes, 3k x n). Those of a tree with
    parameters take their values `p` last. Inverse dynamics count loops as open.

    Args:
        tree: the robot or body.
        formulation: of the dynamics, or its name.

    Raises:
        ValueError: the tree has states of elements, or stays.
    """
    check_plain_states("export_c", tree)
    n = tree.dof
    q, qd, qdd, tau = (ca.SX.sym(name, n) for name in ("q", "qd", "qdd", "tau"))
    needed = inverse_dynamics(tree, q, qd, qdd, formulation=formulation)
    found = forward_dynamics(tree, q, qd, tau, formulation=formulation)
    results: dict[str, tuple[dict[str, Matrix], dict[str, Matrix]]] = {
        "inverse_dynamics": ({"q": q, "qd": qd, "qdd": qdd}, {"tau": needed}),
        "forward_dynamics": ({"q": q, "qd": qd, "tau": tau}, {"qdd": found}),
        "mass_matrix": ({"q": q}, {"m": mass_matrix(tree, q)}),
    }
    for name in ("inverse_dynamics", "forward_dynamics"):
        arguments, outputs = results[name]
        [(result, expression)] = outputs.items()
        slopes = {f"{result}_{at}": ca.jacobian(expression, x) for at, x in arguments.items()}
        results[f"{name}_slopes"] = (arguments, slopes)
    if tree.points:
        places = ca.horzcat(*positions(tree, q, tree.points))
        results["positions"] = ({"q": q}, {"places": places})
        results["jacobians"] = ({"q": q}, {"slopes": ca.jacobian(ca.vec(places), q)})
    known = parameters_of(tree)
    return {
        name: dense_function(name, arguments, outputs, known)
        for name, (arguments, outputs) in results.items()
    }


def dense_function(
    name: str,
    arguments: dict[str, Matrix],
    outputs: dict[str, Matrix],
    known: tuple[Parameter, ...],
) -> ca.Function:
    """Return a function of dense arguments, and last of the values of parameters if there are any.

    Args:
        name: of the function.
        arguments: symbols by their names.
        outputs: expressions by their names.
        known: the parameters, in the order of their values.
    """
    values = ca.SX.sym(PARAMETERS, len(known))
    expressions = [ca.SX(ca.densify(each)) for each in outputs.values()]
    if known:
        arguments = {**arguments, PARAMETERS: values}
        symbols = ca.vertcat(*(each.expression for each in known))
        expressions = ca.substitute(expressions, [symbols], [values])
    names = [*arguments], [*outputs]
    return ca.Function(name, [*arguments.values()], expressions, *names)


def check_plain_states(verb: str, tree: Tree) -> None:
    """Raise ValueError for a tree whose motion needs more than q and qd: one with states of
    elements, or with stays."""
    rated = [each.name for each in tree.moving if each.kind == "state"]
    for what, names in (("states of elements", rated), ("stays", [s.name for s in tree.stays])):
        if names:
            raise ValueError(f"{verb}: no word for {what}, and the tree has {', '.join(names)}")
