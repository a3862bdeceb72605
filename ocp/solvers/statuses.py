"""Final statuses of solvers, and those that mean success."""

import casadi as ca

INTERRUPTED = "User_Requested_Stop"
CUT_SHORT = "Cut_Short"  # after as many iterations as its caller allowed
STALLED = "Search_Direction_Becomes_Too_Small"  # IPOPT does not check its point then
ACCEPTABLE = (  # by looser tolerances than were set: a success only if the point is an optimum
    "Solved_To_Acceptable_Level",
    "Converged with feasible FJ point",
)
DONE = (  # in the words of CasADi's plugins
    "Solve_Succeeded",
    "Feasible_Point_Found",
    "SOLVER_RET_SUCCESS",
    "SUCCESS",
    "Converged with feasible KKT point",
    "optimal",  # sleqp
    *ACCEPTABLE,
)
SNOPT_STATUSES = {  # of the SNOPT 7 user's guide, section 8.6
    1: "optimality conditions satisfied",
    2: "feasible point found",
    3: "requested accuracy could not be achieved",
    5: "elastic objective minimized",
    6: "elastic infeasibilities minimized",
    11: "infeasible linear constraints",
    12: "infeasible linear equality constraints",
    13: "nonlinear infeasibilities minimized",
    14: "linear infeasibilities minimized",
    15: "infeasible linear constraints in QP subproblem",
    16: "infeasible nonelastic constraints",
    21: "unbounded objective",
    22: "constraint violation limit reached",
    31: "iteration limit reached",
    32: "major iteration limit reached",
    33: "the superbasics limit is too small",
    34: "time limit reached",
    41: "current point cannot be improved",
    42: "singular basis",
    43: "cannot satisfy the general constraints",
    44: "ill-conditioned null-space basis",
    45: "unable to compute acceptable LU factors",
    51: "incorrect objective derivatives",
    52: "incorrect constraint derivatives",
    56: "irregular or badly scaled problem functions",
    61: "undefined function at the first feasible point",
    62: "undefined function at the initial point",
    63: "unable to proceed into undefined region",
    71: "terminated during function evaluation",
    74: "terminated from monitor routine",
}
SNOPT_DONE = (1, 2)


def snopt_status(info: int) -> str:
    """Return the words for SNOPT's final number."""
    return f"{SNOPT_STATUSES.get(info, 'unknown')} (SNOPT {info})"


def says_done(solver: str, status: str) -> bool:
    """Tell whether a status means success to the solver of that name.

    Every status of a custom Backend does, except for an interruption.
    """
    if status in (INTERRUPTED, CUT_SHORT):
        return False
    if solver == "snopt":
        return status in map(snopt_status, SNOPT_DONE)
    return status in DONE if solver == "structured" or ca.has_nlpsol(solver) else True
