"""The solvers and transcriptions of a comparison, each solver at its best."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ocp.solvers import Backend
from ocp.solvers.nlp import Option, Options
from ocp.spelling import suggest_fields
from ocp.studies.store.argument_flags import Arguments


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A solver to be compared: plugin or Backend of one's own, its best `hessian` mode, options.

    `environment`: what its process needs to find there before it starts.
    """

    plugin: str | Backend
    hessian: str = "exact"
    options: Options = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


def _sqp(qpsol: str, hessian: str = "exact", **options: Option) -> Entry:
    settings = {"max_iter": 500, "qpsol": qpsol} | options
    return Entry(plugin="sqpmethod", hessian=hessian, options=settings)


SPRAL_WANTS = {"OMP_CANCELLATION": "TRUE", "OMP_PROC_BIND": "TRUE"}  # before its process starts
ALPAQA_OPTIONS = {
    "alm.tolerance": 1e-5,
    "alm.dual_tolerance": 1e-5,
    "alm.penalty_update_factor": 3.0,
    "panoc.max_iter": 4000,
    "lbfgs.memory": 40,
}
SOLVERS: Mapping[str, Entry] = {
    "ipopt": Entry(plugin="ipopt"),
    "ipopt-fronts": Entry(plugin="ipopt", options={"linear_solver": "fronts"}),
    "ipopt-spral": Entry(
        plugin="ipopt", options={"linear_solver": "spral"}, environment=SPRAL_WANTS
    ),
    "structured": Entry(plugin="structured"),
    "bonmin": Entry(plugin="bonmin"),
    "uno-ipopt": Entry(plugin="uno", options={"preset": "ipopt"}),
    "uno-filtersqp": Entry(plugin="uno"),
    "fatrop": Entry(plugin="fatrop"),
    "sleqp": Entry(plugin="sleqp"),
    "blocksqp": Entry(plugin="blocksqp", options={"max_iter": 500}),
    "sqpmethod-qpoases": _sqp("qpoases"),
    "sqpmethod-piqp": _sqp("piqp"),
    # elastic: goes on where a quadratic program is infeasible
    "sqpmethod-piqp-elastic": _sqp("piqp", "gauss-newton", elastic_mode=True),
    "sqpmethod-proxqp": _sqp("proxqp", "gauss-newton"),
    "sqpmethod-osqp": _sqp("osqp"),
    "sqpmethod-daqp": _sqp("daqp", "gauss-newton"),
    "sqpmethod-highs": _sqp("highs", "gauss-newton"),
    "sqpmethod-qrqp": _sqp("qrqp"),
    "sqpmethod-ipqp": _sqp("ipqp"),
    "sqpmethod-superscs": _sqp("superscs", "gauss-newton"),
    "sqpmethod-hpipm": _sqp("hpipm"),
    "feasiblesqpmethod": Entry(plugin="feasiblesqpmethod", options={"max_iter": 500}),
    "qrsqp": Entry(plugin="qrsqp", options={"max_iter": 500}),
    "alpaqa": Entry(plugin="alpaqa", hessian="lbfgs", options=ALPAQA_OPTIONS),
    "snopt": Entry(plugin="snopt", hessian="lbfgs"),
    # QN: without factors of the reduced Hessian
    "snopt-qn": Entry(plugin="snopt", hessian="lbfgs", options={"QPSolver QN": ""}),
}
TRANSCRIPTIONS: Mapping[str, Arguments] = {
    "spline": {},
    "explicit": {"torques": "explicit"},
    "variables": {"torques": "variables"},
    "trapezoid": {"quadrature": "trapezoid"},
    "hermite-simpson": {"method": "hermite-simpson"},
    "radau": {"method": "radau"},
}
NOTES: Mapping[str, str] = MappingProxyType(
    {
        "alpaqa": "an augmented Lagrangian with first derivatives only: many thousands of cheap "
        "evaluations; tolerance 1e-5",
        "fatrop": "takes the whole program as one dense stage: a spline has no stages of states "
        "and controls to exploit",
        "feasiblesqpmethod": "wants a start that meets all constraints; from one it sets its "
        "fixed variables contradictory bounds in its first step",
        "sqpmethod-qrqp": "CasADi's own active-set method, written to be embedded: from a far "
        "start it fails at the first quadratic program",
        "qrsqp": "likewise, with any Hessian",
        "sqpmethod-hpipm": "wants quadratic programs in stages of states and controls",
        "sqpmethod-ipqp": "CasADi's example of an interior-point method, for strictly feasible "
        "programs without fixed variables",
        "blocksqp": "its linear solver ma27 and its restoration phase, which needs ma27, are not "
        "in the wheel, so it runs without either",
        "snopt": "curvature from gradients only; without the extra `snopt` it is not available",
    }
)
