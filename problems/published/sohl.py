"""Numbers of Sohl & Bobrow (2001) beside those that come with the problems."""

from ocp.problems.published.hollerbach import order
from ocp.problems.published.row import Row

SOURCE = "Sohl & Bobrow 2001"
ROWS = (
    Row(
        source=f"{SOURCE}, section 1, cited",
        quantity="order in n of the Lagrangian formulation",
        printed=3,
        ours=lambda: order("uicker_kahn"),
        by="`compare_formulations`",
        remark="4 in the other papers",
    ),
    Row(
        source=f"{SOURCE}, section 1, cited",
        quantity="order in n of Newton-Euler",
        printed=1,
        within=0.0,
        ours=lambda: order("newton_euler"),
        by="`compare_formulations`",
    ),
    Row(
        source=f"{SOURCE}, section 1, cited",
        quantity="order in n of Hollerbach's recursive Lagrangian",
        printed=1,
        within=0.0,
        ours=lambda: order("hollerbach_3x3"),
        by="`compare_formulations`",
    ),
)
